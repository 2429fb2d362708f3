/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time in the program. Events read the segment's clock word; a thread looks at the real clock
 * (vDSO, no system call) once in up to 16 events, and at every event when its events are far apart.
 * So a busy thread pays a nanosecond or two, and no stamp is older than 16 of its own events.
 * Viewers publish the time in the same word, so that after a pause even those are not far off.
 */
#ifndef PRELOAD_CLOCK_H
#define PRELOAD_CLOCK_H

#include <stdint.h>

/* Looks at the clock, publishes it, notes the history. */
void clock_refresh(void);
/* The tick of this event. */
uint64_t clock_tick(void);
/* CLOCK_MONOTONIC and CLOCK_REALTIME, ns. */
uint64_t clock_monotonic(void);
uint64_t clock_realtime(void);

#endif
