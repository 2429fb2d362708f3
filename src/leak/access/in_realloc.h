/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that are stopped inside realloc: the block that such a thread moves is not in the live
 * table, so what it points to would seem lost. They are resumed for a moment.
 */
#ifndef SRC_LEAK_ACCESS_IN_REALLOC_H
#define SRC_LEAK_ACCESS_IN_REALLOC_H

#include "src/leak/access/space.h"
#include "src/trace/stop.h"
#include "src/read/read.h"

/* The number of threads inside realloc. */
unsigned leak_in_realloc_count(
	struct read_segment *segment, struct trace_stop *stop, struct leak_space *space);
/* Resumes and stops them until there are none, or for too long. The number that is left. */
unsigned leak_in_realloc_await(
	struct read_segment *segment, struct trace_stop *stop, struct leak_space *space);

#endif
