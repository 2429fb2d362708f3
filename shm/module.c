/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The module table. Runs inside hooks, rarely, on any thread. A thread claims an entry by writing
 * its key (a hash of all that identifies it) over 0, so two threads that meet a module at once get
 * one index. A thread that finds an entry of its key that is not READY fills it as well, since a
 * signal handler may have abandoned the thread that claimed it by longjmp. Both write the same,
 * except the path's place and the time, where either will do (edge MODULE of shm/layout.h).
 *
 * Edge PATH: a path's text is written before its place, so that another thread that finds the place
 * there may publish it with the rest.
 */
#include "shm/module.h"

static uint64_t hash_bytes(uint64_t h, const void *data, uint64_t bytes)
{
	const uint8_t *p = data;

	/* FNV-1a, 64 bits; source: Fowler, Noll, Vo. */
	for (uint64_t i = 0; i < bytes; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}

static uint64_t module_key(const struct module_info *m)
{
	uint64_t h = 0xcbf29ce484222325ull;

	h = hash_bytes(h, &m->start, sizeof(m->start));
	h = hash_bytes(h, &m->end, sizeof(m->end));
	h = hash_bytes(h, &m->bias, sizeof(m->bias));
	h = hash_bytes(h, m->path, __builtin_strlen(m->path));
	h = hash_bytes(h, m->build_id, m->build_id_bytes);
	h = hash_bytes(h, &m->fingerprint, sizeof(m->fingerprint));
	return h ? h : 1;
}

uint32_t module_text(const struct segment *s, const char *text, uint32_t bytes)
{
	const struct ht_region *r = &s->header->region[HT_REGION_STRINGS];
	uint32_t at = ht_load_relaxed_32(&s->header->strings_bytes);

	do {
		if (at + (uint64_t)bytes + 1 > r->bytes)
			return 0;
	} while (!ht_cas_relaxed_32(&s->header->strings_bytes, &at, at + bytes + 1));
	if (commit_range(s, r->offset + at, bytes + 1) != 0)
		return 0;
	__builtin_memcpy(segment_at(s, r->offset + at), text, bytes);
	return at;
}

/* The place before the length: without a place there is no path. */
static void path_fill(const struct segment *s, struct ht_module *m, const char *path)
{
	uint64_t length = __builtin_strlen(path);
	uint32_t bytes = length < HT_PATH_MAX ? (uint32_t)length : HT_PATH_MAX - 1, none = 0;

	if (ht_load_relaxed_32(&m->path) == 0)
		(void)ht_cas_acq_rel_32(&m->path, &none, module_text(s, path, bytes)); /* PATH */
	if (ht_load_acquire_32(&m->path) != 0) /* PATH */
		ht_store_relaxed_32(&m->path_bytes, bytes);
}

static void module_fill(
	const struct segment *s, struct ht_module *m, const struct module_info *info)
{
	uint32_t bytes =
		info->build_id_bytes < HT_BUILD_ID_MAX ? info->build_id_bytes : HT_BUILD_ID_MAX;

	path_fill(s, m, info->path);
	ht_store_relaxed_64(&m->start, info->start);
	ht_store_relaxed_64(&m->end, info->end);
	ht_store_relaxed_64(&m->bias, info->bias);
	ht_store_relaxed_64(&m->seen_ns, ht_load_relaxed_64(&s->header->clock_ns));
	for (uint32_t i = 0; i < bytes; i++)
		ht_store_relaxed_8(&m->build_id[i], info->build_id[i]);
	ht_store_relaxed_32(&m->build_id_bytes, bytes);
	ht_store_release_32(&m->flags, info->flags | HT_MODULE_READY); /* MODULE */
}

/* Raises header.modules to `count` if it is lower. */
static void count_raise(const struct segment *s, uint32_t count)
{
	uint32_t now = ht_load_relaxed_32(&s->header->modules);

	while (now < count && !ht_cas_relaxed_32(&s->header->modules, &now, count))
		;
}

uint32_t module_intern(const struct segment *s, const struct module_info *info)
{
	uint64_t key = module_key(info);
	uint32_t limit =
		(uint32_t)(s->header->region[HT_REGION_MODULES].bytes / sizeof(struct ht_module));

	for (uint32_t i = 1; i < limit; i++) {
		struct ht_module *m = module_at(s, i);
		uint64_t found = 0;

		if (commit_range(s, segment_element(s, HT_REGION_MODULES, i, sizeof(*m)),
			    sizeof(*m)) != 0)
			break;
		if (!ht_cas_relaxed_64(&m->key, &found, key) && found != key)
			continue;
		if (!(ht_load_acquire_32(&m->flags) & HT_MODULE_READY)) /* MODULE */
			module_fill(s, m, info);
		count_raise(s, i + 1);
		return i;
	}
	ht_add_relaxed_64(&s->header->modules_refused, 1);
	return 0;
}

/* A lack of memory may have lost the path there; so it may here. */
static void path_inherit(const struct segment *s, const struct segment *from, struct ht_module *m)
{
	uint64_t at = s->header->region[HT_REGION_STRINGS].offset + m->path;

	if (m->path == 0)
		return;
	if (commit_range(s, at, m->path_bytes + 1) == 0) {
		__builtin_memcpy(segment_at(s, at), segment_at(from, at), m->path_bytes);
	} else {
		m->path = 0;
		m->path_bytes = 0;
	}
}

int module_inherit(const struct segment *s, const struct segment *from)
{
	uint32_t count = ht_load_relaxed_32(&from->header->modules);

	if (__builtin_memcmp(s->header->region, from->header->region, sizeof(s->header->region)) !=
		0)
		return -ENOMEM; /* smaller than the parent's: our limits are tighter */
	s->header->strings_bytes = ht_load_relaxed_32(&from->header->strings_bytes);
	for (uint32_t i = 1; i < count; i++) {
		uint64_t at = segment_element(s, HT_REGION_MODULES, i, sizeof(struct ht_module));
		const struct ht_module *m = module_at(from, i);

		if (commit_range(s, at, sizeof(*m)) != 0)
			return -ENOMEM;
		if (!(ht_load_acquire_32(&m->flags) & HT_MODULE_READY)) /* MODULE */
			continue;
		*module_at(s, i) = *m;
		path_inherit(s, from, module_at(s, i));
	}
	s->header->modules = count;
	return 0;
}
