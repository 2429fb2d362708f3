/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What differs between two moments, runs or builds: the call sites of two sides, matched by their
 * stacks of function names (match.h), with the figures of both, what changed, and with several runs
 * a side whether that is more than chance (rank_test.h). Main thread.
 */
#ifndef SRC_DIFF_DIFF_H
#define SRC_DIFF_DIFF_H

#include <stdbool.h>
#include "src/diff/ways.h"
#include "src/model/value.h"

#define DIFF_RUNS_MAX 64 /* on each side; RANK_TEST_MAX */

enum diff_kind {
	DIFF_SAME,
	DIFF_MOVED, /* equal figures, but the stacks differ: DIFF_BY_PREFIX and below */
	DIFF_GREW,
	DIFF_SHRANK,
	DIFF_APPEARED, /* no site in A */
	DIFF_VANISHED /* no site in B */
};

/* What a difference of two figures is worth. */
enum diff_sure {
	DIFF_ONE_RUN, /* a side has one run: whether it repeats is unknown */
	DIFF_EXACT, /* all runs of a side have the same figure */
	DIFF_TESTED /* the figures scatter: `p` */
};

/* A figure on both sides. */
struct diff_change {
	uint64_t a, b; /* with several runs, their medians */
	enum diff_sure sure;
	double p; /* DIFF_TESTED: the probability of such a difference by chance */
	/* It is no chance: for DIFF_TESTED, `p` passes (for rows, among all rows), and the change
	 * is not below DIFF_FLOOR_*. */
	bool real;
};

#define DIFF_FLOOR_BYTES 1024u
#define DIFF_FLOOR_COUNT 8u
#define DIFF_FLOOR_PART	 0.005 /* of the larger figure */
#define DIFF_ALPHA	 0.05 /* chance that passes for no change */

struct diff_row {
	enum diff_kind kind; /* by diff.value */
	enum diff_match match;
	const struct snap_site *a,
		*b; /* that allocates most, of those whose stacks differ; or NULL */
	uint32_t sites_a, sites_b; /* number of sites summed up */
	struct diff_change change[VALUE_COUNT];
};

struct diff {
	enum snap_value value; /* what rows are judged and sorted by */
	const struct snapshot *const *a, *const *b; /* the runs, `na` and `nb` */
	size_t na, nb;
	bool known[VALUE_COUNT]; /* all snapshots have it; else it is 0 in rows */
	struct diff_change total[VALUE_COUNT];
	/* DIFF_TESTED of total[value]: interval of the change with the certainty 1 - DIFF_ALPHA. */
	bool has_interval;
	double low, high;
	double p_least; /* the least p that so many runs can give */
	uint64_t unmatched_a[VALUE_COUNT], unmatched_b[VALUE_COUNT]; /* in rows DIFF_UNMATCHED */
	struct diff_row *rows; /* real changes first, the largest one first */
	size_t nrows;
	size_t nchanged; /* rows with a real change; they come first, */
	size_t nmoved; /* then the rows DIFF_MOVED */
	size_t nscattered; /* rows whose change is not real */
};

/* 1 to DIFF_RUNS_MAX snapshots a side, which must outlive the result. NULL: no memory. */
struct diff *diff_make(const struct snapshot *const *a, size_t na, const struct snapshot *const *b,
	size_t nb, enum snap_value value);
void diff_free(struct diff *d);
/* "grew", "appeared", ...; and "stack", "own-stack", "prefix", "part", "function", "none". Static.
 */
const char *diff_kind_word(enum diff_kind kind);
const char *diff_match_word(enum diff_match match);
/* "exact", "tested", "one-run". Static. */
const char *diff_sure_word(enum diff_sure sure);

#endif
