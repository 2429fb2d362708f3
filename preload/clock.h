/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time in the program. Events read the segment's clock word; a thread looks at the real clock
 * (vDSO, no system call) once in up to 64 events, and at every event when its events are far apart.
 * So a busy thread pays a fraction of a nanosecond, and a stamp is never older than 64 of its own
 * events.
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
