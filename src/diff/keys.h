/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call sites of several runs, summed up by a key that is the same in every build: the
 * allocation function and the stack of function names, without lines, addresses and clone
 * suffixes. Main thread.
 */
#ifndef SRC_DIFF_KEYS_H
#define SRC_DIFF_KEYS_H

#include <stdbool.h>
#include "src/model/value.h"

/* Names are kept once: equal names are equal pointers. */
struct keys_names {
	const char *const *names; /* innermost first */
	uint32_t count;
};

/* The sites of one name. */
struct keys_entry {
	struct keys_names all; /* the allocation function, then each frame */
	/* Without what belongs to allocators and standard libraries, and to the start of the
	 * program; the allocation function alone if that is all. */
	struct keys_names own;
	const char
		*entry; /* what `own` calls of a standard library or allocator; "": it allocates */
	const char *function, *file; /* of the frame that names it; the file without directories */
	const struct snap_site *site[2]; /* the one that allocated most, of each side; NULL: none */
	uint32_t sites[2]; /* their number, in the run of that side that has most */
	uint64_t *values; /* of run r: values[r * VALUE_COUNT + v]; runs of A, then of B */
	uint32_t run, run_sites; /* while runs are added */
};

struct keys;

/* For `na` and `nb` runs. NULL: no memory. */
struct keys *keys_new(size_t na, size_t nb);
void keys_free(struct keys *k);
/* Adds the sites of run number `run`, of A if below na. The snapshot must outlive the keys. False:
 * no memory. */
bool keys_add(struct keys *k, const struct snapshot *s, size_t run);
/* In the order of their first appearance. */
const struct keys_entry *keys_entries(const struct keys *k, size_t *count);
/* A side's mean of one value of an entry. */
double keys_mean(const struct keys *k, const struct keys_entry *e, int side, enum snap_value v);

#endif
