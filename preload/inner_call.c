/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recording a call of a patched function (inner_call.h). While the function runs, its thread is
 * marked, so that neither memory that it takes from another allocator nor calls of further
 * patched functions are recorded as well.
 */
#include "preload/inner_call.h"

#include <assert.h>

#include "preload/next_allocator.h"
#include "preload/sample.h"
#include "preload/unwind_types.h"
#include "shm/before.h"

#ifdef __x86_64__
static_assert(sizeof(struct inner_call) == INNER_THUNK_BYTES, "as the thunk reserves it");
static_assert(offsetof(struct inner_call, arg) == 256 && offsetof(struct inner_call, rax) == 304 &&
		      offsetof(struct inner_call, r11) == 320 &&
		      offsetof(struct inner_call, number) == INNER_THUNK_BYTES - 8,
	"as the thunk saves them");
static_assert(offsetof(struct inner_call, size) == INNER_THUNK_BYTES - INNER_THUNK_SIZE &&
		      offsetof(struct inner_call, passed) == INNER_THUNK_BYTES - INNER_THUNK_PASSED,
	"where reentry_inner_passed looks");
#endif

static uint64_t argument(const struct inner_call *c, unsigned number)
{
	return c->arg[number - 1];
}

static uint64_t size_of(const struct inner_call *c, const struct allocator_rule *r)
{
	uint64_t size = r->size_arg ? argument(c, r->size_arg) : r->size_number;

	if (r->size_factor && __builtin_mul_overflow(size, argument(c, r->size_factor), &size))
		return SIZE_MAX; /* the function will refuse */
	return size;
}

/* Whether the call is another's business. */
static bool passes_by(const struct inner_entry *e, uintptr_t frame)
{
	uint64_t caller = ((const uintptr_t *)frame)[1];

	if (caller - e->except_start < e->except_end - e->except_start)
		return true;
	if (e->except_end != 0 && unwind_is_ours(caller))
		return true; /* a hook's call of the next allocator */
	return reentry_in_inner(frame);
}

/* `busy` becomes this frame in any case, also inside another hook: whether the function still runs
 * is seen there. */
static void mark(struct inner_call *c, uintptr_t frame)
{
	struct state_thread *t = &state_thread;

	/* While a block is moved the thread is marked as in a hook anyway. */
	if (!c->resizes && reentry_enter(frame))
		t->busy = 0;
	c->busy = t->busy;
	c->gap_left = ht_load_relaxed_64(&t->gap_left);
	c->was_in_allocator = t->in_allocator;
	if ((t->busy & ~REENTRY_IN_REALLOC) != frame)
		t->busy = frame;
	t->in_allocator = STATE_IN_INNER;
}

static void unmark(const struct inner_call *c)
{
	struct state_thread *t = &state_thread;

	t->in_allocator = c->was_in_allocator;
	ht_store_relaxed_64(&t->gap_left, c->gap_left);
	t->busy = c->busy;
}

/* Before a block is allocated, or one is resized. */
static void begin_result(struct inner_call *c, uintptr_t frame, void *old)
{
	const struct allocator_rule *r = &c->entry->rule;

	c->size = size_of(c, r);
	c->passed = 0;
	c->against = r->when_arg ? argument(c, r->when_arg) : r->when_number;
	c->result = r->result_arg ? (void *)(uintptr_t)argument(c, r->result_arg) : NULL;
	c->skips =
		!next_is_exact() && (!old || sample_is_unrecorded(old)) && sample_passes(c->size);
	c->resizes = old && !c->skips;
	c->old = old;
	if (c->resizes)
		record_realloc_begin(frame, &c->moved, old, c->entry->function);
}

static void free_block(const struct inner_entry *e, uintptr_t frame, void *p)
{
	if (!next_is_exact() && sample_is_unrecorded(p))
		return;
	if (e->is_operator)
		(void)record_free_any(frame, p);
	else
		(void)record_free(frame, p);
}

