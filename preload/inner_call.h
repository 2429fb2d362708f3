/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One call of a patched function (inner.h): what is recorded before it and after it. Called by
 * inner_thunk, on any thread, as hooks are.
 */
#ifndef PRELOAD_INNER_CALL_H
#define PRELOAD_INNER_CALL_H

#include "preload/inner_thunk.h"
#include "preload/patch/entry.h"
#include "preload/record.h"
#include "shm/allocator_rule.h"

#define INNER_CALL_ENTRIES 1024u /* functions patched at a time */

struct inner_entry {
	struct entry patch;
	struct allocator_rule rule;
	uint32_t function; /* of its blocks: enum ht_function */
	uint32_t number; /* in the segment (shm/patched.h); 0: none */
	const void *pads; /* its module's (inner_memory.h) */
	bool is_used;
	bool is_operator; /* or has the code of one: the family of its blocks is not known */
	bool is_loader; /* the loader's notice of a change; no rule */
	/* Calls from this code are not recorded: the next allocator's own (empty: all are). */
	uint64_t except_start, except_end;
};

/* Written at start and under the loader's lock, before the function is patched. */
extern struct inner_entry inner_call_entries[INNER_CALL_ENTRIES]
	__attribute__((visibility("hidden")));

/* The thunk's frame; the order is known to it. */
struct inner_call {
	uint64_t xmm[16][2];
	uint64_t arg[6]; /* as they were passed; then as the function left these registers */
	uint64_t rax; /* then: what it returned */
	uint64_t r10, r11;
	/* From before to after. */
	struct record_realloc moved;
	const struct inner_entry *entry;
	void *old; /* the block that is resized */
	void *result; /* what result= names, if it is no returned value */
	uint64_t size, against;
	uint64_t gap_left; /* state_thread.gap_left: inner blocks do not use it up */
	uintptr_t busy; /* state_thread.busy */
	bool resizes, skips;
	uint8_t was_in_allocator;
	uint8_t reserved[13];
	uint64_t number; /* of the entry; then the address of the function as it was */
};

/* 1: the function is called, then inner_call_after; or if it throws, inner_call_abandoned. 0: it is
 * jumped to. */
int inner_call_before(struct inner_call *c, uintptr_t frame);
void inner_call_after(struct inner_call *c, uintptr_t frame);
void inner_call_abandoned(struct inner_call *c, uintptr_t frame);

#endif
