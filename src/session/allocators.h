/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions of allocators inside the program, for snapshots and as names of sites' functions.
 * Main thread.
 */
#ifndef SRC_SESSION_ALLOCATORS_H
#define SRC_SESSION_ALLOCATORS_H

#include "src/model/snapshot.h"
#include "src/read/read.h"

struct allocators {
	struct snap_allocator *row; /* owned; number n is row n - 1; never moves */
	uint32_t room, count;
};

/* Reads what is new and what has changed; points `head` at them. Without memory, at none. */
void allocators_read(struct allocators *a, struct read_segment *segment, struct snapshot *head);
/* The name of a function number of the segment; valid as long as `a`. */
const char *allocators_function(
	struct allocators *a, struct read_segment *segment, uint32_t function);
void allocators_free(struct allocators *a);

#endif
