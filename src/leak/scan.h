/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A leak scan of a running process, from outside: stop it, read its live table and its memory, let
 * it go on, and then find out what nothing points to. Any thread; what stops the process is a
 * thread of its own, which the call waits for (stop.h tells why).
 */
#ifndef SRC_LEAK_SCAN_H
#define SRC_LEAK_SCAN_H

#include "src/leak/access/progress.h"
#include "src/leak/analysis/result.h"
#include "src/leak/analysis/roots.h"
#include "src/leak/scan_options.h"
#include "src/read/read.h"

/* 0, or -errno with one line in `message` (LEAK_MESSAGE_MAX) that says why not; -ECANCELED when
 * progress said so. */
int leak_scan(struct read_segment *segment, const struct leak_scan_options *request,
	struct leak_result *out, char *message);
#endif
