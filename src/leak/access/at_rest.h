/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that are stopped while they allocate or free: in a hook of the library, or in libc's
 * malloc. What such a thread allocates is in use and in no table yet; what it frees is in no table
 * any more and still in use. They are resumed for a moment.
 */
#ifndef SRC_LEAK_ACCESS_AT_REST_H
#define SRC_LEAK_ACCESS_AT_REST_H

#include "src/leak/access/space.h"
#include "src/trace/stop.h"
#include "src/read/read.h"

/*
 * Resumes and stops such threads until there are none, or for too long: then some wait for what
 * only others can give them, or only seem to be there by what is left on their stacks. The number
 * that is left.
 */
unsigned leak_at_rest_await(struct read_segment *segment, struct leak_range malloc_code,
	struct trace_stop *stop, struct leak_space *space);

#endif
