/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ticks kept in memory: each comes back as it was; thinning keeps extremes and marks, and the
 * limit holds. Long because every figure of a snapshot is compared.
 */
#include <errno.h>
#include "src/model/moment.h"
#include "src/record/history.h"
#include "tests/unit/record_fixture.h"

#define TICKS 200

/* A program watched for TICKS ticks, with all its snapshots. */
struct watched {
	struct program program;
	struct history *history;
	struct snapshot *tick[TICKS];
};

static void watched_start(struct watched *w, uint64_t seed, size_t sites)
{
	program_init(&w->program, seed, sites);
	if (sites > 20)
		program_unusual(&w->program);
	w->history = history_new(64 << 20);
	for (size_t i = 0; i < TICKS; i++) {
		program_tick(&w->program, S_NS + dice(&w->program) % 1000, 30);
		w->tick[i] = program_snapshot(&w->program);
		CHECK_INT(history_add(w->history, w->tick[i]), 0);
	}
}

static void watched_end(struct watched *w)
{
	for (size_t i = 0; i < TICKS; i++)
		snapshot_unref(w->tick[i]);
	history_free(w->history);
	program_free(&w->program);
}

/* A base that has all sites, which the program's last tick may not have. */
static struct snapshot *base_of(struct program *p)
{
	memset(p->gone, 0, p->nsites * sizeof(*p->gone));
	return program_snapshot(p);
}

static struct snapshot *past(struct history *h, struct snapshot *base, uint64_t ns)
{
	return history_snapshot(h, base, &(struct moment){ .kind = SNAP_PAST, .ns = ns });
}

TEST(every_tick_comes_back)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct watched w;
		struct snapshot *base, *s;

		watched_start(&w, seed, seed == 1 ? 0 : 15 * seed);
		base = base_of(&w.program);
		CHECK_INT(history_timeline(w.history)->npoints, TICKS);
		for (size_t i = 0; i < TICKS; i++) {
			s = past(w.history, base, w.tick[i]->uptime_ns);
			CHECK(s != NULL);
			if (!s)
				continue;
			CHECK_INT(s->moment, SNAP_PAST);
			CHECK(s->base == base && s->owner == base->owner);
			snapshot_compare(s, w.tick[i]);
			for (size_t k = 0; k < s->nsites; k++)
				CHECK(s->sites[k].stack == w.tick[i]->sites[k].stack);
			snapshot_unref(s);
		}
		CHECK_INT(base->refs, 1);
		snapshot_unref(base);
		watched_end(&w);
	}
}

TEST(points_tell_the_totals)
{
	struct watched w;
	const struct timeline *t;

	watched_start(&w, 9, 20);
	t = history_timeline(w.history);
	CHECK_INT(t->npoints, TICKS);
	for (size_t i = 0, lost = 0; i < TICKS && i < t->npoints; i++) {
		CHECK_INT(t->points[i].ns, w.tick[i]->uptime_ns);
		CHECK_INT(t->points[i].live_bytes, w.tick[i]->totals.live_bytes);
		CHECK_INT(t->points[i].allocs, w.tick[i]->totals.allocs);
		CHECK_INT(t->points[i].rss, w.tick[i]->proc.rss);
		CHECK(t->points[i].high_bytes >= t->points[i].live_bytes);
		CHECK_INT(t->points[i].lost, w.tick[i]->totals.lost_events > lost);
		lost = w.tick[i]->totals.lost_events;
	}
	CHECK(t->bytes > 0 && t->bytes <= t->limit_bytes);
	CHECK(t->file == NULL && !t->replay);
	watched_end(&w);
}

