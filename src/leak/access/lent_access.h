/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A leak scan of a process that we must not trace, with its library's help (shm/layout.h, struct
 * ht_coop): it lets us trace it, where Yama leaves that to it; or it makes a copy of itself, which
 * gives us its memory. What has been asked of it is taken back when this is closed. One thread.
 */
#ifndef SRC_LEAK_ACCESS_LENT_ACCESS_H
#define SRC_LEAK_ACCESS_LENT_ACCESS_H

#include "src/leak/access/progress.h"
#include "src/leak/access/space.h"
#include "src/leak/access/stop.h"
#include "src/read/read.h"

struct leak_coop;

/* NULL with the reason in *why (static): it must not be asked, or another heaptop is at it, and was
 * waited for. */
struct leak_coop *leak_coop_open(
	struct read_segment *segment, pid_t pid, struct leak_progress *progress, const char **why);
void leak_coop_close(struct leak_coop *c);

/* Asks it to let us trace it. NULL: it does, until this is closed; or why not (static). */
const char *leak_coop_trace(struct leak_coop *c);

/* A copy, as of one moment. */
struct leak_lent {
	struct leak_space space; /* its memory */
	struct leak_stop stop; /* threads: only that which made it is known */
	struct read_frozen *before, *after; /* the live table shortly before, and at that moment;
					       `before` is NULL where that says nothing */
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	uint64_t held_ns; /* so long the thread was held back */
	unsigned moving; /* threads inside realloc, as often as it was tried */
	bool sure; /* nothing could change while it was made */
};

/* NULL, or why not (static). */
const char *leak_coop_lend(struct leak_coop *c, struct leak_lent *out);
/* Whether the copy ended while it was read. */
bool leak_coop_has_failed(const struct leak_coop *c);
/* The copy goes. False: it stays a zombie child of the process, until that makes another, or ends.
 */
bool leak_coop_return(struct leak_coop *c, struct leak_lent *lent);

#endif
