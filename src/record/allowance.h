/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast a recording may grow. Bytes are allowed at a steady rate and saved for a while; what is
 * written beyond them is a debt, and until it is paid ticks are left out. The ticks that are
 * written are exact all the same: only their distance grows, to ten seconds at most. The streams of
 * a file take part in turn, so that a large one leaves room for the others. Main thread.
 */
#ifndef SRC_RECORD_ALLOWANCE_H
#define SRC_RECORD_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

struct allowance {
	double bytes_per_ns; /* 0: no bound */
	double left; /* bytes; below 0: a debt */
	uint64_t at_ns; /* bytes were allowed up to then */
	uint32_t turn; /* the present one; each stream writes once a turn */
};

/* At most `hourly_bytes` an hour (0: no bound), after a minute's worth that is there at first. */
void allowance_begin(struct allowance *a, uint64_t hourly_bytes);
/* Whether a stream may write at `now_ns`. `turn` is the stream's own, 0 before the first call. The
 * clock is the caller's; a step back brings nothing. */
bool allowance_take(struct allowance *a, uint64_t now_ns, uint32_t *turn);
/* That many bytes were written. */
void allowance_pay(struct allowance *a, uint64_t bytes);

#endif
