/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Access to the memory of another process for a leak scan, at one instant. There are five methods
 * (README.md says when each is used); the caller need not know which one it is.
 *
 * One thread, which stops the process and must end afterwards (stop.h), but for leak_access_wait
 * and leak_access_close. Per instant: prepare, take, open, detach, release, and then reset.
 */
#ifndef SRC_LEAK_ACCESS_ACCESS_H
#define SRC_LEAK_ACCESS_ACCESS_H

#include "src/leak/access/access_ops.h"

/* Before the process is stopped: all that can be done before. */
void leak_access_prepare(struct leak_access *a);
/* Takes one instant of the process by the first way that is permitted and works. 0, or -errno,
 * mostly with a message. */
int leak_access_take(struct leak_access *a);
/* Opens the memory of that instant. 0 or -errno. */
int leak_access_open(struct leak_access *a);
/* After the caller has read the live table: the process goes on if its memory was copied. 0 or
 * -errno: a thread, or the copy, was lost. */
int leak_access_detach(struct leak_access *a);
/*
 * The process stays stopped, at its last instant, after leak_access_release, and is the caller's to
 * release (trace_stop_release), on this thread. False: it is not at its last instant, or was killed
 * there.
 */
bool leak_access_hold(struct leak_access *a, struct trace_stop *out);
/* Lets the process go, and ends a copy. Returns `rc`, the caller's error, if that is not 0. Else 0;
 * or what was read is not whole: -ENOMEM if the copy ended, -ESRCH, with a message, if the process
 * did. */
int leak_access_release(struct leak_access *a, int rc);
/* Closes the memory of the instant. */
void leak_access_reset(struct leak_access *a);

/* Whether another heaptop scans the process, so that leak_access_take failed. */
bool leak_access_is_locked(const struct leak_access *a);
/* Waits for the end of that scan. 0, or -errno with a message. Any thread. */
int leak_access_wait(struct leak_access *a);
/* Whether a copy was lost, and the process is to be read in place: from now on it is. */
bool leak_access_retry_in_place(struct leak_access *a);
/* Ends all access. Any thread. */
void leak_access_close(struct leak_access *a);

#endif
