/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The images that a served process gets by exec: their segments. Main thread of an agent. */
#ifndef SRC_RUN_AGENT_IMAGES_H
#define SRC_RUN_AGENT_IMAGES_H

#include "src/read/read.h"

struct agent_images {
	pid_t pid; /* as we see it */
	uint64_t start_ticks;
	uint32_t exec_gen; /* of the newest one known */
	char path[256]; /* its segment; "": the first one, which is the caller's */
	struct read_segment *found, *before; /* the newest, and the one before it; or NULL */
};

/* `first`: the segment that is served. 0 or -errno. */
int agent_images_open(struct agent_images *a, struct read_segment *first, pid_t pid);
/* far_agent.next: the newest image after the first one, or NULL. `ctx`: a struct agent_images. */
struct read_segment *agent_images_next(void *ctx);
void agent_images_close(struct agent_images *a);

#endif
