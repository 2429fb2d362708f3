/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Limits of --fail-on: "peak>64M", "allocs>1e6", "site-live>10M" for a program; "growth>5%",
 * "allocs-growth>1000", "site-growth>1M" for a diff. Pure.
 */
#ifndef SRC_RUN_CONDITION_H
#define SRC_RUN_CONDITION_H

#include <stdbool.h>
#include "src/diff/diff.h"
#include "src/model/value.h"

struct condition {
	const char *text; /* as given */
	enum snap_value value; /* "peak" is VALUE_OWN_PEAK: of the program, its peak */
	bool any_value; /* plain "growth": of the value that the diff is of */
	bool growth;
	bool site; /* of each call site, not in total */
	bool percent; /* of the figure in A; only with growth */
	double limit;
};

/* 0 or -EINVAL. `text` must outlive the condition. */
int condition_parse(const char *text, struct condition *c);

#define CONDITION_LINE_MAX 256
/*
 * Whether a program, or one of its children, is above the limit. Describes what is in `line`: the
 * highest figure, and of which site; or if none is above, the program's figure.
 */
bool condition_failed(const struct condition *c, const struct snapshot *s, char *line);
/*
 * The same for growth in a diff. A change that may be chance fails nothing, nor does a percentage
 * of a call site whose change is below DIFF_FLOOR_*.
 */
bool condition_failed_diff(const struct condition *c, const struct diff *d, char *line);

#endif
