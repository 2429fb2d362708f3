/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One reading of a process for a leak scan: its live table, its memory and who points to whom, of
 * one instant. A scan (scan.c) makes one, or several where what it reads is a copy that may be
 * wrong. One thread.
 */
#ifndef SRC_LEAK_PASS_H
#define SRC_LEAK_PASS_H

#include "src/leak/access/lent_access.h"
#include "src/leak/access/copy_access.h"
#include "src/leak/access/exit_stack.h"
#include "src/leak/analysis/result.h"
#include "src/leak/analysis/roots.h"
#include "src/leak/access/vm_sharers.h"
#include "src/leak/live_table.h"
#include "src/leak/access/scan_lock.h"
#include "src/leak/scan_options.h"

/* All 0 at first, but for segment, wish, out, message, copying, and space.pagemap -1. */
struct leak_pass {
	struct read_segment *segment;
	const struct leak_scan_options *request;
	struct leak_result *out;
	char *message;
	struct leak_stop stop;
	struct leak_vm_sharers sharers;
	struct leak_space space;
	struct leak_blocks blocks;
	struct leak_blocks unsure; /* seen, but perhaps not there when the copy was made */
	struct leak_graph graph;
	struct leak_thread_places *thread; /* as they stood */
	size_t threads;
	enum leak_copying copying;
	struct leak_copy_access copier;
	struct leak_live_table table; /* has a copy if one of the process is wanted */
	struct leak_coop *coop; /* we may not trace it; NULL: we may */
	struct leak_lent lent; /* then */
	uint64_t first_tick; /* blocks that were made then, or later, are unsure; 0: none is */
	uint64_t start_ns;
	struct leak_scan_lock turn; /* others' */
	struct leak_exit_stack exit; /* of a process at its last instant */
	pid_t last; /* the thread that ended it; 0: it goes on */
	uint64_t begin_ns; /* of the whole scan; without the wait for a last instant */
	int rc;
};

/* As a thread is started: on one that ends then, since it stops the process (stop.h). `ctx`: struct
 * leak_pass, whose rc and message say how it went. NULL. */
void *leak_pass_read(void *ctx);
/* Whether nobody waits for the result any more. */
bool leak_pass_is_cancelled(const struct leak_pass *s);
/* What a step came to, if the next one is still wanted; else -ECANCELED. */
int leak_pass_go_on(const struct leak_pass *s, int rc);

#endif
