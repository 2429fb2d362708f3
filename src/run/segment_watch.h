/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Segments that appear in a directory, from the moment they are created: the kernel reports each
 * name, and a name is offered until it is settled. One thread.
 */
#ifndef SRC_RUN_SEGMENT_WATCH_H
#define SRC_RUN_SEGMENT_WATCH_H

#include <stdbool.h>

struct segment_watch;

enum segment_watch_answer {
	SEGMENT_WATCH_SETTLED, /* opened, or none of ours: is not offered again */
	SEGMENT_WATCH_LATER, /* is being made, or cannot be opened now */
};

/* Whose segments these are. `path` is valid during the call. */
typedef enum segment_watch_answer segment_watch_fn(void *ctx, const char *path);

/* NULL: no memory. Where the kernel does not watch, the directory is searched every 10 ms, and
 * settled segments are offered again. */
struct segment_watch *segment_watch_new(const char *directory);
void segment_watch_free(struct segment_watch *w);

/* Offers what was created since the last call, and what is not settled. Cheap if there is neither;
 * a name that stays unsettled is offered less and less often. */
void segment_watch_new_ones(struct segment_watch *w, segment_watch_fn *offer, void *ctx);

/* Offers every segment in the directory, known or not. */
void segment_watch_all(struct segment_watch *w, segment_watch_fn *offer, void *ctx);

#endif
