/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who allocated and freed what, in a recording of all events, and each site in depth: random events
 * of several threads, beside sums of them that are made by hand. */
#include "tests/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "src/record/event_snapshot.h"
#include "src/record/event_write.h"

#define EVENTS 20000u
#define SITES  300u
#define STEP   7u /* from one site's id to the next */
#define SLOTS  6u

static const uint32_t slots[SLOTS] = { 0, 1, 2, 77, 900, EVENT_SLOTS_MAX - 1 };
static char path[64];
static struct event events[EVENTS];
static uint64_t seed = 1;

static uint64_t random_below(uint64_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

static uint32_t number_of(uint32_t slot)
{
	uint32_t i = 0;

	while (i < SLOTS - 1 && slots[i] != slot)
		i++;
	return i;
}

/* What a thread has done; and beside it, what it has at each site. */
struct sums {
	uint64_t allocs, frees, alloc_bytes, free_bytes, foreign, foreign_bytes, live, live_bytes;
};
static struct sums thread[SLOTS], share[SITES][SLOTS];

/* A block that is live, and the thread that owns it: SLOTS, none. */
struct owned {
	struct event alloc;
	uint32_t by;
};

static void allocated(struct sums *s, uint64_t size)
{
	s->allocs++;
	s->alloc_bytes += size;
	s->live++;
	s->live_bytes += size;
}

static void freed(const struct owned *b, uint32_t by)
{
	struct sums *own = &share[b->alloc.site / STEP][b->by];

	thread[by].frees++;
	thread[by].free_bytes += b->alloc.size;
	if (b->by == SLOTS)
		return;
	own->live--;
	own->live_bytes -= b->alloc.size;
	thread[b->by].live--;
	thread[b->by].live_bytes -= b->alloc.size;
	if (b->by == by || by == 0 || b->by == 0)
		return;
	thread[by].foreign++;
	thread[by].foreign_bytes += b->alloc.size;
}

/* The sums of the first `count` events. */
static void sums_make(size_t count)
{
	static struct owned block[EVENTS];

	memset(thread, 0, sizeof(thread));
	memset(share, 0, sizeof(share));
	for (size_t i = 0; i < count; i++) {
		const struct event *e = &events[i];
		uint32_t by = number_of(e->slot);

		if (e->kind == EVENT_FREE) {
			freed(&block[e->number], by);
			continue;
		}
		block[e->number] = (struct owned){ *e, e->kind == EVENT_BEFORE ? SLOTS : by };
		if (e->kind == EVENT_BEFORE)
			continue;
		allocated(&thread[by], e->size);
		allocated(&share[e->site / STEP][by], e->size);
	}
}

static void events_make(void)
{
	static struct event live[EVENTS];
	size_t nlive = 0, which;
	uint64_t number = 0;

	for (size_t i = 0; i < EVENTS; i++) {
		struct event *e = &events[i];

		*e = (struct event){ .tick = i / 4, .slot = slots[random_below(SLOTS)] };
		if (i >= 20 && nlive > 0 && random_below(5) < 2) {
			which = random_below(nlive);
			e->kind = EVENT_FREE;
			e->number = live[which].number;
			e->size = live[which].size;
			e->site = live[which].site;
			live[which] = live[--nlive];
			continue;
		}
		e->kind = i < 20 ? EVENT_BEFORE : EVENT_ALLOC;
		e->number = number++;
		e->size = random_below(1000);
		e->site = (uint32_t)random_below(SITES) * STEP;
		live[nlive++] = *e;
	}
}

static void file_write(bool ended)
{
	static const struct snap_thread named[] = { { .slot = 77, .tid = 12, .name = "worker" },
		{ .slot = 1, .tid = 7, .name = "main" } };
	struct snapshot end = { .state = SNAP_EXITED,
		.threads = named,
		.nthreads = 2,
		.uptime_ns = (uint64_t)EVENTS << EVENT_TICK_SHIFT };
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_writer *w = event_file_create(path, message);
	struct event_columns c = { 0 };
	struct bytes raw = { 0 };

	CHECK(w != NULL);
	event_write_process(w, 0,
		&(struct event_process){ .pid = 7,
			.version = "x",
			.exe = "/x",
			.command = "x",
			.command_bytes = 1 });
	for (uint32_t i = 0; i < SITES; i++)
		event_write_site(&raw, i * STEP, "malloc", 0, NULL, 0);
	event_file_put(w, EVENT_FILE_SITES, 0, &raw);
	bytes_free(&raw);
	for (size_t i = 0; i < EVENTS; i++)
		event_columns_add(&c, &events[i]);
	event_write_events(w, 0, &c);
	if (ended)
		event_write_end(w, 0, &end, &(struct event_end){ .ended_ns = end.uptime_ns });
	event_columns_free(&c);
	CHECK_INT(event_file_close(w), 0);
}

static struct event_recording *reopen(void)
{
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_recording *r = event_read_open(path, message);

	CHECK(r != NULL);
	return r;
}

static void check_threads(const struct snapshot *s)
{
	CHECK(s->has_alive);
	CHECK_INT(s->alive_bytes, s->totals.live_bytes);
	CHECK_INT(s->nthreads, SLOTS);
	for (uint32_t i = 0; i < SLOTS && s->nthreads == SLOTS; i++) {
		const struct snap_thread *t = &s->threads[i];

		CHECK_INT(t->slot, slots[i]);
		CHECK_INT(t->allocs, thread[i].allocs);
		CHECK_INT(t->alloc_bytes, thread[i].alloc_bytes);
		CHECK_INT(t->frees, thread[i].frees);
		CHECK_INT(t->free_bytes, thread[i].free_bytes);
		CHECK_INT(t->foreign_frees, thread[i].foreign);
		CHECK_INT(t->foreign_bytes, thread[i].foreign_bytes);
		CHECK_INT(t->live_blocks, thread[i].live);
		CHECK_INT(t->live_bytes, thread[i].live_bytes);
	}
}

static void check_shares(const struct snapshot *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nsites; i++) {
		const struct snap_site *site = &s->sites[i];
		uint32_t all = 0;

		for (uint32_t k = 0; k < SLOTS; k++)
			all += share[site->id / STEP][k].allocs > 0;
		CHECK_INT(site->shares, all);
		for (uint32_t k = 0; k < site->shares; k++) {
			const struct snap_share *h = &site->share[k];
			uint32_t by = number_of(h->slot);

			CHECK_INT(h->site, site->id);
			CHECK_INT(h->allocs, share[site->id / STEP][by].allocs);
			CHECK_INT(h->alloc_bytes, share[site->id / STEP][by].alloc_bytes);
			CHECK_INT(h->live_blocks, share[site->id / STEP][by].live);
			CHECK_INT(h->live_bytes, share[site->id / STEP][by].live_bytes);
		}
		n += site->shares;
	}
	CHECK_INT(s->nshares, n);
}

