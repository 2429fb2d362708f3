/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Maps addresses to modules (modules.h). Asks the loader through _dl_find_object (glibc 2.35:
 * lock-free, callable anywhere) or, before that, dl_iterate_phdr.
 */
#include "preload/modules.h"

#include <elf.h>
#include <link.h>
#include <stdalign.h>
#include <stdlib.h>

#include "preload/bulk.h"
#include "preload/permanent.h"
#include "preload/state.h"
#include "preload/symbols.h"
#include "shm/module.h"

/* Generations: the loader has freed nothing yet; counting; no numbers left (stack_cache.h reserves
 * the very last). */
#define GENERATION_UNSEEN 1u
#define GENERATION_OVER	  MODULES_NEVER
#define GENERATION_FIRST  (MODULES_NEVER + 1)
#define GENERATION_LAST	  (UINT32_MAX - 1)

#define PINNED_MAX	512u /* objects loaded at start; large desktop programs have some 300 */
#define FINGERPRINT_MAX 4096u /* bytes of .eh_frame read, each time: such objects are rare */
#define RECENT_SIZE	1024u /* dlopen'ed objects remembered, power of two */
#define RECENT_TRIED	8u /* slots tried for each */

/* As in <dlfcn.h> of glibc 2.35, which older headers lack. */
struct found_object {
	unsigned long long flags;
	void *start, *end;
	struct link_map *link_map;
	void *eh_frame;
#ifdef __i386__
	void *eh_base;
#endif
	unsigned long long reserved[7];
};

struct modules_loader modules_loader = { .generation = GENERATION_UNSEEN };
static BULK struct module_range pinned[PINNED_MAX];
/* Beside each other: both are written at each start. */
static uint32_t pinned_count;
static int (*find_object)(void *, struct found_object *);

/*
 * An object first met after start. Written once, then `ready`; recognised by all its fields. A
 * thread that finds an entry of its key that is not ready writes the same fields as well: a signal
 * handler may have abandoned the thread that claimed it.
 *
 * Edge RECENT: recent_fill writes the fields before `ready`; recent_is loads `ready` before them.
 */
struct recent {
	alignas(8) uint64_t key; /* hash of the fields below; 0: free */
	uint64_t start, end;
	const void *link_map;
	const uint8_t *build_id; /* in the object's memory */
	uint64_t build_id_head; /* its first bytes: they show that the memory still holds the same
				   object */
	uint32_t build_id_bytes;
	uint32_t module;
	uint32_t ready;
};

static BULK struct recent recent[RECENT_SIZE];

/* Finds NT_GNU_BUILD_ID in a note segment. */
static const uint8_t *note_build_id(const uint8_t *p, const uint8_t *end, uint32_t *bytes)
{
	while ((size_t)(end - p) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const void *)p;
		const uint8_t *desc = p + sizeof(*n) + ((n->n_namesz + 3u) & ~3u);

		if (desc > end || n->n_descsz > (size_t)(end - desc))
			break;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
			__builtin_memcmp(n + 1, "GNU", 4) == 0) {
			*bytes = n->n_descsz < HT_BUILD_ID_MAX ? n->n_descsz : HT_BUILD_ID_MAX;
			return desc;
		}
		p = desc + ((n->n_descsz + 3u) & ~3u);
	}
	return NULL;
}

static const uint8_t *phdr_build_id(
	const ElfW(Phdr) * ph, unsigned count, uint64_t bias, uint32_t *bytes)
{
	for (unsigned i = 0; i < count; i++) {
		const uint8_t *note = (const uint8_t *)(uintptr_t)(bias + ph[i].p_vaddr), *id;

		if (ph[i].p_type != PT_NOTE)
			continue;
		id = note_build_id(note, note + ph[i].p_memsz, bytes);
		if (id)
			return id;
	}
	*bytes = 0;
	return NULL;
}

