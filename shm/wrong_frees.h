/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of wrong frees: frees of addresses that are not live blocks, and frees by the wrong
 * function or with the wrong size. Insert-only and lock-free; any thread, inside hooks.
 */
#ifndef SHM_WRONG_FREES_H
#define SHM_WRONG_FREES_H

#include "shm/segment_types.h"

struct wrong_free {
	enum ht_wrong_kind kind;
	uint32_t alloc_site; /* of the block; 0: unknown */
	uint32_t first_site; /* HT_WRONG_DOUBLE: that freed it before; 0: unknown */
	/* As in struct ht_wrong_free. */
	uint64_t addr, bytes, offset, want;
};

/* Counts a wrong free that `site` made. Without room only its kind is counted. */
void wrong_frees_add(const struct segment *s, const struct wrong_free *w, uint32_t site);

#endif
