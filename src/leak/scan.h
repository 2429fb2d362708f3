/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A leak scan of a running process, from outside: stop it, read its live table and its memory, let
 * it go on, and then find out what nothing points to. Any thread; what stops the process is a
 * thread of its own, which the call waits for (stop.h tells why).
 */
#ifndef SRC_LEAK_SCAN_H
#define SRC_LEAK_SCAN_H

#include "src/leak/progress.h"
#include "src/leak/result.h"
#include "src/leak/roots.h"
#include "src/read/read.h"

/* Whether a copy of the process is read, so that it may go on meanwhile. */
enum leak_copying {
	LEAK_COPY_NEVER,
	LEAK_COPY_AUTO, /* if it has much: a copy takes milliseconds for each GB, and some memory */
	LEAK_COPY_ALWAYS
};

struct leak_wish {
	pid_t pid; /* as we see it */
	unsigned roots; /* enum leak_root */
	unsigned heuristics; /* bit i for enum leak_heuristic i */
	enum leak_copying copying;
	bool at_exit; /* it waits at its end: it is let go on, and scanned at its last instant */
	/* Then: the process stays there, and is the caller's to release (leak_stop_release), on
	 * this thread, which takes no signals. NULL: it is let go once it was read. */
	struct leak_stop *hold;
	bool why; /* blocks are to be shown, too, and who points to them */
	bool behind; /* it is to be known what goes with a leak that is suppressed */
	struct leak_progress *progress; /* may be NULL */
};

/* 0, or -errno with one line in `message` (LEAK_MESSAGE_MAX) that says why not; -ECANCELED when
 * progress said so. */
int leak_scan(struct read_segment *segment, const struct leak_wish *wish, struct leak_result *out,
	char *message);
#endif
