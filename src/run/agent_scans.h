/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an agent does to its program when a desk asks and --serve=steer allows it: leak scans. Main
 * thread. */
#ifndef SRC_RUN_AGENT_SCANS_H
#define SRC_RUN_AGENT_SCANS_H

#include <sys/types.h>

#include "src/far/steer.h"

struct agent_scans;

/* `path`: the process's segment, which must outlive it; `pid` as we see it. NULL: out of memory. */
struct agent_scans *agent_scans_new(const char *path, pid_t pid);
/* From now on of another image of the process, whose segment this is. */
void agent_scans_move(struct agent_scans *a, const char *path);
const struct far_steer *agent_scans_steer(const struct agent_scans *a);
/* Ends a scan: the process is released before this returns. */
void agent_scans_free(struct agent_scans *a);

#endif