TEST(sites_in_any_order)
{
	struct program p;
	struct history *h = history_new(16 << 20);
	struct snapshot *s, *got, *base;
	struct snap_site *sites;

	program_init(&p, 5, 40);
	program_unusual(&p);
	for (unsigned i = 0; i < 20; i++) {
		program_tick(&p, S_NS, 50);
		s = program_snapshot(&p);
		sites = (struct snap_site *)(s + 1);
		for (size_t k = 0; k + 1 < s->nsites; k++) {
			size_t other = dice(&p) % s->nsites;
			struct snap_site swap = sites[k];

			sites[k] = sites[other];
			sites[other] = swap;
		}
		CHECK_INT(history_add(h, s), 0);
		snapshot_unref(s);
	}
	s = program_snapshot(&p);
	base = base_of(&p);
	got = past(h, base, UINT64_MAX);
	CHECK(got != NULL);
	if (got)
		snapshot_compare(got, s);
	snapshot_unref(got);
	snapshot_unref(base);
	snapshot_unref(s);
	history_free(h);
	program_free(&p);
}

TEST(counters_past_2_to_the_32_and_back)
{
	static const uint64_t values[] = { 5, UINT32_MAX, 1ull << 32, 3ull << 40, UINT64_MAX, 0, 1,
		1ull << 63, UINT64_MAX - 1, 7 };
	struct history *h = history_new(16 << 20);
	struct snapshot *s, *base, *want[10];
	struct program p;

	program_init(&p, 5, 3);
	for (size_t i = 0; i < 10; i++) {
		p.head.uptime_ns += S_NS;
		p.head.now_realtime_ns = p.head.start_realtime_ns + p.head.uptime_ns;
		p.head.totals.allocs = values[9 - i];
		for (size_t k = 0; k < 3; k++) {
			p.sites[k].allocs = values[(i + k) % 10];
			p.sites[k].frees = values[(i + 2 * k + 1) % 10];
			p.sites[k].alloc_bytes = values[(i + 5) % 10];
			p.sites[k].live_bytes = values[(i + 3 * k) % 10];
			p.sites[k].live_blocks = values[(i + 4 * k) % 10];
			p.sites[k].at_peak_bytes = values[(2 * i + k) % 10];
			p.sites[k].peak_live_bytes = values[(3 * i + k) % 10];
		}
		want[i] = program_snapshot(&p);
		CHECK_INT(history_add(h, want[i]), 0);
	}
	base = base_of(&p);
	for (size_t i = 0; i < 10; i++) {
		s = past(h, base, want[i]->uptime_ns);
		snapshot_compare(s, want[i]);
		snapshot_unref(s);
		snapshot_unref(want[i]);
	}
	snapshot_unref(base);
	history_free(h);
	program_free(&p);
}

/* A site that allocates 1000 bytes a second for a minute. */
static struct history *steady(struct program *p, unsigned ticks)
{
	struct history *h = history_new(16 << 20);

	program_init(p, 3, 2);
	for (unsigned i = 0; i < ticks; i++) {
		struct snapshot *s;

		p->head.uptime_ns += S_NS;
		site_allocate(p, &p->sites[0], 10, 100);
		site_release(p, &p->sites[0], 4);
		site_allocate(p, &p->sites[1], 1, 64);
		p->head.proc.minor_faults += 20;
		p->threads[0] = (struct snap_thread){ .slot = 1, .allocs = 11 * (i + 1) };
		p->nthreads = 1;
		s = program_snapshot(p);
		CHECK_INT(history_add(h, s), 0);
		snapshot_unref(s);
	}
	return h;
}

TEST(rates_and_trends_are_of_the_time_before)
{
	struct program p;
	struct history *h = steady(&p, 60);
	struct snapshot *base = base_of(&p), *s = past(h, base, 40 * S_NS);

	CHECK_INT(s->rates_ns, 10 * S_NS);
	CHECK_INT(s->sites[0].rate_bytes_per_s, 600);
	CHECK_INT(s->sites[0].allocs_per_s, 10);
	CHECK_INT(s->totals.allocs_per_s, 11);
	CHECK_INT(s->totals.frees_per_s, 4);
	CHECK_INT(s->totals.growth_bytes_per_s, 664);
	CHECK_INT(s->proc.minor_faults_per_s, 20);
	CHECK_INT(s->threads[0].allocs_per_s, 11);
	CHECK_INT(s->sites[1].trend_points, SNAP_TREND_POINTS);
	for (unsigned i = 0; i < SNAP_TREND_POINTS; i++)
		CHECK_INT(s->sites[1].trend[SNAP_TREND_POINTS - 1 - i],
			(40 - SNAP_TREND_TICKS * i) * 64);
	snapshot_unref(s);
	/* The first tick is compared with the program's start. */
	s = past(h, base, 0);
	CHECK_INT(s->uptime_ns, S_NS);
	CHECK_INT(s->sites[0].rate_bytes_per_s, 600);
	CHECK_INT(s->sites[0].trend_points, 1);
	snapshot_unref(s);
	snapshot_unref(base);
	history_free(h);
	program_free(&p);
}

