/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorded children of a served process, in words. Main thread of an agent. */
#ifndef SRC_RUN_AGENT_CHILDREN_H
#define SRC_RUN_AGENT_CHILDREN_H

#include <stddef.h>
#include <sys/types.h>

/* far_agent.children: "4712 (worker), 4713 (worker) and 3 more"; "" if there are none. `pid` as we
 * see it. Reads the list of segments. */
void agent_children_list(pid_t pid, char *out, size_t cap);

#endif
