/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The latest allocations at one call site, and whether each is still live or has been freed. */
#ifndef SRC_MODEL_EVENT_LINE_H
#define SRC_MODEL_EVENT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_line {
	uint64_t number; /* of the allocation, from 1 on, by this reader */
	uint64_t ns; /* since the program's start */
	uint32_t slot, tid; /* the thread's slot, and its id now; 0: unknown */
	uint64_t addr, size;
	bool freed;
	uint64_t freed_after_ns;
	uint32_t freed_by; /* slot */
};

/* Those of one site, for the screen. */
struct event_lines {
	uint32_t site; /* id */
	const struct event_line *line; /* the latest ones, oldest first; their numbers are
					  consecutive */
	size_t count;
	uint64_t missed; /* events, of any site, that were overwritten before they were read */
	const char *why; /* one clean line: why no more are read; NULL: they are */
};

#endif
