/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak scans of the process that the screen shows (src/run/screen.h). `run` is a struct
 * run, as the screen has it: see struct tui_source. Main thread.
 */
#ifndef SRC_RUN_SCREEN_LEAKS_H
#define SRC_RUN_SCREEN_LEAKS_H

#include "src/model/leaks.h"
#include "src/run/run.h"
#include "src/scan/scan_control.h"

const struct leaks *screen_leaks_state(void *run);
int screen_leaks_scan(void *run, char *msg, size_t cap);
void screen_leaks_cancel(void *run);
void screen_leaks_every(void *run, uint64_t ns);
int screen_leaks_suppress(void *run, const struct snapshot *s, const struct leak_chosen *chosen,
	char *msg, size_t cap);
long screen_leaks_bytes(void *run, uint64_t addr, void *out, size_t bytes);

/* Of the image that is shown; another one gets new ones. NULL without memory. */
struct scan_control *screen_leaks_control(struct run *r);
/* At each tick: begins a scan that is due, and judges what was found by the names in `s`. */
void screen_leaks_tick(struct run *r, const struct snapshot *s);
/* The last scan of the process that is shown, for what is written to a file; or NULL. */
const struct snap_leaks *screen_leaks_last(struct run *r);

#endif
