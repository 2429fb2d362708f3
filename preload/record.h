/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records what a hook saw. Any thread. errno is kept: each function that makes system calls keeps
 * it, so that paths without any need not. The hooks order the calls around the real allocator:
 * record_free before the real free, record_alloc after the real malloc.
 */
#ifndef PRELOAD_RECORD_H
#define PRELOAD_RECORD_H

#include "preload/arch/entry.h"
#include "preload/hot.h"
#include "preload/reentry.h"

/* The hook's frame address, `frame` below: its caller's stack begins there. */
#define RECORD_FRAME ENTRY_FRAME

/* The allocator returned `p` for a request of `size` bytes; NULL counts as a failure. */
void record_alloc(uintptr_t frame, void *p, size_t size, enum ht_function function);
/* Calls the next malloc for `function`, and records the block; NULL: nothing is recorded. */
void *record_malloc(uintptr_t frame, size_t size, enum ht_function function);
/* The program frees `p`, which may be NULL. False: it is the bootstrap arena's and must not go to
 * the next allocator. One for each family of functions, since that is a constant of the fast path;
 * `size`: what a sized operator delete passes. */
bool record_free(uintptr_t frame, void *p);
/* By a function whose family is not known. */
bool record_free_any(uintptr_t frame, void *p);
bool record_delete(uintptr_t frame, void *p);
bool record_delete_array(uintptr_t frame, void *p);
bool record_delete_aligned(uintptr_t frame, void *p);
bool record_delete_array_aligned(uintptr_t frame, void *p);
bool record_delete_sized(void *p, uint64_t size, uintptr_t frame);
bool record_delete_array_sized(void *p, uint64_t size, uintptr_t frame);
bool record_delete_aligned_sized(void *p, uint64_t size, uintptr_t frame);
bool record_delete_array_aligned_sized(void *p, uint64_t size, uintptr_t frame);

/* A block that realloc is about to move. It is out of the live table meanwhile. */
struct record_realloc {
	struct live_block block;
	bool recording; /* this event is recorded */
	bool known; /* the block was in the live table */
	bool before; /* it is one from before the recording (shm/before.h), of block.size bytes */
	uint32_t session; /* as of state_session */
	uintptr_t paused; /* frame of the realloc that this one interrupted (reentry.h), or 0 */
};
void record_realloc_begin(
	uintptr_t frame, struct record_realloc *m, void *p, enum ht_function function);
/* The block became `q`, of `size` bytes. */
void record_realloc_done(uintptr_t frame, struct record_realloc *m, void *p, void *q, size_t size,
	enum ht_function function);
/* The block was not resized to `size` bytes: `p` is as it was, unless `freed` (size 0: the
 * allocator freed it and returned NULL). */
void record_realloc_failed(
	uintptr_t frame, struct record_realloc *m, void *p, size_t size, bool freed);

/* The slow path: at start, inside another hook, without a recorder, for NULL. */
void record_alloc_slow(uintptr_t frame, void *p, size_t size, enum ht_function function);
bool record_free_slow(uintptr_t frame, void *p, enum ht_function function, uint64_t want);

/* record_alloc, inline: for the hottest hooks. */
HT_HOT void record_alloc_inline(uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	struct recorder *r = reentry_begin(frame);

	if (__builtin_expect(!r, 0)) {
		record_alloc_slow(frame, p, size, function);
		return;
	}
	hot_alloc_recorded(r, &(struct hot_alloc){ frame, p, size, function, false });
	reentry_end(r);
}

/* A free by `function` of a block of `want` bytes, or EVENT_ANY_SIZE, inline. */
HT_HOT bool record_free_inline(uintptr_t frame, void *p, enum ht_function function, uint64_t want)
{
	struct recorder *r = reentry_begin(frame);
	bool ours, counts;

	modules_free_called(((const uintptr_t *)frame)[1]);
	if (__builtin_expect(!r, 0))
		return record_free_slow(frame, p, function, want);
	ours = hot_free_recorded(r, p, function, want, &counts);
	reentry_end(r);
	return ours;
}

#endif
