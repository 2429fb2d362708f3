/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A leak scan's result in the form of the snapshot, for reports and screen. Main thread.
 */
#ifndef SRC_SCAN_LEAK_SUMMARY_H
#define SRC_SCAN_LEAK_SUMMARY_H

#include "src/leak/analysis/suppressions.h"
#include "src/model/snapshot.h"
#include "src/read/read.h"

struct leak_scan_options;
struct leak_summary;

/* Scans the process now, or, as the wish says, at its end. Never NULL but without memory: a scan
 * that was not possible says why. */
struct leak_summary *leak_summary_run(
	struct read_segment *s, const struct leak_scan_options *request);
/* For one that could not even begin; `why` is copied. */
struct leak_summary *leak_summary_failed(const char *why);
/* Compares it with the scan before, NULL if there was none that worked: what is new since. */
void leak_summary_compare(struct leak_summary *c, const struct leak_summary *before);
/* Takes what `rules` match out of the classes, by the names in `s`, a snapshot of the same image.
 * Whether there was any; to be called again while names come in, and when there are more rules. */
bool leak_summary_suppress(
	struct leak_summary *c, const struct snapshot *s, const struct suppressions *rules);
/* Rows that are not suppressed, but would be by `rules`: of a call site, and of others. */
struct leak_summary_matched {
	size_t own, others;
};
void leak_summary_match(const struct leak_summary *c, const struct snapshot *s,
	const struct suppressions *rules, uint32_t site, struct leak_summary_matched *out);
const struct snap_leaks *leak_summary_result(const struct leak_summary *c);
void leak_summary_free(struct leak_summary *c);

#endif
