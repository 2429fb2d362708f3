/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run without a screen, from its start to its exit status: what frames (batch.h) and the report
 * (final_report.h) have in common. Waits, forwards signals, and has the leak scans made that the
 * options ask for. Main thread; one per process.
 */
#ifndef SRC_RUN_HEADLESS_H
#define SRC_RUN_HEADLESS_H

#include "src/memory/resident.h"
#include "src/run/leak_request.h"
#include "src/run/run.h"

struct headless {
	struct run *run;
	const struct options *options;
	struct leak_request *leaks;
	struct resident resident;
	uint64_t began_ns; /* when this did, just before a program that is started */
	int fd; /* of the output */
};

/* Opens the output, `stream` unless there is -o, and the run. 0, or after one line on stderr the
 * exit status to end with. */
int headless_open(struct headless *t, const struct options *o, int stream);
/* The time from one refresh to the next, `since_ns` after the start of a program that is recorded:
 * at most `delay_ns`. The first are closer together, since a program changes most then, and may end
 * before the second. */
uint64_t headless_pace_ns(uint64_t since_ns, uint64_t delay_ns);
/* When the next refresh is due. */
uint64_t headless_next_ns(const struct headless *t);
/* Waits until the program's state changed or `until_ns`. False: heaptop is to end. */
bool headless_wait(struct headless *t, uint64_t until_ns);
/* Reads resident memory, if it is time. */
void headless_memory_read(struct headless *t);
/* The last reading that is of the current image, or NULL. */
const struct map_account *headless_memory(const struct headless *t);
/*
 * Says on stderr what --fail-on makes of `s`, the last snapshot or NULL, which it drops, and closes
 * everything. `rc`: 0, or the exit status that an error asks for. Returns the exit status.
 */
int headless_close(struct headless *t, struct snapshot *s, int rc);

#endif
