/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The walk over live blocks, on a segment whose blocks are known and with times that the test
 * makes: how many of each age are alive, and that it is made for all that is asked at once. And who
 * allocated at a site.
 */
#include <stdlib.h>
#include "src/model/filter.h"
#include "src/session/threads.h"
#include "tests/unit/live_walk_fixture.h"

#define S	 1000000000ull
#define FIRST_NS (FIXTURE_CREATED_NS + 10 * S) /* the first look */
#define EACH	 40u /* blocks a second, */
#define KEPT	 4u /* of which these stay */

static struct surveyed w;
static uint64_t allocs;
static unsigned seconds, blocks;

static void begin(void)
{
	surveyed_open(&w, MADE_SITES);
	allocs = MADE_BLOCKS;
	seconds = blocks = 0;
}

static void end(void)
{
	surveyed_close(&w);
	age_classes_want(false);
}

/* A block of site 1 that was born in the middle of the second that is passing. */
static void born(uint32_t i)
{
	uint64_t ns = (10 + seconds) * S - S / 2;
	struct live_block b = { 100, ns >> HT_TICK_SHIFT, counter_claim(&w.made.s, 1, 1) },
			  old[LIVE_MISSED_MAX];

	CHECK_INT(live_insert(&w.made.s, made_address(1, i), &b, old), 0);
}

/* A look, a second after the one before: site 1 has allocated, and kept some of it. */
static struct snapshot *look(void)
{
	struct model_site site = { .id = 1, .alloc_bytes = 1 };
	struct model_input in = { .now_ns = FIRST_NS + seconds * S, .sites = &site, .nsites = 1 };
	struct snapshot *s;

	for (unsigned i = 0; seconds > 0 && i < KEPT; i++)
		born(MADE_BLOCKS + blocks++);
	allocs += seconds > 0 ? EACH : 0;
	site.allocs = allocs;
	in.head.uptime_ns = in.now_ns - FIXTURE_CREATED_NS;
	s = surveyed_look(&w, &in);
	seconds++;
	return s;
}

static struct snap_detail detail(const struct snapshot *s)
{
	struct snap_detail d = { .id = 1 };

	live_walk_detail(&w.live_walk, 1, s->uptime_ns, &d);
	return d;
}

TEST(what_lives_of_each_age)
{
	struct snap_detail d;

	begin();
	for (unsigned n = 1; n <= 200; n++) {
		struct snapshot *s = look();
		uint64_t sum = 0, alive = 0;

		d = detail(s);
		snapshot_unref(s);
		if (n == 1) {
			CHECK(!d.has_ages); /* nobody had asked */
			continue;
		}
		CHECK(d.has_ages && d.nages >= 2 && d.nages <= SNAP_AGES);
		CHECK_INT(d.age[0].youngest_ns, 0);
		for (unsigned i = 0; i < d.nages; i++) {
			struct snap_age *a = &d.age[i];

			sum += a->allocs;
			alive += a->alive_blocks;
			CHECK(i == 0 || a->youngest_ns == d.age[i - 1].oldest_ns);
			CHECK_INT(a->is_before, i + 1 == d.nages);
			if (!a->is_before) /* a tenth, in each */
				CHECK_INT(a->alive_blocks * 10, a->allocs);
			CHECK(a->is_before ||
				a->oldest_ns - a->youngest_ns == a->allocs / EACH * S);
		}
		/* What was there before: a hundred, of which every other one is alive. */
		CHECK_INT(d.age[d.nages - 1].allocs, MADE_BLOCKS);
		CHECK_INT(d.age[d.nages - 1].alive_blocks, MADE_BLOCKS / 2);
		CHECK_INT(sum, allocs);
		CHECK_INT(alive, MADE_BLOCKS / 2 + blocks);
	}
	CHECK(d.nages >= 5);
	end();
}

/* So many more, which the segment's counters count; all of them stay. */
static void counted_births(uint64_t ns, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct live_block b = { 100, ns >> HT_TICK_SHIFT, counter_claim(&w.made.s, 1, 1) },
				  old[LIVE_MISSED_MAX];

		CHECK_INT(live_insert(&w.made.s, made_address(1, MADE_BLOCKS + blocks++), &b, old),
			0);
		counter_alloc(&w.made.s, &w.made.owner, 1, 100);
	}
}

/* All blocks stay while the program goes on between the reading of its counters and the walk, and a
 * thread's clock is a little late. */
