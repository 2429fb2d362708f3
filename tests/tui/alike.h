/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Canned call sites that look the same: they get one name and place, and what tells them apart is
 * a hidden frame each, or their lines. */
#ifndef TESTS_TUI_ALIKE_H
#define TESTS_TUI_ALIKE_H

#include "tests/tui/canned.h"

static uint32_t alike[2]; /* ids of the two; 0: none */
static bool alike_lines; /* one function, at two lines */
static struct frame alike_frames[2][16];
static struct stack alike_stacks[2];

static inline void alike_site(struct snap_site *site, unsigned i)
{
	static const char *const inner[] = { "make_shared<Conn>()", "make_shared<Session>()" };
	const struct stack *old = site->stack;
	struct frame *f = alike_frames[i];
	uint32_t n = 2;

	f[0] = *snapshot_frame(old, 0);
	f[0].function = inner[alike_lines ? 0 : i];
	f[1] = (struct frame){ .module = f[0].module,
		.pc = 9,
		.function = "open_one",
		.file = "conn.cc",
		.line = alike_lines ? 88 + i : 88 };
	for (uint32_t at = old->title + 1; at < old->nframes && n < 16; at++)
		f[n++] = *snapshot_frame(old, at);
	alike_stacks[i] = *old;
	alike_stacks[i].frames = f;
	alike_stacks[i].nframes = n;
	alike_stacks[i].title = 1;
	site->stack = &alike_stacks[i];
}

static inline void alike_make(struct snapshot *s)
{
	for (size_t i = 0; s && i < s->nsites; i++)
		for (unsigned k = 0; k < 2; k++)
			if (alike[k] && s->sites[i].id == alike[k])
				alike_site((struct snap_site *)(uintptr_t)&s->sites[i], k);
}

static inline struct snapshot *alike_tick(void *ctx, const char **error)
{
	struct snapshot *s = canned_tick(ctx, error);

	alike_make(s);
	return s;
}

#endif
