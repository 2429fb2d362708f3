/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Creates and releases recorders as threads start and end (recorder.h). A thread-specific data
 * destructor signals a thread's end. It requests another round until the last one: other libraries'
 * destructors free blocks too. Events after that go to the shared slot.
 *
 * Edge KEY: the key is made before its number is published.
 */
#include "preload/recorder.h"

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/arch/page.h"
#include "preload/bulk.h"
#include "preload/former.h"
#include "preload/freed.h"
#include "preload/old_version.h"
#include "preload/signals.h"
#include "preload/stack_memory.h"
#include "preload/thread_pointer.h"
#include "preload/unwind_trail.h"
#include "shm/private.h"
#include "shm/ring.h"

/* In libpthread, which a program before glibc 2.34 may lack: then it has one thread. */
int pthread_key_create(unsigned *key, void (*destructor)(void *)) __attribute__((weak));
int pthread_setspecific(unsigned key, const void *value) __attribute__((weak));
int pthread_key_delete(unsigned key) __attribute__((weak)); /* takes no lock in any glibc */
OLD_VERSION(pthread_key_create);
OLD_VERSION(pthread_setspecific);
OLD_VERSION(pthread_key_delete);

/* Aligned: what every process uses of it is in one page. */
BULK struct counter_owner recorder_shared __attribute__((aligned(128)));

#define RECORDERS 16384u /* as many as a segment has slots */

static uint32_t thread_key; /* the key and 1; 0: none yet */
static bool may_have_key;

/* By slot. Written by the slot's owner; read when no other thread is in a hook. */
static BULK struct recorder *recorders[RECORDERS] __attribute__((aligned(PAGE_MOST)));
static uint32_t recorders_end; /* of those in use */

static void recorder_note(uint32_t slot, struct recorder *r)
{
	uint32_t end = ht_load_relaxed_32(&recorders_end);

	if (slot >= RECORDERS)
		return;
	recorders[slot] = r;
	/* Relaxed: read when all threads are stopped. */
	while (end <= slot && !ht_cas_relaxed_32(&recorders_end, &end, slot + 1))
		;
}

#define TRAILS 3u /* the walk's, and one of twice the room for the stack before */

static size_t bytes_of(uint32_t entries)
{
	return sizeof(struct recorder) + unwind_trail_bytes(TRAILS * entries) +
	       sizeof(struct stack_path) + entries * sizeof(struct stack_step);
}

static uint32_t entries_of(void)
{
	return (state_segment.header->depth + UNWIND_SPARE + 1) & ~1u;
}

/* `shown`: the segment is this process's. */
static void discard(struct recorder *r, bool shown)
{
	stack_memory_end(&r->guards, shown);
	private_unmap(r, bytes_of(entries_of()));
}

/* Publishes where this thread's TLS is, for leak scans. */
static void pointer_note(uint32_t slot, uint64_t pointer)
{
	if (slot < HT_COOP_SLOTS)
		ht_store_relaxed_64(&state_segment.header->coop.threads[slot], pointer);
}

/* Releases slot and memory. A signal handler that allocates meanwhile finds no recorder. */
static void release(struct recorder *r)
{
	uint32_t slot = r->slot;
	bool on = state_is_on();

	state_thread.no_recorder = 1;
	state_thread.recorder = NULL;
	ht_fence_handler();
	recorder_note(slot, NULL);
	/* In a forked child the segment is our parent's. */
	if (on) {
		counter_batch_repair(&r->counters.adding);
		pointer_note(slot, 0);
		thread_release(&state_segment, slot);
	}
	discard(r, on);
}

static void thread_ends(struct recorder *r)
{
	recorder_take_back();
	if (r != state_thread.recorder)
		return; /* not this thread's: vfork; or of a session that has ended */
	if (++r->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS &&
		pthread_setspecific(thread_key - 1, r) == 0)
		return;
	release(r);
}

static void on_thread_exit(void *value)
{
	state_enter();
	thread_ends(value);
	state_leave();
}

/*
 * Has the library told when this thread ends. The first thread but the main one makes the key: a
 * program of one thread, whose end nobody needs to know, has all keys for itself. The memory of
 * one that finds no key stays.
 */
