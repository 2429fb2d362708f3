/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ticks from snapshots and states (tick.h). Main thread. */
#include "src/record/tick_bits.h"
#include "src/record/wrong_rows.h"

#define COLUMN_LARGE 1000u /* bytes; less gains nothing over the cost of a block of its own */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static unsigned column_put(struct tick_encoder *t, unsigned number, uint64_t change)
{
	if (change == 0)
		return 0;
	bytes_change(&t->column[COLUMN_NUMBERS + number], change);
	return SITE_BIT(number);
}

/* `size`: of a block. */
static unsigned at_peak_put(
	struct tick_encoder *t, const uint64_t *old, const uint64_t *now, uint64_t size)
{
	uint64_t blocks = now[STATE_AT_PEAK_BLOCKS] - old[STATE_AT_PEAK_BLOCKS];
	uint64_t bytes = now[STATE_AT_PEAK_BYTES] - old[STATE_AT_PEAK_BYTES];

	if (blocks == 0 && bytes == 0)
		return 0;
	if (now[STATE_AT_PEAK_BYTES] == now[STATE_LIVE_BYTES] &&
		now[STATE_AT_PEAK_BLOCKS] == now[STATE_HELD])
		return SITE_AT_PEAK_NOW;
	return column_put(t, STATE_AT_PEAK_BYTES, bytes - blocks * size) |
	       column_put(t, STATE_AT_PEAK_BLOCKS, blocks);
}

static unsigned numbers_put(struct tick_encoder *t, const uint64_t *old, const uint64_t *now)
{
	uint64_t allocs = now[STATE_ALLOCS] - old[STATE_ALLOCS];
	uint64_t held = now[STATE_HELD] - old[STATE_HELD];
	uint64_t alloc_bytes = now[STATE_ALLOC_BYTES] - old[STATE_ALLOC_BYTES];
	uint64_t live_bytes = now[STATE_LIVE_BYTES] - old[STATE_LIVE_BYTES];
	uint64_t size = site_block_size(old);
	/* A new site's own size predicts the rest. */
	uint64_t later = old[STATE_ALLOCS] ? size : site_block_size(now);

	return column_put(t, STATE_ALLOCS, allocs) | column_put(t, STATE_HELD, held) |
	       column_put(t, STATE_ALLOC_BYTES, alloc_bytes - allocs * size) |
	       column_put(t, STATE_LIVE_BYTES, live_bytes - held * later) |
	       column_put(t, STATE_TEMPORARY, now[STATE_TEMPORARY] - old[STATE_TEMPORARY]) |
	       column_put(t, STATE_PEAK,
		       now[STATE_PEAK] - larger(old[STATE_PEAK], now[STATE_LIVE_BYTES])) |
	       at_peak_put(t, old, now, later);
}

static unsigned more_put(
	struct tick_encoder *t, const struct state_more *old, const struct state_more *now)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < STATE_SITE_MORE; i++) {
		if (now->n[i] == old->n[i])
			continue;
		bytes_change(&t->column[COLUMN_MORE + i], now->n[i] - old->n[i]);
		mask |= MORE_BIT(i);
	}
	return mask;
}

static bool more_is_zero(const struct state_more *m)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < STATE_SITE_MORE; i++)
		any |= m->n[i];
	return any == 0;
}

/* Appends a site, if it changed, and makes the old one that. Ids must rise. */
static int site_put(struct tick_encoder *t, struct state *old, uint32_t id,
	const struct state_site *now, const struct state_more *more)
{
	static const struct state_more none;
	unsigned mask = 0;
	int rc = state_site_room(old, id);

	if (!rc && !old->more && !more_is_zero(more))
		rc = state_more_room(old);
	if (rc)
		return rc;
	if (old->more)
		mask = more_put(t, &old->more[id], more);
	if (memcmp(&old->site[id], now, sizeof(*now)) != 0)
		mask |= numbers_put(t, old->site[id].n, now->n);
	else if (mask == 0 && old->present[id])
		return 0;
	bytes_number(&t->column[COLUMN_GAPS], id - t->last_id);
	bytes_number(&t->column[COLUMN_MASKS], mask);
	t->last_id = id + 1;
	t->sites++;
	old->sites += !old->present[id];
	old->present[id] = 1;
	old->site[id] = *now;
	if (old->more)
		old->more[id] = more ? *more : none;
	return 0;
}

