/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Histograms of block sizes and lifetimes, of the program or of one site: a list of lines, with
 * headings, that a view draws anywhere. Main thread.
 */
#ifndef TUI_HISTOGRAM_H
#define TUI_HISTOGRAM_H

#include "src/model/snapshot.h"

struct histogram {
	const struct snap_size *sizes; /* SNAP_SIZE_BUCKETS */
	const uint64_t *lifetimes; /* SNAP_LIFE_BUCKETS, frees */
	bool live_only; /* how many blocks of each size were ever allocated is unknown */
	bool in_range; /* it is of a range of time: what was allocated and freed in it */
	bool known; /* false: they could not be read */
};

size_t histogram_lines(const struct histogram *h);
/* The lines about sizes, which come first. */
size_t histogram_size_lines(const struct histogram *h);
/* Draws line i, which is less than histogram_lines. */
void histogram_draw(const struct histogram *h, size_t i, int y, int x, unsigned cells);

#endif
