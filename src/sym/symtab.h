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
 * Reads the section of type `type` (SHT_SYMTAB or SHT_DYNSYM). NULL when there is none, nothing in
 * it is a function, memory is out, or *stop became true. `f` must stay open: names point into it.
 */
struct symtab *symtab_new(const struct elffile *f, uint32_t type, const atomic_bool *stop);
void symtab_free(struct symtab *t);
/* The name of the function that covers `vaddr`, as in the file; NULL when none does. */
const char *symtab_find(const struct symtab *t, uint64_t vaddr);
/* Functions in the table. */
size_t symtab_count(const struct symtab *t);

#endif
