/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A single snapshot as the screen sees it (still_source.h). Main thread. */
#include "src/run/still_source.h"

#include <errno.h>
#include <stdlib.h>
#include "src/run/failure.h"
#include "src/run/report.h"
#include "src/run/snapshot_file.h"
#include "src/run/source_search.h"
#include "src/util/clock.h"

struct still_source {
	struct snapshot *shown;
	const struct options *options;
	struct source_cache *sources; /* made when they are asked for */
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
	source_cache_free(s->sources);
	free(s);
}

struct snapshot *still_source_tick(void *screen, const char **error)
{
	struct still_source *s = screen;

	snapshot_ref(s->shown);
	return s->shown;
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
	struct still_source *s = screen;

	return snapshot_file_save(rows, e, s->options, format, msg, cap);
}
