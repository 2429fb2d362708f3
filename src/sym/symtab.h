/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of one ELF symbol table, sorted by address. Worker thread of the symboliser.
 */
#ifndef SRC_SYM_SYMTAB_H
#define SRC_SYM_SYMTAB_H

#include <stdatomic.h>
#include <stdint.h>
#include "src/sym/elffile.h"

struct symtab;

/*
 * Reads the section of type `type` (SHT_SYMTAB or SHT_DYNSYM). NULL: no such section, no functions
 * in it, out of memory, or *stop. `f` must stay open: names point into it.
 */
struct symtab *symtab_new(const struct elffile *f, uint32_t type, const atomic_bool *stop);
void symtab_free(struct symtab *t);
/* The name of the function that covers `vaddr`, as in the file; NULL: none. */
const char *symtab_find(const struct symtab *t, uint64_t vaddr);

#endif
