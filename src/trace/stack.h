/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All words of a stopped thread's stack from its stack pointer on. The thread that stopped it. */
#ifndef SRC_TRACE_STACK_H
#define SRC_TRACE_STACK_H

#include "src/trace/image.h"
#include "src/trace/stop.h"

#define TRACE_STACK_AHEAD 8u /* words */

/*
 * Calls `hit` for each word from the red zone on, up to the end of the mapping, until it returns
 * true. It may look at TRACE_STACK_AHEAD words from there on, which are 0 behind the end. Returns
 * whether one did; true, too, if there is no memory for it, or the stack is in no mapping of the
 * image.
 */
bool trace_stack_search(const struct trace_image *i, const struct trace_thread *t,
	bool (*hit)(const void *ctx, const uint64_t *word), const void *ctx);
/* Whether one of them is in [from, end). */
bool trace_stack_has(
	const struct trace_image *i, const struct trace_thread *t, uint64_t from, uint64_t end);

#endif
