/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The automatic leak scan of a launched program on the screen: the program waits at its end, is
 * scanned at its last instant, and released. Main thread.
 */
#ifndef SRC_RUN_EXIT_SCAN_H
#define SRC_RUN_EXIT_SCAN_H

#include <poll.h>

#include "src/run/run.h"
#include "src/run/screen_leaks.h"

struct exit_scan;

/* Has no effect where the program was not asked to wait. NULL without memory. */
struct exit_scan *exit_scan_new(struct run *r, struct screen_leaks *l);
/* Before run_close. Tells the program not to wait: the viewer leaves, or the program is being
 * ended. */
void exit_scan_free(struct exit_scan *e);
/* As run_fds and run_ready: true if a scan has begun. `shown`: the process on the screen, the only
 * one that is scanned. */
int exit_scan_fds(const struct exit_scan *e, struct pollfd *fds, int max);
bool exit_scan_ready(struct exit_scan *e, const struct process_tree *shown);
/* With --hold the program stays at its last instant until this. False: none is held. */
bool exit_scan_release(struct exit_scan *e);

#endif