/* Whether a block that is freed or resized is from before the recording, and of an allocator whose
 * sizes are not known. What that then frees of the next allocator's counts by itself. */
static bool is_strange(const struct inner_entry *e, const void *p)
{
	struct live_block b;
	bool is = false;

	if (!p || !e->is_foreign)
		return false;
	state_enter();
	if (state_is_on() && before_is_on(&state_segment) && !sample_was_on())
		is = !live_find(&state_segment, (uint64_t)(uintptr_t)p, &b);
	state_leave();
	return is;
}

int inner_call_before(struct inner_call *c, uintptr_t frame)
{
	const struct inner_entry *e = &inner_table[c->number];
	void *p;

	c->number = e->patch.original;
	if (e->is_loader) {
		inner_table_on_change();
		return 0;
	}
	if (passes_by(e, frame))
		return 0;
	c->entry = e;
	c->resizes = false;
	p = e->rule.free_arg ? (void *)(uintptr_t)argument(c, e->rule.free_arg) : NULL;
	if (is_strange(e, p)) {
		if (e->rule.result == ALLOCATOR_NO_RESULT)
			return 0;
		p = NULL;
	}
	if (e->rule.result != ALLOCATOR_NO_RESULT)
		begin_result(c, frame, p);
	else
		free_block(e, frame, p);
	mark(c, frame);
	return 1;
}

static bool succeeded(const struct inner_call *c)
{
	switch ((enum allocator_when)c->entry->rule.when) {
	case ALLOCATOR_ALWAYS:
		break;
	case ALLOCATOR_EQUAL: /* an int is in the lower half */
		return (uint32_t)c->rax == (uint32_t)c->against;
	case ALLOCATOR_NOT_EQUAL:
		return (uint32_t)c->rax != (uint32_t)c->against;
	case ALLOCATOR_AT_LEAST:
		return c->rax >= c->against;
	}
	return true;
}

/* The block that came; NULL: none. */
static void *block_of(const struct inner_call *c)
{
	if (!succeeded(c))
		return NULL;
	switch ((enum allocator_result)c->entry->rule.result) {
	case ALLOCATOR_RETURNED:
		return (void *)(uintptr_t)c->rax;
	case ALLOCATOR_ARGUMENT:
		return c->result;
	case ALLOCATOR_POINTED:
		return *(void **)c->result;
	case ALLOCATOR_NO_RESULT:
		break;
	}
	return NULL;
}

/* Blocks of the program's own allocator may lie closer than the next one's, and from the first one
 * on the live table must reckon with that. An operator new over malloc has none: its block is the
 * next allocator's, and as large. */
static void place_note(const struct inner_call *c, const void *p)
{
	if (p && c->entry->brings_blocks && (uint64_t)(uintptr_t)p != c->passed)
		segment_extents_narrow(&state_segment);
}

static void end_result(struct inner_call *c, uintptr_t frame, void *p)
{
	uint32_t function = c->entry->function;
	uint64_t size = c->size;

	if (c->entry->rule.size_string && p)
		size = __builtin_strlen(p) + 1;
	place_note(c, p);
	if (c->resizes && p)
		record_realloc_done(frame, &c->moved, c->old, p, size, function);
	else if (c->resizes)
		record_realloc_failed(frame, &c->moved, c->old, size, size == 0);
	else if (!c->skips)
		record_alloc(frame, p, size, function);
}

void inner_call_after(struct inner_call *c, uintptr_t frame)
{
	unmark(c);
	if (c->entry->rule.result != ALLOCATOR_NO_RESULT)
		end_result(c, frame, block_of(c));
}

void inner_call_abandoned(struct inner_call *c, uintptr_t frame)
{
	unmark(c);
	if (c->entry->rule.result == ALLOCATOR_NO_RESULT)
		return;
	if (c->resizes)
		record_realloc_failed(frame, &c->moved, c->old, c->size, false);
	else if (!c->skips)
		record_alloc(frame, NULL, c->size, c->entry->function);
}
