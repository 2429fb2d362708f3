/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The marks of --mark-every. Main thread. */
#ifndef SRC_RUN_MARK_TIMER_H
#define SRC_RUN_MARK_TIMER_H

#include "src/session/session.h"

struct mark_timer {
	uint64_t marked_ns; /* when the last mark was due; at first, when the run began */
};

/* At each tick: makes a mark at the first one after it is due; `every_ns` 0: never. */
void mark_timer_check(struct mark_timer *t, uint64_t every_ns, struct session *s);

#endif
