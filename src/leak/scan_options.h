/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a leak scan is asked for. Plain data. */
#ifndef SRC_LEAK_SCAN_OPTIONS_H
#define SRC_LEAK_SCAN_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/leak/access/access.h"

struct leak_scan_options {
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

#endif
