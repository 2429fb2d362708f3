/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When the blocks that are alive were born: of what was allocated between two moments, how much is
 * still there. The live table tells: it is walked for it (src/session/live_walk.h), once a moment
 * was marked. Main thread.
 */
#ifndef SRC_SESSION_SINCE_MARK_H
#define SRC_SESSION_SINCE_MARK_H

#include "src/model/moments.h"
#include "src/read/read.h"

struct since_mark_site {
	uint64_t blocks, bytes; /* alive, born in between */
	uint64_t of; /* blocks allocated in between, when that was looked at */
};

/* Empty is all zeros. */
struct since_mark {
	struct since_mark_site *site; /* owned, by id */
	uint32_t room;
	bool known;
	struct since_mark_walk *walk; /* while there is one */
	/* What the last walk was of. */
	const struct snap_moment *since, *until, *last;
	uint64_t alive_blocks, alive_bytes, of; /* born after the last moment; of so many blocks */
};

/* Whether what is asked for is not what was looked at last. `s` has since, until and moments set.
 */
bool since_mark_differ(
	const struct since_mark *b, const struct moments *m, const struct snapshot *s);
/* Before a walk over the live table (src/session/live_walk.h); `s` is of now. -ENOMEM. */
int since_mark_start(struct since_mark *b, const struct moments *m, const struct snapshot *s);
/* During it, for each block; and after it: `whole` if all were seen. */
void since_mark_block(struct since_mark *b, const struct read_block *block);
void since_mark_end(
	struct since_mark *b, const struct moments *m, const struct snapshot *s, bool whole);
/* Fills in what is known. */
void since_mark_fill(const struct since_mark *b, struct snapshot *s, struct snap_site *sites);
void since_mark_free(struct since_mark *b);

#endif
