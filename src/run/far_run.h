/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run of a program on another machine: connects, takes each moment as it comes, and copies the
 * object files that this machine lacks. Main thread.
 */
#ifndef SRC_RUN_FAR_RUN_H
#define SRC_RUN_FAR_RUN_H

#include "src/far/moment.h"
#include "src/run/options.h"
#include "src/scan/scan_far.h"

struct far_run;

/* Connects, and waits for the first moment. 0, or after one line on stderr the exit status. */
int far_run_open(struct far_run **out, const struct options *o);
void far_run_close(struct far_run *f);
/* True once when the process goes on as another image by exec: path and modules are those of that
 * one. Of NULL: false. */
bool far_run_image(struct far_run *f);
/* The segment's copy; far_run_opened when it is open, since its name is not needed any more. */
const char *far_run_path(const struct far_run *f);
void far_run_opened(struct far_run *f);
const struct far_moment *far_run_moment(const struct far_run *f);
const struct sym_elsewhere *far_run_elsewhere(const struct far_run *f);
/* The number of the first module whose file may still come. */
const uint32_t *far_run_modules(const struct far_run *f);
/* While a file comes: readable when there is more; -1: none does. */
int far_run_fd(const struct far_run *f);
/* Takes what has come of it. True: it is there, or will not come. Of NULL: false. */
bool far_run_listen(struct far_run *f);
/* Leak scans there, as long as the run. Of NULL: NULL. */
const struct scan_far *far_run_scans(const struct far_run *f);
/* Takes what has come, or waits for it where nobody looks at a screen. Before each tick. Of NULL:
 * nothing. */
void far_run_tick(struct far_run *f);
/* Whether more can come. Of NULL: true. */
bool far_run_is_open(const struct far_run *f);
/* What is to be said: that the connection is gone; or NULL. */
const char *far_run_notice(const struct far_run *f);

#endif
