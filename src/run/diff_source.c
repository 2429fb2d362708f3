/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diff on the screen (diff_source.h). Main thread. */
#include "src/run/diff_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/diff/diff_snapshot.h"
#include "src/run/failure.h"
#include "src/util/clock.h"
#include "src/util/text.h"

struct diff_source {
	struct diff_run *run;
	struct snapshot *shown;
	char notice[320];
};

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

static bool snapshot_open(struct diff_source *s, const struct options *o)
{
	char a[SNAP_MARK_NAME], b[SNAP_MARK_NAME];

	side_name('A', &o->diff[0], a, sizeof(a));
	side_name('B', &o->diff[1], b, sizeof(b));
	s->shown = diff_snapshot_make(diff_run_diff(s->run), a, b);
	if (!s->shown)
		return false;
	snprintf(s->notice, sizeof(s->notice),
		"DIFF: this is %s; SINCE and NEW are its changes from %s", b, a);
	s->shown->notice = s->notice;
	return true;
}

struct diff_source *diff_source_open(struct diff_run *r, const struct options *o)
{
	struct diff_source *s = calloc(1, sizeof(*s));

	if (s) {
		s->run = r;
		if (snapshot_open(s, o))
			return s;
	}
	free(s);
	diff_run_free(r);
	failure_print_errno("cannot open the screen", ENOMEM);
	return NULL;
}

void diff_source_close(struct diff_source *s)
{
	snapshot_unref(s->shown);
	diff_run_free(s->run);
	free(s);
}

struct snapshot *diff_source_tick(void *source, const char **error)
{
	struct diff_source *s = source;

	snapshot_ref(s->shown);
	return s->shown;
}

uint64_t diff_source_now(void *source)
{
	return clock_monotonic_ns();
}
