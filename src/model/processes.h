/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recorded processes for the process list: their identity, their heap and their tree. Pure; main
 * thread.
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
	uint64_t id; /* of the process, stable across exec; never 0 */
	pid_t pid;
	pid_t parent; /* the nearest ancestor in the list, or 0 */
	const char *state; /* static */
	uint64_t live_bytes, rss_bytes;
	double rate_bytes_per_s; /* growth of the live bytes */
	bool has_live, has_rate, has_rss;
	bool shown; /* its heap is on the screen */
	char command[PROCESSES_COMMAND]; /* clean */
	char why[PROCESSES_WHY]; /* why it is not or only partly recorded; empty: it is recorded */
	/* Made by processes_arrange. */
	unsigned level; /* 0: no ancestor is in the list */
	bool last; /* last of its parent's children */
	uint64_t guides; /* bit i: the line of level i continues below this row */
};

/* A process's id, from its identity. */
uint64_t processes_id(pid_t pid, uint64_t start_ticks, uint64_t pid_namespace);
/* The kernel's state letter as a word. Static. */
const char *processes_state(char state);
/*
 * Sorts the rows as a tree: `first` and its descendants, then the others, by pid. Rows whose
 * parents form a cycle, which reused pids can cause, come last, as if they had no parent.
 */
void processes_arrange(struct process_row *rows, size_t count, pid_t first);

#endif