TEST(no_more_alive_than_allocated)
{
	struct live_walk_of of;
	struct snap_detail d = { .id = 1 };

	begin();
	of = surveyed_of(&w);
	for (; seconds < 60; seconds++) {
		struct model_site site = { .id = 1, .alloc_bytes = 1 };
		struct model_input in = {
			.now_ns = FIRST_NS + seconds * S, .sites = &site, .nsites = 1
		};
		uint64_t now = (10 + seconds) * S, sum = 0;
		struct snapshot *s;

		counted_births(now - S / 2, seconds ? 40 : 0);
		site.allocs = MADE_BLOCKS + blocks;
		in.head.uptime_ns = now;
		s = model_tick(w.model, &in);
		counted_births(now - S / 100, 5);
		counted_births(now + S / 100, 10);
		w.live_walk.due_ns = 0;
		live_walk_update(&w.live_walk, &of, s);
		live_walk_detail(&w.live_walk, 1, s->uptime_ns, &d);
		snapshot_unref(s);
		for (unsigned i = 0; i < d.nages; i++) {
			CHECK(d.age[i].alive_blocks <= d.age[i].allocs);
			sum += d.age[i].allocs;
		}
		CHECK(seconds == 0 || d.has_ages);
		CHECK(seconds == 0 || sum == MADE_BLOCKS + blocks);
	}
	end();
}

/* A look at a program that runs or that ran for so long. */
static struct snap_detail detail_at(uint64_t now, uint64_t uptime, bool ended)
{
	struct model_site site = { .id = 1, .alloc_bytes = 1, .allocs = MADE_BLOCKS };
	struct model_input in = { .now_ns = FIXTURE_CREATED_NS + now, .sites = &site, .nsites = 1 };
	struct snap_detail d = { .id = 1 };
	struct snapshot *s;

	in.head.uptime_ns = uptime;
	in.head.state = ended ? SNAP_EXITED : SNAP_RUNNING;
	s = surveyed_look(&w, &in);
	live_walk_detail(&w.live_walk, 1, uptime, &d);
	snapshot_unref(s);
	return d;
}

/* Ages are those at the end, and time that it did not live has no line; and a program
 * that was watched from its start has none before that. */
TEST(ages_of_a_program_that_ended)
{
	struct snap_detail d = { 0 };

	begin();
	for (unsigned n = 0; n < 20; n++)
		d = detail_at(S / 10 + n * S, S / 10, true); /* it was over at the first look */
	CHECK(d.has_ages);
	CHECK_INT(d.nages, 1);
	CHECK(!d.age[0].is_before && d.age[0].youngest_ns == 0);
	CHECK_INT(d.age[0].oldest_ns, S / 10);
	CHECK_INT(d.age[0].allocs, MADE_BLOCKS);
	CHECK_INT(d.age[0].alive_blocks, MADE_BLOCKS / 2);
	end();

	begin();
	for (unsigned n = 0; n < 20; n++)
		d = detail_at(S / 10 + n * S, n ? S / 2 : S / 10, n > 0);
	CHECK_INT(d.nages, 2);
	CHECK(d.age[0].youngest_ns == 0 && d.age[0].oldest_ns == 4 * S / 10);
	CHECK(!d.age[1].is_before && d.age[1].oldest_ns == S / 2);
	CHECK_INT(d.age[1].allocs, MADE_BLOCKS);
	end();

	begin();
	for (unsigned n = 0; n < 20; n++)
		d = detail_at((10 + n) * S, (n ? 11 : 10) * S, n > 0);
	CHECK_INT(d.nages, 2);
	CHECK(d.age[0].oldest_ns == S && d.age[1].is_before);
	end();
}

TEST(one_walk_for_all_that_is_asked)
{
	struct snapshot *s;

	begin();
	s = look();
	CHECK(!s->sites[0].has_ages && !w.live_walk.ages.known);
	detail(s);
	snapshot_unref(s);
	age_classes_want(true);
	s = look();
	CHECK(s->sites[0].has_ages && detail(s).has_ages);
	CHECK_INT(s->sites[0].youngest_ns / S, 0);
	snapshot_unref(s);
	age_classes_want(false);
	/* Who looks no more at a site needs no walk for it. */
	for (int i = 0; i < 5; i++)
		snapshot_unref(look());
	CHECK(!w.live_walk.ages.known);
	CHECK_INT(w.live_walk.site_ticks, 0);
	end();
}

