/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stacks of a stream, each written once, as a tree whose roots are the outermost frames;
 * and the names of their frames, when they are known. Main thread.
 *
 * STACKS: n new texts; n new modules: path, build-id (numbers of texts); n new places: module,
 *	pc, what pc - offset differs from that of the module's place before, flags (1: hidden);
 *	n new nodes: distance to the parent (0: none), place; n sites: change of the id, allocation
 *	function (text), change of the innermost node, flags (1: outer frames are missing,
 *	2: inner ones, the next three bits: enum snap_kind)
 * NAMES: n new texts; n places: number, n frames, innermost first, and for each: function, linker
 *	name, file (texts), line, flags (1: inlined, 2: hidden)
 *
 * Texts, modules, places and nodes are numbered from 1 in the order of the file; 0 is none. Both
 * are packed (block_pack).
 */
#ifndef SRC_RECORD_STACK_WRITE_H
#define SRC_RECORD_STACK_WRITE_H

#include "src/model/snapshot.h"
#include "src/util/bytes.h"
#include "src/util/numbering.h"

#define STACK_MISSING_OUTER 1u
#define STACK_MISSING_INNER 2u
#define STACK_KIND_SHIFT    2u
#define STACK_KIND_BITS	    7u
#define STACK_HIDDEN_PLACE  1u
#define STACK_INLINED	    1u
#define STACK_HIDDEN	    2u

/* What is in the file so far. All zeros: nothing. */
struct stack_write {
	struct numbering texts, modules, places, nodes;
	uint32_t texts_out; /* of the texts, written */
	uint64_t *bias; /* owned; by module: pc - offset of the last place */
	size_t bias_room;
	uint8_t *site; /* owned; by id: SITE_* of stack_write.c */
	uint8_t *named; /* owned; by place */
	uint32_t sites_room, named_room;
	/* Working memory. */
	struct bytes text_part, module_part, place_part, node_part, site_part, raw;
	uint32_t new_modules, new_places, new_nodes, new_sites;
};

/* Makes `packed` the payload of the stacks of a snapshot, its wrong frees' too, that are new; empty
 * if there are none. 0 or -ENOMEM: nothing more can be written. */
int stack_write_sites(struct stack_write *w, const struct snapshot *s, struct bytes *packed);
/* The same of the names that are known and not yet written. */
int stack_write_names(struct stack_write *w, const struct snapshot *s, struct bytes *packed);
void stack_write_free(struct stack_write *w);

#endif
