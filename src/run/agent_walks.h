/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walks over live blocks that an agent makes for a desk. Main thread. */
#ifndef SRC_RUN_AGENT_WALKS_H
#define SRC_RUN_AGENT_WALKS_H

#include "src/far/worker.h"

struct agent_walks;

/* NULL: out of memory. */
struct agent_walks *agent_walks_new(void);
const struct far_worker *agent_walks_worker(const struct agent_walks *a);
/* Waits for a walk in progress. */
void agent_walks_free(struct agent_walks *a);

#endif
