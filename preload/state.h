/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recording state of this process: on or off, the segment, and what each thread keeps.
 * lifecycle.c sets it, every other file reads it. Recording is on while `state_own->on` is set.
 * That word lies in a page that the kernel wipes in a forked child (MADV_WIPEONFORK), so a child by
 * fork or clone is off before any handler has run. A vfork child shares our memory and still counts
 * as this process.
 *
 * Edge START: the segment, and all else that recording needs, is written before `state_own` points
 * to the page; whoever finds `on` set has loaded that pointer. `on` itself only says which way is
 * tried first (sample.c).
 */
#ifndef PRELOAD_STATE_H
#define PRELOAD_STATE_H

#include "shm/segment.h"

enum own_mode {
	OWN_OFF,
	OWN_FAST, /* every event is recorded, as fast as can be */
	OWN_SLOW, /* events are sampled, or stacks checked */
};

struct own {
	uint32_t on; /* enum own_mode */
};

/* Read by the functions below. */
extern const struct own *state_own __attribute__((visibility("hidden")));
extern struct segment state_segment __attribute__((visibility("hidden")));

struct recorder;

/*
 * What a thread keeps in its TLS; zero at its start. Static TLS is scarce: 64 bytes at most. The
 * rest is in its recorder (recorder.h).
 *
 * A hook may be called before the loader has relocated us (next.h). Our TLS then seems to begin at
 * the thread pointer, where libc's own struct lies (tcbhead_t), and two of its words must send the
 * hook the long way before it writes anything: in the place of `busy` is its own address, in that
 * of `gap_left` one that is 0 on x86-64 (sysinfo).
 */
struct state_thread {
	uintptr_t busy; /* frame address of the hook that is recording (and nesting.h), 0: none */
	struct recorder *recorder; /* NULL: not yet, it has none, or it is in `timed` */
	struct recorder
		*timed; /* put aside, so that the next event takes the long way: to be timed */
	uint64_t inner_least; /* sizes that new would ask malloc for, for its own block, up to */
	/* Sampling (sample.h). */
	uint64_t gap_left; /* bytes to pass until the next block is recorded; 0 in exact mode */
	uint64_t rate_seen; /* header.sample_bytes as this thread last acted on it */
	uint64_t inner_most; /* this */
	uint8_t until_timed; /* counts recorded events, when they are measured */
	uint8_t unwinding; /* inside libunwind, or another that we call and that may allocate */
	uint8_t in_allocator; /* inside operator new or delete of the next library */
	uint8_t no_recorder; /* there was none to be had, or the thread is about to end */
	uint8_t forking; /* enum fork_way: in the middle of fork */
	uint8_t in_realloc; /* inside realloc: its block is in the live table neither as it was nor
			   as it will be; for leak scans (ht_header.moving_at) */
};

static_assert(offsetof(struct state_thread, busy) == 0, "before relocation: tcbhead_t.tcb");
static_assert(
	offsetof(struct state_thread, gap_left) == 0x20, "before relocation: tcbhead_t.sysinfo");

extern __thread struct state_thread state_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Whether this process is being recorded. */
static inline bool state_is_on(void)
{
	const struct own *own = ht_load_acquire_pointer(&state_own); /* START */

	return !ht_equals_acquire_32(&own->on, OWN_OFF);
}

/* Whether every event is recorded, the short way. */
HT_HOT bool state_is_fast(void)
{
	const struct own *own = ht_load_acquire_pointer(&state_own); /* START */

	return ht_equals_acquire_32(&own->on, OWN_FAST);
}

/* Changes the way while recording is on. */
void state_set_mode(enum own_mode way);

/* Our pid by system call: libc's own may be remembered from before a clone. */
uint32_t state_pid(void);

#endif