TEST(who_allocates_at_a_site)
{
	static struct counter_owner other;
	struct snap_detail d = { .id = 1 };
	struct counter_freed freed = { .size = 500 };

	begin();
	threads_of_site(w.reader, 1, &d);
	CHECK_INT(d.nthreads, 1);
	CHECK_INT(d.thread[0].slot, 1);
	CHECK_INT(d.thread[0].allocs, MADE_BLOCKS);
	CHECK_INT(d.thread[0].frees, MADE_BLOCKS / 2);
	CHECK_INT(d.thread[0].alloc_bytes, made_alloc_bytes(1));
	/* Another thread, which allocates more, and one that only frees. */
	CHECK_INT(thread_claim(&w.made.s, 4712, NULL), 2);
	counter_own(&w.made.s, &other, 2);
	for (int i = 0; i < 1000; i++)
		counter_alloc(&w.made.s, &other, 1, 500);
	CHECK_INT(thread_claim(&w.made.s, 4713, NULL), 3);
	memset(&other, 0, sizeof(other));
	counter_own(&w.made.s, &other, 3);
	counter_free(&w.made.s, &other, 1, &freed);
	threads_of_site(w.reader, 1, &d);
	CHECK_INT(d.nthreads, 3);
	CHECK_INT(d.more_threads, 0);
	CHECK_INT(d.thread[0].slot, 2);
	CHECK_INT(d.thread[0].alloc_bytes, 500000);
	CHECK_INT(d.thread[2].slot, 3);
	CHECK(d.thread[2].allocs == 0 && d.thread[2].frees == 1 && d.thread[2].free_bytes == 500);
	/* A site that there is not. */
	threads_of_site(w.reader, UINT32_MAX, &d);
	CHECK_INT(d.nthreads, 0);
	end();
}

/* A block of site 1 or 2 by a thread. */
static void allocated_by(struct counter_owner *o, uint32_t site, uint32_t i, uint64_t size)
{
	uint32_t counter =
		counter_prepare(&w.made.s, o, &o->counter[site % COUNTER_SITES], site, size);
	struct live_block b = { size, 100, counter }, old[LIVE_MISSED_MAX];

	CHECK_INT(live_insert(&w.made.s, made_address(site, i), &b, old), 0);
	counter_alloc_at(&w.made.s, o, counter, size);
}

/* What thread 2 allocated is its own, whoever frees it. */
TEST(what_of_a_threads_blocks_is_alive)
{
	static struct counter_owner other;
	const uint32_t first = MADE_BLOCKS * 10;
	struct model_site plain[3] = { { .id = 1 }, { .id = 2 }, { .id = 3 } };
	struct threads t = { 0 };
	struct snap_detail d = { .id = 1 };
	struct counter_freed freed = { .size = 500 };
	struct live_block b = { 0 };
	uint64_t live = 0, of_shares = 0;
	struct snapshot *s;

	begin();
	threads_want(true);
	CHECK_INT(thread_claim(&w.made.s, 4712, NULL), 2);
	memset(&other, 0, sizeof(other));
	counter_own(&w.made.s, &other, 2);
	for (uint32_t i = 0; i < 30; i++)
		allocated_by(&other, 1, first + i, 500);
	for (uint32_t i = 0; i < 7; i++)
		allocated_by(&other, 2, first + i, 40);
	for (uint32_t i = 0; i < 10; i++) {
		CHECK(live_remove(&w.made.s, made_address(1, first + i), &b));
		CHECK_INT(counter_free_block(&w.made.s, &w.made.owner, b.counter, &freed), 1);
	}
	for (unsigned pass = 0; pass < 2; pass++) {
		struct model_input in = {
			.now_ns = FIRST_NS + pass * 2 * S, .sites = plain, .nsites = 3
		};

		threads_read(&t, w.reader, 0, &in.head);
		threads_read_shares(&t, w.reader, MADE_SITES, &in.head);
		s = surveyed_look(&w, &in);
		if (pass == 0)
			snapshot_unref(s);
	}
	CHECK(s->has_alive);
	CHECK(!s->threads[0].has_rate); /* one count is no rate */
	CHECK_INT(s->nthreads, 2);
	CHECK_INT(s->threads[1].live_blocks, 27);
	CHECK_INT(s->threads[1].live_bytes, 20 * 500 + 7 * 40);
	CHECK_INT(s->threads[1].foreign_frees, 0);
	CHECK_INT(s->threads[0].foreign_frees, 10);
	CHECK_INT(s->threads[0].foreign_bytes, 5000);
	for (uint32_t site = 1; site < MADE_SITES; site++)
		live += made_live_bytes(site);
	CHECK_INT(s->threads[0].live_bytes, live);
	for (size_t i = 0; i < s->nshares; i++) {
		of_shares += s->shares[i].live_bytes;
		if (s->shares[i].site == 1 && s->shares[i].slot == 2)
			CHECK_INT(s->shares[i].live_blocks, 20);
	}
	CHECK_INT(of_shares, live + s->threads[1].live_bytes);
	CHECK_INT(s->alive_bytes, of_shares);
	threads_of_site(w.reader, 1, &d);
	live_by_thread_fill_site(&w.live_walk.alive, &d);
	CHECK(!d.has_alive); /* nobody had asked for that site */
	live_walk_detail(&w.live_walk, 1, s->uptime_ns, &d);
	snapshot_unref(s);
	s = surveyed_look(&w,
		&(struct model_input){ .now_ns = FIRST_NS + 4 * S, .sites = plain, .nsites = 3 });
	live_by_thread_fill_site(&w.live_walk.alive, &d);
	CHECK(d.has_alive);
	for (unsigned i = 0; i < d.nthreads; i++)
		CHECK_INT(
			d.thread[i].live_bytes, d.thread[i].slot == 2 ? 10000 : made_live_bytes(1));
	snapshot_unref(s);
	threads_want(false);
	threads_free(&t);
	end();
}

