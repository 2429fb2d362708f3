/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The viewer's clocks, in nanoseconds. Any thread. */
#ifndef SRC_UTIL_CLOCK_H
#define SRC_UTIL_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC: the same clock that the target publishes (shm/layout.h). */
uint64_t clock_monotonic_ns(void);
/* CLOCK_REALTIME since the epoch. */
uint64_t clock_realtime_ns(void);
/* CPU time this process has used, user and system. */
uint64_t clock_process_cpu_ns(void);
/* The same for the calling thread. */
uint64_t clock_thread_cpu_ns(void);
/* "2026-11-21T13:05:12Z" from nanoseconds since the epoch; `buf` holds at least 32 bytes. */
char *clock_iso8601(char buf[32], uint64_t realtime_ns);

#define CLOCK_TIME_MAX 16
/* "13:05:12", of this place. */
char *clock_time_text(char buf[CLOCK_TIME_MAX], uint64_t realtime_ns);

#endif
