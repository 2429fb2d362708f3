/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak scans as payloads, packed (block_pack). One has sums, call sites by class, and rounds, in
 * the order of the tables in leak_block.c. Another may follow it, which older readers pass over:
 * holders, retained sizes, types, cycles, and paths to the blocks of the first call sites
 * (leak_details.h). Contents are in neither. Main thread.
 */
#ifndef SRC_RECORD_LEAK_BLOCK_H
#define SRC_RECORD_LEAK_BLOCK_H

#include "src/model/snapshot.h"
#include "src/record/arena.h"
#include "src/util/bytes.h"

/* Appends the raw payload. */
void leak_block_put(struct bytes *raw, const struct snap_leaks *l);
/* Reads a raw payload into `arena`. NULL and errno: EBADMSG, ENOMEM. */
struct snap_leaks *leak_block_read(const struct bytes *raw, struct arena *arena);

#endif
