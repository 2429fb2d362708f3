/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A screen whose canned program has a past, with a tick for each second. */
#ifndef TESTS_TUI_TIMED_H
#define TESTS_TUI_TIMED_H

#include "tests/check.h"
#include "tests/tui/paper.h"

static struct paper p;

static inline void begin_at(int height, int width)
{
	paper_open(&p, height, width, false);
	p.canned.past = true;
	refresh_tick(&p.ui);
	paper_draw(&p);
}

static inline void begin(void)
{
	begin_at(30, 100);
}

static inline bool sees(const char *what)
{
	paper_draw(&p);
	return paper_find(&p, what) >= 0;
}

static inline void seconds(int n)
{
	for (int i = 0; i < n; i++)
		refresh_tick(&p.ui);
}

/* The second that the rows are of. */
static inline uint64_t at(void)
{
	return p.ui.shown->uptime_ns / CANNED_S;
}

static inline bool is_live(void)
{
	return p.ui.shown->moment == SNAP_NOW && !p.ui.frozen;
}

/* Live bytes of the first canned site. */
static inline uint64_t first_live(void)
{
	for (size_t i = 0; i < p.ui.shown->nsites; i++)
		if (p.ui.shown->sites[i].id == 17)
			return p.ui.shown->sites[i].live_bytes;
	return 0;
}

#endif
