/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The watched process through its life: its current image, the images that exec replaced, and the
 * children of the same launch. Main thread.
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
	uint64_t family; /* of a launch by this viewer; 0 otherwise */
	bool keep_children; /* keep the first children and earlier images for the report */
	bool leak_check; /* all of them wait at their end for a leak scan; those that are not kept
			    must not */
};

/* Starts with one open session and takes it over. NULL on allocation failure. */
struct watch *watch_new(struct session *first, const struct watch_options *o);
/* Closes all sessions. The snapshot of watch_final must be dropped first. */
void watch_free(struct watch *w);
/*
 * The current image's session. Valid until the next watch_poll, which closes it when the process
 * calls exec. Its snapshots stay valid (session_close).
 */
struct session *watch_session(const struct watch *w);
/* Calls `visit` for each kept child and earlier image. */
void watch_members(struct watch *w, void (*visit)(void *ctx, struct session *s), void *ctx);
/* Searches for new images and children, and removes the segments of those that ended. True:
 * watch_session changed. */
bool watch_poll(struct watch *w);
/*
 * The last snapshot, with all names, with children attached, and with a notice if there were too
 * many children to keep. The caller owns the reference. At most once.
 */
struct snapshot *watch_final(struct watch *w, uint64_t names_timeout_ns);
/*
 * Removes the segments of ended images and children. The segment of a crash stays: returns its path
 * (until watch_free), or NULL.
 */
const char *watch_remove(struct watch *w, bool keep_crashed);
/*
 * The launch was ended from outside, and its other processes with it: removes the segments of those
 * that are gone. Their death is no crash.
 */
struct watch_left {
	size_t running; /* processes that still run */
	size_t ending; /* those of them that are certain to end */
};
struct watch_left watch_clear_hung_up(struct watch *w);
/*
 * Switches the process, and its later images, to the requested sampling. 0 or -errno.
 */
int watch_sample(struct watch *w, const struct sampling_request *request);
/* Adjusts the sampling rate of the kept children; a tick does so for watch_session. */
void watch_steer(struct watch *w);
/*
 * This viewer leaves while processes of the launch still run: each of them, and each that they
 * start, removes its own segment from now on. Removes the segments of those that have ended since
 * the last poll. Closes all sessions; only watch_free may follow.
 */
void watch_disown(struct watch *w);

#endif
