/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Another heaptop at a process. Any thread. */
#ifndef SRC_TRACE_OTHER_H
#define SRC_TRACE_OTHER_H

#include <sys/types.h>

/* The heaptop, other than this one, that traces a process or one of its threads, by the pid of its
 * tracing thread; 0: none does. */
pid_t trace_other_heaptop(pid_t pid);

#endif
