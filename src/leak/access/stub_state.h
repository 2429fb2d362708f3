/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a stub is to restore of the thread that runs it, if nobody else does (shm/copy.h), by
 * architecture. The thread that stopped the process. */
#ifndef SRC_LEAK_ACCESS_STUB_STATE_H
#define SRC_LEAK_ACCESS_STUB_STATE_H

#include "shm/copy.h"
#include "src/trace/thread.h"

/* False: not known, and the thread must not run a stub. `mask`: signals blocked by the thread. */
bool leak_stub_state(const struct trace_thread *t, uint64_t mask, struct ht_copy_state *out);

#endif
