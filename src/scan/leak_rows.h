/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of a leak scan's result, and what suppressions leave of them. If only some blocks of a
 * row are suppressed, with the leak that leads to them, two rows replace it: the remaining and the
 * suppressed blocks. Main thread.
 */
#ifndef SRC_SCAN_LEAK_ROWS_H
#define SRC_SCAN_LEAK_ROWS_H

#include "src/leak/analysis/result.h"
#include "src/leak/analysis/suppressions.h"
#include "src/model/snapshot.h"

struct leak_rows {
	struct snap_leak_site *found; /* as the scan found them; the caller fills them in */
	enum suppressions_how *how; /* of each row, set by the caller; SUPPRESSIONS_NONE at first */
	size_t count;
	struct snap_leak_site *shown; /* remaining and suppressed rows */
	struct snap_leak_sum sum[SNAP_LEAK_CLASSES]; /* as the scan found them */
	struct leak_lost_graph lost_graph;
	struct snap_leak_block *blocks; /* of all rows, the caller's; NULL: none are shown */
	uint32_t *block_lost; /* per shown block: its number in `lost_graph` */
};

/* Makes the rows of a result, and takes over its lost_graph. 0 or -ENOMEM. */
int leak_rows_make(struct leak_rows *rows, struct leak_result *r);
void leak_rows_free(struct leak_rows *rows);
/* Sets the sites and sums of `out` to what `how` leaves. Reorders the blocks of a row that is
 * split. */
void leak_rows_show(struct leak_rows *rows, struct snap_leaks *out);

#endif
