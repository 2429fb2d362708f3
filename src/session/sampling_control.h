/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the user wants of sampling mode, and steering: choosing the rate by what recording costs.
 * The library measures its own time when it is asked to; a viewer that runs compares that with the
 * processor time of the program, once a tick, and writes the rate that keeps the cost below the
 * limit. Pure: readings go in, a rate comes out. Main thread.
 */
#ifndef SRC_SESSION_SAMPLING_CONTROL_H
#define SRC_SESSION_SAMPLING_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#define SAMPLING_CONTROL_AUTO_LIMIT                                                                \
	0.05 /* of "--sample auto", as a part of the program's own time */

struct sampling_request {
	bool given; /* false: leave the program as it is */
	bool has_rate; /* `bytes` was asked for: set it once, at the start */
	uint64_t bytes; /* mean distance between samples, a power of two; 0: exact */
	double limit; /* steer: recording may cost this part of the program's own time; 0: do not */
};

/* Take "512K", "1M", "exact" or "auto"; and "5%". They add to the wish. 0 or -EINVAL. */
int sampling_control_parse_rate(const char *text, struct sampling_request *request);
int sampling_control_parse_limit(const char *text, struct sampling_request *request);

/* A moment of the program. All but `bytes` only ever grow. */
struct sampling_reading {
	uint64_t cpu_ns; /* processor time of the whole program, recording included */
	uint64_t cost_ns; /* of it, recording: measured by the library */
	uint64_t recorded; /* events recorded */
	uint64_t events; /* allocations and frees, recorded or not */
	uint64_t allocs, alloc_bytes;
	uint64_t bytes; /* the rate of now, 0: exact */
};

/* Zero at the start of a program image. */
struct sampling_control {
	struct sampling_reading last,
		changed; /* at the last look, and when the rate changed last */
	bool looked;
	unsigned calm; /* looks in a row that cost little */
	bool measured; /* `overhead` is known */
	double overhead; /* recording took this part of the program's own time, at the last look; */
	double passing; /* of that, calls that are only passed through: no rate saves it */
};

/* Looks at the program and returns the rate it should have from now on. */
uint64_t sampling_control_update(struct sampling_control *s, const struct sampling_request *request,
	const struct sampling_reading *now);

#endif
