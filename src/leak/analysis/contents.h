/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The contents of blocks: zeros, and copies of other blocks, summed up by call site. Blocks are
 * equal if they have the same size and the same bytes: two blocks of the same hash are compared.
 * None of the contents are kept. Pure; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_CONTENTS_H
#define SRC_LEAK_ANALYSIS_CONTENTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/leak/analysis/blocks.h"

/* Blocks whose hashes are remembered, 8 bytes each; further ones are compared with these alone. */
#define LEAK_CONTENTS_MOST (12u << 20)

/* A tail of zeros counts from this size on, or if it is half of its block. */
#define LEAK_CONTENTS_TAIL 64u

struct leak_contents_sum {
	uint64_t blocks, bytes;
};

struct leak_site_contents {
	uint32_t site;
	struct leak_contents_sum read; /* the blocks that could be read */
	struct leak_contents_sum zero; /* nothing but zeros */
	struct leak_contents_sum tail; /* blocks that end in zeros, and the bytes of these tails */
	/* Neither, or with a tail: equal to another block, of whichever site, at a lower address.
	 */
	struct leak_contents_sum copies;
};

struct leak_contents {
	struct leak_site_contents *site; /* those with blocks, by id */
	size_t sites;
	struct leak_site_contents all; /* site 0 */
	bool is_whole; /* all blocks were read and remembered */
};

/* Access to the memory of one instant. */
struct leak_contents_memory {
	void *ctx;
	/* Bytes read, fewer than `bytes` where memory ends, or less than 1. */
	ssize_t (*read)(void *ctx, uint64_t addr, void *out, size_t bytes);
	bool (*is_stopped)(void *ctx); /* the result is no longer wanted */
};

/* `blocks` is finished (blocks.h). 0, -ENOMEM or -ECANCELED, with nothing to free. */
int leak_contents_find(struct leak_contents *c, const struct leak_blocks *blocks,
	const struct leak_contents_memory *memory);
void leak_contents_free(struct leak_contents *c);

#endif
