/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process that a segment speaks of: which one it is, seen from here, and whether it still has
 * the segment mapped. By exec it loses it; a new image with the library then makes another one, and
 * one without goes unrecorded from there on. Main thread.
 */
#ifndef SRC_HOLDER_H
#define SRC_HOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/read/read.h"

struct holder {
	uint64_t due_ns; /* of the next look */
	unsigned without; /* looks in a row at which it did not have the segment */
};

/* Its pid as we see it, or the one it had; 0: it cannot be seen from here. */
pid_t holder_pid(const struct read_segment *s, const struct read_identity *id);
/* Looks at a running process as often as it may cost, once its segment's `state` is that it
 * records. */
void holder_look(struct holder *h, const struct read_segment *s, uint32_t state, pid_t pid);
/* Whether it goes on without the segment. */
bool holder_left(const struct holder *h);
/* What to say of one that did, which still runs or has ended. */
const char *holder_text(bool runs);

#endif