static void columns_reset(struct tick_encoder *t)
{
	for (unsigned i = 0; i < TICK_COLUMNS; i++)
		t->column[i].len = 0;
	t->threads.len = t->gone.len = 0;
	t->last_id = t->sites = 0;
	t->cuts = 0;
}

static void cut_note(struct tick_encoder *t, size_t at)
{
	if (t->cuts == 0 || t->cut[t->cuts - 1] < at)
		t->cut[t->cuts++] = at;
}

/* `begin`: of the tick in `out`. */
static int columns_end(struct tick_encoder *t, struct bytes *out, size_t begin)
{
	bytes_number(out, t->sites);
	for (unsigned i = 0; t->sites && i < TICK_COLUMNS; i++) {
		bool large = t->column[i].len >= COLUMN_LARGE;

		if (t->column[i].failed)
			return -ENOMEM;
		bytes_number(out, t->column[i].len);
		if (large)
			cut_note(t, out->len - begin);
		bytes_add(out, t->column[i].data, t->column[i].len);
		if (large && i + 1 < TICK_COLUMNS)
			cut_note(t, out->len - begin);
	}
	return out->failed || t->threads.failed || t->gone.failed ? -ENOMEM : 0;
}

/* ---- head and threads ---- */

static void head_put(struct state *old, const uint64_t *head, struct bytes *out)
{
	unsigned n = state_head_numbers(), changed = 0, next = 0;

	for (unsigned i = 0; i < n; i++)
		changed += head[i] != old->head[i];
	bytes_number(out, changed);
	for (unsigned i = 0; i < n; i++) {
		if (head[i] == old->head[i])
			continue;
		bytes_number(out, i - next);
		bytes_change(out, head[i] - old->head[i]);
		old->head[i] = head[i];
		next = i + 1;
	}
}

static bool is_notice(const struct state *s, const char *notice, size_t len)
{
	return s->notice ? strlen(s->notice) == len && memcmp(s->notice, notice, len) == 0
			 : len == 0;
}

static int text_put(struct state *old, const void *text, size_t len,
	int (*set)(struct state *s, const char *text, size_t len), struct bytes *out)
{
	bytes_number(out, len);
	bytes_add(out, text, len);
	return set(old, text, len);
}

/* The notice and the wrong frees. */
static int texts_put(
	struct state *old, const char *notice, const struct bytes *wrong, struct bytes *out)
{
	size_t len = notice ? strnlen(notice, STATE_TEXT_MAX) : 0;
	bool same = is_notice(old, notice, len),
	     same_wrong =
		     old->wrong.len == wrong->len &&
		     (wrong->len == 0 || memcmp(old->wrong.data, wrong->data, wrong->len) == 0);
	int rc = wrong->failed ? -ENOMEM : 0;

	bytes_number(out, (same ? 0 : FLAG_NOTICE) | (same_wrong ? 0 : FLAG_WRONG));
	if (rc == 0 && !same)
		rc = text_put(old, notice, len, state_notice_set, out);
	if (rc == 0 && !same_wrong)
		rc = text_put(old, wrong->data, wrong->len, state_wrong_set, out);
	return rc;
}

/* The bits and changes of a thread; `now` NULL: it is gone. 0: no change. */
static unsigned thread_mask(const struct state_thread *old, const struct state_thread *now)
{
	unsigned mask = 0;

	if (!now)
		return THREAD_GONE;
	for (unsigned i = 0; i < STATE_THREAD_NUMBERS; i++)
		mask |= now->n[i] != old->n[i] ? 1u << i : 0;
	if (strcmp(now->name, old->name) != 0 || !old->present)
		mask |= THREAD_NAME;
	return mask;
}

static uint32_t thread_put(
	struct bytes *out, struct state_thread *old, const struct state_thread *now, uint32_t gap)
{
	unsigned mask = thread_mask(old, now);

	if (mask == 0)
		return 0;
	bytes_number(out, gap);
	bytes_number(out, mask);
	for (unsigned i = 0; i < STATE_THREAD_NUMBERS; i++)
		if (mask >> i & 1)
			bytes_change(out, now->n[i] - old->n[i]);
	if (mask & THREAD_NAME)
		bytes_add_text(out, now->name);
	*old = now ? *now : (struct state_thread){ 0 };
	return 1;
}

