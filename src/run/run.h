/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One use of heaptop on one program: launched, attached to, or read from what it left. Brings
 * together the program (src/target), its segments (src/watch) and its output; screen, batch and
 * report (src/main.c) work on top of it. Main thread.
 */
#ifndef SRC_RUN_RUN_H
#define SRC_RUN_RUN_H

#include <poll.h>

#include "src/model/map.h"
#include "src/leak/scan.h"
#include "src/run/options.h"
#include "src/memory/resident.h"
#include "src/target/output.h"
#include "src/target/prepare.h"
#include "src/run/process_list.h"
#include "src/source/source_cache.h"
#include "src/run/watch.h"

struct run {
	const struct options *options;
	struct watch *watch;
	struct process_list *processes; /* others, for the screen; or NULL */
	struct prepared *prepared; /* launched */
	struct target_child child; /* launched; pid 0 otherwise */
	int child_fd; /* pidfd: readable when it has ended; -1 */
	bool ended; /* launched and ended */
	int wait_status;
	struct output *output; /* its terminal, when it has one of ours */
	bool output_open;
	struct suppressions *suppressions;
	struct scan_control *scans; /* leak scans in a thread; made when they are asked for */
	struct map_reader *mapping; /* for the screen; made when it is asked for */
	struct source_cache *sources; /* files, for the screen; made when they are asked for */
	struct resident resident; /* for reports */
	struct leak_progress *leak_progress; /* of scans that the main thread waits for, or NULL */
	bool exit_asked; /* the program on the screen waits at its end (src/run/exit_scan.h) */
	const struct session *exit_seen; /* this image of it was seen there */
	uint64_t exit_since_ns; /* at that time */
	int exit_timer; /* to look for it; -1 */
	struct scan_job *exit_scan; /* for that scan, while the program ends; or NULL */
	struct leak_summary *leaks; /* what a report's one leak scan found, or why there was none */
	struct leakrounds *leakrounds; /* or its many scans (src/run/leak_request.h) */
	struct leakkin *leakkin; /* and those of other processes (src/run/leak_children.h) */
	uint64_t started_ns, marked_ns;
	bool ending; /* asked to end */
	bool hang_up; /* our terminal is gone: the program's goes with it */
};

/*
 * Starts, attaches or opens, as the options say. 0, or the exit status to end with after one line
 * on stderr. `screen`: the program gets a terminal of its own, of this size.
 */
int run_open(struct run *r, const struct options *o, bool screen, int rows, int cols);
/* A snapshot of now, after looking for the program's end and for new images. */
struct snapshot *run_tick(struct run *r);
/* What a leak scan of a process is to take into account. */
struct leak_scan_options run_scan_options(const struct run *r, pid_t pid);
/* For the screen: the newest map of the process, or NULL; has another one made now and then. It is
 * valid until the next run_ready. */
struct map *run_map(struct run *r);
/* For reports: reads now and then what resident memory is, since it cannot be told at the end. */
void run_memory_look(struct run *r);
/* The same now: the program is about to be told to end, or we are. */
void run_memory_look_last(struct run *r);
/* The last reading, or NULL. */
const struct map_account *run_memory(const struct run *r);
/* The last snapshot, with all names and children. */
struct snapshot *run_final(struct run *r);
/* Whether there is still something to wait for. */
bool run_alive(const struct run *r);
/* Descriptors that tell of changes (names, output, the program's end), and taking what they have.
 */
#define RUN_FDS_MAX 5
int run_fds(const struct run *r, struct pollfd *fds, int max);
bool run_ready(struct run *r);
/*
 * Switches the program to "exact", "512K", "auto" or "5%", as the user typed it. 0 or -errno, and a
 * line that says what came of it in `msg`.
 */
int run_sample(struct run *r, const char *text, char *msg, size_t cap);
/* The one on the screen: the watched one, or another that the user went to
 * (src/run/screen.h). */
struct watch *run_shown(const struct run *r);
/* Asks the launched program to end. */
void run_end(struct run *r);
/*
 * Closes everything and clears away what is not needed any more; says what stays. Returns the
 * exit status that the program's end asks for.
 */
int run_close(struct run *r);

#endif
