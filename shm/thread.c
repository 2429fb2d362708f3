/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thread slots. Called once per thread, at its first allocation, inside a hook. A slot is free, or
 * its owner's id is in it; taking one is a compare-and-swap of that id, so no two threads get the
 * same. Edge SLOT of shm/layout.h is kept here.
 */
#include "shm/thread.h"

static uint32_t slot_count(const struct segment *s)
{
	return (uint32_t)(s->header->region[HT_REGION_THREADS].bytes / sizeof(struct ht_thread));
}

static void count_raise(const struct segment *s, uint32_t count)
{
	uint32_t now = ht_load_relaxed_32(&s->header->threads);

	while (now < count && !ht_cas_relaxed_32(&s->header->threads, &now, count))
		;
}

/* Swaps the owner `from` for `tid`. */
static bool slot_take(const struct segment *s, uint32_t slot, uint32_t from, uint32_t tid)
{
	struct ht_thread *t = thread_at(s, slot);

	if (!ht_cas_acquire_32(&t->tid, &from, tid)) /* SLOT */
		return false;
	t->since_ns = ht_load_relaxed_64(&s->header->clock_ns);
	t->owners++;
	ht_store_relaxed_32(&t->state, HT_THREAD_USED);
	count_raise(s, slot + 1);
	return true;
}

/* A slot with our id as its owner belongs to a dead thread: the kernel has reused its id. */
static uint32_t take_namesake(const struct segment *s, uint32_t used, uint32_t tid)
{
	for (uint32_t i = 1; i < used; i++)
		if (ht_load_relaxed_32(&thread_at(s, i)->tid) == tid && slot_take(s, i, tid, tid))
			return i;
	return 0;
}

static uint32_t take_fresh(const struct segment *s, uint32_t used, uint32_t tid)
{
	for (uint32_t i = used; i < slot_count(s); i++) {
		if (commit_range(s,
			    segment_element(s, HT_REGION_THREADS, i, sizeof(struct ht_thread)),
			    sizeof(struct ht_thread)) != 0)
			return 0;
		if (slot_take(s, i, 0, tid))
			return i;
	}
	return 0;
}

/* Frees the slot of an ended thread. The kernel may reuse the dead thread's id between the check
 * and the swap, and the new thread may take the slot under that id: so the slot is made unavailable
 * first and its owner checked again. */
static void slot_sweep(struct ht_thread *t, bool (*alive)(uint32_t))
{
	uint32_t owner = ht_load_relaxed_32(&t->tid);

	if (owner == 0 || owner == HT_NONE || alive(owner))
		return;
	if (ht_cas_acquire_32(&t->tid, &owner, HT_NONE)) /* SLOT */
		ht_store_release_32(&t->tid, alive(owner) ? owner : 0); /* SLOT */
}

/* All slots at once, so that the cost is one sweep per table full of threads. */
static void sweep(const struct segment *s, uint32_t used, bool (*alive)(uint32_t))
{
	for (uint32_t i = 1; i < used; i++)
		slot_sweep(thread_at(s, i), alive);
}

/* The next owner continues our counts. */
void thread_release(const struct segment *s, uint32_t slot)
{
	ht_store_release_32(&thread_at(s, slot)->tid, 0); /* SLOT */
}

/* Takes the slot of an ended thread. Preferred to a fresh one: its memory is committed already. */
static uint32_t take_released(const struct segment *s, uint32_t used, uint32_t tid)
{
	for (uint32_t i = 1; i < used; i++)
		if (ht_load_relaxed_32(&thread_at(s, i)->tid) == 0 && slot_take(s, i, 0, tid))
			return i;
	return 0;
}

uint32_t thread_claim(const struct segment *s, uint32_t tid, bool (*alive)(uint32_t tid))
{
	uint32_t used = ht_load_relaxed_32(&s->header->threads), slot;

	slot = take_namesake(s, used, tid);
	if (!slot)
		slot = take_released(s, used, tid);
	if (!slot)
		slot = take_fresh(s, used, tid);
	if (!slot) {
		sweep(s, used, alive);
		slot = take_released(s, used, tid);
	}
	return slot;
}
