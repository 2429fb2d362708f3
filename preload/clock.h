/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time, and its publication in the segment. Any thread; errno is kept. */
#ifndef PRELOAD_CLOCK_H
#define PRELOAD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/atomic.h"

/* CLOCK_MONOTONIC and CLOCK_REALTIME, ns. */
uint64_t clock_monotonic(void);
uint64_t clock_realtime(void);
/* The processor's counter of cycles may not be read from now on (PR_SET_TSC): what the kernel
 * stores at each of its ticks serves instead, some milliseconds apart. There is no way back. */
void clock_forbid(void);
extern uint8_t clock_forbidden __attribute__((visibility("hidden"))); /* by the function below */
static inline bool clock_is_forbidden(void)
{
	/* Relaxed: the thread itself has forbidden it, or one before that made this thread. */
	return __builtin_expect(ht_load_relaxed_8(&clock_forbidden), 0);
}
/* The same if it is so already; a system call. */
void clock_check(void);
/* Reads the time, publishes it in the header, adds a point to the history. */
void clock_publish(void);

#endif
