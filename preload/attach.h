/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Getting a segment: the one a viewer prepared for this process image, or a new one of our own; and
 * letting go of it. No file descriptor stays open.
 */
#ifndef PRELOAD_ATTACH_H
#define PRELOAD_ATTACH_H

#include <stdbool.h>
#include "shm/segment.h"

/*
 * The variables that steer the library:
 *   HEAPTOP_SEGMENT  path of a prepared segment; a process or image other than the one it was made
 *                    for makes its own, of the same family
 *   HEAPTOP_FOLLOW   "0": other processes than the one it was made for are not recorded; "exec":
 *                    not before they call exec
 *   HEAPTOP_DIR      where to make segments (shm/place.h); those of a launch are made beside the
 * one that was prepared for it HEAPTOP_DEPTH    frames kept per stack, 1 to 1024 (default 128)
 *   HEAPTOP_SAMPLE   bytes between samples (512K, 1M), for a segment of our own; without: exact
 *   HEAPTOP_SEED     of the samples, a number, for tests
 *   HEAPTOP_UNWINDER own (default), libunwind, or check: both, and count where they differ
 */

/* False before libc has set up the environment: try again later. */
bool attach_possible(void);
/* The value of an environment variable, or NULL when there is none or it is empty. */
const char *attach_variable(const char *name);
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
/* Removes a segment of ours unless a viewer has it open. */
void attach_remove(const char *path);
/* Whether an open file is one that only our user can have made. */
bool attach_is_ours(int fd);

#endif
