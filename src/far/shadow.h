/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's copy of what the desk already has of a segment, so that only changes are sent. It
 * takes as much memory as the segment's own counts. Main thread of the agent.
 */
#ifndef SRC_FAR_SHADOW_H
#define SRC_FAR_SHADOW_H

#include "src/read/read.h"
#include "src/util/bytes.h"

struct far_shadow;

/* NULL: no memory. */
struct far_shadow *far_shadow_new(struct read_segment *s);
void far_shadow_free(struct far_shadow *h);
/*
 * Reads the segment and calls `send` for each piece of the changes, of less than FAR_FRAME_MAX
 * bytes. 0, the first result of `send` that is not 0, -ENOMEM or -EIO; then the desk's copy is of
 * no moment, and the connection of no use.
 */
int far_shadow_send(
	struct far_shadow *h, int (*send)(void *ctx, const struct bytes *lines), void *ctx);

#endif
