/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Directories for segments in the roots of other processes: one in a container has a /dev/shm of
 * its own, and one that called chroot has perhaps none. They are opened once, without following a
 * link, so that nobody there can send us elsewhere, and stay open: a segment can be read when its
 * process has ended. Main thread.
 */
#ifndef SRC_TARGET_PLACES_H
#define SRC_TARGET_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PLACES_MAX 64u

/* From now on those of `pid` are listed, too, if its root is not ours. */
void places_add(pid_t pid);
/* All that were added, as paths that we can use. Returns their number. */
unsigned places_list(const char *out[PLACES_MAX]);
/* Calls `make` for each of `pid` until it returns 0. Returns the last call's result; -ENOENT: there
 * is none. */
int places_try(pid_t pid, int (*make)(void *ctx, const char *directory), void *ctx);
/* The path of a file in one of them, as its process sees it. False: it is in none of them. */
bool places_inside(const char *path, char *out, size_t cap);

#endif
