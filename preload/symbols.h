/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Symbols of the loaded objects, read from their own tables. dlsym is not used, for three reasons:
 * its failure allocates a message (before glibc 2.34, success does, too), which runs the program's
 * malloc before its main; it sets or clears dlerror's state; and a program may define a dlsym of
 * its own before the loader's. This code allocates nothing and calls nothing of the program's. At
 * start, on the thread that starts.
 */
#ifndef PRELOAD_SYMBOLS_H
#define PRELOAD_SYMBOLS_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The next definition of `name` after this library's place in the search order, as
 * dlsym(RTLD_NEXT) finds it: the default version. NULL: there is none. */
void *symbols_next(const char *name);
/* The first definition in the search order, the program's own included. An executable's entry that
 * only jumps to a definition elsewhere does not count. NULL: there is none. */
void *symbols_first(const char *name);
/* The definition of `name` in the object that has the code at `pc`; else in the first object that
 * is loaded, in the search order or not. NULL: there is none. Not only at start: any thread; takes
 * the loader's lock. */
void *symbols_loaded(const char *name, uint64_t pc);

/* Whether we are found before libc, as a preloaded library is. A library that was opened later is
 * not, and what it defines is found by no one. */
bool symbols_precede_libc(void);
/* The path of the object that has `address`; "": the executable; NULL: none. */
const char *symbols_path(const void *address);
/* Forgets what was read of objects that may be gone since. */
void symbols_forget(void);

/* The symbol tables of one loaded object, in its memory. */
struct symbols_table {
	uintptr_t bias;
	const ElfW(Sym) * symbols; /* NULL: it has none */
	const char *strings;
	const ElfW(Half) * versions; /* NULL: the object has none */
	const uint32_t *gnu, *sysv; /* either may be NULL */
};
/* `dynamic`: the object's dynamic section, NULL: it has none. */
struct symbols_table symbols_table_read(uintptr_t bias, const ElfW(Dyn) * dynamic);
/* False: it has no definition of a name with that hash, as its Bloom filter says. Any thread. */
static inline bool symbols_table_may_have(const struct symbols_table *t, uint32_t gnu)
{
	const ElfW(Addr) *filter = (const void *)(t->gnu + 4);
	const unsigned bits = 8 * sizeof(*filter);
	ElfW(Addr) word;

	if (!t->gnu)
		return t->sysv != NULL;
	word = filter[gnu / bits & (t->gnu[2] - 1)];
	return (word >> gnu % bits & word >> (gnu >> t->gnu[3]) % bits & 1) != 0;
}
/* The object's definition of a name of `bytes` bytes, to which a reference without version could be
 * bound; `gnu`: its hash as DT_GNU_HASH has it. NULL: none. Any thread. */
const ElfW(Sym) * symbols_table_find(const struct symbols_table *t, const char *name, size_t bytes,
			  uint32_t gnu);

#endif