/* What threads did, and the histograms, between 20 and 30 s. */
static void in_range(struct history *h, struct snapshot *base, const struct snapshot *s)
{
	struct snapshot *from = past(h, base, 20 * S_NS), *to = past(h, base, 30 * S_NS);

	CHECK(s->range && s->range->threads && s->nthreads == to->nthreads && s->nthreads > 0);
	CHECK(!from->range && !to->range);
	for (size_t i = 0; i < s->nthreads; i++) {
		const struct snap_thread *t = &s->range->threads[i];

		CHECK_INT(t->slot, s->threads[i].slot);
		CHECK_INT(t->allocs, to->threads[i].allocs - from->threads[i].allocs);
		CHECK_INT(t->frees, to->threads[i].frees - from->threads[i].frees);
		CHECK_INT(
			t->alloc_bytes, to->threads[i].alloc_bytes - from->threads[i].alloc_bytes);
	}
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++)
		CHECK_INT(s->range->sizes[i].allocs, to->sizes[i].allocs - from->sizes[i].allocs);
	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++)
		CHECK_INT(s->range->lifetimes[i], to->lifetimes[i] - from->lifetimes[i]);
	snapshot_unref(from);
	snapshot_unref(to);
}

TEST(a_range_tells_what_changed_in_between)
{
	struct program p;
	struct history *h = steady(&p, 60);
	struct snapshot *base = base_of(&p), *s;

	s = history_snapshot(h, base,
		&(struct moment){
			.kind = SNAP_RANGE, .ns = 30 * S_NS + 5, .from_ns = 20 * S_NS + 7 });
	CHECK_INT(s->moment, SNAP_RANGE);
	CHECK_INT(s->uptime_ns, 30 * S_NS);
	CHECK_INT(s->range_from_ns, 20 * S_NS);
	CHECK_INT(s->sites[0].since.bytes, 6000);
	CHECK_INT(s->sites[0].since.blocks, 60);
	CHECK_INT(s->sites[0].since.allocs, 100);
	CHECK_INT(s->sites[0].since.alloc_bytes, 10000);
	CHECK_INT(s->sites[1].since.bytes, 640);
	CHECK(s->since && s->since->ns == 20 * S_NS && s->since->number == 0);
	CHECK_INT(s->since->live_bytes, 20 * 664);
	CHECK(s->until == NULL);
	CHECK(!s->kept);
	in_range(h, base, s);
	snapshot_unref(s);
	/* The wrong way round: nothing in between. */
	s = history_snapshot(h, base,
		&(struct moment){ .kind = SNAP_RANGE, .ns = 20 * S_NS, .from_ns = 30 * S_NS });
	CHECK_INT(s->range_from_ns, 20 * S_NS);
	CHECK_INT(s->sites[0].since.bytes, 0);
	snapshot_unref(s);
	snapshot_unref(base);
	history_free(h);
	program_free(&p);
}

