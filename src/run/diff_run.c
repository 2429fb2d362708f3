/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of --diff, loaded and compared (diff_run.h). Main thread. */
#include "src/run/diff_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/diff/diff_snapshot.h"
#include "src/model/ignored.h"
#include "src/run/failure.h"
#include "src/run/load.h"
#include "src/util/text.h"

struct diff_run {
	struct snapshot *run[2][DIFF_RUNS_MAX];
	size_t count[2];
	struct diff *diff;
	char notice[320]; /* of the snapshot */
};

static void runs_drop(struct diff_run *r)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < r->count[side]; i++)
			snapshot_unref(r->run[side][i]);
}

/* 0, or after one line on stderr the exit status. What was loaded stays. */
static int runs_load(struct diff_run *r, struct ignored *g, const struct options *o)
{
	for (int side = 0; side < 2; side++)
		for (unsigned i = 0; i < o->diff[side].count; i++) {
			struct snapshot *run = load_open(o->diff[side].file[i], o);

			if (!run)
				return FAILURE_EXIT;
			r->run[side][r->count[side]++] = ignored_take(g, run);
		}
	return 0;
}

/* Without the composition of some run's peak, sites are compared by their own peaks. */
static enum snap_value value_known_to_all(const struct diff_run *r, enum snap_value value)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < r->count[side]; i++)
			if (!value_known(&r->run[side][i]->totals, value))
				return VALUE_OWN_PEAK;
	return value;
}

static struct diff *runs_compare(const struct diff_run *r, enum snap_value value)
{
	return diff_make((const struct snapshot *const *)r->run[0], r->count[0],
		(const struct snapshot *const *)r->run[1], r->count[1],
		value_known_to_all(r, value));
}

struct diff_run *diff_run_open(const struct options *o)
{
	struct ignored *g;
	int rc;
	struct diff_run *r = calloc(1, sizeof(*r));

	if (!r) {
		failure_print_errno("cannot compare", ENOMEM);
		return NULL;
	}
	g = ignored_new(&o->ignored);
	rc = runs_load(r, g, o);
	ignored_free(g);
	if (rc == 0) {
		r->diff = runs_compare(r, o->value);
		if (r->diff)
			return r;
		failure_print_errno("cannot compare", ENOMEM);
	}
	diff_run_free(r);
	return NULL;
}

void diff_run_free(struct diff_run *r)
{
	if (!r)
		return;
	diff_free(r->diff);
	runs_drop(r);
	free(r);
}

const struct diff *diff_run_diff(const struct diff_run *r)
{
	return r->diff;
}

/* "A (old.json)", "B (3 runs)" */
static void side_name(char side, const struct options_side *files, char *out, size_t cap)
{
	const char *slash = strrchr(files->file[0], '/');
	const char *name = slash ? slash + 1 : files->file[0];
	char clean[48];

	text_clean(clean, sizeof(clean), name, strlen(name));
	if (files->count > 1)
		snprintf(out, cap, "%c (%u runs)", side, files->count);
	else
		snprintf(out, cap, "%c (%s)", side, clean);
}

struct snapshot *diff_run_snapshot(struct diff_run *r, const struct options *o)
{
	char a[SNAP_MARK_NAME], b[SNAP_MARK_NAME];
	struct snapshot *s;

	side_name('A', &o->diff[0], a, sizeof(a));
	side_name('B', &o->diff[1], b, sizeof(b));
	s = diff_snapshot_make(r->diff, a, b);
	if (!s) {
		failure_print_errno("cannot open the screen", ENOMEM);
		return NULL;
	}
	snprintf(r->notice, sizeof(r->notice), "DIFF: this is %s; DELTA is its %s less those of %s",
		b, s->compared->title, a);
	s->notice = r->notice;
	return s;
}
