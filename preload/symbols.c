/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading symbol tables (symbols.h). Sources: System V gABI, chapter 5 (dynamic section, DT_HASH);
 * LSB core, 10.7 (versions); glibc's elf/dl-lookup.c for DT_GNU_HASH and for what it accepts.
 *
 * The loader's list is in the order of loading, which for what is loaded at start is the search
 * order. It is read when recording starts, before the program has loaded or unloaded anything.
 */
#include "preload/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#define VERSION_HIDDEN 0x8000u /* of an entry of DT_VERSYM: not the default version */
#define VERSION_FIRST  2u /* lower numbers are no version */
#define WORD_BITS      (8u * sizeof(ElfW(Addr)))
#define TABLES_KNOWN                                                                               \
	64u /* objects: more than most programs have; some forty names are looked up               \
	     */

/* Missing in musl's loader, which may load us in children of a launch, and which ends the program
 * for an undefined symbol. */
int dladdr1(const void *address, Dl_info *info, void **extra, int flags) __attribute__((weak));

/* The name looked up, and its hash by either rule. */
struct sought {
	const char *name;
	uint32_t gnu, sysv;
};

struct tables {
	const struct link_map *map;
	uintptr_t bias;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Half) * versions; /* NULL: the object has none */
	const uint32_t *gnu, *sysv; /* either may be NULL */
};

static struct sought sought_make(const char *name)
{
	struct sought w = { .name = name, .gnu = 5381 };

	for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
		w.gnu = w.gnu * 33 + *c;
		w.sysv = (w.sysv << 4) + *c;
		w.sysv = (w.sysv ^ (w.sysv >> 24 & 0xf0)) & 0x0fffffff;
	}
	return w;
}

/* Loaders relocate these pointers in place, but not in a section that is read-only. */
static const void *table_at(const struct link_map *map, uintptr_t p)
{
	return (const void *)(p < map->l_addr ? p + map->l_addr : p);
}

static struct tables tables_read(const struct link_map *map)
{
	struct tables t = { .map = map, .bias = map->l_addr };

	/* The kernel's own object is in the list, but not in the search order. */
	if (map->l_addr != 0 && map->l_addr == getauxval(AT_SYSINFO_EHDR))
		return t;
	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
		const void *at = table_at(map, d->d_un.d_ptr);

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
static const struct tables *tables_of(const struct link_map *map, unsigned place)
{
	static struct tables known[TABLES_KNOWN];
	struct tables *t = &known[place % TABLES_KNOWN];

	if (t->map != map)
		*t = tables_read(map);
	return t;
}

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Whether a reference without version could be bound to this symbol. */
static bool is_definition(const struct tables *t, uint32_t index, const struct sought *w)
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
	return is_same(t->strings + s->st_name, w->name);
}

/* Buckets, then words of a Bloom filter, then from `first` on each symbol's hash, whose lowest bit
 * ends a bucket's chain. 0: not found. */
static uint32_t gnu_search(const struct tables *t, const struct sought *w)
{
	uint32_t buckets = t->gnu[0], first = t->gnu[1], words = t->gnu[2], shift = t->gnu[3];
	const ElfW(Addr) *filter = (const void *)(t->gnu + 4);
	const uint32_t *bucket = (const void *)(filter + words), *hash = bucket + buckets;
	ElfW(Addr) word = filter[w->gnu / WORD_BITS & (words - 1)];
	uint32_t index;

	if ((word >> w->gnu % WORD_BITS & word >> (w->gnu >> shift) % WORD_BITS & 1) == 0 ||
		buckets == 0)
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

static uint32_t sysv_search(const struct tables *t, const struct sought *w)
{
	uint32_t buckets = t->sysv[0];
	const uint32_t *bucket = t->sysv + 2, *chain = bucket + buckets;
	uint32_t index = buckets ? bucket[w->sysv % buckets] : 0;

	while (index != 0 && !is_definition(t, index, w))
		index = chain[index];
	return index;
}

/* The symbol of an indirect function is that of its resolver. A resolver's second argument would be
 * announced in the first. */
static void *address_of(const struct tables *t, uint32_t index)
{
	const ElfW(Sym) *s = &t->symbols[index];
	uintptr_t at = s->st_shndx == SHN_ABS ? s->st_value : t->bias + s->st_value;

	if ((s->st_info & 0xf) == STT_GNU_IFUNC)
		return ((void *(*)(unsigned long))at)(getauxval(AT_HWCAP));
	return (void *)at;
}

static void *object_search(const struct tables *t, const struct sought *w)
{
	uint32_t index = 0;

	if (!t->symbols || !t->strings)
		return NULL;
	if (t->gnu)
		index = gnu_search(t, w);
	else if (t->sysv)
		index = sysv_search(t, w);
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

/* The loader's entry for this library. NULL: not available. */
static const struct link_map *self(void)
{
	static const struct link_map *map;
	void *found = NULL;
	Dl_info info;

	if (!map && dladdr1 &&
		dladdr1((const void *)(uintptr_t)self, &info, &found, RTLD_DL_LINKMAP))
		map = found;
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
	void *p = dlsym(RTLD_NEXT, name);

	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

/* Not RTLD_DEFAULT: that searches a library linked with -Bsymbolic first, as ours is. */
static void *ask_first(const char *name)
{
	void *program = dlopen(NULL, RTLD_LAZY);

	return program ? dlsym(program, name) : NULL;
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
