/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak scans of the process on the screen. `s` is the session of that process, which changes when
 * the user goes to another one, or at exec; then there are new scans. What the functions mean is in
 * struct tui_source (tui/tui.h). Main thread.
 */
#ifndef SRC_RUN_SCREEN_LEAKS_H
#define SRC_RUN_SCREEN_LEAKS_H

#include "src/model/leaks.h"
#include "src/run/run.h"

struct screen_leaks;

/* NULL without memory. */
struct screen_leaks *screen_leaks_new(struct run *r);
/* Ends a scan that is under way: the process is let go before this returns. */
void screen_leaks_free(struct screen_leaks *l);
const struct leaks *screen_leaks_state(struct screen_leaks *l, struct session *s);
int screen_leaks_scan(
	struct screen_leaks *l, struct session *s, bool contents, char *msg, size_t cap);
/* The program asks for a scan: scan_control_ask. */
void screen_leaks_ask(struct screen_leaks *l, struct session *s);
void screen_leaks_cancel(struct screen_leaks *l);
void screen_leaks_every(struct screen_leaks *l, struct session *s, uint64_t ns);
int screen_leaks_suppress(struct screen_leaks *l, struct session *s, const struct snapshot *snap,
	const struct leak_chosen *chosen, char *msg, size_t cap);
long screen_leaks_bytes(struct session *s, uint64_t addr, void *out, size_t bytes);

/* At each tick: begins a scan that is due, and applies suppressions by the names in `snap`, which
 * may be NULL. */
void screen_leaks_tick(struct screen_leaks *l, struct session *s, const struct snapshot *snap);
/* The result of the last scan, for a file; or NULL. */
const struct snap_leaks *screen_leaks_last(struct screen_leaks *l, struct session *s);
/* Descriptors as those of scan_control_fds, and taking what they have. */
int screen_leaks_fds(const struct screen_leaks *l, struct pollfd *fds, int max);
bool screen_leaks_collect(struct screen_leaks *l);

/* The process waits at its end: scan_control_start_at_exit. 0 or -errno. */
int screen_leaks_start_at_exit(struct screen_leaks *l, struct session *s, bool hold);
/* If a scan is under way: scan_control_give_up. */
void screen_leaks_give_up(struct screen_leaks *l, const char *why);
/* Lets a process go that such a scan holds. False: none is held. */
bool screen_leaks_release(struct screen_leaks *l);

#endif
