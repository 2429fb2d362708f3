/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading symbol tables (symbols.h). Sources: System V gABI, chapter 5 (dynamic section, DT_HASH);
 * LSB core, 10.7 (versions); glibc's elf/dl-lookup.c for DT_GNU_HASH and for what it accepts.
 *
 * The loader's list is in the order of loading, which for what is loaded at start is the search
 * order. It is read when recording starts, before the program has loaded or unloaded anything; or,
 * where a viewer attaches, under the loader's lock.
 */
#include "preload/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "preload/old_version.h"

#define VERSION_HIDDEN 0x8000u /* of an entry of DT_VERSYM: not the default version */
#define VERSION_FIRST  2u /* lower numbers are no version */
#define TABLES_KNOWN                                                                               \
	64u /* objects: more than most programs have; some forty names are looked up               \
	     */

/* Missing in musl's loader, which may load us in children of a launch, and which ends the program
 * for an undefined symbol. */
extern struct r_debug _r_debug __attribute__((weak));
extern __typeof__(dlopen) dlopen __attribute__((weak));
extern __typeof__(dlsym) dlsym __attribute__((weak));
OLD_VERSION(dlopen);
OLD_VERSION(dlsym);

extern const ElfW(Dyn) our_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

/* The name looked up, not terminated, and its hash by DT_GNU_HASH's rule. */
struct sought {
	const char *name;
	size_t bytes;
	uint32_t gnu;
};

struct tables {
	const struct link_map *map;
	struct symbols_table table;
};

static struct tables known[TABLES_KNOWN];

static struct sought sought_make(const char *name)
{
	struct sought w = { .name = name, .bytes = __builtin_strlen(name), .gnu = 5381 };

	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		w.gnu = w.gnu * 33 + *c;
	return w;
}

