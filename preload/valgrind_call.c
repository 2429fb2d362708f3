/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Carries out client requests (valgrind_call.h). Sources: valgrind.h and memcheck.h of Valgrind
 * 3.19, whose codes are an ABI; "Memory Pools" in its manual.
 *
 * Pools are known by an address, their anchor. A program may end a pool without ending its blocks,
 * so the table has the range in which a pool's blocks lie, and each block has its pool's number.
 * Edge POOLS: the table is empty before its address is known.
 *
 * The table is a hash without locks: requests that name one pool are the program's to order.
 */
#include "preload/valgrind_call.h"

#include <stddef.h>

#include "preload/api.h"
#include "preload/record_map.h"
#include "shm/atomic.h"
#include "shm/private.h"

enum request {
	MALLOCLIKE = 0x1301,
	FREELIKE,
	CREATE_MEMPOOL,
	DESTROY_MEMPOOL,
	MEMPOOL_ALLOC,
	MEMPOOL_FREE,
	MEMPOOL_TRIM,
	MOVE_MEMPOOL,
	MEMPOOL_CHANGE,
	RESIZEINPLACE = 0x130b,
	DO_LEAK_CHECK = 0x4d430006 /* "MC", number 6 */
};

#define METAPOOL 2u /* a flag of CREATE_MEMPOOL: its pieces hold MALLOCLIKE blocks */

#define POOLS  4096u /* at a time; the blocks of others have no pool */
#define PROBES 64u
#define GONE   1u /* no anchor: was one */

struct pool {
	uint64_t anchor; /* 0: never used */
	uint64_t low, high; /* where its blocks start */
	uint32_t number; /* of its blocks, from 1; 0: it has none */
	uint32_t reserved;
};

static struct pool *pools; /* POOLS of them, made with the first; private, out of core dumps */
static uint32_t numbers;

/* ---- pools ---- */

/* The table; NULL: there is none yet. */
static struct pool *table_get(void)
{
	return ht_load_acquire_pointer(&pools); /* POOLS */
}

/* The same; makes it if there is none. NULL: there is no memory. */
static struct pool *table_make(void)
{
	struct pool *seen = table_get(), *made = seen ? seen : private_map(POOLS * sizeof(*made));

	if (seen || !made)
		return made;
	/* POOLS */
	if (ht_cas_acq_rel_pointer(&pools, &seen, made))
		return made;
	private_unmap(made, POOLS * sizeof(*made));
	return seen;
}

static struct pool *probe(struct pool *table, uint64_t anchor, unsigned i)
{
	return &table[((anchor * 0x9e3779b97f4a7c15ull >> 40) + i) % POOLS];
}

/* Relaxed: the program has handed the pool over from thread to thread itself. */
static struct pool *pool_find(uint64_t anchor)
{
	struct pool *table = table_get();

	for (unsigned i = 0; i < PROBES && table && anchor > GONE; i++) {
		struct pool *p = probe(table, anchor, i);
		uint64_t seen = ht_load_relaxed_64(&p->anchor);

		if (seen == anchor)
			return p;
		if (seen == 0)
			return NULL;
	}
	return NULL;
}

static struct pool *pool_claim(uint64_t anchor)
{
	struct pool *table = table_make();

	for (unsigned i = 0; i < PROBES && table && anchor > GONE; i++) {
		struct pool *p = probe(table, anchor, i);
		uint64_t seen = ht_load_relaxed_64(&p->anchor);

		if (seen <= GONE && ht_cas_relaxed_64(&p->anchor, &seen, anchor))
			return p;
	}
	return NULL;
}

static void pool_create(uint64_t anchor, uint64_t flags)
{
	struct pool *p = pool_find(anchor);

	p = p ? p : pool_claim(anchor);
	if (!p)
		return;
	p->low = UINT64_MAX;
	p->high = 0;
	p->number = flags & METAPOOL ? 0 : ht_add_relaxed_32(&numbers, 1) + 1;
}

static void pool_widen(struct pool *p, uint64_t at)
{
	uint64_t low = ht_load_relaxed_64(&p->low), high = ht_load_relaxed_64(&p->high);

	while (at < low && !ht_cas_relaxed_64(&p->low, &low, at))
		;
	while (at >= high && !ht_cas_relaxed_64(&p->high, &high, at + 1))
		;
}

static void pool_destroy(uint64_t anchor)
{
	struct pool *p = pool_find(anchor);

	if (!p)
		return;
	if (p->number)
		record_map_pool_end(p->low, p->high, p->number);
	ht_store_relaxed_64(&p->anchor, GONE);
}

/* What does not lie in [start, start + bytes) is no block of the pool any more. */
static void pool_trim(uint64_t anchor, uint64_t start, uint64_t bytes)
{
	const struct pool *p = pool_find(anchor);
	uint64_t end = bytes < UINT64_MAX - start ? start + bytes : UINT64_MAX;

	if (!p || !p->number)
		return;
	record_map_pool_end(p->low, start < p->high ? start : p->high, p->number);
	record_map_pool_end(end > p->low ? end : p->low, p->high, p->number);
}

static void pool_move(uint64_t from, uint64_t to)
{
	struct pool *p = pool_find(from), *q = p ? pool_claim(to) : NULL;

	if (!q)
		return;
	q->low = p->low;
	q->high = p->high;
	q->number = p->number;
	ht_store_relaxed_64(&p->anchor, GONE);
}

/* ---- blocks ---- */

static void pool_alloc(uint64_t anchor, uint64_t at, uint64_t bytes, uintptr_t frame)
{
	struct pool *p = pool_find(anchor);

	if (p && !p->number)
		return;
	if (p)
		pool_widen(p, at);
	record_map_pool_alloc(frame, at, bytes, p ? p->number : 0);
}

static void pool_free(uint64_t anchor, uint64_t at)
{
	const struct pool *p = pool_find(anchor);

	if (!p || p->number)
		record_map_pool_free(at);
}

static void resize(const uint64_t *arg, uintptr_t frame)
{
	uint64_t at = arg[1], before = arg[2], bytes = arg[3];

	if (before != 0)
		record_map_pool_free(at);
	if (bytes != 0)
		record_map_pool_alloc(frame, at, bytes, 0);
}

static void change(const uint64_t *arg, uintptr_t frame)
{
	pool_free(arg[1], arg[2]);
	pool_alloc(arg[1], arg[3], arg[4], frame);
}

void valgrind_call(const uint64_t arg[6], uintptr_t frame)
{
	switch (arg[0]) {
	case MALLOCLIKE:
		record_map_pool_alloc(frame, arg[1], arg[2], 0);
		break;
	case FREELIKE:
		record_map_pool_free(arg[1]);
		break;
	case RESIZEINPLACE:
		resize(arg, frame);
		break;
	case CREATE_MEMPOOL:
		pool_create(arg[1], arg[4]);
		break;
	case DESTROY_MEMPOOL:
		pool_destroy(arg[1]);
		break;
	case MEMPOOL_ALLOC:
		pool_alloc(arg[1], arg[2], arg[3], frame);
		break;
	case MEMPOOL_FREE:
		pool_free(arg[1], arg[2]);
		break;
	case MEMPOOL_TRIM:
		pool_trim(arg[1], arg[2], arg[3]);
		break;
	case MOVE_MEMPOOL:
		pool_move(arg[1], arg[2]);
		break;
	case MEMPOOL_CHANGE:
		change(arg, frame);
		break;
	case DO_LEAK_CHECK:
		heaptop_api_scan();
		break;
	}
}
