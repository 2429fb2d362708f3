/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of a leak scan. Plain data. */
#ifndef SRC_LEAK_SCAN_OPTIONS_H
#define SRC_LEAK_SCAN_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/leak/access/access.h"

struct leak_holders;
struct leak_object_store;
struct far_order;

struct leak_scan_options {
	pid_t pid; /* as we see it */
	const struct core *core; /* its core file, which is read instead; NULL: it runs */
	/* It is on another machine, where this asks for the scan (src/scan/scan_far.h). NULL: here.
	 */
	const struct far_order *far;
	unsigned roots; /* enum leak_root */
	unsigned heuristics; /* bit i for enum leak_heuristic i */
	enum leak_copying copying;
	bool at_exit; /* it waits at its end: let it go on, and scan it at its last instant */
	/* With at_exit: the process stays stopped there, and is the caller's to release
	 * (trace_stop_release), on this thread, which takes no signals. NULL: it is let go once it
	 * was read. */
	struct trace_stop *hold;
	bool why; /* show blocks, and what points to them */
	/* For tests: called with the retained sizes before the graph is freed. May be NULL. */
	void (*inspect)(void *ctx, const struct leak_holders *h);
	void *inspect_ctx;
	bool holders; /* what each root holds, and what each call site retains */
	/* Zeros and copies in blocks, if a copy of the process can be read: it must not stand still
	 * for it. */
	bool contents;
	struct leak_object_store *store; /* keeps object files for later scans; may be NULL */
	bool behind; /* keep which lost blocks point to which, for suppressions */
	struct leak_progress *progress; /* may be NULL */
};

#endif