/* The build-id of an object by its ELF header, which the loader maps at the start of its range. */
static const uint8_t *object_build_id(uint64_t start, uint64_t bias, uint32_t *bytes)
{
	const ElfW(Ehdr) *e = (const void *)(uintptr_t)start;

	*bytes = 0;
	if (__builtin_memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
		e->e_phentsize != sizeof(ElfW(Phdr)) || e->e_phoff > 4096)
		return NULL;
	return phdr_build_id((const void *)((const char *)e + e->e_phoff), e->e_phnum, bias, bytes);
}

static const char *object_path(const char *name)
{
	return name && name[0] ? name : state_segment.header->exe;
}

/* `data`: a bool, whether not all objects stay. */
static int add_pinned(struct dl_phdr_info *info, size_t size, void *data)
{
	const bool *is_late = data;
	struct module_info m = { .start = UINT64_MAX,
		.bias = info->dlpi_addr,
		.path = object_path(info->dlpi_name),
		.flags = HT_MODULE_PINNED };

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		if (m.bias + ph->p_vaddr < m.start)
			m.start = m.bias + ph->p_vaddr;
		if (m.bias + ph->p_vaddr + ph->p_memsz > m.end)
			m.end = m.bias + ph->p_vaddr + ph->p_memsz;
	}
	if (m.end == 0 || pinned_count == PINNED_MAX || (*is_late && !permanent_is(info)))
		return 0;
	m.build_id = phdr_build_id(info->dlpi_phdr, info->dlpi_phnum, m.bias, &m.build_id_bytes);
	pinned[pinned_count++] =
		(struct module_range){ m.start, m.end, module_intern(&state_segment, &m) };
	return 0;
}

static void sort_pinned(void)
{
	for (uint32_t i = 1; i < pinned_count; i++) {
		struct module_range r = pinned[i];
		uint32_t at = i;

		for (; at > 0 && pinned[at - 1].start > r.start; at--)
			pinned[at] = pinned[at - 1];
		pinned[at] = r;
	}
}

static const struct module_range *find_pinned(uint64_t pc)
{
	uint32_t low = 0, high = pinned_count;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (pc >= pinned[mid].end)
			low = mid + 1;
		else if (pc < pinned[mid].start)
			high = mid;
		else
			return &pinned[mid];
	}
	return NULL;
}

/* __tls_get_addr belongs to the loader in every glibc, so it shows where the loader is. The
 * loader's frees come to us if the program's first definition of free is ours: the loader looks up
 * that one once libc is loaded. */
static void watch_loader(void)
{
	const struct module_range *r =
		find_pinned((uint64_t)(uintptr_t)symbols_first("__tls_get_addr"));

	if (!r)
		return;
	modules_loader.start = r->start;
	modules_loader.bytes = r->end - r->start;
	if (symbols_first("free") == (void *)free)
		modules_unloaded();
}

void modules_start(bool is_late)
{
	find_object = (int (*)(void *, struct found_object *))symbols_first("_dl_find_object");
	pinned_count = 0;
	/* What is fresh is not touched: that would be 15 page faults of each start. */
	if (is_late) {
		__builtin_memset(recent, 0, sizeof(recent));
		permanent_find();
	}
	dl_iterate_phdr(add_pinned, &is_late);
	sort_pinned();
	watch_loader();
}

void modules_watched(void)
{
	if (modules_loader.bytes != 0)
		modules_unloaded();
}

void modules_unloaded(void)
{
	uint32_t now = ht_load_relaxed_32(&modules_loader.generation), later;

	do {
		if (now == GENERATION_OVER)
			return;
		later = now == GENERATION_UNSEEN ? GENERATION_FIRST
			: now == GENERATION_LAST ? GENERATION_OVER
						 : now + 1;
	} while (!ht_cas_acq_rel_32(&modules_loader.generation, &now, later)); /* UNLOAD */
}

