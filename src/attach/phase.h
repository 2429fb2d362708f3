/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A phase: what the viewer does to a process during one stop. Each phase is a thread of the
 * viewer, because the kernel releases whatever an ending thread still traces: so a thread of the
 * process that stopped too late does not stay stopped.
 */
#ifndef SRC_ATTACH_PHASE_H
#define SRC_ATTACH_PHASE_H

#include "src/attach/terms.h"
#include "src/attach/process.h"
#include "src/trace/stop.h"

/* One call of attach_begin or attach_end. */
struct attach_job {
	struct attach_process process;
	struct attach_pauses *pauses;
	uint64_t until_ns; /* CLOCK_MONOTONIC */
	bool (*progress)(void *ctx, const char *text); /* may be NULL */
	void *ctx;
	char *message; /* ATTACH_MESSAGE_MAX */
	uint64_t patience_ns; /* for the next stop; 0: none was made so far */
	unsigned dozes; /* times that a thread could not have been stopped, in a row */
	bool settled; /* no thread is still in what a killed viewer has begun */
	bool refused; /* the last stop was, and nobody was found who traces the process */
	uint64_t stopped_ns; /* when this pause began; 0: there is none */
};

/* Runs `what` in a thread of its own, and returns what it returns. */
int attach_phase_run(struct attach_job *j, int (*what)(struct attach_job *j, void *ctx), void *ctx);
/* Repeats a phase while it returns -EAGAIN, for as long as there is time: -ETIMEDOUT then. */
int attach_phase_repeat(
	struct attach_job *j, int (*what)(struct attach_job *j, void *ctx), void *ctx);
/* The same, and says meanwhile what is awaited. -ECANCELED if the caller gives up. */
int attach_phase_await(struct attach_job *j, const char *awaited,
	int (*what)(struct attach_job *j, void *ctx), void *ctx);

#define ATTACH_EXECUTED "it has executed another program meanwhile (exec); try again"

/* Reads the process's mappings again: before each stop. 0, or -errno with a message. */
int attach_phase_look(struct attach_job *j);
/* Stops all threads; a pause begins. 0; -EAGAIN: not all of them in time, or one is in a call that
 * a killed viewer has begun, so they were let go; or -errno with a message. */
int attach_phase_stop(struct attach_job *j, struct trace_stop *s);
/* The pause, if there is one, is over: to be called right after what lets the threads go. */
void attach_phase_went_on(struct attach_job *j);
/* Lets all go. */
void attach_phase_release(struct attach_job *j, struct trace_stop *s);
/* -ECANCELED with a message if the caller gives up, else 0. */
__attribute__((format(printf, 2, 3))) int attach_phase_tell(
	struct attach_job *j, const char *format, ...);
/* Writes the message "process PID cannot be attached to (or detached from): ...", and returns rc.
 */
__attribute__((format(printf, 3, 4))) int attach_phase_refuse(
	struct attach_job *j, int rc, const char *format, ...);

#endif
