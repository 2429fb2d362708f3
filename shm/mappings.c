/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of mapped memory: calls of any thread, applied one after another (mappings.h). In
 * hooks, any thread.
 *
 * A call that finds the lock taken becomes an entry in the queue, a stack that is only ever taken
 * whole, and by the lock's holder. A holder applies the queue before its own call, and checks it
 * again after it has freed the lock; who queues a call tries the lock again after that. One of the
 * two finds the other's write (queue_is_empty). So when nobody holds the lock, the queue is empty.
 *
 * Threads that make calls at every moment queue them faster than one of them can apply them. When
 * there is no room for more, a call waits for the holder, within a bound (call_begin).
 */
#include "shm/mappings.h"

#include "shm/commit.h"
#include "shm/mappings_table.h"
#include "shm/mappings_tree.h"
#include "shm/pause.h"

/* How long a call waits for room: for a holder that does not get on, 0.3 to 0.5 s; for one that
 * never makes room, twice that. It is processor time, since waiting threads spin: a holder that was
 * preempted gets its turn behind all others of its processor, 17 in the runs that this is from. */
#define IDLE_MAX  7000u
#define WAITS_MAX 14000u
#define PAUSES	  1000u /* of a wait: some 40 to 75 us */

/*
 * A queued call is an entry with one of these as its `kind`, which no reader takes for a range.
 * Arguments are in the fields of their names; besides:
 *
 *	block	of ENTER: the block's kind; of GONE and PUT_BACK: the bytes asked for
 *	start, end	of GONE and PUT_BACK: the range of the TAKE
 *	before	of GONE and PUT_BACK: the entry of the queued TAKE; 0: none, the list is in `left`
 *	left	of an applied TAKE: the list that it took
 *	right	the entry queued before this one
 */
enum call {
	CALL_TAKE = 0x100,
	CALL_TAKE_ATTACHED,
	CALL_ENTER,
	CALL_GONE,
	CALL_PUT_BACK,
	CALL_POOL_FREE,
	CALL_POOL_RESET,
	CALL_POOL_END
};

/* ---- entries for calls ---- */

/*
 * They are a population of their own, which calls in every thread take from and the lock's holder
 * gives back to. `after` links the free ones, and is written by nothing else: who is about to take
 * an entry may read it when another has taken it already, and the count of changes says so then.
 */

static uint64_t spare_word(uint64_t was, uint32_t number)
{
	return ((was >> 32) + 1) << 32 | number;
}

/* An entry for a call; 0: there is no room. */
static uint32_t call_new(const struct segment *s)
{
	uint64_t *spare = &s->header->mapping_spare, word = ht_load_acquire_64(spare); /* MAPPED */
	uint32_t number, next;

	while ((number = (uint32_t)word) != 0) {
		next = ht_load_relaxed_32(&mappings_tree_at(s, number)->after);
		if (ht_cas_acq_rel_64(spare, &word, spare_word(word, next))) /* MAPPED */
			return number;
	}
	return mappings_tree_fresh(s, MAPPINGS_TREE_CALLS);
}

static void call_fill(struct ht_mapping *e, const struct ht_mapping *call)
{
	__builtin_memcpy(e, call, offsetof(struct ht_mapping, after));
	e->pool = call->pool;
}

/* Under the lock. */
static void call_free(const struct segment *s, uint32_t number)
{
	uint64_t *spare = &s->header->mapping_spare, word = ht_load_relaxed_64(spare);
	const struct ht_mapping none = { 0 };
	struct ht_mapping *e = mappings_tree_at(s, number);

	call_fill(e, &none);
	e->mark = ht_mapping_mark(e);
	do {
		ht_store_relaxed_32(&e->after, (uint32_t)word);
	} while (!ht_cas_acq_rel_64(spare, &word, spare_word(word, number))); /* MAPPED */
}

/* ---- applying calls ---- */

static struct mappings_block block_of(const struct ht_mapping *e)
{
	return (struct mappings_block){ .start = e->start,
		.end = e->end,
		.tick = e->tick,
		.site = e->site,
		.pool = e->pool,
		.kind = (enum ht_mapping_kind)e->block };
}

/* How a call ended: a GONE or a PUT_BACK. */
static void end_apply(const struct segment *s, const struct ht_mapping *end)
{
	struct mappings_gone g = {
		.list = end->left, .asked = end->block, .start = end->start, .end = end->end
	};

	if (end->before != 0) {
		g.list = mappings_tree_at(s, end->before)->left;
		call_free(s, end->before);
	}
	if (end->kind == CALL_GONE)
		mappings_table_gone(s, &g);
	else
		mappings_table_put_back(s, g.list);
}

