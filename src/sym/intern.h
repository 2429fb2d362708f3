/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that only grows, for what must live until sym_free: names, each kept once, and arrays of
 * frames. One owner at a time (the symboliser's worker); what it hands out may be read by any
 * thread.
 */
#ifndef SRC_SYM_INTERN_H
#define SRC_SYM_INTERN_H

#include <stddef.h>

struct intern;

struct intern *intern_new(void);
void intern_free(struct intern *in);
/* The one copy of this text, terminated; equal texts give equal pointers. NULL: out of memory. */
const char *intern_text(struct intern *in, const char *text, size_t len);
/* `bytes` of zeroed memory, aligned for any object. NULL: out of memory. */
void *intern_alloc(struct intern *in, size_t bytes);
/* How many different texts are kept. */
size_t intern_count(const struct intern *in);

#endif
