/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diff as a snapshot, for the views that show one. Main thread. */
#ifndef SRC_DIFF_DIFF_SNAPSHOT_H
#define SRC_DIFF_DIFF_SNAPSHOT_H

#include "src/diff/diff.h"

/*
 * B, derived from its first snapshot, with a site for each row of the diff: figures are B's,
 * `since` is B - A, `compared` the diff's value on both sides; a site that has vanished is there
 * with zeros. `since` and `until` of the snapshot are marks without a number, with these names. One
 * reference, the caller's; the diff's snapshots must outlive it. NULL: no memory.
 */
struct snapshot *diff_snapshot_make(const struct diff *d, const char *a, const char *b);

#endif
