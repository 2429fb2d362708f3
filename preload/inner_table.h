/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The patched functions (inner.h). Written at start and under the loader's lock, each before its
 * entry is patched; read by calls of them, on any thread.
 */
#ifndef PRELOAD_INNER_TABLE_H
#define PRELOAD_INNER_TABLE_H

#include "preload/patch/entry.h"
#include "shm/allocator_rule.h"

#define INNER_TABLE_ENTRIES 1024u /* functions patched at a time */

struct inner_entry {
	struct entry patch;
	struct allocator_rule rule;
	uint32_t function; /* of its blocks: enum ht_function */
	uint32_t number; /* in the segment (shm/patched.h); 0: none */
	const void *pads; /* its module's (inner_memory.h) */
	bool is_used;
	bool is_operator; /* or has the code of one: the family of its blocks is not known */
	bool brings_blocks; /* they may be of an allocator that the program brings, */
	bool is_foreign; /* which is not the next one */
	bool is_loader; /* the loader's notice of a change; no rule */
	bool is_hook; /* a hook of ours is called instead; no rule */
	bool is_fresh; /* its jump is not written yet */
	bool is_inert; /* not patched any more; but a thread may be in its pad, which stays */
	/* Calls from this code are not recorded: the next allocator's own (empty: all are). */
	uint64_t except_start, except_end;
};

/* INNER_TABLE_ENTRIES of them, by the number that their pads push, in private memory. Those from
 * `inner_table_end` on were never used: a pass leaves them out, so that it touches no more memory
 * than there are entries. */
extern struct inner_entry *inner_table __attribute__((visibility("hidden")));
extern uint32_t inner_table_end __attribute__((visibility("hidden")));
/* Makes it, once. False: there is no memory. */
bool inner_table_start(void);

/* Called by the loader's function (is_loader). Set before that is patched. */
extern void (*inner_table_on_change)(void) __attribute__((visibility("hidden")));

#endif