TEST(a_later_site_is_left_out)
{
	struct history *h = history_new(16 << 20);
	struct snapshot *s, *base;
	struct program p;

	program_init(&p, 3, 2);
	for (unsigned i = 0; i < 20; i++) {
		p.gone[1] = i < 10;
		p.head.uptime_ns += S_NS;
		site_allocate(&p, &p.sites[0], 10, 100);
		site_allocate(&p, &p.sites[1], i >= 10, 64);
		s = program_snapshot(&p);
		CHECK_INT(history_add(h, s), 0);
		snapshot_unref(s);
	}
	base = base_of(&p);
	s = history_snapshot(
		h, base, &(struct moment){ .kind = SNAP_RANGE, .ns = 9 * S_NS, .from_ns = S_NS });
	CHECK_INT(s->nsites, 1);
	CHECK_INT(s->sites[0].id, p.sites[0].id);
	snapshot_unref(s);
	s = history_snapshot(
		h, base, &(struct moment){ .kind = SNAP_RANGE, .ns = 15 * S_NS, .from_ns = S_NS });
	CHECK_INT(s->nsites, 2);
	CHECK_INT(s->sites[1].since.bytes, 5 * 64);
	snapshot_unref(s);
	snapshot_unref(base);
	history_free(h);
	program_free(&p);
}

TEST(what_is_only_of_now_is_cleared)
{
	struct snap_mark marks[2] = { { .number = 1, .ns = 5 * S_NS, .live_bytes = 100 },
		{ .number = 2, .ns = 50 * S_NS, .before = &marks[0] } };
	struct snap_leaks leaks = { 0 };
	struct program p;
	struct history *h = steady(&p, 60);
	struct snapshot *base = base_of(&p), *s;

	base->leaks = &leaks;
	base->moments = &marks[1];
	base->since = &marks[1];
	base->has_alive = base->kept = true;
	s = past(h, base, 40 * S_NS);
	CHECK(!s->leaks && !s->shares && !s->has_alive && !s->kept);
	CHECK(s->moments == &marks[0] && !s->since);
	snapshot_unref(s);
	base->since = &marks[0];
	s = past(h, base, 40 * S_NS);
	CHECK(s->since == &marks[0] && !s->until);
	CHECK_INT(s->sites[1].since.bytes, 40 * 64);
	snapshot_unref(s);
	snapshot_unref(base);
	history_free(h);
	program_free(&p);
}

TEST(nothing_is_kept_yet)
{
	struct history *h = history_new(16 << 20);
	struct program p;
	struct snapshot *base;

	program_init(&p, 1, 4);
	base = base_of(&p);
	errno = 0;
	CHECK(past(h, base, 5) == NULL && errno == ENODATA);
	CHECK_INT(history_timeline(h)->npoints, 0);
	CHECK_INT(base->refs, 1);
	snapshot_unref(base);
	history_free(h);
	program_free(&p);
	history_free(NULL);
}

/* The screen goes on ticking after the program's end. */
TEST(the_end_is_one_tick)
{
	struct program p;
	struct history *h = steady(&p, 5);
	struct snapshot *s, *end;

	p.head.state = SNAP_EXITED;
	p.head.exit_status = 3;
	for (unsigned i = 0; i < 4; i++) {
		s = program_snapshot(&p);
		CHECK_INT(history_add(h, s), 0);
		snapshot_unref(s);
	}
	CHECK_INT(history_timeline(h)->npoints, 6);
	s = program_snapshot(&p);
	end = past(h, s, UINT64_MAX);
	CHECK_INT(end->exit_status, 3);
	snapshot_unref(end);
	snapshot_unref(s);
	history_free(h);
	program_free(&p);
}

/* ---- thinning ---- */

#define LONG_TICKS 12000
#define LONG_SITES 40

/* A program over hours: what each of its ticks was, in a sum per tick. */
struct long_run {
	struct program program;
	struct history *history;
	uint64_t *sum; /* by second */
	uint64_t *live;
	uint64_t most_bytes; /* memory at most */
};

static uint64_t sum_of(const struct snapshot *s)
{
	uint64_t sum = s->totals.allocs * 31 + s->proc.rss;

	for (size_t i = 0; i < s->nsites; i++)
		sum = (sum ^ s->sites[i].id) * 0x100000001b3u + s->sites[i].live_bytes * 7 +
		      s->sites[i].allocs + s->sites[i].at_peak_bytes * 3;
	return sum;
}

