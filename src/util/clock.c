/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The viewer's clocks: clock_gettime(2) in nanoseconds, and one spelling of a date. Any thread. */
#include <stdio.h>
#include <time.h>
#include "src/util/clock.h"

#define NS_PER_S 1000000000ull

static uint64_t clock_read(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_monotonic_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

uint64_t clock_realtime_ns(void)
{
	return clock_read(CLOCK_REALTIME);
}

uint64_t clock_process_cpu_ns(void)
{
	return clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t clock_thread_cpu_ns(void)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

char *clock_iso8601(char buf[32], uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / NS_PER_S);
	struct tm tm = { 0 };

	gmtime_r(&seconds, &tm);
	strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return buf;
}

char *clock_time_text(char buf[CLOCK_TIME_MAX], uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / NS_PER_S);
	struct tm tm = { 0 };

	localtime_r(&seconds, &tm);
	strftime(buf, CLOCK_TIME_MAX, "%H:%M:%S", &tm);
	return buf;
}
