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

struct leak_rows {
	struct snap_leak_site *found; /* as the scan found them, for the caller to fill in */
	enum suppressions_how *how; /* of each, for the caller to set; SUPPRESSIONS_NONE at first */
	size_t count;
	struct snap_leak_site *shown; /* what is left, and what went */
	struct snap_leak_sum sum[SNAP_LEAK_CLASSES]; /* as the scan found them */
	struct leak_lost_graph lost_graph;
	struct snap_leak_block *blocks; /* of all rows; the caller's, NULL: none are shown */
	uint32_t *block_lost; /* by these: their numbers in `behind` */
};

/* Room for the rows of a result, of which it takes `behind`. 0 or -ENOMEM. */
int leak_rows_make(struct leak_rows *rows, struct leak_result *r);
void leak_rows_free(struct leak_rows *rows);
/* Sets sites and sums of the result to what `how` leaves. The blocks of a row that is cut in two
 * change places. */
void leak_rows_show(struct leak_rows *rows, struct snap_leaks *out);

#endif
