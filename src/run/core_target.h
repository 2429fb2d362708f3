/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -r CORE: the core file and its account, which take the place of a process. Main thread.
 */
#ifndef SRC_RUN_CORE_TARGET_H
#define SRC_RUN_CORE_TARGET_H

#include "src/core/core.h"
#include "src/run/options.h"
#include "src/session/session.h"

/* Opens the core o->file with its account: o->core. 0, or after one line on stderr the exit status
 * to end with. */
int core_target_open(struct options *o);
void core_target_close(struct options *o);
/* The core; NULL: the options name none. */
const struct core *core_target_core(const struct options *o);
/* The path of the account, or else that of o->file. */
const char *core_target_path(const struct options *o);
/* What a session says of the core; NULL: there is none. */
const struct liveness_core *core_target_session(const struct options *o);

#endif