void modules_invalidate(void)
{
	if (modules_generation() > MODULES_NEVER)
		modules_unloaded();
}

struct iterate_find {
	uint64_t pc;
	struct found_object found;
	bool hit;
	const char *name;
	uint64_t bias;
};

/* Fills in what an object's program headers say. */
static void find_fill(struct iterate_find *f, const struct dl_phdr_info *info)
{
	uint64_t start = UINT64_MAX, end = 0, eh_frame = 0;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_GNU_EH_FRAME)
			eh_frame = at;
		if (ph->p_type != PT_LOAD)
			continue;
		start = at < start ? at : start;
		end = at + ph->p_memsz > end ? at + ph->p_memsz : end;
	}
	f->found.start = (void *)(uintptr_t)start;
	f->found.end = (void *)(uintptr_t)end;
	f->found.eh_frame = (void *)(uintptr_t)eh_frame;
	f->name = info->dlpi_name;
	f->bias = info->dlpi_addr;
}

static int iterate_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct iterate_find *f = data;

	find_fill(f, info);
	f->hit = f->pc >= (uint64_t)(uintptr_t)f->found.start &&
		 f->pc < (uint64_t)(uintptr_t)f->found.end;
	return f->hit;
}

/* Asks the loader. False: no object there. */
static bool ask_loader(uint64_t pc, struct iterate_find *f)
{
	f->pc = pc;
	if (!find_object)
		return dl_iterate_phdr(iterate_one, f) && f->hit;
	if (find_object((void *)(uintptr_t)pc, &f->found) != 0)
		return false;
	f->name = f->found.link_map->l_name;
	f->bias = f->found.link_map->l_addr;
	return true;
}

static struct recent *recent_at(uint64_t start, unsigned i)
{
	return &recent[((uint32_t)(start >> 12) * 2654435761u + i) % RECENT_SIZE];
}

static uint64_t head_of(const uint8_t *build_id, uint32_t bytes)
{
	uint64_t head = 0;

	__builtin_memcpy(&head, build_id, bytes < sizeof(head) ? bytes : sizeof(head));
	return head;
}

static bool recent_is(const struct recent *r, const struct iterate_find *f)
{
	return ht_load_acquire_32(&r->ready) && /* RECENT */
	       r->start == (uint64_t)(uintptr_t)f->found.start &&
	       r->end == (uint64_t)(uintptr_t)f->found.end && r->link_map == f->found.link_map &&
	       r->build_id && head_of(r->build_id, r->build_id_bytes) == r->build_id_head;
}

static uint64_t recent_key(const struct recent *r)
{
	uint64_t h = r->start;

	h = (h ^ r->end) * 0x9fb21c651e98df25ull;
	h = (h ^ (uintptr_t)r->link_map) * 0x9fb21c651e98df25ull;
	h = (h ^ (uintptr_t)r->build_id) * 0x9fb21c651e98df25ull;
	h = (h ^ r->build_id_head) * 0x9fb21c651e98df25ull;
	return h ? h : 1;
}

/* False: the slot holds another object. */
static bool recent_fill(struct recent *r, const struct recent *wanted)
{
	uint64_t found = 0;

	if (!ht_cas_relaxed_64(&r->key, &found, wanted->key) && found != wanted->key)
		return false;
	if (ht_load_acquire_32(&r->ready)) /* RECENT */
		return true;
	r->start = wanted->start;
	r->end = wanted->end;
	r->link_map = wanted->link_map;
	r->build_id = wanted->build_id;
	r->build_id_head = wanted->build_id_head;
	r->build_id_bytes = wanted->build_id_bytes;
	r->module = wanted->module;
	ht_store_release_32(&r->ready, 1); /* RECENT */
	return true;
}

