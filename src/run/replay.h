/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording that is read: its process images, and what each of them was at a moment. The screen
 * (replay_source.h) and the reports (replay_report.h) work on top of it. Main thread.
 */
#ifndef SRC_RUN_REPLAY_H
#define SRC_RUN_REPLAY_H

#include "src/model/timeline.h"
#include "src/run/options.h"

struct replay;

/* Opens the recording `path`. NULL after one line on stderr. What is missing at its end is said
 * there, too. */
struct replay *replay_open(const char *path);
void replay_free(struct replay *r);

/* The process images, in the order in which they began. */
size_t replay_images(const struct replay *r);
/* The last image of the program that was recorded. */
size_t replay_program(const struct replay *r);
/* Whether another image of the same process followed. */
bool replay_is_replaced(const struct replay *r, size_t image);
/* An image's last tick: the replay's. */
struct snapshot *replay_last(const struct replay *r, size_t image);
/* What is kept of it. */
const struct timeline *replay_timeline(const struct replay *r, size_t image);
/* The image at a moment of its own time: one reference, the caller's. NULL and errno: ENODATA,
 * ENOMEM. */
struct snapshot *replay_moment(struct replay *r, size_t image, const struct moment *m);
/*
 * Finds the moment --at names in the time of `image`; NULL is the end. 0, or after one line on
 * stderr the exit status to end with.
 */
int replay_at(const struct replay *r, size_t image, const char *at, struct moment *out);
/* The same instant in the time of `image` as `m` is in that of `of`. False: it had not begun. */
bool replay_moment_of(const struct replay *r, size_t image, size_t of, const struct moment *m,
	struct moment *out);

#endif
