/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moments as people type them (--at): "12.5s", "1m30s", "0:11", "50%", "peak", "mark:NAME", "end",
 * and "A..B" for what happened between two of them. Pure; any thread.
 */
#ifndef SRC_RUN_AT_TIME_H
#define SRC_RUN_AT_TIME_H

#include "src/model/timeline.h"

#define AT_TIME_MESSAGE_MAX 160
/* For messages: what such a text must be, up to the last word. */
#define AT_TIME_WORDS "must be a time (12.5s, 1m30s, 0:11), 50%, peak, mark:NAME"

/* 0, or -EINVAL: `text` is no such moment. */
int at_time_check(const char *text);
/*
 * Finds the moment `text` names in a program's past: of `last`, its newest snapshot, and `t`, what
 * is kept of it (NULL: nothing). Times are since the program's start, percentages are of the time
 * that is kept. 0; -EINVAL, or -ENODATA: it is not kept, with one line in `message`
 * (AT_TIME_MESSAGE_MAX).
 */
int at_time_find(const char *text, const struct snapshot *last, const struct timeline *t,
	struct moment *out, char *message);

#endif