static void recent_note(const struct iterate_find *f, const struct module_info *m, uint32_t module)
{
	struct recent wanted = { .start = m->start,
		.end = m->end,
		.link_map = f->found.link_map,
		.build_id = m->build_id,
		.build_id_head = head_of(m->build_id, m->build_id_bytes),
		.build_id_bytes = m->build_id_bytes,
		.module = module };

	wanted.key = recent_key(&wanted);
	for (unsigned i = 0; i < RECENT_TRIED; i++)
		if (recent_fill(recent_at(m->start, i), &wanted))
			return;
}

/* Distinguishes an object without build-id from another of its name at its place, by its call frame
 * information: other code has other frames, and where the frames are the same the rules are, too.
 * Follows the entries by their lengths to the one of length 0 that ends them. */
static uint64_t fingerprint(const uint8_t *eh_frame_hdr)
{
	uint64_t h = 0xcbf29ce484222325ull;
	const uint8_t *p;
	int32_t distance;

	/* The pointer to .eh_frame, in the encoding that linkers write: pc-relative, 4 bytes. */
	if (!eh_frame_hdr || eh_frame_hdr[1] != 0x1b)
		return 0;
	__builtin_memcpy(&distance, eh_frame_hdr + 4, sizeof(distance));
	p = eh_frame_hdr + 4 + distance;
	for (uint32_t total = 0, length; total < FINGERPRINT_MAX; total += length + 4) {
		__builtin_memcpy(&length, p, sizeof(length));
		if (length == 0 || length > FINGERPRINT_MAX)
			break;
		for (uint32_t i = 0; i < length + 4; i++)
			h = (h ^ p[i]) * 0x100000001b3ull; /* FNV-1a */
		p += length + 4;
	}
	return h;
}

/* The module of an object met after start. An object without a build-id is looked up by its path
 * each time: nothing cheaper distinguishes it from a successor at the same place. */
static uint32_t recent_module(const struct iterate_find *f)
{
	struct module_info m = { .start = (uint64_t)(uintptr_t)f->found.start,
		.end = (uint64_t)(uintptr_t)f->found.end,
		.bias = f->bias,
		.path = object_path(f->name) };
	uint32_t module;

	for (unsigned i = 0; i < RECENT_TRIED; i++) {
		const struct recent *r = recent_at(m.start, i);

		if (recent_is(r, f))
			return r->module;
	}
	m.build_id = object_build_id(m.start, m.bias, &m.build_id_bytes);
	if (!m.build_id)
		m.fingerprint = fingerprint(f->found.eh_frame);
	module = module_intern(&state_segment, &m);
	if (m.build_id)
		recent_note(f, &m, module);
	return module;
}

void modules_find(uint64_t pc, struct module_range *out)
{
	const struct module_range *r = find_pinned(pc);
	struct iterate_find f = { .pc = pc };

	if (r) {
		*out = *r;
		return;
	}
	if (!ask_loader(pc, &f)) {
		*out = (struct module_range){ pc, pc + 1, HT_NODE_UNPINNED };
		return;
	}
	out->start = (uint64_t)(uintptr_t)f.found.start;
	out->end = (uint64_t)(uintptr_t)f.found.end;
	out->module = recent_module(&f) | HT_NODE_UNPINNED;
}

uint32_t modules_of(const struct dl_phdr_info *info)
{
	struct iterate_find f = { 0 };
	const struct module_range *r;

	find_fill(&f, info);
	r = find_pinned((uint64_t)(uintptr_t)f.found.start);
	return r ? r->module : recent_module(&f);
}

void modules_fill(const uint64_t *pcs, uint32_t count, uint32_t *modules)
{
	struct module_range range = { 0, 0, 0 };

	for (uint32_t i = 0; i < count; i++) {
		if (pcs[i] - range.start >= range.end - range.start)
			modules_find(pcs[i], &range);
		modules[i] = range.module;
	}
}

const uint8_t *modules_eh_frame_hdr(uint64_t pc)
{
	struct iterate_find f = { .pc = pc };

	return ask_loader(pc, &f) ? f.found.eh_frame : NULL;
}
