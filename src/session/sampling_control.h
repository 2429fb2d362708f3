/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The user's request for sampling, and the choice of a rate by the cost of recording. The
 * library measures its own time on request; a running viewer compares that with the program's
 * processor time once a tick, and writes the rate that keeps the cost below the limit. Pure:
 * readings go in, a rate comes out. Main thread.
 */
#ifndef SRC_SESSION_SAMPLING_CONTROL_H
#define SRC_SESSION_SAMPLING_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#define SAMPLING_CONTROL_AUTO_LIMIT                                                                \
	0.05 /* of "--sample auto", as a fraction of the program's own time */
/* The approximate cost of a sampled event: nothing it needs is in the cache. */
#define SAMPLING_CONTROL_SAMPLED_NS 1000.0

struct sampling_request {
	bool given; /* false: leave the program as it is */
	bool has_rate; /* `bytes` was requested: set it once, at the start */
	uint64_t bytes; /* mean distance between samples, a power of two; 0: exact */
	double limit; /* cost of recording at most, as a fraction of the program's own time; 0: none
		       */
};

/* Parse "512K", "1M", "exact" or "auto"; and "5%". Each adds to the request. 0 or -EINVAL. */
int sampling_control_parse_rate(const char *text, struct sampling_request *request);
int sampling_control_parse_limit(const char *text, struct sampling_request *request);

/* A reading of the program's counters. All but `bytes` only ever grow. */
struct sampling_reading {
	uint64_t cpu_ns; /* processor time of the whole program, recording included */
	uint64_t cost_ns; /* recording's part of it, as the library measured it */
	uint64_t recorded; /* events recorded */
	uint64_t events; /* allocations and frees, recorded or not */
	uint64_t allocs, alloc_bytes;
	uint64_t bytes; /* the present rate, 0: exact */
};

/* Zero at the start of a program image. */
struct sampling_control {
	struct sampling_reading last,
		changed; /* the last reading, and the one at which the rate changed last */
	bool looked;
	unsigned calm; /* readings in a row with a low cost */
	bool measured; /* `overhead` is known */
	double overhead; /* the cost at the last reading, as a fraction of the program's own time;
			  */
	double passing; /* its part that is calls merely passed through, which no rate saves */
};

/* Takes a reading and returns the rate that the program should have from now on. */
uint64_t sampling_control_update(struct sampling_control *s, const struct sampling_request *request,
	const struct sampling_reading *now);

#endif
