/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A leak scan's result in the form of the snapshot, for reports and screen. Main thread.
 */
#ifndef SRC_LEAKCHECK_H
#define SRC_LEAKCHECK_H

#include "src/leak/suppress.h"
#include "src/model/snapshot.h"
#include "src/read/read.h"

struct leakcheck;

/* Scans the process now. Never NULL but without memory: a scan that was not possible says why. */
struct leakcheck *leakcheck_run(struct read_segment *s, pid_t pid, unsigned roots);
/* For one that could not even begin; `why` is copied. */
struct leakcheck *leakcheck_failed(const char *why);
/* Takes what `rules` match out of the classes, by the names in `s`, a snapshot of the same image.
 * Once. */
void leakcheck_suppress(
	struct leakcheck *c, const struct snapshot *s, const struct suppress *rules);
const struct snap_leaks *leakcheck_result(const struct leakcheck *c);
void leakcheck_free(struct leakcheck *c);

#endif
