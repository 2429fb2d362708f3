/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A single snapshot as the screen sees it (still_source.h). Main thread. */
#include "src/run/still_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "src/model/moment.h"
#include "src/record/event_snapshot.h"
#include "src/run/failure.h"
#include "src/run/report.h"
#include "src/run/snapshot_file.h"
#include "src/run/source_search.h"
#include "src/util/clock.h"

struct still_source {
	struct snapshot *shown;
	struct snapshot *peak; /* made when it is asked for */
	bool at_peak; /* that is shown */
	const struct options *options;
	struct source_cache *sources; /* made when they are asked for */
	bool has_detail; /* of the last site that was asked for */
	struct snap_detail detail;
};

struct still_source *still_source_open(struct snapshot *shown, const struct options *o)
{
	struct still_source *s = calloc(1, sizeof(*s));

	if (!s) {
		snapshot_unref(shown);
		failure_print_errno("cannot open the screen", ENOMEM);
		return NULL;
	}
	s->shown = shown;
	s->options = o;
	return s;
}

void still_source_close(struct still_source *s)
{
	snapshot_unref(s->shown);
	snapshot_unref(s->peak);
	source_cache_free(s->sources);
	free(s);
}

struct snapshot *still_source_tick(void *screen, const char **error)
{
	struct still_source *s = screen;
	struct snapshot *now = s->at_peak ? s->peak : s->shown;

	snapshot_ref(now);
	return now;
}

/* Only a recording of all events has more of a site than its row. Nothing changes, so it is read
 * once for each site whose detail is opened. */
int still_source_detail(
	void *screen, const struct snapshot *of, uint32_t site, struct snap_detail *out)
{
	struct still_source *s = screen;

	if (s->at_peak)
		return -ENODATA;
	if (!s->has_detail || s->detail.id != site)
		s->has_detail = event_snapshot_detail(s->shown, site, &s->detail) == 0;
	*out = s->detail;
	return s->has_detail ? 0 : -ENODATA;
}

int still_source_moment_show(void *screen, const struct moment *m, char *msg, size_t cap)
{
	struct still_source *s = screen;

	if (m->kind != SNAP_NOW && m->kind != SNAP_PEAK) {
		snprintf(msg, cap, "a report has no history");
		return -ENODATA;
	}
	/* A diff has rows of two sides. */
	if (m->kind == SNAP_PEAK && !s->peak && !s->shown->since)
		s->peak = moment_peak(s->shown);
	if (m->kind == SNAP_PEAK && !s->peak) {
		snprintf(msg, cap, "%s",
			s->shown->since ? "for a diff of the peaks, use --at peak"
					: "the report lacks the composition of the peak");
		return -ENODATA;
	}
	s->at_peak = m->kind == SNAP_PEAK;
	return 0;
}

int still_source_fds(void *screen, struct pollfd *fds, int max)
{
	struct still_source *s = screen;

	if (!s->sources || max < 1)
		return 0;
	fds[0] = (struct pollfd){ source_cache_fd(s->sources), POLLIN, 0 };
	return 1;
}

bool still_source_ready(void *screen)
{
	struct still_source *s = screen;

	return s->sources && source_cache_collect(s->sources);
}

uint64_t still_source_now(void *screen)
{
	return clock_monotonic_ns();
}

const struct source_text *still_source_text(void *screen, const struct frame *f)
{
	struct still_source *s = screen;

	if (!s->sources)
		s->sources = source_search_new(s->options);
	return s->sources ? source_cache_get(s->sources, f->file, f->module->path) : NULL;
}

void still_source_text_forget(void *screen)
{
	struct still_source *s = screen;

	if (s->sources)
		source_cache_forget(s->sources);
}

void still_source_export_options(void *screen, struct export_options *e)
{
	struct still_source *s = screen;

	report_options(e, s->options);
}

int still_source_save(void *screen, const struct snapshot *rows, const struct export_options *e,
	const char *format, char *msg, size_t cap)
{
	(void)screen; /* it is all in the rows */

	return snapshot_file_save(rows, e, format, msg, cap);
}
