/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One use of heaptop on one program: launched, attached to, or read from the segment it left.
 * Brings together the program (src/target), its segments (process_tree.h) and its output; the
 * screen (screen.h) and the runs without one (headless.h) work on top of it. Main thread.
 */
#ifndef SRC_RUN_RUN_H
#define SRC_RUN_RUN_H

#include <poll.h>
#include <sys/ioctl.h>

#include "src/leak/analysis/suppressions.h"
#include "src/run/options.h"
#include "src/run/past.h"
#include "src/run/process_tree.h"

struct run;
struct far_run;

/*
 * Starts, attaches or opens, as the options say. `screen`: the size of the terminal that the
 * program gets, NULL: none of its own. 0, or after one line on stderr the exit status to end with.
 */
int run_open(struct run **out, const struct options *o, const struct winsize *screen);
/* A snapshot of now, after checking for the program's end and for new images. NULL and errno when
 * the segment cannot be read. */
struct snapshot *run_tick(struct run *r);
/* Finds all that is in the last snapshot: the program's end, images and children. */
void run_poll_last(struct run *r);
/* After run_poll_last: the last snapshot, with all names and children. */
struct snapshot *run_final(struct run *r);
/* Whether there is still something to wait for. */
bool run_alive(const struct run *r);

const struct options *run_options(const struct run *r);
struct process_tree *run_watch(const struct run *r);
/* The session of the program's current image: process_tree_session. */
struct session *run_session(const struct run *r);
/* What is kept of the past. */
struct past *run_past(struct run *r);
/* The launched program; 0: it was not launched. */
pid_t run_child(const struct run *r);
/* Whether it was launched and has ended. */
bool run_ended(const struct run *r);
/* When run_open began. */
uint64_t run_started_ns(const struct run *r);
/* Whether the program on the screen was asked to wait at its end for a leak scan. */
bool run_waits_at_exit(const struct run *r);
/* Whether the program is scanned for leaks at its end if that is asked for: we launched it, or an
 * agent did that has it wait for us. */
bool run_scans_at_exit(const struct run *r);
/* Whether the current image waits for that now; lets it go without. */
bool run_exit_is_waiting(const struct run *r);
void run_exit_release(const struct run *r);

/* The rules of --suppressions, NULL without any; and the same, made if there are none yet. */
struct suppressions *run_suppressions(const struct run *r);
struct suppressions *run_suppressions_make(struct run *r);

/* What the program writes to a terminal of its own, NULL without one, and that terminal's size. */
struct output *run_output(const struct run *r);

/* The program on another machine, if it is there; or NULL. */
struct far_run *run_far(const struct run *r);
/*
 * Descriptors that are ready at a change (names of `shown`, output, the program's end): fills at
 * most `max`. run_ready takes what they have; true if anything changed. `shown`: run_session, or
 * another process's session that the screen shows.
 */
#define RUN_FDS_MAX 3
int run_fds(const struct run *r, const struct session *shown, struct pollfd *fds, int max);
bool run_ready(struct run *r, struct session *shown);

/* Whether this run has attached to a process, and not yet detached from it. */
bool run_attached(const struct run *r);
/* What -a did. NULL: the program was not attached to. */
const struct snap_attach *run_attach_facts(const struct run *r);
/* Ends the recording of a process, which runs on; pid 0: of all that this run attached to, or of
 * the program. 0 or -errno, with a line in `msg`. */
int run_detach(struct run *r, pid_t pid, char *msg, size_t cap);
/* Tells a session of a process what this run did to that. Before each tick of it. */
void run_attachment_tell(const struct run *r, struct session *s);
/* run_close leaves it recorded instead. */
void run_keep(struct run *r);

/* Asks the launched program to end. */
void run_end(struct run *r);
/* The launched program is about to end by itself: run_close waits for it. */
void run_end_expect(struct run *r);
/* Our terminal is gone: run_close hangs the program up. */
void run_hang_up(struct run *r);
/* Waits for the program's end if it was asked to end, and closes the recordings. Before the leak
 * scans that are in them are freed; run_close does it otherwise. */
void run_recording_end(struct run *r);
/*
 * Closes everything, removes what is not needed any more and says what stays. Returns the exit
 * status that the program's end asks for.
 */
int run_close(struct run *r);

#endif
