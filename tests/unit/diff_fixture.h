/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small programs for the tests of diffs, written as text: "f g main" is a stack, innermost first. A
 * name that begins with '~' is hidden, with '^' inlined; "?LIB+OFFSET" has no name. Figures are
 * bytes, in blocks of 10; all are live, and nothing is at the peak.
 */
#ifndef TESTS_UNIT_DIFF_FIXTURE_H
#define TESTS_UNIT_DIFF_FIXTURE_H

#include <stdlib.h>
#include <string.h>
#include "src/diff/diff.h"

#define FIXTURE_SITES  8
#define FIXTURE_FRAMES 8

struct fixture_run {
	struct snapshot s;
	struct snap_site sites[FIXTURE_SITES];
	struct stack stacks[FIXTURE_SITES];
	struct frame frames[FIXTURE_SITES][FIXTURE_FRAMES];
	struct snap_module modules[FIXTURE_SITES][FIXTURE_FRAMES];
	char text[FIXTURE_SITES][128];
};

struct fixture_site {
	const char *stack;
	uint64_t bytes;
};

static void fixture_frame(struct frame *f, struct snap_module *m, char *name, uint64_t base)
{
	*m = (struct snap_module){ .path = "/app", .name = "app", .build_id = "" };
	*f = (struct frame){ .pc = base, .offset = base, .module = m, .line = (uint32_t)base };
	if (*name == '?') {
		char *plus = strchr(name, '+');

		*plus = '\0';
		m->name = m->path = m->build_id = name + 1;
		f->offset = strtoull(plus + 1, NULL, 16);
		return;
	}
	f->hidden = *name == '~';
	f->inlined = *name == '^';
	f->function = name + (f->hidden || f->inlined);
	f->file = "/src/app.c";
}

/* `base` moves addresses and lines: another load, another build. */
static inline struct snapshot *fixture_fill(
	struct fixture_run *r, const struct fixture_site *sites, size_t n, uint64_t base)
{
	memset(r, 0, sizeof(*r));
	for (size_t i = 0; i < n; i++) {
		uint32_t frames = 0;
		char *rest;

		snprintf(r->text[i], sizeof(r->text[i]), "%s", sites[i].stack);
		for (char *name = strtok_r(r->text[i], " ", &rest); name;
			name = strtok_r(NULL, " ", &rest), frames++)
			fixture_frame(
				&r->frames[i][frames], &r->modules[i][frames], name, base + frames);
		r->stacks[i] = (struct stack){ .frames = r->frames[i], .nframes = frames };
		while (r->stacks[i].title + 1 < frames && r->frames[i][r->stacks[i].title].hidden)
			r->stacks[i].title++;
		r->sites[i] = (struct snap_site){ .id = (uint32_t)i,
			.alloc_function = "malloc",
			.stack = &r->stacks[i],
			.live_bytes = sites[i].bytes,
			.live_blocks = sites[i].bytes / 10,
			.allocs = sites[i].bytes / 10,
			.alloc_bytes = sites[i].bytes };
		r->s.totals.live_bytes += sites[i].bytes;
		r->s.totals.live_blocks += sites[i].bytes / 10;
		r->s.totals.allocs += sites[i].bytes / 10;
		r->s.totals.alloc_bytes += sites[i].bytes;
	}
	r->s.sites = r->sites;
	r->s.nsites = n;
	return &r->s;
}

#define FIXTURE(run, base, ...)                                                                    \
	fixture_fill(run, (const struct fixture_site[]){ __VA_ARGS__ },                            \
		sizeof((const struct fixture_site[]){ __VA_ARGS__ }) /                             \
			sizeof(struct fixture_site),                                               \
		base)

#endif
