/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions that a running program calls by the names of our hooks: the first definitions in
 * its search order. A preloaded library comes before them; when a viewer attaches, they are
 * patched instead. Under the loader's lock.
 */
#ifndef PRELOAD_INNER_BOUND_H
#define PRELOAD_INNER_BOUND_H

#include "preload/inner_symbols.h"

/* Finds all of them. */
void inner_bound_find(void);
/* Whether that was done, and not undone. */
bool inner_bound_exist(void);
/* From now on there are none: our hooks are found themselves. */
void inner_bound_none(void);
/* Whether `at` is one by an allocator's name. False after inner_bound_none. */
bool inner_bound_is(const struct inner_name *n, uint64_t at);
/* Adds those of `o` that are no allocator's to its `count` symbols. Returns their number. */
unsigned inner_bound_add(
	const struct inner_object *o, struct inner_symbol *out, unsigned count, unsigned room);
/* The functions of malloc's kind, without which nothing is right: the name of number `i`, and
 * where it is (0: nowhere). NULL: there are no more. */
const char *inner_bound_needed(unsigned i, uint64_t *at);

#endif