static void long_tick(struct long_run *l, size_t i)
{
	struct snapshot *s;
	static struct snap_mark mark;

	program_tick(&l->program, S_NS, 10);
	/* A spike of a tick, and a dip. */
	if (i == 661 || i == 9000)
		site_allocate(&l->program, &l->program.sites[0], 1, 1 << 30);
	if (i == 662 || i == 9001)
		site_release(&l->program, &l->program.sites[0], l->program.sites[0].live_blocks);
	if (i == 777 || i == 5000) {
		mark = (struct snap_mark){ .number = i == 777 ? 1 : 2,
			.ns = l->program.head.uptime_ns - 1 };
		l->program.head.moments = &mark;
	}
	s = program_snapshot(&l->program);
	l->sum[i] = sum_of(s);
	l->live[i] = s->totals.live_bytes;
	CHECK_INT(history_add(l->history, s), 0);
	snapshot_unref(s);
	if (history_timeline(l->history)->bytes > l->most_bytes)
		l->most_bytes = history_timeline(l->history)->bytes;
}

static void long_start(struct long_run *l, uint64_t limit, size_t ticks)
{
	*l = (struct long_run){ .history = history_new(limit) };
	program_init(&l->program, 77, LONG_SITES);
	l->sum = calloc(ticks, sizeof(*l->sum));
	l->live = calloc(ticks, sizeof(*l->live));
	for (size_t i = 0; i < ticks; i++)
		long_tick(l, i);
}

static void long_end(struct long_run *l)
{
	history_free(l->history);
	program_free(&l->program);
	free(l->sum);
	free(l->live);
}

static size_t tick_of(const struct timeline_point *p)
{
	return p->ns / S_NS - 1;
}

static bool has_tick(const struct timeline *t, size_t tick)
{
	return t->points[timeline_index(t, (tick + 1) * S_NS)].ns == (tick + 1) * S_NS;
}

/* Each kept tick is what it was. */
static void long_compare(struct long_run *l)
{
	const struct timeline *t = history_timeline(l->history);
	struct snapshot *base = base_of(&l->program), *s;

	for (size_t i = 0; i < t->npoints; i += 1 + t->npoints / 200) {
		s = past(l->history, base, t->points[i].ns);
		CHECK(s && s->uptime_ns == t->points[i].ns);
		if (s && sum_of(s) != l->sum[tick_of(&t->points[i])])
			CHECK_INT(sum_of(s), l->sum[tick_of(&t->points[i])]);
		CHECK_INT(t->points[i].live_bytes, l->live[tick_of(&t->points[i])]);
		snapshot_unref(s);
	}
	snapshot_unref(base);
}

/* The low and high of a point are those of all ticks since the point before. */
static void long_extremes(struct long_run *l)
{
	const struct timeline *t = history_timeline(l->history);
	size_t tick = 0;

	for (size_t i = 0; i < t->npoints; i++) {
		uint64_t low = UINT64_MAX, high = 0;

		for (; tick <= tick_of(&t->points[i]); tick++) {
			low = l->live[tick] < low ? l->live[tick] : low;
			high = l->live[tick] > high ? l->live[tick] : high;
		}
		CHECK_INT(t->points[i].low_bytes, low);
		CHECK(t->points[i].high_bytes >= high);
	}
}

TEST(age_thins_but_keeps_spikes_and_marks)
{
	struct long_run l;
	const struct timeline *t;
	size_t recent = 0, middle = 0;

	long_start(&l, 64 << 20, LONG_TICKS);
	t = history_timeline(l.history);
	for (size_t i = 0; i < t->npoints; i++) {
		uint64_t age = (LONG_TICKS + 1) * S_NS - t->points[i].ns;

		recent += age <= 600 * S_NS;
		middle += age > 1800 * S_NS && age <= 5400 * S_NS;
	}
	CHECK_INT(recent, 600);
	CHECK(middle >= 360 && middle < 500);
	CHECK(t->npoints < 600 + 1200 + 300);
	/* The spikes, the marks, and the lowest total. */
	CHECK(has_tick(t, 661) && has_tick(t, 9000));
	CHECK(has_tick(t, 777) && has_tick(t, 5000));
	CHECK_INT(t->points[timeline_index(t, 662 * S_NS)].live_bytes, l.live[661]);
	long_compare(&l);
	long_extremes(&l);
	long_end(&l);
}

