/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes and removes the jumps at the entries of functions, while all threads of the process are
 * stopped. Either may stop halfway: an entry with a jump leads to a working pad, and one without
 * is the original function. The thread that stopped the process.
 */
#ifndef SRC_ATTACH_JUMPS_H
#define SRC_ATTACH_JUMPS_H

#include "src/attach/process.h"

/* What of the list is there. */
struct attach_jumps {
	uint32_t set, clear; /* the jump, or the function's own bytes */
	uint32_t other; /* neither: the module is gone, or something else has been written */
};

void attach_jumps_look(
	struct attach_jumps *out, const struct attach_process *p, const struct ht_attached *a);
/*
 * Moves the threads that stand between displaced instructions, and writes all jumps. 0; -EAGAIN: a
 * thread will come back to displaced bytes (a handler has interrupted it there), so nothing was
 * changed; or -errno.
 */
int attach_jumps_write(
	const struct attach_process *p, struct trace_stop *s, const struct ht_attached *a);
/* Writes the functions' own bytes back, wherever a jump is. 0 or -errno. */
int attach_jumps_clear(const struct attach_process *p, const struct ht_attached *a);

#endif
