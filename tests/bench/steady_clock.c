/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A clock that goes on by the same step at every look, for the program and the library under
 * callgrind: how often they look at the time, and what they do then, is the same in every run.
 * Preloaded behind libheaptop.so by tests/bench/instructions.py.
 */
#include <stdint.h>
#include <time.h>

#define START_NS 1000000000000u
#define STEP_NS	 1000u /* some 16 events of a busy program */

int clock_gettime(clockid_t id, struct timespec *t)
{
	static uint64_t now = START_NS;
	uint64_t ns = __atomic_add_fetch(&now, STEP_NS, __ATOMIC_RELAXED);

	(void)id;
	t->tv_sec = (time_t)(ns / 1000000000u);
	t->tv_nsec = (long)(ns % 1000000000u);
	return 0;
}
