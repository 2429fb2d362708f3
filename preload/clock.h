/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time, and its publication in the segment. Any thread; errno is kept. */
#ifndef PRELOAD_CLOCK_H
#define PRELOAD_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC and CLOCK_REALTIME, ns. */
uint64_t clock_monotonic(void);
uint64_t clock_realtime(void);
/* Reads the time, publishes it in the header, adds a point to the history. */
void clock_publish(void);

#endif