TEST(threads_have_what_they_did_by_then)
{
	static const size_t until[] = { 40, 999, EVENTS / 2, EVENTS };
	struct event_recording *r;
	struct snapshot *s;

	events_make();
	file_write(true);
	r = reopen();
	for (size_t i = 0; r && i < sizeof(until) / sizeof(until[0]); i++) {
		/* All events of the tick before. */
		size_t count = until[i] / 4 * 4;

		sums_make(count);
		s = event_snapshot(r, (count / 4 << EVENT_TICK_SHIFT) - 1);
		CHECK(s != NULL);
		if (count > 900)
			check_threads(s);
		check_shares(s);
		snapshot_unref(s);
	}
	event_read_free(r);
}

TEST(they_have_their_names)
{
	struct event_recording *r = reopen();
	struct snapshot *s = event_snapshot(r, UINT64_MAX);

	CHECK_STR(s->threads[1].name, "main");
	CHECK_INT(s->threads[1].tid, 7);
	CHECK_STR(s->threads[3].name, "worker");
	CHECK_STR(s->threads[2].name, "");
	CHECK(s->threads[2].tid == 0);
	for (size_t i = 0; i < s->nshares; i++)
		CHECK_STR(s->shares[i].thread, s->shares[i].slot == 77	? "worker"
					       : s->shares[i].slot == 1 ? "main"
									: "");
	snapshot_unref(s);
	event_read_free(r);
}

