/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A copy-on-write copy of a process that stands still, to be read while the process goes on. One of
 * its threads runs the library's stub (shm/copy.h). The copy never runs; it is gone when it is
 * ended, or when the thread that made it ends. Only the thread that stopped the process.
 */
#ifndef SRC_LEAK_COPY_H
#define SRC_LEAK_COPY_H

#include "src/leak/stop.h"

/*
 * Makes one. `at`: read_copy_at. NULL and its pid, or why not, in a few words (static). All threads
 * stand still in either case, as before; *stuck: one of them does not, and only the end of the
 * thread that traces it can let it go.
 */
const char *leak_copy_make(struct leak_stop *stop, uint64_t at, pid_t *copy, bool *stuck);
/* Whether it is still there: the kernel takes it first when memory is short. */
bool leak_copy_alive(pid_t copy);
void leak_copy_end(pid_t copy);

#endif
