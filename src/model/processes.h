/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recorded processes as the list of them shows it: who they are, what their heap is, and who
 * started whom. Pure; main thread.
 */
#ifndef SRC_MODEL_PROCESSES_H
#define SRC_MODEL_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESSES_MAX	  256u /* rows; more are only counted */
#define PROCESSES_COMMAND 256u
#define PROCESSES_WHY	  160u

struct process_row {
	uint64_t id; /* of the process, not of an image; never 0 */
	pid_t pid;
	pid_t parent; /* the nearest one above it that is in the list, or 0 */
	const char *state; /* static */
	uint64_t live_bytes, rss_bytes;
	double rate_bytes_per_s; /* growth of the live bytes */
	bool has_live, has_rate, has_rss;
	bool shown; /* the screen shows it */
	char command[PROCESSES_COMMAND]; /* clean */
	char why[PROCESSES_WHY]; /* it is not recorded, or not all of it is; empty: it is */
	/* Made by processes_arrange. */
	unsigned level; /* 0: nobody above it is in the list */
	bool last; /* of its parent's children */
	uint64_t guides; /* bit i: a line of level i goes on below this row */
};

/* A process's id, from what names it. */
uint64_t processes_id(pid_t pid, uint64_t start_ticks, uint64_t pid_namespace);
/* A letter of the kernel's as a word. Static. */
const char *processes_state(char state);
/*
 * Puts the rows in the order of a tree: `first` and what is below it, then the others, by pid. Rows
 * whose parents go round in a circle, which pids that are given again can make it look like, come
 * at the end, as if they had none.
 */
void processes_arrange(struct process_row *rows, size_t count, pid_t first);

#endif