static void end_expect(struct recorder *r)
{
	uint32_t seen = ht_load_acquire_32(&thread_key); /* KEY */
	unsigned made;

	if (!may_have_key || r->thread->tid == (uint32_t)state_pid())
		return;
	if (seen == 0) {
		if (pthread_key_create(&made, on_thread_exit) != 0)
			return;
		if (ht_cas_acq_rel_32(&thread_key, &seen, made + 1)) /* KEY */
			seen = made + 1;
		else
			pthread_key_delete(made);
	}
	pthread_setspecific(seen - 1, r);
}

void recorder_detach(void)
{
	if (thread_key != 0)
		pthread_key_delete(thread_key - 1);
	thread_key = 0;
	may_have_key = false;
}

void recorder_unmap(void)
{
	for (uint32_t slot = 0; slot < recorders_end; slot++) {
		if (recorders[slot])
			discard(recorders[slot], false);
		recorders[slot] = NULL;
	}
	recorders_end = 0;
	stack_memory_forked();
	former_forget();
	freed_end();
}

void recorder_start(void)
{
	freed_start();
	counter_own(&state_segment, &recorder_shared, 0);
	madvise(recorders, sizeof(recorders), MADV_DONTDUMP);
	may_have_key = pthread_key_create && pthread_setspecific && pthread_key_delete;
}

void recorder_forked(void)
{
	struct state_thread *t = &state_thread;
	struct recorder *r = t->recorder ? t->recorder : t->timed;

	t->recorder = t->timed = NULL;
	t->no_recorder = 0;
	ht_fence_handler();
	if (r)
		discard(r, false);
	/* The others are of threads that are not here. */
	for (uint32_t slot = 0; slot < recorders_end; slot++)
		recorders[slot] = NULL;
	recorders_end = 0;
	stack_memory_forked();
	former_forget();
	freed_forked();
	counter_own(&state_segment, &recorder_shared, 0);
}

static bool thread_alive(uint32_t tid)
{
	return syscall(SYS_tgkill, state_pid(), tid, 0) == 0 || errno != ESRCH;
}

/* Lays out the memory after the struct. */
static struct recorder *make(void)
{
	uint32_t entries = entries_of();
	struct recorder *r = private_map(bytes_of(entries));
	char *at = (char *)(r + 1);

	if (!r)
		return NULL;
	r->unwind.depth = state_segment.header->depth;
	unwind_trail_make(&r->unwind.fresh, at, entries);
	at += unwind_trail_bytes(entries);
	unwind_trail_make(&r->unwind.last, at, 2 * entries);
	at += unwind_trail_bytes(2 * entries);
	r->path = (void *)at;
	r->path->room = entries;
	r->clock_interval = 1;
	return r;
}

static struct recorder *make_with_slot(void)
{
	struct ht_header *h = state_segment.header;
	struct stack_cache_shown shown = { &h->stacks_bytes, &h->stacks_forgotten };
	struct recorder *r = make();

	if (!r)
		return NULL;
	r->slot = thread_claim(&state_segment, (uint32_t)syscall(SYS_gettid), thread_alive);
	r->thread = thread_at(&state_segment, r->slot);
	counter_own(&state_segment, &r->counters, r->slot);
	if (freed_is_on())
		counter_own_none(&r->counters);
	if (r->slot != 0 && stack_memory_start(&r->guards, shown)) {
		pointer_note(r->slot, thread_pointer());
		return r;
	}
	if (r->slot != 0)
		thread_release(&state_segment, r->slot);
	private_unmap(r, bytes_of(entries_of()));
	return NULL;
}

/* Signals are blocked: a handler that abandons this would orphan the slot. */
static void claim(struct state_thread *t)
{
	uint64_t signals = signals_block();

	t->recorder = make_with_slot();
	if (t->recorder)
		recorder_note(t->recorder->slot, t->recorder);
	t->no_recorder = !t->recorder;
	if (t->recorder) {
		/* It may allocate: that block is ours, not the program's. */
		t->unwinding = 1;
		end_expect(t->recorder);
		t->unwinding = 0;
	}
	signals_restore(signals);
}

void recorder_switch_events(struct recorder *r)
{
	if (!r->events && !r->ring)
		r->ring = ring_open(&state_segment, r->slot);
	r->ring_limit = 0;
	r->events = !r->events;
}

struct recorder *recorder_claim(void)
{
	struct state_thread *t = &state_thread;
	int saved = errno;

	recorder_take_back();
	if (t->recorder || t->no_recorder)
		return t->recorder;
	claim(t);
	errno = saved;
	return t->recorder;
}