/* Both are in the order of slots. */
static void threads_put(struct tick_encoder *t, struct state *old, const struct state_thread *now,
	uint32_t room, struct bytes *out)
{
	uint32_t changed = 0, next = 0, present = 0;

	for (uint32_t i = 0; i < old->thread_room; i++) {
		const struct state_thread *n = i < room && now[i].present ? &now[i] : NULL;

		present += n != NULL;
		if ((!n && !old->thread[i].present) ||
			!thread_put(&t->threads, &old->thread[i], n, i - next))
			continue;
		next = i + 1;
		changed++;
	}
	old->threads = present;
	bytes_number(out, changed);
	bytes_add(out, t->threads.data, t->threads.len);
}

static int snapshot_threads_put(
	struct tick_encoder *t, struct state *old, const struct snapshot *s, struct bytes *out)
{
	struct state now = { 0 };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->nthreads; i++) {
		uint32_t slot = s->threads[i].slot;

		if (slot >= STATE_THREADS_MAX)
			continue;
		rc = state_thread_room(&now, slot);
		if (!rc)
			state_thread_take(&s->threads[i], &now.thread[slot]);
	}
	if (!rc && now.thread_room)
		rc = state_thread_room(old, now.thread_room - 1);
	if (!rc)
		threads_put(t, old, now.thread, now.thread_room, out);
	state_free(&now);
	return rc;
}

/* ---- a snapshot's sites ---- */

static int order_room(struct tick_encoder *t, size_t n)
{
	uint32_t *order = n > t->order_room ? realloc(t->order, n * sizeof(*order)) : t->order;

	if (!order)
		return -ENOMEM;
	t->order = order;
	t->order_room = n > t->order_room ? n : t->order_room;
	return 0;
}

/* The snapshot's sites of all kinds: those of the heap come first. */
static size_t sites_count(const struct snapshot *s)
{
	return s->nsites + s->nmapped;
}

static const struct snap_site *site_at(const struct snapshot *s, size_t i)
{
	return i < s->nsites ? &s->sites[i] : &s->mapped[i - s->nsites];
}

static int by_id(const void *pa, const void *pb, void *snapshot)
{
	uint32_t a = site_at(snapshot, *(const uint32_t *)pa)->id,
		 b = site_at(snapshot, *(const uint32_t *)pb)->id;

	return (a > b) - (a < b);
}

/* A snapshot's sites are large, and only some of their lines are read: no prefetcher follows. */
#define SITES_AHEAD 8u

static void site_prefetch(const struct snapshot *s, size_t i)
{
	if (i >= s->nsites)
		return;
	__builtin_prefetch(&s->sites[i].id);
	__builtin_prefetch(&s->sites[i].live_bytes);
	__builtin_prefetch(&s->sites[i].temporary); /* the last of the numbers */
}

/* Whether the ids of the heap's sites rise. */
static bool is_rising(const struct snapshot *s)
{
	size_t n = s->nsites;
	bool rising = true;

	for (size_t i = 1; rising && i < n; i++) {
		__builtin_prefetch(&s->sites[i + SITES_AHEAD < n ? i + SITES_AHEAD : i].id);
		rising = s->sites[i].id > s->sites[i - 1].id;
	}
	return rising;
}

/* Merges the heap's sites, whose ids rise, and the others, sorted in `other`. */
static void order_merge(const struct snapshot *s, uint32_t *order, const uint32_t *other)
{
	size_t i = 0, k = 0;

	while (i < s->nsites || k < s->nmapped) {
		bool heap = k == s->nmapped ||
			    (i < s->nsites && s->sites[i].id < site_at(s, other[k])->id);

		*order++ = heap ? (uint32_t)i++ : other[k++];
	}
}

