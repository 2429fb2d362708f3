/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much of what is fetched piece by piece a desk asks for at a time: a piece delays the ticks
 * behind it, so one that took long is followed by a smaller one. Main thread of the desk.
 */
#ifndef SRC_FAR_PACE_H
#define SRC_FAR_PACE_H

#include <stdint.h>

#include "src/far/wire.h"
#include "src/util/clock.h"

#define FAR_PACE_FIRST (16u << 10)
#define FAR_PACE_LEAST 1024u /* a second of the slowest lines */
#define FAR_PACE_NS    UINT64_C(500000000) /* which a piece may take */

/* All zeros: nothing has come yet. */
struct far_pace {
	uint32_t bytes; /* of the piece that was asked for */
	uint64_t asked_ns;
};

/* The bytes to ask for now. */
static inline uint32_t far_pace_ask(struct far_pace *p)
{
	p->bytes = p->bytes ? p->bytes : FAR_PACE_FIRST;
	p->asked_ns = clock_monotonic_ns();
	return p->bytes;
}

/* That piece has come, at `now_ns`. */
static inline void far_pace_came(struct far_pace *p, uint64_t now_ns)
{
	uint64_t took = now_ns - p->asked_ns;

	if (took < FAR_PACE_NS && p->bytes < FAR_PIECE_MAX)
		p->bytes *= 2;
	else if (took > 2 * FAR_PACE_NS && p->bytes > FAR_PACE_LEAST)
		p->bytes /= 2;
}

#endif
