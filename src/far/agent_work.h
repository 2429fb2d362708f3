/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work of one kind that a desk asks for: the frames about it. Main thread of the agent. */
#ifndef SRC_FAR_AGENT_WORK_H
#define SRC_FAR_AGENT_WORK_H

#include "src/far/channel.h"
#include "src/far/worker.h"

struct far_agent_work {
	enum far_kind kind;
	const struct far_worker *worker; /* NULL: none is allowed */
	const struct read_segment *segment; /* whose process the next frame is about, */
	pid_t pid; /* and that; NULL and 0: none */
	uint64_t number; /* of the last one that was asked for */
	bool runs;
	struct far_working said; /* last, */
	uint64_t said_ns; /* and when: CLOCK_MONOTONIC */
	const struct bytes *found; /* of that one; NULL: none */
};

/* What follows the kind in FAR_WORK, FAR_CANCEL and FAR_GET. 0, -EPROTO, or as far_channel_send. */
int far_agent_work_take(
	struct far_agent_work *w, struct far_channel *line, uint8_t type, struct bytes_cursor *c);
/* Says what has changed, and every FAR_ALIVE_NS that it works; to be called often. 0, or as
 * far_channel_send. */
int far_agent_work_report(struct far_agent_work *w, struct far_channel *line);

#endif
