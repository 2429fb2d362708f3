/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wrong frees of a segment in snapshots, with their stacks. Main thread. */
#ifndef SRC_SESSION_WRONG_FREES_H
#define SRC_SESSION_WRONG_FREES_H

#include "src/session/stack_registration.h"

struct wrong_frees {
	struct read_wrong_frees *read; /* NULL: not needed yet */
	struct snap_wrong_free *list;
};

/* Fills in the totals' wrong frees, and the list, which is valid until the next call. `sites`: in
 * use. */
void wrong_frees_fill(struct wrong_frees *w, struct read_segment *segment, uint32_t sites,
	struct stack_registration *registration, struct model *model, struct snapshot *head);
/* Frees what it holds, not `w`. */
void wrong_frees_free(struct wrong_frees *w);

#endif
