/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tick of an event. Events read the segment's clock word. A thread reads the processor's cycle
 * counter once in up to 32 events, and at every event when its events are far apart; after some
 * microseconds it reads the time (vDSO, no system call) and publishes it. So a busy thread pays
 * half a nanosecond, and no stamp is older than 32 of its own events. Viewers publish the time in
 * the same word, so that stamps after a pause are nearly right, too. While events are written, each
 * reads the counter, so that the first ones after a pause have no stamp from before it.
 */
#ifndef PRELOAD_TICK_H
#define PRELOAD_TICK_H

#include "preload/recorder.h"

/* Reads the cycle counter, serves a viewer's request, and publishes the time when that is due. */
void tick_refresh(struct recorder *r);
/* Counts an event: the clock word is then as new as it must be. True: the event is to be written
 * (r->events). No other can be: each of those refreshes the tick. */
HT_HOT bool tick_count(struct recorder *r)
{
	if (__builtin_expect((int32_t)--r->clock_countdown >= 0, 1))
		return false;
	tick_refresh(r);
	return r->events;
}

/* The tick of this event. */
static inline uint64_t tick_now(struct recorder *r)
{
	(void)tick_count(r);
	return segment_tick(&state_segment);
}

#endif