/* By DT_HASH's rule. */
static uint32_t sysv_hash(const struct sought *w)
{
	uint32_t h = 0;

	for (size_t i = 0; i < w->bytes; i++) {
		h = (h << 4) + (unsigned char)w->name[i];
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	return h;
}

/* Loaders relocate these pointers in place, but not in a section that is read-only. */
static const void *table_at(uintptr_t bias, uintptr_t p)
{
	return (const void *)(p < bias ? p + bias : p);
}

struct symbols_table symbols_table_read(uintptr_t bias, const ElfW(Dyn) * dynamic)
{
	struct symbols_table t = { .bias = bias };

	/* The kernel's own object is in the list, but not in the search order. */
	if (bias != 0 && bias == getauxval(AT_SYSINFO_EHDR))
		return t;
	for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
		const void *at = table_at(bias, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			t.symbols = at;
		else if (d->d_tag == DT_STRTAB)
			t.strings = at;
		else if (d->d_tag == DT_VERSYM)
			t.versions = at;
		else if (d->d_tag == DT_GNU_HASH)
			t.gnu = at;
		else if (d->d_tag == DT_HASH)
			t.sysv = at;
	}
	return t;
}

/* `place`: in the list. */
static const struct symbols_table *tables_of(const struct link_map *map, unsigned place)
{
	struct tables *t = &known[place % TABLES_KNOWN];

	if (t->map != map)
		*t = (struct tables){ map, symbols_table_read(map->l_addr, map->l_ld) };
	return &t->table;
}

static bool is_same(const char *a, const struct sought *w)
{
	size_t i = 0;

	while (i < w->bytes && a[i] == w->name[i])
		i++;
	return i == w->bytes && a[i] == '\0';
}

/* Whether a reference without version could be bound to this symbol. */
static bool is_definition(const struct symbols_table *t, uint32_t index, const struct sought *w)
{
	const ElfW(Sym) *s = &t->symbols[index];
	unsigned type = s->st_info & 0xf, binding = s->st_info >> 4;

	if (s->st_shndx == SHN_UNDEF || (s->st_value == 0 && s->st_shndx != SHN_ABS))
		return false;
	if (type != STT_NOTYPE && type != STT_OBJECT && type != STT_FUNC && type != STT_COMMON &&
		type != STT_GNU_IFUNC)
		return false;
	if (binding != STB_GLOBAL && binding != STB_WEAK && binding != STB_GNU_UNIQUE)
		return false;
	if (t->versions && (t->versions[index] & VERSION_HIDDEN) != 0 &&
		(t->versions[index] & ~VERSION_HIDDEN) >= VERSION_FIRST)
		return false;
	return is_same(t->strings + s->st_name, w);
}

/* Buckets, then words of a Bloom filter, then from `first` on each symbol's hash, whose lowest bit
 * ends a bucket's chain. 0: not found. */
static uint32_t gnu_search(const struct symbols_table *t, const struct sought *w)
{
	uint32_t buckets = t->gnu[0], first = t->gnu[1], words = t->gnu[2];
	const ElfW(Addr) *filter = (const void *)(t->gnu + 4);
	const uint32_t *bucket = (const void *)(filter + words), *hash = bucket + buckets;
	uint32_t index;

	if (!symbols_table_may_have(t, w->gnu) || buckets == 0)
		return 0;
	index = bucket[w->gnu % buckets];
	if (index < first)
		return 0;
	for (;; index++) {
		uint32_t h = hash[index - first];

		if ((h | 1) == (w->gnu | 1) && is_definition(t, index, w))
			return index;
		if (h & 1)
			return 0;
	}
}

static uint32_t sysv_search(const struct symbols_table *t, const struct sought *w)
{
	uint32_t buckets = t->sysv[0];
	const uint32_t *bucket = t->sysv + 2, *chain = bucket + buckets;
	uint32_t index = buckets ? bucket[sysv_hash(w) % buckets] : 0;

	while (index != 0 && !is_definition(t, index, w))
		index = chain[index];
	return index;
}

/* The symbol of an indirect function is that of its resolver. A resolver's second argument would be
 * announced in the first. */
static void *address_of(const struct symbols_table *t, uint32_t index)
{
	const ElfW(Sym) *s = &t->symbols[index];
	uintptr_t at = s->st_shndx == SHN_ABS ? s->st_value : t->bias + s->st_value;

	if ((s->st_info & 0xf) == STT_GNU_IFUNC)
		return ((void *(*)(unsigned long))at)(getauxval(AT_HWCAP));
	return (void *)at;
}

/* 0: not found. */
static uint32_t table_search(const struct symbols_table *t, const struct sought *w)
{
	if (!t->symbols || !t->strings)
		return 0;
	return t->gnu ? gnu_search(t, w) : t->sysv ? sysv_search(t, w) : 0;
}

const ElfW(Sym) * symbols_table_find(const struct symbols_table *t, const char *name, size_t bytes,
			  uint32_t gnu)
{
	const struct sought w = { name, bytes, gnu };
	uint32_t index = table_search(t, &w);

	return index ? &t->symbols[index] : NULL;
}

static void *object_search(const struct symbols_table *t, const struct sought *w)
{
	uint32_t index = table_search(t, w);

	return index ? address_of(t, index) : NULL;
}

/* From `map` on, without `but`. */
static void *list_search(const struct link_map *map, const char *name, const struct link_map *but)
{
	struct sought w = sought_make(name);
	void *p = NULL;

	for (unsigned place = 0; map && !p; map = map->l_next, place++)
		if (map != but)
			p = object_search(tables_of(map, place), &w);
	return p;
}

/* The loader's entry for this library. NULL: not available. It is found once, by the constructor at
 * the latest. */
static const struct link_map *self(void)
{
	static const struct link_map *map;

	if (!map && &_r_debug)
		for (map = _r_debug.r_map; map && map->l_ld != our_dynamic;)
			map = map->l_next;
	return map;
}

static const struct link_map *first(void)
{
	const struct link_map *map = self();

	while (map && map->l_prev)
		map = map->l_prev;
	return map;
}

/* Preloaded, we precede libc. Where libc does not follow, a program has opened us itself, and the
 * next definition of every name is the program's first. */
static bool is_in_order(void)
{
	static enum { UNKNOWN, YES, NO } is;

	if (is == UNKNOWN)
		is = list_search(self()->l_next, "malloc", NULL) ? YES : NO;
	return is == YES;
}

/* Not inlined and with work after the call: dlsym(RTLD_NEXT) identifies its caller by the return
 * address, so it must never be a tail call. */
static __attribute__((noinline)) void *ask_next(const char *name)
{
	void *p = dlsym ? dlsym(RTLD_NEXT, name) : NULL;

	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

/* Not RTLD_DEFAULT: that searches a library linked with -Bsymbolic first, as ours is. */
static void *ask_first(const char *name)
{
	void *program = dlopen && dlsym ? dlopen(NULL, RTLD_LAZY) : NULL;

	return program ? dlsym(program, name) : NULL;
}

bool symbols_precede_libc(void)
{
	return !self() || is_in_order();
}

void symbols_forget(void)
{
	__builtin_memset(known, 0, sizeof(known));
}

static bool has_code(const struct dl_phdr_info *info, uint64_t address)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD &&
			address - (info->dlpi_addr + ph->p_vaddr) < ph->p_memsz)
			return true;
	}
	return false;
}

struct path_search {
	uint64_t address;
	const char *path;
};

static int path_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct path_search *s = data;

	if (has_code(info, s->address))
		s->path = info->dlpi_name ? info->dlpi_name : "";
	return s->path != NULL;
}

const char *symbols_path(const void *address)
{
	struct path_search s = { .address = (uint64_t)(uintptr_t)address };

	dl_iterate_phdr(path_visit, &s);
	return s.path;
}

struct loaded_search {
	struct sought sought;
	uint64_t pc;
	void *function;
};

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(uintptr_t)(info->dlpi_addr +
							 info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static int loaded_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded_search *s = data;
	const ElfW(Dyn) *dynamic = dynamic_of(info);
	struct symbols_table t = symbols_table_read(info->dlpi_addr, dynamic);
	void *function = dynamic == our_dynamic ? NULL : object_search(&t, &s->sought);
	bool is_callers = function && has_code(info, s->pc);

	if (is_callers || !s->function)
		s->function = function;
	return is_callers;
}

void *symbols_loaded(const char *name, uint64_t pc)
{
	struct loaded_search s = { .sought = sought_make(name), .pc = pc };

	dl_iterate_phdr(loaded_visit, &s);
	return s.function;
}

void *symbols_next(const char *name)
{
	if (!self())
		return ask_next(name);
	return is_in_order() ? list_search(self()->l_next, name, NULL)
			     : list_search(first(), name, self());
}

void *symbols_first(const char *name)
{
	return self() ? list_search(first(), name, NULL) : ask_first(name);
}
