/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a history: the state at each of some consecutive ticks, and the time before a tick that
 * its rates and trends are made from. Main thread.
 */
#ifndef SRC_RECORD_HISTORY_WALK_H
#define SRC_RECORD_HISTORY_WALK_H

#include "src/record/history_store.h"

/* Reads ticks `from` to `to` and calls `each` for them, with the state that is valid meanwhile.
 * Stops with what `each` returns unless 0. 0, -errno. */
int history_walk(struct history *h, size_t from, size_t to,
	int (*each)(void *ctx, size_t tick, const struct state *s), void *ctx);

/* Live bytes of the sites at an earlier tick; 0 for ids from `room` on. */
struct history_sample {
	uint64_t *live_bytes; /* owned; by id */
	uint32_t room;
};

/* The tick against which rates are taken. */
struct history_window {
	bool valid;
	double seconds; /* since then */
	uint64_t head[STATE_HEAD_MAX];
	struct history_sample live, allocs;
	struct state_thread *thread; /* owned; by slot */
	uint32_t threads;
};

/* A tick, and the time before it. */
struct history_moment {
	size_t tick;
	struct state state;
	struct history_window window;
	struct history_sample trend[SNAP_TREND_POINTS]; /* before it, latest first */
	unsigned trends;
};

/* Reads tick `tick`; to be freed even on failure. 0, -errno. */
int history_moment_read(struct history *h, size_t tick, struct history_moment *m);
void history_moment_free(struct history_moment *m);

#endif
