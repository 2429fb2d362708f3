/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mapped memory of a tick: sites of the kinds mmap, brk, shm and pool, as the model takes them.
 * Main thread.
 */
#ifndef SRC_SESSION_MAPPED_H
#define SRC_SESSION_MAPPED_H

#include "src/session/stack_registration.h"

/* Starts as zeros. */
struct mapped {
	struct model_site *sites; /* owned */
	struct read_mapped *raw; /* owned */
	uint32_t room; /* of both */
};

void mapped_free(struct mapped *m);
/* The kind of memory that an HT_FN_* maps. */
enum snap_kind mapped_kind(uint32_t function);
/* Reads the sites of a segment with these totals, registers new ones, and sets the input's
 * `mapped`. A failure is noted (src/util/shortage.h). */
void mapped_read(struct mapped *m, struct read_segment *segment,
	struct stack_registration *registration, const struct read_totals *t,
	struct model_input *in);

#endif
