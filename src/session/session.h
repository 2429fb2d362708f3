/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One process image under observation: reads its segment, /proc and the symboliser's answers, and
 * makes a snapshot of them each tick. Main thread.
 */
#ifndef SRC_SESSION_SESSION_H
#define SRC_SESSION_SESSION_H

#include "src/model/snapshot.h"
#include "src/read/read.h"
#include "src/session/liveness.h"
#include "src/session/sampling_control.h"

struct session;
struct marks;
struct said;
struct map_ranges;
struct far_moment;
struct far_order;
struct sym_elsewhere;

struct session_options {
	bool debuginfod;
	/* An open session with which this one shares object files and debuginfod; NULL: none. */
	const struct session *beside;
	bool may_be_copy; /* the user named the file: it may be a copy */
	bool alone; /* its children are not to be recorded */
	bool faults; /* count page faults by call site */
	bool unseen; /* nobody looks at the sites of snapshots, until session_seen */
	const struct ignored_rules *ignored; /* sites not to be recorded; NULL: none */
	pid_t pid; /* the process as we see it; 0: as the segment says */
	/* The process is on another machine, and this is what is known of it there, beside its
	 * segment; may change whenever an agent is asked for a walk, and between ticks. NULL: it is
	 * here. */
	const struct far_moment *far;
	const struct far_order *walks; /* whose agent makes walks over its live blocks, */
	bool waits; /* for which each tick waits */
	const struct sym_elsewhere *elsewhere; /* where its files are searched for then */
	/* The number of the first module whose file may still come; lives as long. NULL: none. */
	const uint32_t *named_modules;
	const struct liveness_core *core; /* NULL: none */
};

/* Opens and holds the segment at `path`. NULL and one line in `message` (READ_MESSAGE_MAX). */
struct session *session_open(const char *path, const struct session_options *o, char *message);
/*
 * Drops the caller's reference. Snapshots may outlive it: the last one that is dropped frees what
 * they point to, closes the segment and stops the symboliser's thread.
 */
void session_close(struct session *s);

const struct read_identity *session_identity(const struct session *s);
const char *session_path(const struct session *s);
/* The viewer that launched the process reports how it ended, in waitpid's terms. */
void session_ended(struct session *s, int wait_status);
/* How a process ended that was found to have ended. */
void session_ended_so(struct session *s, int wait_status);
/* The kernel's resource usage of the ended process, for figures that /proc no longer has. */
void session_usage(
	struct session *s, uint64_t hwm_bytes, uint64_t minor_faults, uint64_t major_faults);
/* From now on snapshots have their sites. */
void session_seen(struct session *s);
/* This image was replaced by exec. */
void session_replaced(struct session *s);
/* What is known of the process on another machine; NULL: it is here. */
const struct far_moment *session_far(const struct session *s);
/* Whether the process still runs this image, as of the last tick. */
bool session_alive(const struct session *s);
/* A line for snapshot.notice, static or owned by the caller for the session's life; NULL clears. */
void session_notice(struct session *s, const char *line);
/* How the process came to be recorded, for the snapshots from now on. */
void session_attached(struct session *s, const struct snap_attach *a);
/* Snapshots of children and earlier images to show below this one; must outlive its snapshots. */
void session_children(struct session *s, const struct snapshot *const *children, size_t count);
/* Copies what call sites retain, and their types, by a scan's result, or NULL, for the snapshots
 * from now on. */
void session_scanned(struct session *s, const struct snap_leaks *leaks);
/* A leak scan's result for the snapshots from now on; must outlive them. */
void session_leaks(struct session *s, const struct snap_leaks *leaks);
/* For a leak scan: the segment, and the process as we see it. */
struct read_segment *session_segment(const struct session *s);
pid_t session_pid(const struct session *s);
/* For a map: what a forked child has of its parent's mappings; complete after the first tick. */
const struct map_ranges *session_inherited(const struct session *s);
/*
 * Switches sampling as requested; if the request has a limit, each tick from now on adjusts the
 * rate. 0, or -errno: it cannot be switched.
 */
int session_sample(struct session *s, const struct sampling_request *request);
/* Continues with the request of the image before, whose rate this one has inherited. */
void session_sample_inherit(struct session *s, const struct session *before);
/* Adjusts the rate of a session that is not ticked: a child that is kept for the report. */
void session_sample_adjust(struct session *s);
/* Ends the adjusting: the rate stays, and the library stops measuring itself. */
void session_sample_leave(struct session *s);
/*
 * Marks this moment; `name` may be NULL. Its number, or -errno; a line for the user, or "", in
 * `message` (MARKS_MESSAGE_MAX).
 */
int session_mark(struct session *s, const char *name, char *message);
/* The session's marks, to name and choose them; they live as long as the session. */
struct marks *session_marks(struct session *s);
/* What the program asks of its viewer (said.h); who serves a request clears it. */
struct said *session_said(struct session *s);
/* A snapshot of now; the caller owns the reference. NULL and errno when the segment cannot be read.
 */
struct snapshot *session_tick(struct session *s);
/* Histograms of one site of a session's snapshot, as they are now. 0 or -errno; -ENODATA for the
 * snapshot of another moment. */
int session_detail(const struct snapshot *of, uint32_t site, struct snap_detail *out);
/* Readable when names have come in; session_collect takes them. True: some are to be seen now; the
 * others will be at the next tick at the latest. */
int session_fd(const struct session *s);
bool session_collect(struct session *s);
/* The rules for naming sites changed: they apply from the next tick on. */
void session_hide_again(struct session *s);
/* The stacks of all sites that the session of a snapshot knows, shown in it or not. */
void session_stacks_each(
	const struct snapshot *of, void (*each)(void *ctx, const struct stack *s), void *ctx);
/* Waits for all names, for reports. 0 or -ETIMEDOUT. */
int session_names_finish(struct session *s, uint64_t timeout_ns);
/* Whether nothing will be written to the segment any more by a regular end: the program has exited,
 * or a viewer has detached from it. Then the last viewer removes it. */
bool session_is_over(const struct session *s);
/* Deletes the segment's file if no other viewer holds it. */
bool session_remove(struct session *s);

#endif
