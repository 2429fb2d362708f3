/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recorder: everything that one thread needs to record, in one piece of private memory. A thread
 * gets it with a slot of the segment at its first event, and gives it up when it ends. Only the
 * thread itself uses it, with its re-entry guard held.
 */
#ifndef PRELOAD_RECORDER_H
#define PRELOAD_RECORDER_H

#include "preload/stack_cache.h"
#include "preload/state.h"
#include "preload/unwind_types.h"
#include "shm/counter.h"

struct recorder {
	struct ht_thread *thread; /* its slot, in the segment */
	struct ht_event *ring; /* the slot's ring; NULL: not needed yet, or no memory for one */
	uint64_t ring_limit; /* the ring's head at which to check whether it is full (event_wait.h)
			      */
	uint64_t ring_forsaken; /* 1 + the tail at which this thread has waited in vain; 0: never */
	bool events; /* this thread writes events */
	bool ignore_forget; /* the remembered stacks are to be forgotten (ignored.h) */
	uint32_t ignore_round; /* header.ignore_round as last applied */
	uint32_t slot; /* never 0, the shared one */
	uint32_t exit_rounds; /* of thread-specific data destructors seen */
	uint64_t last_block; /* address of the last allocation, 0 when another event came after */
	uint64_t last_gap_left; /* state_thread.gap_left after the last sampled allocation */
	uint64_t read_cycles; /* the cycle counter when this thread last read it (tick.h) */
	uint64_t published_cycles;
	uint32_t clock_interval; /* events between two readings */
	uint32_t clock_countdown; /* events before the next one */
	uint32_t until_timed; /* counts events, when they are measured (sample.h) */
	struct stack_cache guards; /* remembered stacks */
	/* Stacks are built here, off the thread's own stack, which may be small; and the last one's
	 * path in the tree. */
	struct unwind unwind;
	struct stack_path *path;
	bool path_whole; /* it is the path of the stack in `unwind` */
	struct counter_owner counters;
};

/* Counts in the shared slot, for threads without a recorder. */
extern struct counter_owner recorder_shared __attribute__((visibility("hidden")));

/* When recording starts. */
void recorder_start(void);
/* In a forked child that has a segment of its own: this thread starts without a recorder. The
 * recorders of its parent's other threads stay mapped. */
void recorder_forked(void);
/* A viewer detaches: releases the key whose destructor ends recorders, while no thread is in a
 * hook; threads forget theirs (shm/attached.h). */
void recorder_detach(void);
/* After that: unmaps all recorders, and what is remembered of frees. Makes system calls only. */
void recorder_unmap(void);
/* Slow path of recorder_current: at a thread's first event, or without a recorder. */
struct recorder *recorder_claim(void);

/* Starts or stops writing events: a viewer wants them, or no longer. */
void recorder_switch_events(struct recorder *r);

/* Sets the recorder aside, so that the thread's next event takes the slow path, which times it. In
 * this order: a handler in between finds the recorder in at least one place. */
static inline void recorder_set_aside(struct recorder *r)
{
	state_thread.timed = r;
	ht_fence_handler();
	state_thread.recorder = NULL;
}

/* Undoes recorder_set_aside; does nothing if the recorder is not set aside. */
static inline void recorder_take_back(void)
{
	struct state_thread *t = &state_thread;

	if (!t->timed)
		return;
	t->recorder = t->timed;
	t->timed = NULL;
}

/* The calling thread's recorder. NULL: there is none (no memory, too many threads, or the thread is
 * ending): its events are counted in the shared slot, under the catch-all site. */
static inline struct recorder *recorder_current(void)
{
	struct recorder *r = state_thread.recorder;

	return __builtin_expect(r != NULL, 1) ? r : recorder_claim();
}

#endif