static void pool_apply(const struct segment *s, const struct ht_mapping *call)
{
	struct mappings_gone g = { 0 };

	if (call->kind == CALL_POOL_FREE)
		g.list = mappings_table_take_pool(s, call->start);
	else if (call->kind == CALL_POOL_RESET)
		g.list = mappings_table_take(s, call->start, call->end);
	else
		g.list = mappings_table_take_pools(s, call->start, call->end, call->pool);
	mappings_table_gone(s, &g);
}

/* Applies a queued call. The entry of a TAKE is freed by its end. */
static void call_apply(const struct segment *s, uint32_t number)
{
	struct ht_mapping *e = mappings_tree_at(s, number);
	struct mappings_block b = block_of(e);

	switch ((enum call)e->kind) {
	case CALL_TAKE:
		e->left = mappings_table_take(s, e->start, e->end);
		return;
	case CALL_TAKE_ATTACHED:
		e->left = mappings_table_take_attached(s, e->start);
		return;
	case CALL_ENTER:
		mappings_table_enter(s, &b);
		break;
	case CALL_GONE:
	case CALL_PUT_BACK:
		end_apply(s, e);
		break;
	case CALL_POOL_FREE:
	case CALL_POOL_RESET:
	case CALL_POOL_END:
		pool_apply(s, e);
		break;
	}
	call_free(s, number);
}

/* Applies all queued calls, the oldest first. */
static void queue_apply(const struct segment *s)
{
	uint32_t *queue = &s->header->mapping_queue, newest = ht_load_relaxed_32(queue);
	uint32_t list = 0, next;

	while (newest != 0 && !ht_cas_acq_rel_32(queue, &newest, 0)) /* MAPPED */
		;
	for (; newest != 0; newest = next) {
		next = mappings_tree_at(s, newest)->right;
		mappings_tree_at(s, newest)->right = list;
		list = newest;
	}
	for (; list != 0; list = next) {
		next = mappings_tree_at(s, list)->right;
		call_apply(s, list);
	}
}

/* ---- the lock ---- */

static bool table_open(const struct segment *s)
{
	struct ht_header *h = s->header;
	uint32_t free = 0;

	if (!ht_cas_acquire_32(&h->mapping_lock, &free, 1)) /* MAPPED */
		return false;
	ht_store_relaxed_64(&h->mapping_changes, h->mapping_changes + 1);
	ht_fence_release(); /* MAPPED: the odd number before any change */
	queue_apply(s);
	return true;
}

/* By a write of the queue's word that changes nothing: either it follows a call that was queued,
 * and finds it, or who queues the next call reads it, and so the lock that was freed before. */
static bool queue_is_empty(struct ht_header *h)
{
	uint32_t none = 0;

	return ht_cas_acq_rel_32(&h->mapping_queue, &none, 0); /* MAPPED */
}

/* Frees the lock. If calls were queued meanwhile and nobody else applies them, does so and frees it
 * again. */
static void table_close(const struct segment *s)
{
	struct ht_header *h = s->header;

	do {
		ht_store_release_64(&h->mapping_changes, h->mapping_changes + 1); /* MAPPED */
		ht_store_release_32(&h->mapping_lock, 0); /* MAPPED */
	} while (!queue_is_empty(h) && table_open(s));
}

/* Queues a call. Its entry, for a TAKE; 0: there is no room. */
static uint32_t queue_push(const struct segment *s, const struct ht_mapping *call)
{
	uint32_t *queue = &s->header->mapping_queue, before = ht_load_relaxed_32(queue);
	uint32_t number = call_new(s);

	if (number == 0)
		return 0;
	call_fill(mappings_tree_at(s, number), call);
	do {
		mappings_tree_at(s, number)->right = before;
	} while (!ht_cas_acq_rel_32(queue, &before, number)); /* MAPPED */
	if (table_open(s))
		table_close(s);
	return number;
}

/* Changes whenever a holder gets on. */
static uint64_t progress_of(const struct ht_header *h)
{
	return ht_load_relaxed_64(&h->mapping_changes) +
	       (ht_load_relaxed_64(&h->mapping_spare) >> 32);
}

struct waiting {
	unsigned waits;
	unsigned idle; /* of these, since the holder last got on */
	uint64_t progress;
};

/* Waits for the holder. False: in vain; and from then on at once, until the holder gets on.
 * Relaxed: at worst a call waits once more. */
static bool wait_once(const struct ht_header *h, struct waiting *w)
{
	static uint64_t given_up;
	uint64_t progress = progress_of(h);

	if (ht_load_relaxed_64(&given_up) == progress)
		return false;
	w->idle = progress == w->progress ? w->idle + 1 : 0;
	w->progress = progress;
	if (w->idle < IDLE_MAX && w->waits++ < WAITS_MAX) {
		pause_spin(PAUSES);
		return true;
	}
	ht_store_relaxed_64(&given_up, progress);
	return false;
}