TEST(the_limit_holds)
{
	static const uint64_t limits[] = { 290 << 10, 150 << 10, 60 << 10 };

	for (size_t i = 0; i < 3; i++) {
		struct long_run l;
		const struct timeline *t;

		long_start(&l, limits[i], 3000);
		t = history_timeline(l.history);
		CHECK(l.most_bytes <= limits[i]);
		CHECK(t->npoints > 10);
		CHECK_INT(tick_of(&t->points[t->npoints - 1]), 2999);
		CHECK(has_tick(t, 661));
		CHECK(has_tick(t, 777));
		long_compare(&l);
		long_extremes(&l);
		long_end(&l);
	}
}

TEST(many_marks_do_not_break_the_limit)
{
	struct history *h = history_new(100 << 10);
	struct snap_mark mark = { 0 };
	struct program p;

	program_init(&p, 2, 30);
	p.head.moments = &mark;
	for (unsigned i = 0; i < 3000; i++) {
		struct snapshot *s;

		program_tick(&p, S_NS, 20);
		mark.number = i + 1;
		mark.ns = p.head.uptime_ns;
		s = program_snapshot(&p);
		CHECK_INT(history_add(h, s), 0);
		CHECK(history_timeline(h)->bytes <= 100 << 10);
		snapshot_unref(s);
	}
	CHECK(history_timeline(h)->npoints > 2);
	history_free(h);
	program_free(&p);
}

TEST(a_limit_too_small_for_the_sites_keeps_nothing)
{
	struct history *h = history_new(100 << 10);
	struct program p;
	struct snapshot *s;

	program_init(&p, 2, 3000);
	program_tick(&p, S_NS, 20);
	s = program_snapshot(&p);
	CHECK_INT(history_add(h, s), -ENOMEM);
	CHECK_INT(history_add(h, s), -ENOMEM);
	CHECK_INT(history_timeline(h)->npoints, 0);
	CHECK(history_timeline(h)->bytes < 100 << 10);
	snapshot_unref(s);
	history_free(h);
	program_free(&p);
}

TEST(an_idle_program_costs_next_to_nothing)
{
	struct history *h = history_new(32 << 20);
	struct program p;
	struct snapshot *s;
	uint64_t before = 0;

	program_init(&p, 2, 300);
	program_tick(&p, S_NS, 100);
	p.head.notice = NULL;
	for (unsigned i = 0; i < 36000; i++) {
		p.head.uptime_ns += S_NS;
		s = program_snapshot(&p);
		CHECK_INT(history_add(h, s), 0);
		snapshot_unref(s);
		if (i == 10)
			before = history_timeline(h)->bytes;
	}
	/* Ten hours. */
	CHECK(history_timeline(h)->bytes - before < 2 << 20);
	history_free(h);
	program_free(&p);
}

int main(void)
{
	RUN(every_tick_comes_back);
	RUN(points_tell_the_totals);
	RUN(sites_in_any_order);
	RUN(counters_past_2_to_the_32_and_back);
	RUN(rates_and_trends_are_of_the_time_before);
	RUN(a_range_tells_what_changed_in_between);
	RUN(a_later_site_is_left_out);
	RUN(what_is_only_of_now_is_cleared);
	RUN(nothing_is_kept_yet);
	RUN(the_end_is_one_tick);
	RUN(age_thins_but_keeps_spikes_and_marks);
	RUN(the_limit_holds);
	RUN(many_marks_do_not_break_the_limit);
	RUN(a_limit_too_small_for_the_sites_keeps_nothing);
	RUN(an_idle_program_costs_next_to_nothing);
	return check_end();
}
