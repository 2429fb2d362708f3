/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A timeline resampled to a number of cells, as the screen draws it. Each cell has the extremes of
 * its time, so a spike is visible at every width, and stands for one kept tick. Pure.
 */
#ifndef SRC_MODEL_STRIP_H
#define SRC_MODEL_STRIP_H

#include "src/model/timeline.h"

#define STRIP_CELLS 512

struct strip_cell {
	uint64_t low, high; /* of live bytes */
	size_t point; /* the highest kept tick of this time; without one, the last before it */
	size_t last; /* the last kept tick up to the end of this time */
	bool known; /* false: before the first tick */
	bool has_point; /* there is a tick in this very time */
	bool lost; /* events of this time were lost */
};

struct strip {
	uint64_t from_ns, step_ns; /* cell i begins at from_ns + i * step_ns */
	unsigned count; /* used cells */
	uint64_t high; /* of all cells */
	uint64_t base; /* value of the lowest line: 0, or the least where all is far above 0 */
	unsigned high_cell; /* the first one with it */
	struct strip_cell cell[STRIP_CELLS];
};

/*
 * Resamples to at most `cells` cells of a round length of time, so that cells do not move at every
 * tick. Begins at the program's start unless most of the time since then is missing. Count is 0
 * without points.
 */
void strip_make(struct strip *s, const struct timeline *t, unsigned cells);
/* The cell of a time; the first or the last one for times outside. `count` > 0. */
unsigned strip_cell_at(const struct strip *s, uint64_t ns);

#endif
