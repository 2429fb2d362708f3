/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording as the screen sees it (replay_source.h). Main thread. */
#include "src/run/replay_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/run/failure.h"
#include "src/run/replay.h"
#include "src/run/report.h"
#include "src/run/snapshot_file.h"
#include "src/run/source_search.h"
#include "src/util/clock.h"
#include "src/util/error_hint.h"
#include "src/util/text.h"

struct replay_source {
	const struct options *options;
	struct replay *replay;
	size_t image; /* on the screen */
	struct moment moment; /* of it */
	unsigned since, until; /* marks that the user chose; 0: none */
	struct process_row row[PROCESSES_MAX];
	struct leaks leaks;
	struct source_cache *sources; /* made when they are asked for */
};

int replay_source_open(struct replay_source **out, const struct options *o)
{
	struct replay_source *s = calloc(1, sizeof(*s));
	int rc = FAILURE_EXIT;

	*out = NULL;
	if (!s)
		return failure_print_errno("cannot open the recording", -ENOMEM);
	s->options = o;
	s->replay = replay_open(o->file);
	if (s->replay) {
		s->image = replay_program(s->replay);
		rc = replay_at(s->replay, s->image, o->at, &s->moment);
	}
	if (rc == 0)
		*out = s;
	else
		replay_source_close(s);
	return rc;
}

void replay_source_close(struct replay_source *s)
{
	replay_free(s->replay);
	source_cache_free(s->sources);
	free(s);
}

static const struct snapshot *last_shown(const struct replay_source *s)
{
	return replay_last(s->replay, s->image);
}

/* ---- moments ------------------------------------------------------------------------------ */

static const struct snap_mark *mark_of(const struct snapshot *s, unsigned number)
{
	const struct snap_mark *m = number ? s->moments : NULL;

	while (m && m->number != number)
		m = m->before;
	return m;
}

/* From a mark to another one, or to the moment on the screen. */
static struct snapshot *since_mark(struct replay_source *s, const struct snap_mark *since)
{
	const struct snap_mark *until = mark_of(last_shown(s), s->until);
	struct moment m = { .kind = SNAP_RANGE, .ns = s->moment.ns, .from_ns = since->ns };
	struct snapshot *made;

	if (s->moment.kind == SNAP_NOW)
		m.ns = last_shown(s)->uptime_ns;
	if (until)
		m.ns = until->ns;
	made = replay_moment(s->replay, s->image, &m);
	if (made) {
		made->since = since;
		made->until = until;
	}
	return made;
}

struct snapshot *replay_source_moment_take(void *screen)
{
	struct replay_source *s = screen;
	const struct snap_mark *since = mark_of(last_shown(s), s->since);

	if (since && s->moment.kind != SNAP_PEAK && s->moment.kind != SNAP_RANGE)
		return since_mark(s, since);
	return replay_moment(s->replay, s->image, &s->moment);
}

struct snapshot *replay_source_tick(void *screen, const char **error)
{
	static char why[256];
	struct snapshot *made = replay_source_moment_take(screen);

	if (!made)
		*error = error_hint_line(why, sizeof(why), "cannot show that moment", errno);
	return made;
}

int replay_source_detail(
	void *screen, const struct snapshot *of, uint32_t site, struct snap_detail *out)
{
	return -ENODATA;
}

int replay_source_moment_show(void *screen, const struct moment *m, char *msg, size_t cap)
{
	struct replay_source *s = screen;
	const struct timeline *t = replay_timeline(s->replay, s->image);

	if (m->kind == SNAP_PEAK && !last_shown(s)->totals.has_at_peak) {
		snprintf(msg, cap, "the recording lacks the composition of the peak");
		return -ENODATA;
	}
	if (m->kind > SNAP_PEAK && (!t || t->npoints == 0)) {
		snprintf(msg, cap, "the recording has no history of this process");
		return -ENODATA;
	}
	s->moment = *m;
	return 0;
}

const struct timeline *replay_source_timeline(void *screen)
{
	struct replay_source *s = screen;

	return replay_timeline(s->replay, s->image);
}

