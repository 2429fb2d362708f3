/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans that a desk requests: the frames about them. Main thread of the agent. */
#ifndef SRC_FAR_AGENT_SCAN_H
#define SRC_FAR_AGENT_SCAN_H

#include "src/far/channel.h"
#include "src/far/steer.h"

struct far_agent_scan {
	const struct far_steer *steer; /* NULL: none is allowed */
	const char *path; /* of the segment whose process the next frame is about, */
	pid_t pid; /* and that; NULL and 0: none */
	uint64_t number; /* of the last one that was asked for */
	bool runs;
	struct far_scanning said; /* last */
	const struct bytes *found; /* of that one; NULL: none */
};

/* FAR_SCAN, FAR_CANCEL and FAR_GET. 0, -EPROTO, or as far_channel_send. */
int far_agent_scan_take(
	struct far_agent_scan *s, struct far_channel *line, const struct far_frame *f);
/* Says what has changed, to be called often. 0, or as far_channel_send. */
int far_agent_scan_report(struct far_agent_scan *s, struct far_channel *line);

#endif
