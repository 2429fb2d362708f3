/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run is made of: for run.c and run_end.c alone. */
#ifndef SRC_RUN_RUN_PARTS_H
#define SRC_RUN_RUN_PARTS_H

#include "src/leak/analysis/suppressions.h"
#include "src/run/attachment.h"
#include "src/run/far_run.h"
#include "src/run/mark_timer.h"
#include "src/run/options.h"
#include "src/run/past.h"
#include "src/run/program_asks.h"
#include "src/run/process_tree.h"
#include "src/target/prepare.h"
#include "src/target/target.h"

/* The longest wait of a report for function names. */
#define NAMES_TIMEOUT_NS UINT64_C(60000000000)

struct run {
	const struct options *options;
	struct process_tree *watch;
	struct prepared *prepared; /* of a launched program */
	struct attachment *attachment; /* with -a */
	struct far_run *far; /* the program is on another machine */
	struct target_child child; /* the launched program; pid 0 otherwise */
	int child_fd; /* pidfd: readable when it has ended; -1 */
	bool ended; /* launched and ended */
	int wait_status;
	struct output *output; /* of the terminal we gave it; or NULL */
	bool output_open;
	struct suppressions *suppressions;
	struct past past;
	char unsaved[PROGRAM_ASKS_LINE]; /* why a snapshot that the program wanted is missing */
	bool waits_at_exit;
	uint64_t started_ns;
	struct mark_timer marks;
	bool ending; /* asked to end */
	bool recorded; /* run_recording_end */
	bool hang_up; /* our terminal is gone, so the program's is closed */
};

#endif
