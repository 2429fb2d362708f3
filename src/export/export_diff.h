/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Formats a diff as text, JSON or folded stacks. Pure: writes into a strbuf. The options that count
 * are `top`, `names`, `ascii`, `version` and `verdict`.
 */
#ifndef SRC_EXPORT_EXPORT_DIFF_H
#define SRC_EXPORT_EXPORT_DIFF_H

#include "src/diff/diff.h"
#include "src/export/export.h"

/* A diff, and what its runs are called: files, as given. */
struct export_diff {
	const struct diff *diff;
	const char *const *a, *const *b;
};

/* Both sides and their totals, then the top sites that changed, each with its stack. */
void export_diff_text(
	struct strbuf *out, const struct export_diff *d, const struct export_options *o);
/* One object, all sites that differ in any figure, newline-terminated (heaptop-json(5)). */
void export_diff_json(
	struct strbuf *out, const struct export_diff *d, const struct export_options *o);
/*
 * A line for each stack, outermost frame first, with the diff's value in A and in B: "main;f 10
 * 12". What difffolded.pl writes and flamegraph.pl reads.
 */
void export_diff_folded(
	struct strbuf *out, const struct export_diff *d, const struct export_options *o);

/*
 * What the total of the diff's value comes to, in a sentence: "live bytes grew by 12 (+3.4%), 99.2%
 * sure (5 and 5 runs)".
 */
#define EXPORT_DIFF_VERDICT_MAX 384
const char *export_diff_verdict(const struct diff *d, char buf[EXPORT_DIFF_VERDICT_MAX]);
/* "+12", "-1,234", "0". */
#define EXPORT_DIFF_CHANGE_MAX (UNITS_MAX + 16)
const char *export_diff_change(uint64_t a, uint64_t b, char buf[EXPORT_DIFF_CHANGE_MAX]);
/* "+3.4%", "-50.0%", "new" from 0, "" for none. */
const char *export_diff_percent(uint64_t a, uint64_t b, char buf[UNITS_MAX]);

#endif