TEST(a_range_has_what_they_did_in_it)
{
	struct event_recording *r = reopen();
	size_t from = EVENTS / 4, to = EVENTS / 2;
	struct sums then[SLOTS];
	struct snapshot *s = event_snapshot_range(
		r, (from / 4 << EVENT_TICK_SHIFT) - 1, (to / 4 << EVENT_TICK_SHIFT) - 1);

	sums_make(from);
	memcpy(then, thread, sizeof(then));
	sums_make(to);
	check_threads(s);
	CHECK(s->range && s->range->threads);
	for (uint32_t i = 0; s->range && s->range->threads && i < SLOTS; i++) {
		CHECK_INT(s->range->threads[i].slot, slots[i]);
		CHECK_INT(s->range->threads[i].allocs, thread[i].allocs - then[i].allocs);
		CHECK_INT(
			s->range->threads[i].free_bytes, thread[i].free_bytes - then[i].free_bytes);
		CHECK_INT(s->range->threads[i].foreign_frees, thread[i].foreign - then[i].foreign);
	}
	snapshot_unref(s);
	event_read_free(r);
}

/* What a site has by then, event by event. */
struct depth {
	struct snap_size sizes[SNAP_SIZE_BUCKETS];
	uint64_t lifetimes[SNAP_LIFE_BUCKETS];
	struct sums by[SLOTS];
	uint64_t before, before_live, live_bytes;
};

static void depth_alloc(struct depth *d, const struct event *e, bool is_live)
{
	struct snap_size *size = &d->sizes[snap_size_bucket(e->size)];
	struct sums *by = &d->by[number_of(e->slot)];

	size->allocs++;
	size->live_blocks += is_live;
	size->live_bytes += is_live ? e->size : 0;
	d->live_bytes += is_live ? e->size : 0;
	if (e->kind == EVENT_BEFORE) {
		d->before++;
		d->before_live += is_live;
		return;
	}
	by->allocs++;
	by->alloc_bytes += e->size;
	by->live += is_live;
	by->live_bytes += is_live ? e->size : 0;
}

static void depth_make(struct depth *d, uint32_t site, size_t count)
{
	static size_t end[EVENTS]; /* of each block: the number of its free's event */

	memset(d, 0, sizeof(*d));
	memset(end, 0, sizeof(end));
	for (size_t i = 0; i < count; i++)
		if (events[i].kind == EVENT_FREE)
			end[events[i].number] = i;
	for (size_t i = 0; i < count; i++) {
		const struct event *e = &events[i];

		if (e->site != site)
			continue;
		if (e->kind == EVENT_FREE) {
			d->by[number_of(e->slot)].frees++;
			d->by[number_of(e->slot)].free_bytes += e->size;
			continue;
		}
		depth_alloc(d, e, end[e->number] == 0);
		if (end[e->number])
			d->lifetimes[snap_life_bucket(
				(events[end[e->number]].tick - e->tick) << EVENT_TICK_SHIFT)]++;
	}
}

static void check_depth(const struct snap_detail *got, const struct depth *want)
{
	uint64_t allocs = 0, last = UINT64_MAX, live = 0;

	CHECK_INT(memcmp(got->sizes, want->sizes, sizeof(want->sizes)), 0);
	CHECK_INT(memcmp(got->lifetimes, want->lifetimes, sizeof(want->lifetimes)), 0);
	CHECK(got->has_alive && got->more_threads == 0);
	CHECK_INT(got->alive_bytes, want->live_bytes);
	for (unsigned i = 0; i < got->nthreads; i++) {
		const struct snap_site_thread *t = &got->thread[i];
		const struct sums *by = &want->by[number_of(t->slot)];

		CHECK_INT(t->allocs, by->allocs);
		CHECK_INT(t->alloc_bytes, by->alloc_bytes);
		CHECK_INT(t->frees, by->frees);
		CHECK_INT(t->free_bytes, by->free_bytes);
		CHECK_INT(t->live_blocks, by->live);
		CHECK_INT(t->live_bytes, by->live_bytes);
		CHECK(t->alloc_bytes <= last);
		last = t->alloc_bytes;
		allocs += t->allocs;
		live += t->live_blocks;
	}
	for (unsigned i = 0; i < SLOTS; i++) {
		allocs -= want->by[i].allocs;
		live -= want->by[i].live;
	}
	CHECK(allocs == 0 && live == 0); /* no thread is missing */
}

