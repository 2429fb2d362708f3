/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Getting a segment: the one a viewer prepared for this process image, or a new one of our own; and
 * letting go of it. No file descriptor stays open.
 */
#ifndef PRELOAD_ATTACH_H
#define PRELOAD_ATTACH_H

#include <stdbool.h>
#include "shm/segment.h"

/* Maps a segment and fills who we are. 0, or -errno: no recording. */
int attach_segment(struct segment *s);
/* Whether children of the process with this segment are to be recorded when they are forked. */
bool attach_follows(const struct ht_header *parent);
/*
 * In a forked child: maps a segment of its own, of its parent's family. It knows the parent's
 * modules by their numbers, and no more of it. 0, or -errno: none is to be had, or wanted.
 */
int attach_child(struct segment *s, const struct segment *parent);
/* In a forked child: what is written from now on stays in this process. Where the segment's file
 * cannot be opened any more, all stays as it was. */
void attach_private(struct segment *s);
/* Takes the segment out of a launch whose viewer has ended. No system call. */
void attach_check(struct ht_header *h);
/* At the end: removes our own segment when nobody looks at it, and what a viewer that has ended
 * left of our launch (orphans.h). */
void attach_release(const struct segment *s);
#endif
