/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's environment. getenv is not called: a program may have one of its own. Reads
 * `environ`; no locks, no allocation.
 *
 * The variables that configure the library:
 *   HEAPTOP_SEGMENT  path of a prepared segment; a process or image other than the one it was made
 *                    for makes its own, in the same launch
 *   HEAPTOP_FOLLOW   "0": record no process but the one it was made for; "exec": record others only
 *                    after they call exec
 *   HEAPTOP_ATTACHED "1": the process of the prepared segment was attached to; after a detach from
 * it no further image is recorded HEAPTOP_DIR      directory for segments (shm/directories.h);
 * those of a launch are made beside the prepared one HEAPTOP_DEPTH    frames kept per stack, 1 to
 * 1024 (default 128) HEAPTOP_SAMPLE   bytes between samples (512K, 1M), for a segment of our own;
 * without: exact HEAPTOP_SEED     seed of the samples, a number, for tests HEAPTOP_CORE     "1":
 * the kernel's core dumps contain the account (shm/core_view.h) HEAPTOP_FREES    "1": frees take
 * their stacks (freed.h) HEAPTOP_REQUESTS "1": Valgrind's client requests are searched for
 * (valgrind_find.h) HEAPTOP_UNWINDER own (default), libunwind, or check: both, and count where they
 * differ
 */
#ifndef PRELOAD_ENVIRONMENT_H
#define PRELOAD_ENVIRONMENT_H

#include <stdbool.h>

#include "shm/attached.h"

/* False before libc has set up the environment: try again later. */
bool environment_is_ready(void);
/* The value of an environment variable, or NULL when there is none or it is empty. */
const char *environment_variable(const char *name);
/* From now on a viewer's words stand for the environment, which is of another time: those of *a,
 * which stays. */
void environment_give(const struct ht_attached *a);
/* Whether that was done. */
bool environment_is_given(void);

#endif
