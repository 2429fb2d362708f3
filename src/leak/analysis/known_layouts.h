/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recognizes structures inside blocks by their contents, so that a pointer to one counts as a
 * pointer to the start of the block:
 *
 * - an instance of GLib's type system with private data before it (g_type_create_instance): its
 *   first word points to its class, which names its type, whose data lead back to that class;
 * - a closure of GLib: functions before and after its first word, which is its count;
 * - a slot of a slab that holds its own size and position, as the next slot does (perl's op.c:
 *   OPSLOT);
 * - the next node of a binary tree, if the pointer keeps a color or a balance in its low bits
 *   (tsearch of glibc).
 *
 * Each test requires equal words, or several numbers that depend on the address: a number that only
 * looks like a pointer passes none. A stale pointer to such a structure does, as one to the start
 * of a block would. Pure, but for what it reads by `m`; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_KNOWN_LAYOUTS_H
#define SRC_LEAK_ANALYSIS_KNOWN_LAYOUTS_H

#include "src/leak/analysis/graph.h"

#define LEAK_KNOWN_LAYOUTS_CLASSES 256u /* a power of two */
#define LEAK_KNOWN_LAYOUTS_MARKS                                                                   \
	4u /* marks are less: low bits that are 0 in addresses of blocks                           \
	    */

/* Classes found so far, by address. All 0: none. */
struct leak_known_layouts {
	uint64_t class[LEAK_KNOWN_LAYOUTS_CLASSES];
	bool is_class[LEAK_KNOWN_LAYOUTS_CLASSES];
};

/* Whether the word `first`, to which a pointer goes, begins an instance. */
bool leak_known_layouts_is_instance(struct leak_known_layouts *s, const struct leak_graph *g,
	const struct leak_memory *m, uint64_t first);
/* Whether `pointer` goes to a closure, whose first two words are `first` and `second`. */
bool leak_known_layouts_is_closure(const struct leak_block *block, const struct leak_memory *m,
	uint64_t pointer, uint64_t first, uint64_t second);
/* Whether `pointer` goes to the contents of a slot of `block`; `before`: the word before them. */
bool leak_known_layouts_is_slot(const struct leak_block *block, const struct leak_memory *m,
	uint64_t pointer, uint64_t before);
/* Whether a pointer in block `owner` goes to a node of its kind, with a mark in its low bits. */
bool leak_known_layouts_is_marked(
	const struct leak_graph *g, const struct leak_memory *m, uint32_t owner, uint64_t pointer);

#endif
