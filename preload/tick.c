/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tick of an event (tick.h). Runs in hooks, on any thread. */
#include "preload/tick.h"

#include "preload/clock.h"
#include "preload/sample.h"
#include "shm/ring.h"

#define INTERVAL_MAX 32u /* at 7 ns a reading: 0.2 ns an event */
#define APART_CYCLES                                                                               \
	(1u << 20) /* readings further apart than this, some 0.3 ms, come at every event */
#define CYCLES_HZ      UINT64_C(3000000000) /* that these are meant for */
#define PUBLISH_CYCLES (1u << 15) /* some 10 us, a sixth of a tick */

/* Cycles of a steady counter; without a cheap one, the time itself. */
static uint64_t cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
	if (clock_is_forbidden())
		return clock_monotonic() * 4;
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t count, hz;

	/* The generic timer runs at 24 MHz to 1 GHz: in the units of a processor's cycles. */
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz ? count * (CYCLES_HZ / hz) : clock_monotonic() * 4;
#else
	return clock_monotonic() * 4;
#endif
}

void tick_refresh(struct recorder *r)
{
	uint64_t now = cycles();

	if (__builtin_expect(ring_is_wanted(&state_segment) != r->events, 0))
		recorder_switch_events(r);
	/* Stamps of written events order those of different threads. */
	if (now - r->read_cycles > APART_CYCLES || r->events)
		r->clock_interval = 1;
	else if (r->clock_interval < INTERVAL_MAX)
		r->clock_interval *= 2;
	r->clock_countdown = r->clock_interval - 1; /* without this one */
	if (__builtin_expect(sample_is_requested(), 0))
		sample_serve(r);
	r->read_cycles = now;
	if (now - r->published_cycles < PUBLISH_CYCLES)
		return;
	r->published_cycles = now;
	clock_publish();
}
