/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a thread's own data are: thread-local variables of all objects that were there when it
 * began, and the library's description of the thread, with what pthread_setspecific keeps. One
 * thread.
 */
#ifndef SRC_LEAK_ANALYSIS_TLS_H
#define SRC_LEAK_ANALYSIS_TLS_H

#include "src/leak/access/space.h"

/* Empty if the thread pointer is not one of glibc's. */
struct leak_range leak_tls_of(struct leak_space *s, uint64_t thread_pointer);

#endif
