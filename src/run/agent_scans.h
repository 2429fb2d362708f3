/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an agent does to its programs when a desk asks and --serve=steer allows it: leak scans. Main
 * thread. */
#ifndef SRC_RUN_AGENT_SCANS_H
#define SRC_RUN_AGENT_SCANS_H

#include "src/far/worker.h"

struct agent_scans;

/* NULL: out of memory. */
struct agent_scans *agent_scans_new(void);
const struct far_worker *agent_scans_worker(const struct agent_scans *a);
/* Ends a scan: the process is released before this returns. */
void agent_scans_free(struct agent_scans *a);

#endif
