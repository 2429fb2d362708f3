/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tells a running program which call sites the user ignores (src/model/ignored.h), as soon as they
 * have names: it then counts their blocks at one site. What they counted before stays at their own
 * rows, which ignored_take sums up. Main thread.
 */
#ifndef SRC_SESSION_IGNORE_MARKS_H
#define SRC_SESSION_IGNORE_MARKS_H

#include "src/model/ignored.h"
#include "src/read/read.h"

/* Zero at first. */
struct ignore_marks {
	struct ignored *rules; /* NULL: there are none */
	uint8_t *judged; /* by site: its stack has all names, and is marked if it is ignored */
	uint32_t room;
	bool marked; /* some are */
};

/* `rules`: NULL if there are none, or nothing can be written to the program's segment. */
void ignore_marks_start(struct ignore_marks *m, const struct ignored_rules *rules);
/* Marks the sites of a snapshot that was just made, if its program runs. */
void ignore_marks_set(
	struct ignore_marks *m, struct read_segment *segment, const struct snapshot *s);
/* `alive`: the program runs on. It then records all sites again. */
void ignore_marks_end(struct ignore_marks *m, struct read_segment *segment, bool alive);

#endif
