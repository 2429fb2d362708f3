/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Marks as blocks, packed (block_pack): number, name, ns, live bytes, live blocks, allocs,
 * allocated bytes; the number of sites, and for each of them: gap of the id, the same four figures.
 * A mark that appears again has got a new name, and has no sites. Main thread.
 */
#ifndef SRC_RECORD_MARK_BLOCK_H
#define SRC_RECORD_MARK_BLOCK_H

#include "src/model/mark_list.h"
#include "src/util/bytes.h"

/* The marks of a stream that are written. All zeros: none. */
struct mark_writer {
	struct mark_written *marks; /* owned; by number */
	size_t count, room;
};

/* Appends blocks for marks that are new or have a new name. 0 or -ENOMEM. */
int mark_writer_add(
	struct mark_writer *w, uint32_t stream, const struct snap_mark *last, struct bytes *out);
void mark_writer_free(struct mark_writer *w);
/* Adds a mark from a raw payload to the list, or renames it. 0, -EBADMSG, -ENOMEM. */
int mark_block_read(struct mark_list *marks, const struct bytes *raw);

#endif
