/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorded processes that belong to a served one: those of its launch, and its children. The
 * only ones that an agent lets a desk choose from. Main thread of an agent.
 */
#ifndef SRC_RUN_AGENT_PROCESSES_H
#define SRC_RUN_AGENT_PROCESSES_H

#include "src/far/agent.h"
#include "src/run/agent_images.h"

struct agent_processes {
	pid_t first; /* as we see it */
	uint64_t family; /* of its launch, 0: none */
	struct far_others others;
	struct agent_process {
		struct read_segment *segment; /* NULL: not open */
		struct agent_images images;
	} process[FAR_VIEWS]; /* by view */
};

/* `first`: the segment of the served process, which is read only here. 0 or -errno. */
int agent_processes_open(struct agent_processes *a, struct read_segment *first, pid_t pid);
void agent_processes_close(struct agent_processes *a);

#endif
