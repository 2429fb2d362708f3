/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes for the process list: their identity, their heap, their tree and its sums. Pure; main
 * thread.
 */
#ifndef SRC_MODEL_PROCESSES_H
#define SRC_MODEL_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESSES_MAX	  1024u /* rows; more are only counted */
#define PROCESSES_COMMAND 1024u /* a longer command line is cut */
#define PROCESSES_WHY	  160u
#define PROCESSES_ALL	  UINT64_C(1) /* the id of the row that stands for the whole launch */
#define PROCESSES_ALONE	  UINT32_MAX /* the group of processes that no launch started */

enum process_kind {
	PROCESS_ONE, /* a process */
	PROCESS_ALL, /* all processes of the launch, summed */
	PROCESS_HEAD, /* the heading of another launch */
};

struct process_row {
	uint64_t id; /* of the process, stable across exec; never 0 */
	enum process_kind kind;
	pid_t pid;
	pid_t parent; /* the nearest ancestor in the list, or 0 */
	uint64_t parent_id; /* the same where pids may have been reused; 0: by pid */
	uint32_t group; /* 0: this launch; 1, 2, ...: other launches; or PROCESSES_ALONE */
	const char *state; /* static */
	uint64_t live_bytes, peak_bytes, rss_bytes;
	double rate_bytes_per_s; /* growth of the live bytes */
	bool has_live, has_peak, has_rate, has_rss;
	bool ended; /* its memory is gone: live_bytes is what it left unfreed */
	int wait_status; /* how it ended, in waitpid's terms; -1: unknown */
	bool shown; /* its heap is on the screen */
	char command[PROCESSES_COMMAND]; /* clean */
	char why[PROCESSES_WHY]; /* why it is not or only partly recorded; empty: it is recorded */
	/* Made by processes_arrange. */
	uint64_t sum_bytes; /* live bytes of it and of all below it */
	uint32_t below; /* number of processes below it */
	unsigned level; /* 0: no ancestor is in the list */
	bool last; /* last of its parent's children */
	uint64_t guides; /* bit i: the line of level i continues below this row */
};

/* A process's id, from its identity. */
uint64_t processes_id(pid_t pid, uint64_t start_ticks, uint64_t pid_namespace);
/* The kernel's state letter as a word. Static. */
const char *processes_state(char state);
/* How a process ended, by waitpid's status: "exit 0", "SIGSEGV"; -1: "ended", nothing is known.
 * Static. */
const char *processes_ended(int wait_status);
/*
 * Adds the row of all processes, if there are several in group 0, and a heading for each other
 * group: at most to `max` rows. Returns the number of rows.
 */
size_t processes_heads(struct process_row *rows, size_t count, size_t max);
/*
 * Sorts the rows as a tree: `first` and its descendants, then the others, by group and pid. A child
 * of group 0 belongs to group 0. Rows whose parents form a cycle, which reused pids can cause, come
 * last in their group, as if they had no parent.
 */
void processes_arrange(struct process_row *rows, size_t count, pid_t first);

/* ---- the lines on the screen ---- */

enum process_column {
	PROCESS_BY_PID,
	PROCESS_BY_STATE,
	PROCESS_BY_LIVE,
	PROCESS_BY_SUM,
	PROCESS_BY_PEAK,
	PROCESS_BY_RATE,
	PROCESS_BY_RSS,
	PROCESS_BY_COMMAND,
};

struct process_lines_request {
	/* Orders the children of one parent, and the roots of a group; numbers by the sum of each
	 * and all below it, peaks by the highest. */
	enum process_column by;
	bool reverse; /* numbers: smallest first; else largest first */
	const uint64_t *folded; /* ids of rows whose children are hidden */
	size_t nfolded;
	bool no_ended; /* without those that ended, unless a process below them runs */
};

struct process_line {
	uint32_t row;
	uint32_t hidden; /* folded away below it; 0: it is open, or has no children */
	bool last;
	uint64_t guides; /* as in the row, for this order */
};

/* The rows of processes_arrange as lines: their number. `out` has room for PROCESSES_MAX. */
size_t processes_lines(const struct process_row *rows, size_t count,
	const struct process_lines_request *r, struct process_line *out);

#endif
