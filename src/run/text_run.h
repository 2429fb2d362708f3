/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run without a screen, from its start to its exit status: what frames (batch.h) and the report
 * (final_report.h) have in common. Waits, forwards signals, and has the leak scans made that the
 * options ask for. Main thread; one per process.
 */
#ifndef SRC_RUN_TEXT_RUN_H
#define SRC_RUN_TEXT_RUN_H

#include "src/memory/resident.h"
#include "src/run/leak_request.h"
#include "src/run/run.h"

struct text_run {
	struct run *run;
	const struct options *options;
	struct leak_request *leaks;
	struct resident resident;
	int fd; /* of the output */
};

/* Opens the output, `stream` unless there is -o, and the run. 0, or after one line on stderr the
 * exit status to end with. */
int text_run_open(struct text_run *t, const struct options *o, int stream);
/* Waits until the program's state changed or `until_ns`. False: heaptop is to end. */
bool text_run_wait(struct text_run *t, uint64_t until_ns);
/* Reads resident memory, if it is time. */
void text_run_memory_read(struct text_run *t);
/* The last reading that is of the current image, or NULL. */
const struct map_account *text_run_memory(const struct text_run *t);
/*
 * Says on stderr what --fail-on makes of `s`, the last snapshot or NULL, which it drops, and closes
 * everything. `rc`: 0, or the exit status that an error asks for. Returns the exit status.
 */
int text_run_close(struct text_run *t, struct snapshot *s, int rc);

#endif
