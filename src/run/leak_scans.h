/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans as a run's options ask for them. Main thread. */
#ifndef SRC_RUN_LEAK_SCANS_H
#define SRC_RUN_LEAK_SCANS_H

#include "src/leak/scan.h"
#include "src/run/run.h"
#include "src/scan/scan_control.h"

/* What a leak scan of a process takes into account. */
struct leak_scan_options leak_scans_options(const struct run *r, const struct session *s);
/*
 * The scans of the image that `s` observes. `current`: those before, NULL if there were none; they
 * are freed if they are another image's, and the new ones keep their interval. NULL without memory.
 */
struct scan_control *leak_scans_control(
	struct scan_control *current, const struct run *r, struct session *s);

#endif
