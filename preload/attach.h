/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attaches this process to a segment: the one that a viewer prepared for this process image, or a
 * new one of its own. Releases it at the end. No file descriptor stays open.
 */
#ifndef PRELOAD_ATTACH_H
#define PRELOAD_ATTACH_H

#include <stdbool.h>
#include "shm/segment.h"

/* Maps a segment and describes the process in its header. 0, or -errno: no recording. */
int attach_segment(struct segment *s);
/* Whether forked children of the process that owns `parent` are to be recorded. */
bool attach_follows(const struct ht_header *parent);
/* Just before a fork: for its child, which of the mappings of `s` were there. */
void attach_before_fork(const struct segment *s);
/* In a forked child: maps a segment of its own, in its parent's launch. It takes over the numbers
 * of the parent's modules, and nothing else. 0, or -errno: none is available, or wanted. */
int attach_child(struct segment *s, const struct segment *parent);
/* In a forked child: makes the mapping private, so that later writes stay in this process. Changes
 * nothing if the segment's file cannot be opened any more. */
void attach_private(struct segment *s);
/* A viewer detaches: removes our own segment as attach_release does, and nothing else: on a small
 * stack. */
void attach_remove(const struct segment *s);
/* The same: forgets the segment, and its launch. */
void attach_forget(void);
/* If the viewer of our launch has ended: takes the segment out of the launch. No system call. */
void attach_check(struct ht_header *h);
/* At the end: removes our own segment if no viewer has it open, and the segments of a launch whose
 * viewer has ended (orphans.h). */
void attach_release(const struct segment *s);
#endif
