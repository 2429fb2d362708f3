/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds a thread's own data: the thread-local variables of all objects that were loaded when it
 * began, and glibc's description of the thread, with pthread_setspecific's values. One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_TLS_H
#define SRC_LEAK_ANALYSIS_TLS_H

#include "src/leak/access/space.h"

/* Empty if the thread pointer is not glibc's. */
struct leak_range leak_tls_of(struct leak_space *s, uint64_t thread_pointer);

#endif
