/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maps of resident memory that an agent reads for a desk. Main thread. */
#ifndef SRC_RUN_AGENT_MAPS_H
#define SRC_RUN_AGENT_MAPS_H

#include "src/far/worker.h"

struct agent_maps;

/* NULL: out of memory. */
struct agent_maps *agent_maps_new(void);
const struct far_worker *agent_maps_worker(const struct agent_maps *a);
/* Waits for a reading that is under way. */
void agent_maps_free(struct agent_maps *a);

#endif
