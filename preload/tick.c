/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time in the program (clock.h). Runs in hooks, on any thread. */
#include "preload/tick.h"

#include <errno.h>
#include <time.h>

#include "preload/recorder.h"
#include "preload/sample.h"
#include "shm/history.h"

#define EVERY_MAX 32u /* at 7 ns a look: 0.2 ns an event */
#define FAR_CYCLES                                                                                 \
	(1u << 20) /* looks further apart than this, some 0.3 ms, come at every event              \
		    */
#define PUBLISH_CYCLES (1u << 15) /* some 10 us, a sixth of a tick */

static uint64_t read_clock(clockid_t id)
{
	struct timespec t = { 0, 0 };
	int saved = errno; /* without a vDSO it is a system call, which may be refused */

	clock_gettime(id, &t);
	errno = saved;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_monotonic(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_realtime(void)
{
	return read_clock(CLOCK_REALTIME);
}

void clock_publish(void)
{
	struct ht_header *h = state_segment.header;
	const struct recorder *r = state_thread.recorder;
	uint64_t now = clock_monotonic();
	uint32_t slot = r ? r->slot : 0;

	/* Relaxed, and two threads may store in the wrong order: off by the time between their
	 * looks. */
	if (now > ht_load_relaxed_64(&h->clock_ns))
		ht_store_relaxed_64(&h->clock_ns, now);
	history_note(&state_segment, slot, now, counter_live(&state_segment, slot));
}

/* Cycles of some steady counter; where there is none to be had cheaply, the time itself. */
static uint64_t cycles(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return clock_monotonic() * 4;
#endif
}

void clock_look(struct recorder *r)
{
	uint64_t now = cycles();

	if (now - r->looked_cycles > FAR_CYCLES)
		r->clock_every = 1;
	else if (r->clock_every < EVERY_MAX)
		r->clock_every *= 2;
	r->clock_left = r->clock_every;
	if (__builtin_expect(sample_asked(), 0))
		sample_noticed(r);
	r->looked_cycles = now;
	if (now - r->published_cycles < PUBLISH_CYCLES)
		return;
	r->published_cycles = now;
	clock_publish();
}
