/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recording state of this process: on or off, the segment, and each thread's own part.
 * lifecycle.c sets it, every other file reads it. Recording is on while `state_own->on` is set.
 * That word lies in a page that the kernel wipes in a forked child (MADV_WIPEONFORK), so a child by
 * fork or clone is off before any handler has run. A vfork child shares our memory and still counts
 * as this process.
 *
 * Edge START: the segment, and all else that recording needs, is written before `state_own` points
 * to the page; code that finds `on` set has loaded that pointer. `on` itself only selects the path
 * tried first (sample.c).
 */
#ifndef PRELOAD_STATE_H
#define PRELOAD_STATE_H

#include "shm/segment.h"

enum own_mode {
	OWN_OFF,
	OWN_FAST, /* every event is recorded, by the fast path */
	OWN_SLOW, /* events are sampled, or stacks checked */
};

struct own {
	uint32_t on; /* enum own_mode */
};

/* Read by the functions below. */
extern const struct own *state_own __attribute__((visibility("hidden")));
extern struct segment state_segment __attribute__((visibility("hidden")));

struct recorder;

/* state_thread.in_allocator inside a patched function (inner_call.h): nothing there is recorded. */
#define STATE_IN_INNER 2u

/*
 * A thread's part, in TLS; zero at its start. Static TLS is scarce: 64 bytes at most. The rest is
 * in its recorder (recorder.h).
 *
 * A hook may be called before the loader has relocated us (next_allocator.h). Our TLS then seems to
 * begin at the thread pointer, where libc's own struct lies (tcbhead_t). Two of its words must send
 * the hook to the slow path before it writes anything: `busy` coincides with the struct's own
 * address, `gap_left` with a word that is 0 on x86-64 (sysinfo) and on i386 (__private_tm).
 * aarch64's has two words, behind which are the program's own variables: the address of the dtv,
 * and one that glibc leaves 0.
 */
struct state_thread {
	uintptr_t busy; /* frame address of the hook that is recording (and reentry.h), 0: none */
#ifdef __aarch64__
	uint64_t gap_left; /* as below */
#endif
	struct recorder *recorder; /* NULL: none yet, none available, or it is in `timed` */
	struct recorder
		*timed; /* set aside, so that the next event takes the slow path: to be timed */
	uint64_t inner_least; /* sizes that operator new may request from malloc for its own block:
				 from */
	/* Sampling (sample.h). */
#ifdef __x86_64__
	uint64_t gap_left; /* bytes until the next recorded block; 0 in exact mode */
#endif
	uint64_t rate_seen; /* header.sample_bytes as this thread last applied it */
	uint64_t inner_most; /* up to here */
#ifdef __i386__
	uint64_t gap_left;
#endif
	uint8_t until_timed; /* counts recorded events while measuring */
	uint8_t unwinding; /* inside libunwind, or another callee that may allocate */
	uint8_t in_allocator; /* 1: inside operator new or delete of the next library; or
				 STATE_IN_INNER */
	uint8_t no_recorder; /* none is available, or the thread is about to end */
	uint8_t forking; /* enum fork_way: in the middle of fork */
	uint8_t in_realloc; /* inside realloc: its block is in the live table neither under the old
			       address nor the new; for leak scans (ht_header.in_realloc_at) */
	uint8_t paused; /* heaptop_pause less heaptop_resume: what it allocates is hidden */
	uint8_t inside; /* what uses the segment in a hook without `busy`: so many (state_enter) */
};

static_assert(sizeof(struct state_thread) <= 64, "static TLS is scarce");
static_assert(offsetof(struct state_thread, busy) == 0, "before relocation: tcbhead_t.tcb");
#ifdef __aarch64__
static_assert(offsetof(struct state_thread, gap_left) == 8, "before relocation: tcbhead_t.private");
#elif defined(__i386__)
static_assert(offsetof(struct state_thread, gap_left) == 0x24,
	"before relocation: tcbhead_t.__private_tm");
#else
static_assert(
	offsetof(struct state_thread, gap_left) == 0x20, "before relocation: tcbhead_t.sysinfo");
#endif

extern __thread struct state_thread state_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Begins recording, in a page that the kernel wipes in a forked child. All else is written. */
static inline void state_publish(struct own *own, enum own_mode way)
{
	own->on = way;
	ht_store_release_pointer(&state_own, own); /* START */
}

/* Whether this process is being recorded. */
static inline bool state_is_on(void)
{
	const struct own *own = ht_load_acquire_pointer(&state_own); /* START */

	return !ht_equals_acquire_32(&own->on, OWN_OFF);
}

/* Whether every event is recorded, by the fast path. */
HT_HOT bool state_is_fast(void)
{
	const struct own *own = ht_load_acquire_pointer(&state_own); /* START */

	return ht_equals_acquire_32(&own->on, OWN_FAST);
}

/*
 * A viewer that detaches takes the segment away while all threads are stopped, `busy` and `inside`
 * of each are 0, and none is in our code. So the segment is used while one of them is not, and
 * whether recording is on is asked after it was set; of one thread, so that no order but the
 * program's own is needed.
 */
static inline void state_enter(void)
{
	state_thread.inside++;
	ht_fence_handler();
}

static inline void state_leave(void)
{
	ht_fence_handler();
	state_thread.inside--;
}

/* Sessions end when a viewer detaches: what was taken out of a segment belongs to its session. */
extern uint32_t state_session __attribute__((visibility("hidden")));

/* Selects the path while recording is on. */
void state_set_mode(enum own_mode way);

/* Our pid by system call: libc may have cached one from before a clone. */
uint32_t state_pid(void);

#endif
