/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions or the variables of one ELF symbol table, sorted by address. One thread: the worker
 * of the symboliser, or the one that names roots.
 */
#ifndef SRC_SYM_SYMTAB_H
#define SRC_SYM_SYMTAB_H

#include <stdatomic.h>
#include <stdint.h>
#include "src/sym/elffile.h"

struct symtab;

enum symtab_kind {
	SYMTAB_CODE,
	SYMTAB_DATA, /* variables */
	SYMTAB_THREAD, /* thread-local variables, by their offset in the file's TLS segment */
};

/*
 * Reads the section of type `type` (SHT_SYMTAB or SHT_DYNSYM). NULL: no such section, no symbols of
 * that kind in it, out of memory, or *stop. `f` must stay open: names point into it.
 */
struct symtab *symtab_new(
	const struct elffile *f, uint32_t type, enum symtab_kind kind, const atomic_bool *stop);
void symtab_free(struct symtab *t);
/* The name of the symbol that covers `vaddr`, as in the file; NULL: none. */
const char *symtab_find(const struct symtab *t, uint64_t vaddr);
/* The same, and where it starts. */
const char *symtab_find_start(const struct symtab *t, uint64_t vaddr, uint64_t *start);

#endif
