/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An arena that only grows, for data that must live until sym_free: names, each stored once, and
 * arrays of frames. One owner at a time (the symboliser's worker); any thread may read what it
 * returns.
 */
#ifndef SRC_UTIL_INTERN_H
#define SRC_UTIL_INTERN_H

#include <stddef.h>

struct intern;

struct intern *intern_new(void);
void intern_free(struct intern *in);
/*
 * The only copy of this text, NUL-terminated; equal texts give equal pointers. NULL: out of memory.
 */
const char *intern_text(struct intern *in, const char *text, size_t len);
/* `bytes` of zeroed memory, aligned for any object. NULL: out of memory. */
void *intern_alloc(struct intern *in, size_t bytes);
/* Number of different texts. */
size_t intern_count(const struct intern *in);

#endif
