/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sizes and lifetimes of blocks as bars, of the program or of one site: a list of lines, headings
 * included, drawn wherever a view wants them. Main thread.
 */
#ifndef TUI_HISTOGRAM_H
#define TUI_HISTOGRAM_H

#include "src/model/snapshot.h"

struct histogram {
	const struct snap_size *sizes; /* SNAP_SIZE_BUCKETS */
	const uint64_t *lifetimes; /* SNAP_LIFE_BUCKETS, frees */
	bool known; /* false: they could not be read */
};

size_t histogram_lines(const struct histogram *h);
/* Those of the sizes, which come first. */
size_t histogram_size_lines(const struct histogram *h);
/* Line i, which is below histogram_lines. */
void histogram_draw(const struct histogram *h, size_t i, int y, int x, unsigned cells);

#endif
