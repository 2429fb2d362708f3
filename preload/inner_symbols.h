/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the listed functions (inner_list.h) that an object of the program defines: exported, or
 * merely present in its symbol table. Reads the object's memory, and its file; allocates nothing.
 * At start, and under the loader's lock.
 */
#ifndef PRELOAD_INNER_SYMBOLS_H
#define PRELOAD_INNER_SYMBOLS_H

#include "preload/inner_list.h"
#include "preload/symbols.h"

struct inner_object {
	const struct dl_phdr_info *info; /* as given */
	const char *path; /* "": the executable */
	uint64_t bias, start, end;
	uint64_t code_start, code_end; /* its executable segments */
	const ElfW(Dyn) * dynamic; /* NULL: none */
	bool is_executable;
	bool code_relocated; /* the loader writes into its code (DT_TEXTREL) */
};

struct inner_symbol {
	const struct inner_name *name;
	uint64_t at;
	uint64_t bytes; /* 0: unknown */
	bool is_operator; /* one of its names is that of a C++ operator */
	bool is_indirect; /* STT_GNU_IFUNC: `at` is its resolver */
	bool is_called; /* is_called said yes, below */
	bool is_bound; /* so the program calls it, and our hook stands for it (inner_bound.h) */
	const void *hook; /* no allocator's function: what is called instead */
};

/* From what dl_iterate_phdr says. False: no code in it. */
bool inner_symbols_object(const struct dl_phdr_info *info, struct inner_object *out);

/* Whether the loader has not relocated it yet: none of its code has run. False also if that cannot
 * be seen. */
bool inner_symbols_unrelocated(const struct inner_object *o);

/* Whether the function at `at` is what the program calls by that plain name. */
typedef bool inner_symbols_called(const struct inner_name *n, uint64_t at);

/*
 * Writes at most `room` symbols, each address once: the plain name where one has several.
 * `is_called` selects from the plain names that it exports; NULL: none. Returns their number.
 */
unsigned inner_symbols_find(const struct inner_object *o, inner_symbols_called *is_called,
	struct inner_symbol *out, unsigned room);

/* What the object defines by that name; NULL: nothing. */
const ElfW(Sym) * inner_symbols_definition(const struct inner_object *o, const char *symbol);

#endif
