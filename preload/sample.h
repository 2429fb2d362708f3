/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sampling inside the program: which blocks are recorded, which frees may bypass recording, and how
 * a viewer's switch takes effect. Any thread, in hooks. The mathematics is in shm/poisson.h.
 *
 * A hook that finds another mode than NEXT_EXACT calls sample_passes first: most blocks only count
 * down the gap, bypass recording, and cost a dozen instructions. The rest takes the slow path into
 * record.c, which calls sample_takes. A gap is drawn per thread and has no memory, so it may be
 * redrawn whenever that is simpler.
 *
 * A switch (header.sample_bytes) takes effect
 *   - to exact: at once, for every thread. The bypass reads that word.
 *   - from exact to sampled: when a thread next reads the clock, which is within 32 of its
 *     events. Until then it records exactly, which is right.
 * Each block keeps the rate that it was recorded with, so threads need not agree on the moment.
 *
 * Frees: `sample_held` counts the sampled blocks by page. A block on a page without any was not
 * sampled. In a program that has been sampled from its start it then was not recorded at all
 * (NEXT_SAMPLED); in one that has been exact (NEXT_MIXED, for good) a short lookup in the live
 * table decides.
 */
#ifndef PRELOAD_SAMPLE_H
#define PRELOAD_SAMPLE_H

#include "preload/next_allocator.h"
#include "preload/state.h"
#include "shm/live.h"
#include "shm/poisson.h"

#define SAMPLE_PAGES 65536u /* 256 MB of heap until two pages share a count */
#define SAMPLE_NEVER UINT64_MAX /* state_thread.rate_seen of a thread that records everything */

/* Relaxed everywhere: a thread that frees a block got it from the thread that recorded it, in an
 * order that the program made; that orders the count, and the mode, as well. */
extern uint8_t sample_held[SAMPLE_PAGES] __attribute__((visibility("hidden")));

static inline uint8_t *sample_page(const void *p)
{
	return &sample_held[(uintptr_t)p >> 12 & (SAMPLE_PAGES - 1)];
}

/* Whether the block at `p` certainly was not recorded. Not in exact mode. Relaxed, as above: edge
 * MODE of sample.c. */
HT_HOT bool sample_is_unrecorded(const void *p)
{
	uint8_t mode;

	if (ht_load_relaxed_8(sample_page(p)) != 0)
		return false;
	mode = ht_load_relaxed_8(&next_mode);
	return mode == NEXT_SAMPLED ||
	       (mode == NEXT_MIXED && live_is_absent(&state_segment, (uint64_t)(uintptr_t)p));
}

/*
 * Counts down the gap by a block of `size` bytes that is about to be allocated. True: it bypasses
 * recording. False: the slow path decides. One load and one store, so that a handler in between
 * cannot make the gap negative; the handler's change is lost, which a memoryless process tolerates.
 */
HT_HOT bool sample_passes(uint64_t size)
{
	struct state_thread *t = &state_thread;
	uint64_t left = ht_load_relaxed_64(&t->gap_left);

	if (__builtin_expect(size >= left, 0) ||
		__builtin_expect(
			ht_load_relaxed_64(&state_segment.header->sample_bytes) != t->rate_seen, 0))
		return false;
	ht_store_relaxed_64(&t->gap_left, left - size - 1);
	return true;
}

/* Whether to record a block that did not bypass. Applies a switch first. *log2 is the rate to
 * record it with, 0: exactly. */
bool sample_takes(uint64_t size, uint32_t *log2);
/* Draws the calling thread's next gap. */
void sample_redraw(void);

/* Counts a sampled block on its page, and takes it off. */
void sample_hold(uint64_t addr);
void sample_release(uint64_t addr);

/* Whether there may be unrecorded blocks. */
bool sample_was_on(void);

/* Before recording starts: sets the mode by header.sample_bytes. True: not every block is to be
 * recorded. */
bool sample_start(void);
/* The same in a forked child that has its own segment. */
bool sample_forked(void);
/* Whether a viewer requests anything. */
static inline bool sample_is_requested(void)
{
	const struct ht_header *h = state_segment.header;

	return ht_load_relaxed_64(&h->sample_bytes) != 0 || ht_load_relaxed_64(&h->asked) != 0 ||
	       ht_load_relaxed_32(&h->ignore_round) != 0;
}

/* A viewer detaches: as before the start. */
void sample_detach(void);

/* Serves the request: applies a switch, or a change of what is ignored, cooperates with a leak
 * scan, or lets one of this thread's events be timed now and then. From tick_refresh. */
void sample_serve(struct recorder *r);

/* Measuring: one recorded event in 64 takes the slow path and is timed there. The event before it
 * arranges that by recorder_set_aside. */
/* The time when a recorded event begins, if it is to be timed; else 0. */
uint64_t sample_time_begin(void);
/* Its end. `recorded`: it was one; a lookup without result is timed as well. */
void sample_time_end(uint64_t begin, bool recorded);

#endif