/* A tick at which no walk is due. Returns what is alive. */
static uint64_t alive_at(uint64_t now_ns, bool ended)
{
	struct model_site plain[3] = { { .id = 1 }, { .id = 2 }, { .id = 3 } };
	struct model_input in = { .now_ns = now_ns, .sites = plain, .nsites = 3 };
	struct live_walk_of of = surveyed_of(&w);
	struct snapshot *s = model_tick(w.model, &in);
	uint64_t bytes;

	of.ended = ended;
	w.live_walk.due_ns = UINT64_MAX;
	live_walk_update(&w.live_walk, &of, s);
	bytes = s->alive_bytes;
	snapshot_unref(s);
	return bytes;
}

/* The program frees a block and ends before the next walk is due: the last one is made at its end.
 */
TEST(what_is_alive_at_the_end)
{
	struct live_block b = { 0 };
	uint64_t before;

	begin();
	threads_want(true);
	before = alive_at(FIRST_NS, false);
	for (uint32_t i = 0; i < MADE_BLOCKS && b.size == 0; i++)
		live_remove(&w.made.s, made_address(1, i), &b);
	CHECK(b.size != 0);
	CHECK_INT(alive_at(FIRST_NS + S, false), before);
	CHECK_INT(alive_at(FIRST_NS + 2 * S, true), before - b.size);
	threads_want(false);
	end();
}

/* By names, in the snapshot's own memory; a filter goes by them. */
TEST(who_allocates_where)
{
	static const struct snap_module module = { .path = "/m", .name = "m", .build_id = "" };
	static const struct frame frame = { .pc = 1, .module = &module, .function = "f" };
	static struct counter_owner other;
	struct stack st = { .frames = &frame, .nframes = 1 };
	struct threads t = { 0 };
	struct model_site plain[3] = { { .id = 1 }, { .id = 2 }, { .id = 3 } };
	struct model_input in = { .now_ns = FIRST_NS, .sites = plain, .nsites = 3 };
	struct snapshot *s;
	struct filter *f;
	char why[FILTER_WHY_MAX];

	begin();
	CHECK_INT(thread_claim(&w.made.s, 4712, NULL), 2);
	memset(&other, 0, sizeof(other));
	counter_own(&w.made.s, &other, 2);
	counter_alloc(&w.made.s, &other, 2, 500);
	threads_read(&t, w.reader, 0, &in.head);
	CHECK_INT(in.head.nthreads, 2);
	for (size_t i = 0; i < in.head.nthreads; i++)
		snprintf(t.thread[i].name, sizeof(t.thread[i].name), "worker-%u", t.thread[i].slot);
	threads_read_shares(&t, w.reader, MADE_SITES, &in.head);
	CHECK(!in.head.shares); /* nobody asked */
	threads_want(true);
	threads_read_shares(&t, w.reader, MADE_SITES, &in.head);
	CHECK_INT(in.head.nshares, 4);
	/* Names that were known stay when the program has gone. */
	threads_read(&t, w.reader, 0, &in.head);
	CHECK_STR(t.thread[0].name, "worker-1");
	s = model_tick(w.model, &in);
	for (size_t i = 0; i < t.shares; i++)
		memset(t.thread[i % 2].name, 'x', 8); /* the snapshot has its own */
	CHECK_INT(s->sites[0].shares, 1);
	CHECK_INT(s->sites[1].shares, 2);
	CHECK_INT(s->sites[2].shares, 1);
	CHECK_STR(s->sites[0].share[0].thread, "worker-1");
	f = filter_parse("thread:worker-2", why);
	CHECK(filter_wants_threads(f));
	for (unsigned i = 0; i < 3; i++) {
		struct snap_site site = s->sites[i];

		site.stack = &st;
		CHECK_INT(filter_match(f, s, &site, false), i == 1);
	}
	filter_free(f);
	snapshot_unref(s);
	threads_want(false);
	threads_free(&t);
	end();
}

int main(void)
{
	RUN(who_allocates_at_a_site);
	RUN(who_allocates_where);
	RUN_BOTH(what_lives_of_each_age);
	RUN_BOTH(no_more_alive_than_allocated);
	RUN_BOTH(ages_of_a_program_that_ended);
	RUN_BOTH(one_walk_for_all_that_is_asked);
	RUN_BOTH(what_of_a_threads_blocks_is_alive);
	RUN_BOTH(what_is_alive_at_the_end);
	return check_end();
}
