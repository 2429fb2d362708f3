/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of a call site that an agent reads for a desk. Main thread. */
#ifndef SRC_RUN_AGENT_EVENTS_H
#define SRC_RUN_AGENT_EVENTS_H

#include "src/far/worker.h"

struct agent_events;

/* NULL: out of memory. */
struct agent_events *agent_events_new(void);
const struct far_worker *agent_events_worker(const struct agent_events *a);
void agent_events_free(struct agent_events *a);

#endif