/* Whether ids rise; otherwise makes the order in which they do. 1, 0, or -ENOMEM. */
static int sites_in_order(struct tick_encoder *t, const struct snapshot *s)
{
	size_t n = sites_count(s), others = s->nmapped;
	bool rising = is_rising(s);
	uint32_t *other;

	if (rising && others == 0)
		return 1;
	if (order_room(t, n + others) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		t->order[i] = (uint32_t)i;
	if (!rising) {
		qsort_r(t->order, n, sizeof(*t->order), by_id, (void *)(uintptr_t)s);
		return 0;
	}
	/* Only a few are to be sorted. */
	other = t->order + n;
	memcpy(other, t->order + s->nsites, others * sizeof(*other));
	qsort_r(other, others, sizeof(*other), by_id, (void *)(uintptr_t)s);
	order_merge(s, t->order, other);
	return 0;
}

/* Sites of the old state that the snapshot does not have. */
static int gone_put(struct tick_encoder *t, struct state *old, const struct snapshot *s)
{
	uint32_t count = 0, next = 0;

	if (old->room > t->seen_room) {
		uint8_t *seen = realloc(t->seen, old->room);

		if (!seen)
			return -ENOMEM;
		t->seen = seen;
		t->seen_room = old->room;
	}
	memset(t->seen, 0, t->seen_room);
	for (size_t i = 0; i < sites_count(s); i++)
		if (site_at(s, i)->id < old->room)
			t->seen[site_at(s, i)->id] = 1;
	for (uint32_t id = state_site_next(old, 0); id < old->room;
		id = state_site_next(old, id + 1)) {
		if (t->seen[id])
			continue;
		bytes_number(&t->gone, id - next);
		state_site_clear(old, id);
		next = id + 1;
		count++;
	}
	return (int)count;
}

static int sites_put(struct tick_encoder *t, struct state *old, const struct snapshot *s)
{
	int rising = sites_in_order(t, s), rc = rising < 0 ? rising : 0;
	uint32_t before = old->sites, matched = 0;
	/* Exact figures have none. */
	bool errors = s->sampling.most != 0 || old->more;

	for (size_t i = 0; rc == 0 && i < sites_count(s); i++) {
		const struct snap_site *site = site_at(s, rising ? i : t->order[i]);
		struct state_site now;
		struct state_more more;

		site_prefetch(s, i + SITES_AHEAD);
		/* Not twice. */
		if (site->id >= STATE_SITES_MAX || site->id < t->last_id)
			continue;
		matched += site->id < old->room && old->present[site->id];
		state_site_take(site, errors, &now, &more);
		rc = site_put(t, old, site->id, &now, &more);
	}
	if (rc)
		return rc;
	return matched < before ? gone_put(t, old, s) : 0;
}

int tick_encode(
	struct tick_encoder *t, struct state *old, const struct snapshot *s, struct bytes *out)
{
	uint64_t head[STATE_HEAD_MAX];
	size_t begin = out->len;
	int rc, gone;

	columns_reset(t);
	wrong_rows_put(s, &t->wrong);
	rc = texts_put(old, s->notice, &t->wrong, out);
	if (rc)
		return rc;
	state_head_take(head, s);
	head_put(old, head, out);
	rc = snapshot_threads_put(t, old, s, out);
	gone = rc ? rc : sites_put(t, old, s);
	if (gone < 0)
		return gone;
	bytes_number(out, (uint64_t)gone);
	bytes_add(out, t->gone.data, t->gone.len);
	return columns_end(t, out, begin);
}

int tick_encode_state(
	struct tick_encoder *t, struct state *old, const struct state *now, struct bytes *out)
{
	static const struct state_more none;
	uint32_t gone = 0, next = 0;
	size_t begin = out->len;
	int rc;

	columns_reset(t);
	rc = texts_put(old, now->notice, &now->wrong, out);
	if (!rc && now->thread_room)
		rc = state_thread_room(old, now->thread_room - 1);
	if (rc)
		return rc;
	head_put(old, now->head, out);
	threads_put(t, old, now->thread, now->thread_room, out);
	for (uint32_t id = state_site_next(old, 0); id < old->room;
		id = state_site_next(old, id + 1)) {
		if (id < now->room && now->present[id])
			continue;
		bytes_number(&t->gone, id - next);
		state_site_clear(old, id);
		next = id + 1;
		gone++;
	}
	bytes_number(out, gone);
	bytes_add(out, t->gone.data, t->gone.len);
	for (uint32_t id = state_site_next(now, 0); rc == 0 && id < now->room;
		id = state_site_next(now, id + 1))
		rc = site_put(t, old, id, &now->site[id], now->more ? &now->more[id] : &none);
	return rc ? rc : columns_end(t, out, begin);
}

size_t tick_encoder_bytes(const struct tick_encoder *t)
{
	size_t sum = t->threads.cap + t->gone.cap + t->wrong.cap +
		     t->order_room * sizeof(*t->order) + t->seen_room;

	for (unsigned i = 0; i < TICK_COLUMNS; i++)
		sum += t->column[i].cap;
	return sum;
}

void tick_encoder_free(struct tick_encoder *t)
{
	for (unsigned i = 0; i < TICK_COLUMNS; i++)
		bytes_free(&t->column[i]);
	bytes_free(&t->threads);
	bytes_free(&t->gone);
	bytes_free(&t->wrong);
	free(t->order);
	free(t->seen);
	*t = (struct tick_encoder){ 0 };
}
