/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The watched process through its life: its current image, the images that exec replaced, and the
 * children of the same launch. Main thread.
 */
#ifndef SRC_RUN_PROCESS_TREE_H
#define SRC_RUN_PROCESS_TREE_H

#include "src/run/launch_processes.h"
#include "src/session/session.h"

struct process_tree;

/* Images and children kept for a report; more are only counted. Each holds a thread and two
 * descriptors until then. */
#define PROCESS_TREE_MEMBERS_MAX 64u

/* How long process_tree_poll_last waits for processes that are certain to end, on a busy machine.
 */
#define PROCESS_TREE_ENDING_NS UINT64_C(30000000000)

struct leak_object_store;

struct process_tree_options {
	struct session_options session;
	uint64_t family; /* of a launch by this viewer; 0 otherwise */
	bool keep_children; /* keep the first children and earlier images to the end: for a
			       report, or their names, */
	bool release_ended; /* or only until process_tree_release: a recording has them */
	/* Called before the segment of an image is removed. NULL: by nobody. */
	void (*removing)(void *ctx, const char *path);
	void *removing_ctx;
	bool is_copy; /* of another machine's: no other images or children are there */
	bool leak_check; /* all of them wait at their end for a leak scan; those that are not kept
			    must not */
};

/* Starts with one open session and takes it over. NULL on allocation failure. */
struct process_tree *process_tree_new(struct session *first, const struct process_tree_options *o);
/* Closes all sessions. The snapshot of process_tree_final must be dropped first. */
void process_tree_free(struct process_tree *w);
/*
 * The current image's session. Valid until the next process_tree_poll, which closes it when the
 * process calls exec. Its snapshots stay valid (session_close).
 */
struct session *process_tree_session(const struct process_tree *w);
/* The processes of the launch, as of the last process_tree_poll; NULL: it is none. */
struct launch_processes *process_tree_launch(const struct process_tree *w);
/* Completes a snapshot of the current image by what the others of its launch hold. */
void process_tree_launch_fill(const struct process_tree *w, struct snapshot *s);
/* Object files that leak scans of these processes keep for the next one. NULL: out of memory, or
 * `w` is NULL. */
struct leak_object_store *process_tree_leak_store(const struct process_tree *w);
/* Calls `visit` for each kept child and earlier image. */
void process_tree_members(
	struct process_tree *w, void (*visit)(void *ctx, struct session *s), void *ctx);
/* With release_ended: closes those members for which `is_done` returns true, and removes their
 * segments. */
void process_tree_release(
	struct process_tree *w, bool (*is_done)(void *ctx, struct session *s), void *ctx);
/* The process has a newer image, whose segment this is: it becomes the watched one. 0, or -1 and
 * a line in `message` (READ_MESSAGE_MAX). */
int process_tree_follow(struct process_tree *w, const char *path, char *message);
/* Searches for new images and children, and removes the segments of those that ended. True:
 * process_tree_session changed. */
bool process_tree_poll(struct process_tree *w);
/* The same even if the directory has not changed: a process's end does not change it. Waits for
 * processes that are certain to end, up to PROCESS_TREE_ENDING_NS. */
void process_tree_poll_last(struct process_tree *w);
/* The number of children and images that ended and were not kept, for lack of room. */
size_t process_tree_left_out(const struct process_tree *w);
/* Says that number in the notice of the current image's next snapshots. */
void process_tree_left_out_notice(struct process_tree *w);
/*
 * After process_tree_poll_last: the last snapshot, with all names, with children attached, and with
 * a notice if there were too many children to keep. `sites`: of unseen sessions, too; else theirs
 * are only in session_stacks_each. The caller owns the reference. At most once.
 */
struct snapshot *process_tree_final(struct process_tree *w, uint64_t names_timeout_ns, bool sites);
/*
 * Removes the segments of ended images and children. The segment of a crash stays: returns its path
 * (until process_tree_free), or NULL.
 */
const char *process_tree_remove(struct process_tree *w, bool keep_crashed);
/*
 * The launch was ended from outside, and its other processes with it: removes the segments of those
 * that are gone. Their death is no crash.
 */
struct process_tree_left {
	size_t running; /* processes that still run */
	size_t ending; /* those of them that are certain to end */
};
struct process_tree_left process_tree_clear_hung_up(struct process_tree *w);
/*
 * Switches the process, and its later images, to the requested sampling. 0 or -errno.
 */
int process_tree_sample(struct process_tree *w, const struct sampling_request *request);
/* Adjusts the sampling rate of the kept children; a tick does so for process_tree_session. */
void process_tree_sample_adjust(struct process_tree *w);
/*
 * This viewer leaves while processes of the launch still run: each of them, and each that they
 * start, removes its own segment from now on. Removes the segments of those that have ended since
 * the last poll. Closes all sessions; only process_tree_free may follow.
 */
void process_tree_disown(struct process_tree *w);

#endif
