/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The processor's cycle counter as tests/bench/instructions.py wants it, put before preload/tick.c
 * (rules.mk): it advances by the same step at every reading. The real one measures how long
 * callgrind took meanwhile, which the load of the machine decides: after a pause the library looks
 * at every event.
 */
#ifndef TESTS_BENCH_STEADY_CYCLES_H
#define TESTS_BENCH_STEADY_CYCLES_H

#include <stdint.h>

/* More than PUBLISH_CYCLES, so that each look asks for the time; less than APART_CYCLES of tick.c.
 */
#ifndef STEADY_STEP
#define STEADY_STEP 40000u
#endif

static inline uint64_t steady_cycles(void)
{
	static uint64_t now;

	return now += STEADY_STEP;
}
#define __builtin_ia32_rdtsc() steady_cycles()

#endif
