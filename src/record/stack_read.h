/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stacks of a recorded stream, from its STACKS and NAMES blocks (stack_write.h): checked
 * when they are read, built when first asked for. Main thread.
 */
#ifndef SRC_RECORD_STACK_READ_H
#define SRC_RECORD_STACK_READ_H

#include "src/model/snapshot.h"
#include "src/record/arena.h"
#include "src/record/number_table.h"
#include "src/util/bytes.h"

/* All zeros: empty. Arrays are numbered as in the file, from 1. */
struct stack_read {
	struct arena arena;
	const char **text;
	struct stack_module **module;
	struct stack_place *place;
	struct stack_node *node;
	size_t texts, modules, places, nodes;
	size_t text_room, module_room, place_room, node_room;
	struct stack_site *site; /* in the order of the file */
	struct number_table positions; /* of sites by id, from 1 */
	size_t sites, site_room;
};

/* For all streams of a file: a small one may name very many modules, and repeat the frames of a
 * long call stack in very many sites. */
struct stack_limits {
	uint64_t modules; /* that may still be read */
	uint64_t payload_bytes; /* of call stacks, read so far */
	uint64_t frame_bytes,
		frame_bytes_most; /* of the frame arrays built so far, and the limit */
};

/* Read a raw payload. 0, -EBADMSG, -ENOMEM: what came before stays valid. */
int stack_read_sites(struct stack_read *r, const struct bytes *raw, struct stack_limits *most);
int stack_read_names(struct stack_read *r, const struct bytes *raw);
/* Fills in a site's stack, function and kind, valid until stack_read_free. Beyond the limits, a
 * stack has only its innermost frames and is marked truncated. False: unknown, or no memory. */
bool stack_read_get(
	struct stack_read *r, uint32_t id, struct stack_limits *limits, struct snap_site *out);
void stack_read_free(struct stack_read *r);

#endif
