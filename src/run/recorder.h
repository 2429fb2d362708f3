/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --record: writes the ticks of a run into a recording, those of the program's current image and of
 * its children and earlier images. Says on stderr when it ends. Main thread.
 */
#ifndef SRC_RUN_RECORDER_H
#define SRC_RUN_RECORDER_H

#include "src/model/timeline.h"
#include "src/run/options.h"
#include "src/run/process_tree.h"

struct recorder;

/* Creates the file of --record. NULL after one line on stderr. */
struct recorder *recorder_open(const struct options *o);
/*
 * Writes a tick: `now`, the newest snapshot of the tree's current image (NULL: none could be made),
 * and one of each member. A member whose end is written is released (process_tree_release), unless
 * the tree keeps it for a report.
 */
void recorder_tick(struct recorder *r, struct process_tree *w, struct snapshot *now);
/* A leak scan's result, to be written with the next ticks of its image; it must stay valid until
 * then. NULL: none. */
void recorder_leaks(struct recorder *r, const struct session *of, const struct snap_leaks *leaks);
/* Fills in what a timeline says about the file. */
void recorder_fill(const struct recorder *r, struct timeline *t);
/* Why the file is no longer written, static or the recorder's; NULL: nothing is wrong. */
const char *recorder_trouble(const struct recorder *r);
/*
 * Writes the last ticks, with the names that are found within `names_timeout_ns`, closes the file
 * and prints one line: where it is, and how much it holds. `unused`: the program never ran, so the
 * file is removed in silence. recorder_close(NULL, ...) is fine.
 */
void recorder_close(struct recorder *r, struct process_tree *w, uint64_t names_timeout_ns);
void recorder_discard(struct recorder *r);

#endif
