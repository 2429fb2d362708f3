/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A leak scan's result in the form of the snapshot, for reports and screen. Main thread.
 */
#ifndef SRC_SCAN_LEAK_SUMMARY_H
#define SRC_SCAN_LEAK_SUMMARY_H

#include "src/leak/analysis/suppressions.h"
#include "src/model/snapshot.h"
#include "src/read/read.h"

struct leak_wish;
struct leakcheck;

/* Scans the process now, or, as the wish says, at its end. Never NULL but without memory: a scan
 * that was not possible says why. */
struct leakcheck *leakcheck_run(struct read_segment *s, const struct leak_wish *wish);
/* For one that could not even begin; `why` is copied. */
struct leakcheck *leakcheck_failed(const char *why);
/* Compares it with the scan before, NULL if there was none that worked: what is new since. */
void leakcheck_compare(struct leakcheck *c, const struct leakcheck *before);
/* Takes what `rules` match out of the classes, by the names in `s`, a snapshot of the same image.
 * Whether there was any; to be called again while names come in, and when there are more rules. */
bool leakcheck_suppress(
	struct leakcheck *c, const struct snapshot *s, const struct suppress *rules);
/* Rows that are not suppressed, but would be by `rules`: of a call site, and of others. */
struct leakcheck_matched {
	size_t own, others;
};
void leakcheck_match(const struct leakcheck *c, const struct snapshot *s,
	const struct suppress *rules, uint32_t site, struct leakcheck_matched *out);
const struct snap_leaks *leakcheck_result(const struct leakcheck *c);
void leakcheck_free(struct leakcheck *c);

#endif
