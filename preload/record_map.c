/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recording of mapping calls (record_map.h): which are the program's, and at which site. In hooks,
 * on any thread; the table needs no re-entry guard, so this works in a signal handler that
 * interrupted another hook, too.
 *
 * The next allocator's calls are recognised by their return address, as blocks of the heap lie in
 * what it maps. libc's own malloc never comes here: it calls the kernel directly.
 */
#include "preload/record_map.h"

#include <errno.h>

#include "preload/hot.h"
#include "preload/lifecycle.h"
#include "preload/next_allocator.h"
#include "preload/reentry.h"
#include "preload/unwind.h"
#include "shm/stack.h"

static bool is_in_allocator(uint64_t pc)
{
	return pc - next_code.start < next_code.end - next_code.start;
}

/* 0: nothing is recorded. */
static uint64_t page_bytes(void)
{
	uint64_t bytes = 0;

	state_enter();
	if (state_is_on())
		bytes = state_segment.header->page_bytes;
	state_leave();
	return bytes;
}

uint64_t record_map_pages(uint64_t bytes)
{
	uint64_t page = page_bytes();

	return page ? (bytes + page - 1) & ~(page - 1) : 0;
}

/* ---- unmapping ---- */

struct record_map record_map_take_bytes(uint64_t start, uint64_t end)
{
	struct record_map m = { NULL, { 0 }, state_session };
	int saved = errno;

	state_enter();
	if (start < end && lifecycle_on()) {
		m.segment = state_segment.header;
		m.taken = mappings_take(&state_segment, start, end);
	}
	state_leave();
	errno = saved;
	return m;
}

struct record_map record_map_take(uint64_t start, uint64_t bytes)
{
	uint64_t whole = lifecycle_on() ? record_map_pages(bytes) : 0;
	uint64_t page = whole ? page_bytes() : 0;

	/* What no call can unmap. */
	if ((start & (page ? page - 1 : 0)) != 0 || start + whole < start)
		whole = 0;
	return record_map_take_bytes(start, start + whole);
}

struct record_map record_map_take_attached(uint64_t start)
{
	struct record_map m = { NULL, { 0 }, state_session };
	int saved = errno;

	state_enter();
	if (lifecycle_on()) {
		m.segment = state_segment.header;
		m.taken = mappings_take_attached(&state_segment, start);
	}
	state_leave();
	errno = saved;
	return m;
}

struct record_map record_map_take_if_mapped(uint64_t start, uint64_t bytes)
{
	struct record_map m = record_map_take(start, bytes);

	m.taken.asked = 0;
	return m;
}

/* In a child that a handler forked in the middle of the call, another segment is in use, or none.
 */
void record_map_end(const struct record_map *m, bool unmapped)
{
	int saved = errno;

	state_enter();
	if (!m->segment || !state_is_on() || m->segment != state_segment.header ||
		m->session != state_session)
		;
	else if (unmapped)
		mappings_gone(&state_segment, &m->taken);
	else
		mappings_put_back(&state_segment, &m->taken);
	state_leave();
	errno = saved;
}

/* ---- mapping ---- */

/* The site of all stacks of a function that cannot be taken; 0: none. */
static uint32_t site_unknown(uint32_t function)
{
	struct stack_trace t = { .function = function, .truncated = true };

	return stack_intern(&state_segment, &t);
}

static bool is_usable(uint32_t site)
{
	return site != 0 && (stack_site(&state_segment, site)->flags & HT_SITE_ANCESTOR) == 0;
}

/* With the re-entry guard held. */
static uint32_t site_take(uintptr_t frame, uint32_t function)
{
	struct recorder *r = recorder_current();

	if (!r)
		return 0;
	tick_count(r);
	return hot_leaf(r, stack_cache_root(&r->guards, frame), frame, function, unwind_checks())
		->site;
}

/* Inside another hook (a signal handler) the stack cannot be taken. */
static uint32_t site_of(uintptr_t frame, uint32_t function)
{
	uintptr_t paused = reentry_pause(frame);
	uint32_t site = 0;

	if (reentry_enter(frame)) {
		site = site_take(frame, function);
		reentry_leave(true);
	}
	reentry_resume(paused);
	return is_usable(site) ? site : site_unknown(function);
}

/* Whether an allocator takes memory for its blocks. */
static bool is_allocators(uintptr_t frame)
{
	return is_in_allocator(((const uintptr_t *)frame)[1]) || state_thread.in_allocator;
}

static void enter(uintptr_t frame, const struct record_map_block *b)
{
	struct mappings_block m = {
		.start = b->start, .end = b->end, .pool = b->pool, .kind = HT_MAPPING_ALLOCATOR
	};

	if (b->kind == HT_MAPPING_POOL || !is_allocators(frame)) {
		m.kind = b->kind;
		m.site = site_of(frame, b->function);
		if (!is_usable(m.site)) {
			mappings_table_untracked(&state_segment, b->kind, b->end - b->start);
			return;
		}
	}
	m.tick = segment_tick(&state_segment);
	mappings_enter(&state_segment, &m);
}

/* Our unwinder's own is not the program's. */
void record_map_enter(uintptr_t frame, const struct record_map_block *b)
{
	int saved = errno;

	state_enter();
	if (b->start < b->end && lifecycle_on() && !state_thread.unwinding)
		enter(frame, b);
	state_leave();
	errno = saved;
}

/* ---- pools ---- */

/* Where nothing can be: user space ends below. */
#define POOL_ADDRESSES (sizeof(void *) > 4 ? 1ull << 56 : 1ull << 32)

/* The end of a range in the space of pools; 0: it is none. */
static uint64_t pool_end(uint64_t start, uint64_t bytes)
{
	if (start == 0 || start >= POOL_ADDRESSES || bytes > POOL_ADDRESSES - start)
		return 0;
	return (start + bytes) | HT_POOL_SPACE;
}

static void pool_paused(uint64_t bytes)
{
	ht_add_relaxed_64(&state_segment.header->paused_blocks, 1);
	ht_add_relaxed_64(&state_segment.header->paused_bytes, bytes);
}

void record_map_pool_alloc(uintptr_t frame, uint64_t start, uint64_t bytes, uint32_t pool)
{
	struct record_map_block b = { start | HT_POOL_SPACE, pool_end(start, bytes ? bytes : 1),
		HT_FN_POOL, HT_MAPPING_POOL, pool };

	state_enter();
	if (!state_thread.paused)
		record_map_enter(frame, &b);
	else if (b.end != 0 && lifecycle_on())
		pool_paused(bytes);
	state_leave();
}

void record_map_pool_free(uint64_t start)
{
	int saved = errno;

	state_enter();
	if (pool_end(start, 1) != 0 && lifecycle_on())
		mappings_pool_free(&state_segment, start | HT_POOL_SPACE);
	state_leave();
	errno = saved;
}

void record_map_pool_reset(uint64_t start, uint64_t bytes)
{
	uint64_t end = pool_end(start, bytes);
	int saved = errno;

	state_enter();
	if (end != 0 && lifecycle_on())
		mappings_pool_reset(&state_segment, start | HT_POOL_SPACE, end);
	state_leave();
	errno = saved;
}

void record_map_pool_end(uint64_t start, uint64_t end, uint32_t pool)
{
	int saved = errno;

	state_enter();
	if (start < end && pool_end(start, end - start) != 0 && lifecycle_on())
		mappings_pool_end(&state_segment, start | HT_POOL_SPACE, end | HT_POOL_SPACE, pool);
	state_leave();
	errno = saved;
}
