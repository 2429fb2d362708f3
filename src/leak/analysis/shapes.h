/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Structures that programs address inside their blocks and that prove themselves by what they hold,
 * so that a pointer there is as good as one to the start of the block:
 *
 * - an instance of GLib's type system that has private data before it (g_type_create_instance): its
 *   first word points to its class, which names its type, whose data lead back to that class; and
 *   a closure of GLib's, which has functions before and behind its first word, its count;
 * - a slot of a slab that says its own size and place there, as do the next slot and those of
 *   Perl's operators (perl's op.c: OPSLOT);
 * - the next node of a binary tree, where the pointer keeps a color or a balance in its low bits
 *   (tsearch of glibc).
 *
 * Each test asks for equality of whole words, or of several numbers that depend on the address: a
 * number that only looks like a pointer passes none. A stale pointer to such a structure does, as
 * one to the start of a block would. Pure, but for what they ask `m`; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_SHAPES_H
#define SRC_LEAK_ANALYSIS_SHAPES_H

#include "src/leak/analysis/graph.h"

#define LEAK_SHAPES_CLASSES 256u /* a power of two */
#define LEAK_SHAPES_MARKS   4u /* marks are less: bits that no address of a block has */

/* What was found out of classes, by their address. All zeros: nothing yet. */
struct leak_shapes {
	uint64_t class[LEAK_SHAPES_CLASSES];
	bool is_class[LEAK_SHAPES_CLASSES];
};

/* Whether the word `first`, which a pointer goes to, begins an instance. */
bool leak_shapes_is_instance(struct leak_shapes *s, const struct leak_graph *g,
	const struct leak_memory *m, uint64_t first);
/* Whether `pointer` goes to a closure: its first two words are `first` and `second`. */
bool leak_shapes_is_closure(const struct leak_block *block, const struct leak_memory *m,
	uint64_t pointer, uint64_t first, uint64_t second);
/* Whether `pointer` goes to what a slot of `block` holds; `before`: the word in front of it. */
bool leak_shapes_is_slot(const struct leak_block *block, const struct leak_memory *m,
	uint64_t pointer, uint64_t before);
/* Whether a pointer in block `owner` goes to a node like it, and is marked in its low bits. */
bool leak_shapes_is_marked(
	const struct leak_graph *g, const struct leak_memory *m, uint32_t owner, uint64_t pointer);

#endif
