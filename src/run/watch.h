/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process being watched, through its life: the image it runs now, those that exec replaced, and
 * the children of the same launch. Main thread.
 */
#ifndef SRC_RUN_WATCH_H
#define SRC_RUN_WATCH_H

#include "src/session/session.h"

struct watch;

/* Images and children kept for a report; more are only counted. Each holds a thread and two
 * descriptors until then. */
#define WATCH_MEMBERS_MAX 64u

struct watch_options {
	struct session_options session;
	uint64_t family; /* of a launch of ours, 0 otherwise */
	bool keep_children; /* keep children and earlier images for the report: the first of them */
	bool leak_check; /* all of them wait for a leak scan at their end; who is not kept shall not
			  */
};

/* Starts with one open session, which it takes over. NULL on allocation failure. */
struct watch *watch_new(struct session *first, const struct watch_options *o);
/* Closes all sessions. The snapshot of watch_final must be dropped first. */
void watch_free(struct watch *w);
/*
 * The image of now, until the next watch_poll: when the process calls exec, that closes it. Its
 * snapshots stay good (session_close).
 */
struct session *watch_session(const struct watch *w);
/* Calls `visit` for each child and earlier image that is kept. */
void watch_members(struct watch *w, void (*visit)(void *ctx, struct session *s), void *ctx);
/* Looks for new images and children, and clears away what ended. True: watch_session changed. */
bool watch_poll(struct watch *w);
/*
 * The last snapshot, names in, children attached, and a notice when there were too many of them to
 * keep. The caller owns the reference. At most once.
 */
struct snapshot *watch_final(struct watch *w, uint64_t names_timeout_ns);
/*
 * Removes the segments of what ended. One that a crash left stays: its path is returned (until
 * watch_free), or NULL.
 */
const char *watch_remove(struct watch *w, bool keep_crashed);
/*
 * The launch was ended from outside, and its other processes with it: removes the segments of those
 * that are gone, which is no crash.
 */
struct watch_left {
	size_t running; /* that are still there */
	size_t ending; /* of them: that cannot but end */
};
struct watch_left watch_clear_hung_up(struct watch *w);
/*
 * Switches the process to what is wished of sampling, and its later images with it. 0 or -errno.
 */
int watch_sample(struct watch *w, const struct sampling_request *request);
/* Steers the children that are kept, as watch_session is steered by its ticks. */
void watch_steer(struct watch *w);
/*
 * We leave while processes of the launch still run: each is to clean up after itself from now on,
 * and so are those that they start. Segments of those that have ended since we last looked are
 * removed. Closes all sessions; only watch_free may follow.
 */
void watch_disown(struct watch *w);

#endif
