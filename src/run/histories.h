/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The histories of the process images that this run reads: one for each, found by the owner of its
 * snapshots. An image that is no longer ticked is forgotten. Main thread.
 */
#ifndef SRC_RUN_HISTORIES_H
#define SRC_RUN_HISTORIES_H

#include "src/record/history.h"

struct histories;

/* Each history takes `limit_bytes` at most; 0: none is kept. NULL: no memory. */
struct histories *histories_new(uint64_t limit_bytes);
void histories_free(struct histories *h);
/* Adds a tick to its image's history, and keeps a reference to the snapshot until the next one.
 * Without memory, the tick is missing. `h` and `s` may be NULL. */
void histories_add(struct histories *h, struct snapshot *s);
/* After the ticks of a refresh: forgets images that had none for some time. */
void histories_sweep(struct histories *h);
/* What is kept of the image that owns `s`; NULL: nothing. Valid until its next tick. */
const struct timeline *histories_timeline(struct histories *h, const struct snapshot *s);
/*
 * The moment `m` of the image that owns `now`, its newest snapshot: one reference, the caller's.
 * For SNAP_NOW `now` itself. NULL and errno: ENODATA when it is not kept, ENOMEM.
 */
struct snapshot *histories_moment(
	struct histories *h, struct snapshot *now, const struct moment *m);

#endif
