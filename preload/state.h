/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The library's state in this process: on or off, the segment, and what each thread keeps.
 * Recording is on while `state_own->on` is set; that word lives in a page that the kernel wipes in
 * a forked child (MADV_WIPEONFORK), so a child by fork or clone is off without any handler having
 * run, while a vfork child, which shares our memory, still counts as us.
 */
#ifndef PRELOAD_STATE_H
#define PRELOAD_STATE_H

#include "shm/segment.h"
#include "shm/stack.h"

struct own {
	uint32_t on;
};

extern const struct own *state_own;
extern struct segment state_segment;

/* What a thread keeps; zero at its start. Static TLS is scarce: 64 bytes at most. */
struct state_thread {
	uintptr_t busy; /* frame address of the hook that is recording, 0: none */
	uint64_t last_block; /* address of the last allocation, 0 when another event came after */
	uint64_t refreshed_ns; /* when this thread last looked at the clock */
	uint32_t slot;
	uint16_t has_slot;
	uint8_t unwinding; /* inside the unwinder */
	uint8_t in_allocator; /* inside operator new or delete of the next library */
	uint64_t inner_least,
		inner_most; /* sizes that new would ask malloc for, for its own block */
	uint32_t clock_every; /* events between two looks at the clock */
	uint32_t clock_left;
};

extern __thread struct state_thread state_thread __attribute__((tls_model("initial-exec")));

/* Slow path of state_on: starts recording at the first event; cleans up once in a forked child. */
bool state_wake(void);

/* Whether this event is to be recorded. */
static inline bool state_on(void)
{
	return __builtin_expect(state_own->on != 0, 1) || state_wake();
}

/* The thread's slot in the segment, taken at its first event. */
uint32_t state_slot_claim(void);

static inline uint32_t state_slot(void)
{
	return __builtin_expect(state_thread.has_slot, 1) ? state_thread.slot : state_slot_claim();
}

/* Where a thread puts the stack it is looking at: private memory of its slot, not its stack. Fills
 * u->pcs and u->modules. False: the slot is shared (0), the stack cannot be taken. */
#define STATE_SCRATCH_SPARE 8u
struct unwind;
bool state_scratch(uint32_t slot, struct unwind *u);

/* Where the last new stack of a slot's thread led (shm/stack.h). */
struct stack_path *state_path(uint32_t slot);

/* The process is about to end by exit, _exit or quick_exit. */
void state_exit(void);

#endif
