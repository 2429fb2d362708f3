/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time in the program (clock.h). Runs in hooks, on any thread. */
#include "preload/clock.h"

#include <errno.h>
#include <time.h>

#include "preload/state.h"
#include "shm/history.h"

#define EVERY_MAX                                                                                  \
	16u /* at 25 ns a look: 1.6 ns an event, and the first after a pause is soon late no more  \
	     */
#define NEAR_NS 1000000u /* looks closer together than this may be rarer */

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

void clock_refresh(void)
{
	struct state_thread *t = &state_thread;
	struct ht_header *h = state_segment.header;
	uint64_t now = clock_monotonic();

	if (now - t->refreshed_ns > NEAR_NS)
		t->clock_every = 1;
	else if (t->clock_every < EVERY_MAX)
		t->clock_every *= 2;
	t->clock_left = t->clock_every;
	t->refreshed_ns = now;
	/* Relaxed, and two threads may store in the wrong order: off by the time between their
	 * looks. */
	if (now > ht_load_relaxed_64(&h->clock_ns))
		ht_store_relaxed_64(&h->clock_ns, now);
	history_note(&state_segment, now, ht_load_relaxed_64(&h->live_bytes));
}

uint64_t clock_tick(void)
{
	struct state_thread *t = &state_thread;

	if (t->clock_left-- == 0 || t->clock_left == 0 || t->clock_left > EVERY_MAX)
		clock_refresh();
	return ht_load_relaxed_64(&state_segment.header->clock_ns) >> HT_TICK_SHIFT;
}
