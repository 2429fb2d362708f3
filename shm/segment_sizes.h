/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How large a new segment is: the number of elements in each region, the live table included. The
 * viewer's main thread and the library's start-up call this.
 */
#ifndef SHM_SEGMENT_SIZES_H
#define SHM_SEGMENT_SIZES_H

#include "shm/layout.h"

/*
 * SEGMENT_FULL is sparse and takes memory as it grows (up to ~60 million blocks in the overflow
 * alone, four million sites). Its live table covers 64 GB of the address space, or less under
 * limits. SEGMENT_NARROW is sparse, too, and fits into the address space of a 32-bit program.
 * SEGMENT_SMALL fits everything into 48 MB, for kernels that cannot populate a range on
 * request (before Linux 5.14, where all of it is allocated at once) and for tight limits.
 */
enum segment_size { SEGMENT_FULL, SEGMENT_NARROW, SEGMENT_SMALL };
/* What a program makes for itself. */
#define SEGMENT_OWN (UINTPTR_MAX == UINT32_MAX ? SEGMENT_NARROW : SEGMENT_FULL)

/* The number of elements in each region; of the index, levels; of the live table, pieces and levels
 * of the overflow. */
struct segment_sizes {
	uint32_t threads, modules, strings, index_log2, index_levels, nodes, sites, hists,
		live_log2, live_levels;
	uint32_t pieces;
	uint32_t rings; /* slots from this one on have none */
	uint32_t mapped, mappings;
};

/* The sizes for a new segment, with as many pieces, then sites, as our limits allow. Returns the
 * size of the file in bytes. */
uint64_t segment_sizes_choose(enum segment_size size, struct segment_sizes *sizes);
/* 0, or -EFBIG: a file of `bytes` would exceed RLIMIT_FSIZE, and growing it raise SIGXFSZ. */
int segment_sizes_check(uint64_t bytes);
/* Lays out the regions one after another. Returns the size of the file in bytes. */
uint64_t segment_sizes_lay_out(
	const struct segment_sizes *sizes, struct ht_region region[HT_REGION_COUNT]);
/* Writes the sizes and the layout into the header. */
void segment_sizes_write(struct ht_header *h, const struct segment_sizes *sizes);

#endif
