/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of allocators inside the program (patched.h). */
#include "shm/patched.h"

#include <errno.h>
#include <stdbool.h>

#include "shm/atomic.h"
#include "shm/commit.h"
#include "shm/module.h"

static struct ht_patched *at(const struct segment *s, uint32_t number)
{
	return segment_at(
		s, segment_element(s, HT_REGION_PATCHED, number, sizeof(struct ht_patched)));
}

static uint32_t used(const struct segment *s)
{
	return ht_load_relaxed_32(&s->header->patched);
}

static bool has_name(
	const struct segment *s, const struct ht_patched *p, const char *name, uint32_t bytes)
{
	const char *own = segment_at(s, s->header->region[HT_REGION_STRINGS].offset + p->name);

	return p->name != 0 && p->name_bytes == bytes && __builtin_memcmp(own, name, bytes) == 0;
}

/* Whether two modules are one file, which may have been loaded at several places. */
static bool is_same_file(const struct segment *s, uint32_t a, uint32_t b)
{
	const char *strings = segment_at(s, s->header->region[HT_REGION_STRINGS].offset);
	const struct ht_module *x = module_at(s, a), *y = module_at(s, b);

	return a == b ||
	       (a != 0 && b != 0 && x->path_bytes == y->path_bytes &&
		       __builtin_memcmp(strings + x->path, strings + y->path, x->path_bytes) == 0);
}

/* The first function of the name, in that module unless it is 0. 0: none. */
static uint32_t find(
	const struct segment *s, const char *name, uint32_t bytes, uint32_t module, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if ((module == 0 || is_same_file(s, at(s, i)->module, module)) &&
			has_name(s, at(s, i), name, bytes))
			return i;
	return 0;
}

static uint32_t take(const struct segment *s)
{
	uint32_t number = used(s) ? used(s) : 1;

	if ((number + 1) * sizeof(struct ht_patched) > s->header->region[HT_REGION_PATCHED].bytes ||
		commit_range(s,
			segment_element(s, HT_REGION_PATCHED, number, sizeof(struct ht_patched)),
			sizeof(struct ht_patched)) != 0)
		return 0;
	ht_store_relaxed_32(&s->header->patched, number + 1);
	return number;
}

/* The number of blocks' function, if it is the own name: that of the first with the name. */
static uint32_t function_of(
	const struct segment *s, uint32_t number, const struct patched_info *info)
{
	if (info->function != HT_FN_NAMED)
		return info->function;
	return HT_FN_NAMED + find(s, info->name, info->name_bytes, 0, number + 1);
}

/* The first reason stays. */
static void state_set(const struct segment *s, struct ht_patched *p, enum ht_patched_state state,
	const char *reason)
{
	if (reason && p->reason == 0) {
		p->reason_bytes = (uint32_t)__builtin_strlen(reason);
		p->reason = module_text(s, reason, p->reason_bytes);
	}
	ht_store_release_32(&p->state, state); /* PATCHED */
}

uint32_t patched_add(const struct segment *s, const struct patched_info *info)
{
	uint32_t number = find(s, info->name, info->name_bytes, info->module, used(s));
	struct ht_patched *p;

	if (number == 0 || info->module == 0) {
		number = take(s);
		if (number == 0)
			return 0;
		p = at(s, number);
		p->name = module_text(s, info->name, info->name_bytes);
		p->name_bytes = p->name ? info->name_bytes : 0;
		p->module = info->module;
		p->function = function_of(s, number, info);
	}
	state_set(s, at(s, number), info->reason ? HT_PATCHED_REFUSED : HT_PATCHED_RECORDED,
		info->reason);
	return number;
}

void patched_end(const struct segment *s, uint32_t number, const char *reason)
{
	state_set(s, at(s, number), reason ? HT_PATCHED_REFUSED : HT_PATCHED_UNLOADED, reason);
}

uint32_t patched_function(const struct segment *s, uint32_t number)
{
	return at(s, number)->function;
}

/* A text of the other segment, at the same place here. A lack of memory may have lost it there; so
 * it may here. */
static void text_inherit(
	const struct segment *s, const struct segment *from, uint32_t text, uint32_t bytes)
{
	uint64_t place = s->header->region[HT_REGION_STRINGS].offset + text;

	if (text != 0 && commit_range(s, place, bytes + 1) == 0)
		__builtin_memcpy(segment_at(s, place), segment_at(from, place), bytes);
}

int patched_inherit(const struct segment *s, const struct segment *from)
{
	uint32_t count = used(from);

	for (uint32_t i = 1; i < count; i++) {
		const struct ht_patched *p = at(from, i);

		if (commit_range(s, segment_element(s, HT_REGION_PATCHED, i, sizeof(*p)),
			    sizeof(*p)) != 0)
			return -ENOMEM;
		*at(s, i) = *p;
		text_inherit(s, from, p->name, p->name_bytes);
		text_inherit(s, from, p->reason, p->reason_bytes);
	}
	s->header->patched = count;
	return 0;
}
