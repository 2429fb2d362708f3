/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session's marks (marks.h), on the main thread. */
#include "src/marks/marks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/clock.h"

/* Finds the file once the process image is known. */
static void marks_open(struct marks *m, const struct marks_of *of)
{
	int rc;

	if (m->opened || of->pid <= 0 || of->identity->state == HT_STATE_PREPARED)
		return;
	m->opened = true;
	rc = mark_file_find(&m->file, of->identity, of->pid);
	if (rc != 0)
		snprintf(m->refused, sizeof(m->refused), "%s",
			rc == -ENOENT ? "neither XDG_STATE_HOME nor HOME is set" : strerror(-rc));
	/* Others that look at a process that has just ended still need its file. */
	if (of->alive)
		mark_file_clean(&m->file);
}

/* ---- taking a mark ------------------------------------------------------------------------ */

static int sites_measure(struct read_segment *segment, uint32_t used, struct snap_mark *to)
{
	struct read_site *sites = calloc((size_t)used + 1, sizeof(*sites));
	struct snap_mark_site *out = calloc((size_t)used + 1, sizeof(*out));
	ssize_t got = sites && out ? read_sites(segment, 0, sites, used) : -ENOMEM;

	for (ssize_t i = 0; i < got; i++) {
		const struct read_site *s = &sites[i];

		if (s->allocs == 0)
			continue;
		out[to->nsites++] = (struct snap_mark_site){ .id = (uint32_t)i,
			.live_bytes = s->live_bytes,
			.live_blocks = s->allocs > s->frees ? s->allocs - s->frees : 0,
			.allocs = s->allocs,
			.alloc_bytes = s->alloc_bytes };
	}
	free(sites);
	to->sites = out;
	return got < 0 ? (int)got : 0;
}

/*
 * Reads the present counts of every site; the caller frees to->sites. From here on the program uses
 * our clock, so that its later allocations have later times.
 */
static int moment_measure(const struct marks_of *of, struct snap_mark *to)
{
	uint64_t now = of->now_ns ? of->now_ns : clock_monotonic_ns();
	struct read_totals t;
	int rc;

	read_publish_clock(of->segment, now);
	rc = read_totals(of->segment, &t);
	if (rc != 0)
		return rc;
	to->ns = now > of->identity->created_ns ? now - of->identity->created_ns : 0;
	to->live_bytes = t.live_bytes;
	to->live_blocks = t.allocs > t.frees ? t.allocs - t.frees : 0;
	to->allocs = t.allocs;
	to->alloc_bytes = t.alloc_bytes;
	return sites_measure(of->segment, t.sites, to);
}

/* Without a file the mark is kept in this viewer only. */
static int moment_keep(struct marks *m, struct snap_mark *moment, char *message)
{
	int rc = mark_file_add(&m->file, &m->moments, moment);

	if (rc == 0)
		return 0;
	snprintf(message, MARKS_MESSAGE_MAX,
		"the mark is kept in this viewer only, not in a file: %s",
		m->refused[0] ? m->refused : strerror(-rc));
	moment->number = m->moments.last ? m->moments.last->number + 1 : 1;
	return mark_list_add(&m->moments, moment);
}

int marks_take(struct marks *m, const struct marks_of *of, const char *name, char *message)
{
	struct snap_mark moment = { .number = 0 };
	int rc = of->alive ? moment_measure(of, &moment) : -ESRCH;

	*message = 0;
	marks_open(m, of);
	if (name)
		mark_list_rename(&moment, name);
	if (rc == 0)
		rc = moment_keep(m, &moment, message);
	free((void *)(uintptr_t)moment.sites);
	if (rc == 0) {
		m->since = m->since ? m->since : m->moments.last->number;
		return (int)m->moments.last->number;
	}
	snprintf(message, MARKS_MESSAGE_MAX, "not marked: %s",
		rc == -ESRCH ? "the program has ended" : strerror(-rc));
	return rc;
}

int marks_name(struct marks *m, unsigned number, const char *name)
{
	struct snap_mark *moment = mark_list_find(&m->moments, number);

	if (!moment)
		return -ENOENT;
	mark_list_rename(moment, name);
	return mark_file_name(&m->file, number, name);
}

int marks_choose(struct marks *m, unsigned since, unsigned until)
{
	if ((since && !mark_list_find(&m->moments, since)) ||
		(until && !mark_list_find(&m->moments, until)))
		return -ENOENT;
	m->since = since;
	m->until = until;
	return 0;
}

/* ---- the snapshot ------------------------------------------------------------------------- */

void marks_read(struct marks *m, const struct marks_of *of, struct snapshot *s)
{
	struct snap_site *sites = (struct snap_site *)(uintptr_t)s->sites;
	bool had = m->moments.last != NULL;

	marks_open(m, of);
	mark_file_load(&m->file, &m->moments);
	/* The first mark is also chosen when it is older than this viewer, or taken elsewhere. */
	if (!had && m->moments.last) {
		const struct snap_mark *first = m->moments.last;

		while (first->before)
			first = first->before;
		m->since = m->since ? m->since : first->number;
	}
	s->moments = m->moments.last;
	if (!s->moments)
		return;
	s->since = mark_list_find(&m->moments, m->since);
	s->until = mark_list_find(&m->moments, m->until);
	s->newest = mark_list_between(s, m->moments.last, NULL);
	mark_list_apply(s, sites);
}

void marks_free(struct marks *m, bool gone)
{
	if (gone)
		mark_file_remove(&m->file);
	mark_list_free(&m->moments);
}
