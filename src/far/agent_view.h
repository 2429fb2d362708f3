/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One process that an agent shows to its desk: its greeting and its ticks. Main thread of the
 * agent. */
#ifndef SRC_FAR_AGENT_VIEW_H
#define SRC_FAR_AGENT_VIEW_H

#include "src/far/channel.h"
#include "src/far/moment.h"
#include "src/far/shadow.h"
#include "src/read/read.h"

struct far_process {
	struct read_segment *segment;
	pid_t pid; /* as we see it; 0: it is not visible from here */
	/* The newest image of the process by exec; NULL: none after the first is recorded. The
	 * segment is the callee's, and stays open while this one is served. May be NULL. */
	struct read_segment *(*next)(void *ctx);
	void *next_ctx;
};

struct far_agent_view {
	struct far_process of;
	unsigned number;
	struct read_segment *segment; /* that of the image which is served, */
	struct read_segment *next; /* and of one after it; or NULL */
	uint64_t without_ns; /* since when the process does not map it; 0: it does */
	uint64_t next_due_ns; /* of the next look for another image */
	unsigned without; /* looks in a row that did not find the segment mapped */
	struct far_shadow *shadow;
	struct read_identity identity;
	struct bytes out;
	struct read_thread *thread;
	struct far_thread *name, *named; /* as now, and as sent last */
	size_t names, nameds;
	uint64_t pss_due_ns, pss_bytes;
	bool have_pss;
	struct far_channel *line;
};

/* 0 or -errno; then there is nothing to close. */
int far_agent_view_open(struct far_agent_view *v, unsigned number, const struct far_process *p,
	struct far_channel *line);
/* Does nothing if it is not open. */
void far_agent_view_close(struct far_agent_view *v);
/* FAR_HELLO, where what is the same for all views is filled in. 0, or as far_channel_send. */
int far_agent_view_greet(struct far_agent_view *v, struct far_hello *h);
/* FAR_LINES, FAR_PROCESS and FAR_TICK, with `children` in it (or ""). 0, or as far_channel_send. */
int far_agent_view_tick(struct far_agent_view *v, const char *children);
/* Goes on with the new image, of which the desk has nothing yet. -EPROTO: there is none; -ENOMEM.
 */
int far_agent_view_image(struct far_agent_view *v);

#endif
