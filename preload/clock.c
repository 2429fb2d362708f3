/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time, and its publication (clock.h). Runs in hooks, on any thread. */
#include "preload/clock.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/recorder.h"
#include "shm/before.h"
#include "shm/history.h"
#include "shm/live_entry.h"

uint8_t clock_forbidden;

void clock_forbid(void)
{
	ht_store_relaxed_8(&clock_forbidden, 1); /* relaxed: clock_is_forbidden */
}

void clock_check(void)
{
	int mode = PR_TSC_ENABLE, saved = errno;

	if (syscall(SYS_prctl, PR_GET_TSC, &mode, 0, 0, 0) == 0 && mode == PR_TSC_SIGSEGV)
		clock_forbid();
	errno = saved;
}

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
	if (clock_is_forbidden())
		return read_clock(CLOCK_MONOTONIC_COARSE);
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_realtime(void)
{
	if (clock_is_forbidden())
		return read_clock(CLOCK_REALTIME_COARSE);
	return read_clock(CLOCK_REALTIME);
}

/* Never back, even for a thread that pauses before it stores: else one that takes over a block from
 * another could stamp its event with a time before the other's. Relaxed: whatever passes the block
 * on orders the two readings of this word. False: it was there already. */
static bool clock_raise(struct ht_header *h, uint64_t now)
{
	uint64_t there = ht_load_relaxed_64(&h->clock_ns);

	while (there < now)
		if (ht_cas_relaxed_64(&h->clock_ns, &there, now))
			return true;
	return false;
}

void clock_publish(void)
{
	struct ht_header *h = state_segment.header;
	const struct recorder *r = state_thread.recorder;
	uint64_t now = clock_monotonic();
	uint32_t slot = r ? r->slot : 0;

	/* A birth stored late makes blocks look older by that; the next one repairs it. */
	if (clock_raise(h, now))
		ht_store_relaxed_32(&h->clock_birth, live_birth(segment_tick(&state_segment)));
	history_note(&state_segment, slot, now, before_live(&state_segment, slot));
}
