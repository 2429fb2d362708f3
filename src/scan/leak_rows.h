/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of a leak scan's result, and what is left of them when some are suppressed: a row's
 * blocks may go in part, with the leaks that lead to them. Then there are two rows, of what stays
 * and of what went. Main thread.
 */
#ifndef SRC_SCAN_LEAK_ROWS_H
#define SRC_SCAN_LEAK_ROWS_H

#include "src/leak/analysis/result.h"
#include "src/leak/analysis/suppressions.h"
#include "src/model/snapshot.h"

struct leakrows {
	struct snap_leak_site *found; /* as the scan found them, for the caller to fill in */
	enum suppress_how *how; /* of each, for the caller to set; SUPPRESS_NOT at first */
	size_t count;
	struct snap_leak_site *shown; /* what is left, and what went */
	struct snap_leak_sum sum[SNAP_LEAK_CLASSES]; /* as the scan found them */
	struct leak_behind behind;
	struct snap_leak_block *blocks; /* of all rows; the caller's, NULL: none are shown */
	uint32_t *block_lost; /* by these: their numbers in `behind` */
};

/* Room for the rows of a result, of which it takes `behind`. 0 or -ENOMEM. */
int leakrows_make(struct leakrows *rows, struct leak_result *r);
void leakrows_free(struct leakrows *rows);
/* Sets sites and sums of the result to what `how` leaves. The blocks of a row that is cut in two
 * change places. */
void leakrows_show(struct leakrows *rows, struct snap_leaks *out);

#endif
