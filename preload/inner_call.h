/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One call of a patched function (inner.h): records what is due before it and after it. Called by
 * inner_thunk, on any thread, as hooks are.
 */
#ifndef PRELOAD_INNER_CALL_H
#define PRELOAD_INNER_CALL_H

#include "preload/inner_table.h"
#include "preload/inner_thunk.h"
#include "preload/record.h"

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
	uint8_t reserved[5];
	uint64_t passed; /* the block of that size that the next allocator gave it meanwhile, or 0
			  */
	uint64_t number; /* of the entry; then the address of the function as it was */
};

/* 1: the function is called, then inner_call_after; or if it throws, inner_call_abandoned. 0: it is
 * jumped to. */
int inner_call_before(struct inner_call *c, uintptr_t frame);
void inner_call_after(struct inner_call *c, uintptr_t frame);
void inner_call_abandoned(struct inner_call *c, uintptr_t frame);

#endif
