/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time in the program. Events read the segment's clock word. A thread looks at the processor's
 * cycle counter once in up to 32 events, and at every event when its events are far apart; when
 * some microseconds have passed it asks for the time (vDSO, no system call) and publishes it. So a
 * busy thread pays half a nanosecond, and no stamp is older than 32 of its own events. Viewers
 * publish the time in the same word, so that after a pause even those are not far off.
 */
#ifndef PRELOAD_CLOCK_H
#define PRELOAD_CLOCK_H

#include "preload/recorder.h"

/* Asks for the time, publishes it, notes the history. */
void clock_publish(void);
/* Looks whether that is due. */
void clock_look(struct recorder *r);
/* The tick of this event. */
HT_HOT uint64_t clock_tick(struct recorder *r)
{
	if (__builtin_expect(r->clock_left == 0, 0))
		clock_look(r);
	r->clock_left--;
	return segment_tick(&state_segment);
}

/* CLOCK_MONOTONIC and CLOCK_REALTIME, ns. */
uint64_t clock_monotonic(void);
uint64_t clock_realtime(void);

#endif
