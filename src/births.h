/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When the blocks that are alive were born: of what was allocated between two moments, how much is
 * still there. The live table tells, and costs a walk over all blocks, so it is asked only when a
 * moment was marked, and no more often than that takes a small part of the time. Main thread.
 */
#ifndef SRC_BIRTHS_H
#define SRC_BIRTHS_H

#include "src/model/moments.h"
#include "src/read/read.h"

struct births_site {
	uint64_t blocks, bytes; /* alive, born in between */
	uint64_t of; /* blocks allocated in between, when that was looked at */
};

/* Empty is all zeros. */
struct births {
	struct births_site *site; /* owned, by id */
	uint32_t room;
	bool known;
	uint64_t due_ns;
	/* What the last walk was of. */
	const struct snap_moment *since, *until, *last;
	uint64_t alive_blocks, alive_bytes, of; /* born after the last moment; of so many blocks */
};

/*
 * Looks, if it is time to, or what is asked for is not what was looked at last. `s` has since,
 * until and moments set, and the time of its figures is now.
 */
void births_look(struct births *b, struct read_segment *segment, const struct moments *m,
	const struct snapshot *s, uint64_t now_ns);
/* Fills in what is known. */
void births_tell(const struct births *b, struct snapshot *s, struct snap_site *sites);
void births_free(struct births *b);

#endif
