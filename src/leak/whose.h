/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Roots in words: which register, whose stack, the data of which file. Any thread. */
#ifndef SRC_LEAK_WHOSE_H
#define SRC_LEAK_WHOSE_H

#include "src/leak/result.h"

/* `at`: as in leak_graph.root_at. Addresses in a file are those of its symbol table, as nm shows
 * them. */
void leak_whose_text(const struct leak_found *found, uint64_t at, char *out, size_t cap);

#endif
