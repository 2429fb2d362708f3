/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The entries of HT_REGION_MAPPINGS: a treap by address over ranges that do not overlap, and the
 * rings of the pieces of a block. The caller holds the lock (mappings.c); nothing here counts. No
 * recursion: it runs on the program's stack. Source: Seidel and Aragon, "Randomized search trees"
 * (1996); the priorities are a hash of the entries' numbers.
 */
#ifndef SHM_MAPPINGS_TREE_H
#define SHM_MAPPINGS_TREE_H

#include "shm/segment_types.h"

/* Entry `number`, which is in use. */
static inline struct ht_mapping *mappings_tree_at(const struct segment *s, uint32_t number)
{
	return segment_at(
		s, segment_element(s, HT_REGION_MAPPINGS, number, sizeof(struct ht_mapping)));
}

/* A free entry; 0: there is no room. May take memory. */
uint32_t mappings_tree_new(const struct segment *s);
/* The same, of those never used: needs no lock. Calls that wait get only the first half of all. */
enum mappings_tree_use { MAPPINGS_TREE_RANGES, MAPPINGS_TREE_CALLS };
uint32_t mappings_tree_fresh(const struct segment *s, enum mappings_tree_use use);
/* Makes an entry free. It is in no tree, list or ring. */
void mappings_tree_free(const struct segment *s, uint32_t number);
/* Puts an entry, filled in and in a ring, into the tree. Its range is free there. */
void mappings_tree_put(const struct segment *s, uint32_t number);
/* Takes the entries that start in [start, end) out of the tree. Returns the first of a list by
 * address, linked by `left`; 0: none. */
uint32_t mappings_tree_take(const struct segment *s, uint64_t start, uint64_t end);
/* The entry that holds both the byte before `at` and the one at `at`; 0: none. */
uint32_t mappings_tree_over(const struct segment *s, uint64_t at);
/* The entry with the highest start not above `at`; 0: none. */
uint32_t mappings_tree_floor(const struct segment *s, uint64_t at);

/* A ring of its own. */
void mappings_tree_ring_start(const struct segment *s, uint32_t number);
/* Adds an entry to the ring of `of`. */
void mappings_tree_ring_add(const struct segment *s, uint32_t number, uint32_t of);
/* Removes an entry from its ring. True: it was the last. */
bool mappings_tree_ring_remove(const struct segment *s, uint32_t number);

#endif