enum begun { BEGUN_OPEN, BEGUN_QUEUED, BEGUN_LOST };

/* Opens the table for a call, or queues that: then *number is its entry. Lost: there was no room,
 * and the lock's holder did not make any. */
static enum begun call_begin(
	const struct segment *s, const struct ht_mapping *call, uint32_t *number)
{
	struct waiting w = { 0 };

	do {
		*number = 0;
		if (table_open(s))
			return BEGUN_OPEN;
		*number = queue_push(s, call);
		if (*number != 0)
			return BEGUN_QUEUED;
	} while (wait_once(s->header, &w));
	return BEGUN_LOST;
}

/* ---- what hooks call ---- */

static struct mappings_taken take(const struct segment *s, const struct ht_mapping *call)
{
	struct mappings_taken t = {
		.asked = call->end - call->start, .start = call->start, .end = call->end
	};
	enum begun begun = call_begin(s, call, &t.queued);

	t.missed = begun == BEGUN_LOST;
	if (begun == BEGUN_OPEN) {
		t.list = call->kind == CALL_TAKE ? mappings_table_take(s, call->start, call->end)
						 : mappings_table_take_attached(s, call->start);
		table_close(s);
	}
	return t;
}

struct mappings_taken mappings_take(const struct segment *s, uint64_t start, uint64_t end)
{
	const struct ht_mapping call = { .start = start, .end = end, .kind = CALL_TAKE };

	return start < end ? take(s, &call) : (struct mappings_taken){ 0 };
}

struct mappings_taken mappings_take_attached(const struct segment *s, uint64_t start)
{
	const struct ht_mapping call = { .start = start, .end = start, .kind = CALL_TAKE_ATTACHED };

	return take(s, &call);
}

static void end(const struct segment *s, const struct mappings_taken *t, bool gone)
{
	const struct ht_mapping call = { .kind = gone ? CALL_GONE : CALL_PUT_BACK,
		.start = t->start,
		.end = t->end,
		.block = t->asked,
		.before = t->queued,
		.left = t->list };
	uint32_t number;
	enum begun begun = call_begin(s, &call, &number);

	if (begun == BEGUN_OPEN) {
		end_apply(s, &call);
		table_close(s);
	} else if (begun == BEGUN_LOST) {
		ht_add_relaxed_64(&s->header->untracked_unmap_bytes, t->asked);
	}
}

void mappings_gone(const struct segment *s, const struct mappings_taken *t)
{
	if (t->missed)
		ht_add_relaxed_64(&s->header->untracked_unmap_bytes, t->asked);
	else if (t->list != 0 || t->queued != 0 || (s->header->forked && t->start < t->end))
		end(s, t, true);
	else if (t->asked != 0)
		ht_add_relaxed_64(&s->header->unknown_unmap_bytes, t->asked);
}

void mappings_put_back(const struct segment *s, const struct mappings_taken *t)
{
	if (t->list != 0 || t->queued != 0)
		end(s, t, false);
}

void mappings_enter(const struct segment *s, const struct mappings_block *b)
{
	const struct ht_mapping call = { .start = b->start,
		.end = b->end,
		.tick = b->tick,
		.block = b->kind,
		.site = b->site,
		.pool = b->pool,
		.kind = CALL_ENTER };
	enum begun begun;
	uint32_t number;

	if (b->start >= b->end)
		return;
	begun = call_begin(s, &call, &number);
	if (begun == BEGUN_OPEN) {
		mappings_table_enter(s, b);
		table_close(s);
	} else if (begun == BEGUN_LOST) {
		mappings_table_untracked(s, b->kind, b->end - b->start);
	}
}

static void pool_gone(const struct segment *s, const struct ht_mapping *call)
{
	uint32_t number;
	enum begun begun = call_begin(s, call, &number);

	if (begun == BEGUN_OPEN) {
		pool_apply(s, call);
		table_close(s);
	} else if (begun == BEGUN_LOST) {
		mappings_table_untracked(s, HT_MAPPING_POOL, 0);
	}
}

void mappings_pool_free(const struct segment *s, uint64_t start)
{
	const struct ht_mapping call = { .start = start, .kind = CALL_POOL_FREE };

	pool_gone(s, &call);
}

void mappings_pool_reset(const struct segment *s, uint64_t start, uint64_t end)
{
	const struct ht_mapping call = { .start = start, .end = end, .kind = CALL_POOL_RESET };

	if (start < end)
		pool_gone(s, &call);
}

void mappings_pool_end(const struct segment *s, uint64_t start, uint64_t end, uint32_t pool)
{
	const struct ht_mapping call = {
		.start = start, .end = end, .kind = CALL_POOL_END, .pool = pool
	};

	if (start < end)
		pool_gone(s, &call);
}
