/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scan that a launched program gets at its last instant while it is on the screen, by itself:
 * it waits at its end, and is scanned and let go. Main thread.
 */
#ifndef SRC_RUN_EXIT_SCAN_H
#define SRC_RUN_EXIT_SCAN_H

#include <poll.h>

#include "src/run/run.h"

/* After run_open. Without effect where the program was not asked to wait. */
void exit_scan_open(struct run *r);
void exit_scan_close(struct run *r);
/* As run_fds and run_ready: true if anything has begun that is to be shown. */
int exit_scan_fds(const struct run *r, struct pollfd *fds, int max);
bool exit_scan_ready(struct run *r);
/* With --hold the program stays at its last instant until this. False: none is held. */
bool exit_scan_release(struct run *r);

#endif