/* Spans of age: from now on back, none is missing, and in each are the blocks of that age. */
static void check_ages(const struct snap_detail *got, uint32_t site, size_t count, uint64_t end_ns)
{
	uint64_t from = 0, found;

	CHECK(got->has_ages);
	for (unsigned k = 0; k < got->nages; k++) {
		const struct snap_age *age = &got->age[k];

		found = 0;
		for (size_t i = 0; i < count; i++) {
			uint64_t old = end_ns - (events[i].tick << EVENT_TICK_SHIFT);

			found += events[i].site == site && events[i].kind == EVENT_ALLOC &&
				 !age->is_before && old <= age->oldest_ns &&
				 (old > age->youngest_ns || k == 0);
			found += events[i].site == site && events[i].kind == EVENT_BEFORE &&
				 age->is_before;
		}
		CHECK_INT(age->allocs, found);
		CHECK(age->alive_blocks <= age->allocs);
		CHECK(age->is_before || age->youngest_ns == from);
		from = age->oldest_ns;
	}
}

TEST(a_site_in_depth)
{
	static const size_t until[] = { 40, EVENTS / 3, EVENTS };
	struct event_recording *r = reopen();
	struct snap_detail *got = calloc(1, sizeof(*got));
	struct depth *want = calloc(1, sizeof(*want));
	struct snapshot *s;

	for (size_t i = 0; i < sizeof(until) / sizeof(until[0]); i++) {
		size_t count = until[i] / 4 * 4;

		s = event_snapshot(r, (count / 4 << EVENT_TICK_SHIFT) - 1);
		for (size_t k = 0; k < s->nsites; k += 29) {
			uint32_t site = s->sites[k].id;

			depth_make(want, site, count);
			CHECK_INT(event_snapshot_detail(s, site, got), 0);
			CHECK_INT(got->id, site);
			check_depth(got, want);
			check_ages(got, site, count, s->uptime_ns);
			CHECK(!want->before || got->age[got->nages - 1].is_before);
			CHECK(!want->before ||
				got->age[got->nages - 1].alive_blocks == want->before_live);
		}
		snapshot_unref(s);
	}
	s = event_snapshot(r, UINT64_MAX);
	CHECK_INT(event_snapshot_detail(s, 3, got), 0); /* no site at all */
	CHECK(got->nthreads == 0 && got->alive_bytes == 0);
	snapshot_unref(s);
	s = calloc(1, sizeof(*s)); /* another's */
	CHECK_INT(event_snapshot_detail(s, 0, got), -ENODATA);
	free(s);
	free(got);
	free(want);
	event_read_free(r);
}

/* Their names were not written: their numbers are there all the same. */
TEST(a_file_without_an_end_has_threads_too)
{
	struct event_recording *r;
	struct snapshot *s;

	file_write(false);
	r = reopen();
	s = event_snapshot(r, UINT64_MAX);
	sums_make(EVENTS);
	check_threads(s);
	check_shares(s);
	CHECK_STR(s->threads[1].name, "");
	snapshot_unref(s);
	event_read_free(r);
}

int main(void)
{
	snprintf(path, sizeof(path), "/tmp/heaptop-threads-%d", (int)getpid());
	RUN(threads_have_what_they_did_by_then);
	RUN(they_have_their_names);
	RUN(a_range_has_what_they_did_in_it);
	RUN(a_site_in_depth);
	RUN(a_file_without_an_end_has_threads_too);
	unlink(path);
	return check_end();
}
