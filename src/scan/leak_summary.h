/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A leak scan's result as part of a snapshot, for reports and the screen. Main thread.
 */
#ifndef SRC_SCAN_LEAK_SUMMARY_H
#define SRC_SCAN_LEAK_SUMMARY_H

#include "src/leak/analysis/suppressions.h"
#include "src/model/snapshot.h"
#include "src/read/read.h"

struct leak_scan_options;
struct leak_summary;
struct scan_outcome;

/* Scans the process now, or at its end if `request` says so. NULL only without memory: the summary
 * of a failed scan holds the reason. One on another machine is waited for, and is scanned there. */
struct leak_summary *leak_summary_run(
	struct read_segment *s, const struct leak_scan_options *request);
/* The summary of a scan that was made, with what is in blocks if that was requested; frees the
 * outcome. NULL: out of memory. */
struct leak_summary *leak_summary_of(struct scan_outcome *o, bool contents);
/* The summary of a scan that could not begin; copies `why`. */
struct leak_summary *leak_summary_failed(const char *why);
/* Compares it with the previous successful scan, or NULL: what is new since. */
void leak_summary_compare(struct leak_summary *c, const struct leak_summary *before);
/* Suppresses what `rules` match, by the names in `s`, a snapshot of the same image. Whether that
 * changed anything. Call it again when new names or rules arrive. */
bool leak_summary_suppress(
	struct leak_summary *c, const struct snapshot *s, const struct suppressions *rules);
/* Rows that are not suppressed, but would be by `rules`: of one call site, and of others. */
struct leak_summary_matched {
	size_t own, others;
};
void leak_summary_match(const struct leak_summary *c, const struct snapshot *s,
	const struct suppressions *rules, uint32_t site, struct leak_summary_matched *out);
const struct snap_leaks *leak_summary_result(const struct leak_summary *c);
void leak_summary_free(struct leak_summary *c);

#endif