void replay_source_since(void *screen, unsigned since, unsigned until)
{
	struct replay_source *s = screen;

	s->since = since;
	s->until = until;
}

void replay_source_mark_name(void *screen, unsigned number, const char *name)
{
}

/* ---- processes ---------------------------------------------------------------------------- */

static void row_make(struct replay_source *s, size_t image, struct process_row *row)
{
	const struct snapshot *last = replay_last(s->replay, image),
			      *program = replay_last(s->replay, replay_program(s->replay));

	*row = (struct process_row){ .id = image + 1,
		.pid = last->pid,
		.parent = last->pid != program->pid ? program->pid : 0,
		.state = replay_is_replaced(s->replay, image) ? "replaced"
							      : snapshot_state_word(last),
		.live_bytes = last->totals.live_bytes,
		.has_live = true,
		.rss_bytes = last->proc.rss,
		.has_rss = last->proc.valid && last->proc.rss > 0,
		.shown = image == s->image };
	text_clean(row->command, sizeof(row->command), last->command, strlen(last->command));
}

size_t replay_source_processes(void *screen, const struct process_row **rows, size_t *more)
{
	struct replay_source *s = screen;
	size_t all = replay_images(s->replay), count = all < PROCESSES_MAX ? all : PROCESSES_MAX;

	for (size_t i = 0; i < count; i++)
		row_make(s, i, &s->row[i]);
	processes_arrange(s->row, count, replay_last(s->replay, replay_program(s->replay))->pid);
	*rows = s->row;
	*more = all - count;
	return count;
}

/* The screen stays at the instant that it shows, if the other image had begun by then. */
int replay_source_process_show(void *screen, uint64_t id, char *msg, size_t cap)
{
	struct replay_source *s = screen;
	struct moment then = { .kind = SNAP_NOW };

	if (id == 0 || id > replay_images(s->replay)) {
		snprintf(msg, cap, "the recording has no such process");
		return -ESRCH;
	}
	if (!replay_moment_of(s->replay, id - 1, s->image, &s->moment, &then))
		then = (struct moment){ .kind = SNAP_NOW };
	s->image = id - 1;
	s->moment = then;
	s->since = s->until = 0;
	return 0;
}

/* ---- a file, leaks, sources --------------------------------------------------------------- */

void replay_source_export_options(void *screen, struct export_options *e)
{
	struct replay_source *s = screen;

	report_options(e, s->options);
	e->timeline = replay_timeline(s->replay, s->image);
}

int replay_source_save(void *screen, const struct snapshot *rows, const struct export_options *e,
	const char *format, char *msg, size_t cap)
{
	(void)screen; /* it is all in the rows */

	return snapshot_file_save(rows, e, format, msg, cap);
}

bool replay_source_has_leaks(const struct replay_source *s)
{
	for (size_t i = 0; i < replay_images(s->replay); i++)
		if (replay_last(s->replay, i)->leaks)
			return true;
	return false;
}

const struct leaks *replay_source_scan_state(void *screen)
{
	struct replay_source *s = screen;

	s->leaks = (struct leaks){ .last = last_shown(s)->leaks,
		.number = last_shown(s)->leaks != NULL,
		.version = (unsigned)s->image + 1 };
	return &s->leaks;
}

int replay_source_fds(void *screen, struct pollfd *fds, int max)
{
	struct replay_source *s = screen;

	if (!s->sources || max < 1)
		return 0;
	fds[0] = (struct pollfd){ source_cache_fd(s->sources), POLLIN, 0 };
	return 1;
}

bool replay_source_ready(void *screen)
{
	struct replay_source *s = screen;

	return s->sources && source_cache_collect(s->sources);
}

uint64_t replay_source_now(void *screen)
{
	return clock_monotonic_ns();
}

const struct source_text *replay_source_text(void *screen, const struct frame *f)
{
	struct replay_source *s = screen;

	if (!s->sources)
		s->sources = source_search_new(s->options);
	return s->sources ? source_cache_get(s->sources, f->file, f->module->path) : NULL;
}

void replay_source_text_forget(void *screen)
{
	struct replay_source *s = screen;

	if (s->sources)
		source_cache_forget(s->sources);
}
