/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates, trends and totals from invented readings at invented times. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include "src/model/interval.h"
#include "src/model/model.h"
#include "tests/check.h"

#define S 1000000000ull

static const struct snap_module app = { .path = "/app", .name = "app", .build_id = "" };
static const struct frame one[] = { { .pc = 1, .module = &app, .function = "f" } };

static struct model *model_of(uint32_t sites)
{
	struct model *m = model_new();

	for (uint32_t id = 0; id < sites; id++)
		CHECK_INT(model_site_add(m, id, "malloc", one, 1, false), 0);
	return m;
}

/* One tick with site 0 at `live`, at `now`, in a program that is older than any window. */
static struct snapshot *tick(struct model *m, uint64_t now, uint64_t live, uint64_t allocs)
{
	struct model_site site = { .live_bytes = live, .allocs = allocs };
	struct model_input in = { .now_ns = now, .sites = &site, .nsites = 1 };

	in.head.uptime_ns = now;
	in.head.totals.live_bytes = live;
	in.head.totals.allocs = allocs;
	in.head.totals.frees = allocs / 2;
	in.head.proc = (struct snap_proc){ .valid = true, .minor_faults = allocs * 2 };
	return model_tick(m, &in);
}

static bool near(double got, double want)
{
	double off = got > want ? got - want : want - got;

	return off < 1e-6 * (want < 0 ? -want : want) + 1e-9;
}

TEST(counters_are_passed_on)
{
	struct model *m = model_of(1);
	struct model_site site = { 0, 100, 7, 3, 900, 50, 2, 90, 5, { 0, 0, 0, 0 }, SNAP_HEAP };
	struct model_input in = { .now_ns = 5, .sites = &site, .nsites = 1 };
	struct snapshot *s;

	in.head.pid = 42;
	in.head.nsites = 99; /* the head's sites are ignored */
	s = model_tick(m, &in);
	CHECK_INT(s->pid, 42);
	CHECK_INT(s->refs, 1);
	CHECK_INT(s->nsites, 1);
	CHECK_INT(s->sites[0].live_bytes, 100);
	CHECK(s->sites[0].group == NULL); /* no sum of sites */
	CHECK_INT(s->sites[0].live_blocks, 4);
	CHECK_INT(s->sites[0].allocs, 7);
	CHECK_INT(s->sites[0].frees, 3);
	CHECK_INT(s->sites[0].alloc_bytes, 900);
	CHECK_INT(s->sites[0].peak_live_bytes,
		100); /* read between the two words: never below live */
	CHECK_INT(s->sites[0].temporary, 2);
	CHECK_INT(s->sites[0].at_peak_bytes, 90);
	CHECK_INT(s->sites[0].at_peak_blocks, 5);
	CHECK_STR(s->sites[0].alloc_function, "malloc");
	CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->function, "f");
	snapshot_unref(s);
	/* Nor below what was live at the program's peak: with threads its own is a lower bound. */
	site.live_bytes = 20;
	s = model_tick(m, &in);
	CHECK_INT(s->sites[0].peak_live_bytes, 90);
	snapshot_unref(s);
	model_free(m);
}

/* In an array of their own, with rates and growth as others, and no part of the heap. */
TEST(mapped_sites)
{
	struct model *m = model_of(2);
	struct model_site heap = { .id = 0, .live_bytes = 100, .allocs = 1 };
	struct model_site mapped = {
		.id = 1, .live_bytes = 4096, .allocs = 1, .alloc_bytes = 4096, .kind = SNAP_SHM
	};
	struct model_site unknown = { .id = 77, .allocs = 1 };
	struct model_site both[] = { unknown, mapped };
	struct model_input in = {
		.now_ns = 60000000000, .sites = &heap, .nsites = 1, .mapped = both, .nmapped = 2
	};
	struct snapshot *s;

	in.head.uptime_ns = in.now_ns;
	snapshot_unref(model_tick(m, &in));
	both[1].live_bytes = 3 * 4096;
	both[1].allocs = 3;
	in.now_ns += 1000000000;
	in.head.totals.mapped_bytes = 8192;
	s = model_tick(m, &in);
	CHECK_INT(s->nsites, 1);
	CHECK_INT(s->nmapped, 1);
	CHECK_INT(s->mapped[0].id, 1);
	CHECK_INT(s->mapped[0].kind, SNAP_SHM);
	CHECK_INT(s->sites[0].kind, SNAP_HEAP);
	CHECK_INT(s->mapped[0].live_blocks, 3);
	CHECK(near(s->mapped[0].rate_bytes_per_s, 8192));
	CHECK(near(s->mapped[0].allocs_per_s, 2));
	CHECK(near(s->totals.mapped_per_s, 8192));
	CHECK(snapshot_site(s, 1) == &s->mapped[0]);
	snapshot_unref(s);
	model_free(m);
}

/* Errors come with sampling and stay: what was missed once is missed for good. */
TEST(estimates_have_errors)
{
	struct model *m = model_of(1);
	struct model_site site = { .allocs = 1000,
		.alloc_bytes = 100000,
		.variance = { .live_bytes = 1e12, .live_blocks = 1e6 } };
	struct model_input in = { .sites = &site, .nsites = 1, .variance = { .allocs = 1e10 } };
	struct snapshot *s = model_tick(m, &in);

	CHECK_INT(s->sites[0].error.live_bytes, 0);
	CHECK_INT(s->totals.error.allocs, 0);
	snapshot_unref(s);
	in.head.sampling.most = 1 << 16;
	s = model_tick(m, &in);
	CHECK_INT(s->sites[0].error.live_bytes,
		interval_half(1e12, 100 * interval_grain(100, 65536)));
	/* One sample is 65536 bytes, and so some 650 blocks of this site, and 4096 of just any. */
	CHECK_INT(s->sites[0].error.live_blocks, interval_half(1e6, interval_grain(100, 65536)));
	CHECK_INT(s->sites[0].error.allocs, interval_half(0, interval_grain(100, 65536)));
	CHECK_INT(s->totals.error.live_bytes, interval_half(0, 65536));
	CHECK_INT(s->totals.error.allocs, interval_half(1e10, 4096));
	snapshot_unref(s);
	/* Of blocks that all stand for themselves there is nothing to estimate. */
	site = (struct model_site){ .allocs = 1, .alloc_bytes = 64 << 20, .live_bytes = 64 << 20 };
	s = model_tick(m, &in);
	CHECK_INT(s->sites[0].error.live_bytes, 0);
	CHECK_INT(s->sites[0].error.live_blocks, 0);
	CHECK_INT(s->sites[0].error.alloc_bytes, 0);
	CHECK(s->totals.error.live_bytes > 0);
	snapshot_unref(s);
	model_free(m);
}

TEST(more_frees_than_allocs)
{
	struct model *m = model_of(1);
	struct model_site site = { .allocs = 3, .frees = 4 };
	struct model_input in = { .sites = &site, .nsites = 1 };
	struct snapshot *s = model_tick(m, &in);

	CHECK_INT(s->sites[0].live_blocks, 0); /* a torn reading */
	snapshot_unref(s);
	model_free(m);
}

TEST(unknown_sites_are_left_out)
{
	struct model *m = model_of(2);
	struct model_site sites[] = { { .id = 7 }, { .id = 1, .live_bytes = 5 },
		{ .id = UINT32_MAX } };
	struct model_input in = { .sites = sites, .nsites = 3 };
	struct snapshot *s = model_tick(m, &in);

	CHECK_INT(s->nsites, 1);
	CHECK_INT(s->sites[0].id, 1);
	snapshot_unref(s);
	model_free(m);
}

TEST(late_first_tick_has_no_rate)
{
	struct model *m = model_of(1);
	struct snapshot *s = tick(m, 1000 * S, 1 << 20, 500);

	CHECK(s->sites[0].rate_bytes_per_s == 0 && s->totals.growth_bytes_per_s == 0);
	CHECK(s->totals.allocs_per_s == 0 && s->proc.minor_faults_per_s == 0);
	CHECK_INT(s->tick_ns, 0);
	snapshot_unref(s);
	model_free(m);
}

/* Whoever is there from the start has a rate at once: all of it grew since then. */
TEST(early_first_tick_counts_from_start)
{
	struct model *m = model_of(1);
	struct snapshot *s = tick(m, 2 * S, 4000, 600);

	CHECK(near(s->sites[0].rate_bytes_per_s, 2000));
	CHECK(near(s->sites[0].allocs_per_s, 300));
	CHECK(near(s->totals.growth_bytes_per_s, 2000));
	CHECK(near(s->totals.allocs_per_s, 300));
	CHECK(near(s->totals.frees_per_s, 150));
	CHECK(near(s->proc.minor_faults_per_s, 600));
	snapshot_unref(s);
	model_free(m);
}

/* What was there before the recording has not grown. */
TEST(attached_first_tick_has_no_rate)
{
	struct model *m = model_of(1);
	struct model_site site = { .live_bytes = 4000, .allocs = 600 };
	struct model_input in = { .now_ns = 2 * S, .sites = &site, .nsites = 1 };
	struct snapshot *s;

	in.head.uptime_ns = 2 * S;
	in.head.totals.has_before = true;
	in.head.totals.live_bytes = 4000;
	s = model_tick(m, &in);
	CHECK(s->sites[0].rate_bytes_per_s == 0 && s->totals.growth_bytes_per_s == 0);
	snapshot_unref(s);
	in.now_ns += S;
	site.live_bytes = in.head.totals.live_bytes = 5000;
	s = model_tick(m, &in);
	CHECK(near(s->sites[0].rate_bytes_per_s, 1000));
	CHECK(near(s->totals.growth_bytes_per_s, 1000));
	snapshot_unref(s);
	model_free(m);
}

/* What is allocated and freed at once leaves no trace in live bytes, but in these. */
TEST(churn_has_rates)
{
	struct model *m = model_of(1);
	struct model_site site = { .allocs = 5, .frees = 5, .alloc_bytes = UINT64_C(1) << 40 };
	struct model_input in = { .now_ns = 60 * S, .sites = &site, .nsites = 1 };
	struct snapshot *s;

	in.head.uptime_ns = in.now_ns;
	snapshot_unref(model_tick(m, &in));
	site.allocs += 100;
	site.frees += 100;
	site.temporary += 40;
	site.alloc_bytes += 100 * 4096;
	in.now_ns += 2 * S;
	s = model_tick(m, &in);
	CHECK(near(s->sites[0].allocs_per_s, 50));
	CHECK(near(s->sites[0].temporary_per_s, 20));
	CHECK(near(s->sites[0].alloc_bytes_per_s, 50 * 4096));
	CHECK(s->sites[0].rate_bytes_per_s == 0);
	snapshot_unref(s);
	/* A torn reading does not look like a burst. */
	site.allocs -= 90;
	in.now_ns += 2 * S;
	s = model_tick(m, &in);
	CHECK(s->sites[0].allocs_per_s < 100);
	snapshot_unref(s);
	model_free(m);
}

TEST(rates_cover_ten_seconds)
{
	struct model *m = model_of(1);
	struct snapshot *s;

	/* A jump of 1000 bytes at second 5; the rest is flat. */
	for (uint64_t t = 0; t <= 20; t++) {
		s = tick(m, (1000 + t) * S, t >= 5 ? 1000 : 0, t * 100);
		if (t == 5)
			CHECK(near(s->sites[0].rate_bytes_per_s, 200));
		if (t == 14)
			CHECK(near(s->sites[0].rate_bytes_per_s, 100));
		if (t == 15)
			CHECK(near(s->sites[0].rate_bytes_per_s,
				0)); /* ten seconds ago it was there */
		if (t)
			CHECK(near(s->totals.allocs_per_s, 100));
		if (t)
			CHECK_INT(s->tick_ns, S);
		snapshot_unref(s);
	}
	model_free(m);
}

static struct snapshot *tick_as(
	struct model *m, enum snap_state state, uint64_t now, uint64_t end, uint64_t live)
{
	struct model_site site = { .live_bytes = live, .allocs = live / 100 };
	struct snap_thread thread = { .slot = 1, .allocs = live / 100 };
	struct model_input in = { .now_ns = now, .sites = &site, .nsites = 1 };

	in.head.state = state;
	in.head.uptime_ns = now < end ? now : end;
	in.head.threads = &thread;
	in.head.nthreads = 1;
	in.head.totals.live_bytes = live;
	in.head.totals.allocs = in.head.totals.frees = in.head.totals.reallocs = live / 100;
	in.head.proc = (struct snap_proc){ .valid = true, .minor_faults = live };
	return model_tick(m, &in);
}

/* Nothing is allocated any more, however it ended: no rate falls slowly from what it was. */
TEST(a_program_that_ended_has_no_rates)
{
	static const enum snap_state ends[] = { SNAP_EXITED, SNAP_KILLED, SNAP_GONE };

	for (int i = 0; i < 6; i++) {
		struct model *m = model_of(1);
		struct snapshot *s;

		/* It was seen to run, or it was too short for that. */
		if (i % 2 == 0) {
			s = tick_as(m, SNAP_RUNNING, S, 9 * S, 1000);
			CHECK(s->totals.growth_bytes_per_s > 0 && s->rates_ns == S);
			snapshot_unref(s);
		}
		for (uint64_t at = 2; at < 6; at++) {
			s = tick_as(m, ends[i / 2], at * S, 3 * S / 2, 5000);
			CHECK(s->rates_ns == 0 && s->totals.growth_bytes_per_s == 0);
			CHECK(s->totals.allocs_per_s == 0 && s->totals.frees_per_s == 0);
			CHECK(s->totals.reallocs_per_s == 0 && s->proc.minor_faults_per_s == 0);
			CHECK(s->sites[0].rate_bytes_per_s == 0 && s->sites[0].allocs_per_s == 0);
			CHECK(s->threads[0].allocs_per_s == 0);
			CHECK_INT(s->totals.live_bytes, 5000);
			snapshot_unref(s);
		}
		model_free(m);
	}
}

/* What grew until the end is not unlearned while nothing moves any more. */
TEST(what_grew_at_the_end_stays_said)
{
	struct model *m = model_of(1);
	struct snap_growth at_end = { 0 };
	struct snapshot *s;

	for (uint64_t at = 1; at <= 60; at++) {
		s = tick_as(m, SNAP_RUNNING, at * S, 60 * S, at * 100000);
		snapshot_unref(s);
	}
	for (uint64_t at = 61; at < 200; at++) {
		s = tick_as(m, SNAP_KILLED, at * S, 60 * S, 60 * 100000);
		if (at == 61)
			at_end = s->sites[0].growth;
		CHECK(at_end.sure > 0);
		CHECK(s->sites[0].growth.sure == at_end.sure);
		CHECK(s->sites[0].growth.bytes_per_s == at_end.bytes_per_s);
		CHECK(s->sites[0].growth.over_ns == at_end.over_ns);
		snapshot_unref(s);
	}
	model_free(m);
}

TEST(rates_with_short_ticks)
{
	struct model *m = model_of(1);

	for (uint64_t t = 0; t <= 300; t++) {
		struct snapshot *s = tick(m, 1000 * S + t * S / 10, t * 10, t);

		if (t > 0)
			CHECK(near(s->sites[0].rate_bytes_per_s, 100));
		if (t > 0)
			CHECK(near(s->sites[0].allocs_per_s, 10));
		snapshot_unref(s);
	}
	model_free(m);
}

TEST(rates_with_long_ticks)
{
	struct model *m = model_of(1);

	for (uint64_t t = 0; t <= 30; t++) {
		struct snapshot *s = tick(m, (1000 + 60 * t) * S, t * t * 60, 0);

		if (t > 0) /* since the tick before, and only that */
			CHECK(near(s->sites[0].rate_bytes_per_s, (double)(2 * t - 1)));
		snapshot_unref(s);
	}
	model_free(m);
}

TEST(shrinking_and_falling)
{
	struct model *m = model_of(1);
	struct snapshot *s;

	snapshot_unref(tick(m, 1000 * S, 5000, 100));
	s = tick(m, 1002 * S, 1000, 90);
	CHECK(near(s->sites[0].rate_bytes_per_s, -2000));
	CHECK(s->sites[0].allocs_per_s == 0 &&
		s->totals.allocs_per_s == 0); /* counters only rise */
	snapshot_unref(s);
	s = tick(m, 1001 * S, 1000,
		100); /* a clock that goes back makes no rate, and no negative tick */
	CHECK_INT(s->tick_ns, 0);
	CHECK(s->sites[0].rate_bytes_per_s <= 0 && s->sites[0].rate_bytes_per_s > -1e9);
	snapshot_unref(s);
	model_free(m);
}

TEST(faults_need_both_readings)
{
	struct model *m = model_of(0);
	struct model_input in = { .now_ns = 1000 * S };
	struct snapshot *s;

	snapshot_unref(model_tick(m, &in)); /* proc not valid */
	in.now_ns += 2 * S;
	in.head.proc = (struct snap_proc){ .valid = true, .minor_faults = 800 };
	s = model_tick(m, &in);
	CHECK(s->proc.minor_faults_per_s == 0);
	snapshot_unref(s);
	model_free(m);
}

/* A site met later did not exist before: it grew from nothing. */
TEST(new_site_grew_from_zero)
{
	struct model *m = model_of(3);
	struct model_site sites[] = { { .id = 0 }, { .id = 2, .live_bytes = 3000, .allocs = 3 } };
	struct model_input in = { .now_ns = 1000 * S, .sites = sites, .nsites = 1 };
	struct snapshot *s;

	snapshot_unref(model_tick(m, &in));
	in.now_ns += 3 * S;
	in.nsites = 2;
	s = model_tick(m, &in);
	CHECK(near(s->sites[1].rate_bytes_per_s, 1000));
	CHECK(near(s->sites[1].allocs_per_s, 1));
	CHECK_INT(s->sites[1].trend_points, 2);
	CHECK_INT(s->sites[1].trend[SNAP_TREND_POINTS - 2], 0);
	snapshot_unref(s);
	model_free(m);
}

TEST(site_left_out_for_a_while_stands_still)
{
	struct model *m = model_of(1);
	struct model_input none = { .now_ns = 1001 * S };
	struct snapshot *s;

	snapshot_unref(tick(m, 1000 * S, 10, 1));
	snapshot_unref(model_tick(m, &none));
	s = tick(m, 1002 * S, 5000, 9);
	CHECK(s->sites[0].rate_bytes_per_s == 0 && s->sites[0].allocs_per_s == 0);
	CHECK_INT(s->sites[0].trend[0], 5000);
	snapshot_unref(s);
	model_free(m);
}

TEST(trend)
{
	struct model *m = model_of(1);

	for (uint64_t t = 1; t <= 80; t++) {
		struct snapshot *s = tick(m, (1000 + t) * S, t, 0);
		unsigned whole = 1 + (unsigned)t / 2;
		unsigned points = whole < SNAP_TREND_POINTS ? whole : SNAP_TREND_POINTS;

		CHECK_INT(s->sites[0].trend_points, points);
		CHECK_INT(s->sites[0].trend[SNAP_TREND_POINTS - 1], t);
		for (unsigned i = 1; i < points; i++)
			CHECK_INT(s->sites[0].trend[SNAP_TREND_POINTS - 1 - i],
				((t / 2) - i) * 2 + 1);
		snapshot_unref(s);
	}
	model_free(m);
}

/* The points of a site with an odd number end at even ticks: not all rows of a screen move at once.
 */
TEST(trends_move_in_turns)
{
	struct model *m = model_of(2);
	struct model_site sites[] = { { .id = 0 }, { .id = 1 } };
	struct model_input in = { .sites = sites, .nsites = 2 };

	for (uint64_t t = 1; t <= 40; t++) {
		struct snapshot *s;

		in.now_ns = (1000 + t) * S;
		sites[0].live_bytes = sites[1].live_bytes = t;
		s = model_tick(m, &in);
		for (size_t i = 0; i < 2 && t > 4; i++) {
			CHECK_INT(s->sites[i].trend[SNAP_TREND_POINTS - 1], t);
			CHECK_INT(s->sites[i].trend[SNAP_TREND_POINTS - 2], (t - 1) - (t + i) % 2);
			CHECK_INT(s->sites[i].trend[SNAP_TREND_POINTS - 3], (t - 3) - (t + i) % 2);
		}
		snapshot_unref(s);
	}
	model_free(m);
}

/* A snapshot stays as it was while the model goes on, and outlives it. */
TEST(snapshots_do_not_change)
{
	struct model *m = model_of(1);
	struct snapshot *old = tick(m, 1000 * S, 10, 1);

	for (uint64_t t = 1; t < 5; t++)
		snapshot_unref(tick(m, (1000 + t) * S, 99, 9));
	CHECK_INT(old->sites[0].live_bytes, 10);
	CHECK_INT(old->sites[0].trend[SNAP_TREND_POINTS - 1], 10);
	model_free(m);
	snapshot_unref(old);
	model_free(NULL);
}

TEST(many_sites)
{
	enum { N = 30000 };
	struct model *m = model_of(N);
	struct model_site *sites = calloc(N, sizeof(*sites));
	struct model_input in = { .now_ns = 1000 * S, .sites = sites, .nsites = N };

	for (uint32_t round = 0; round < 3; round++, in.now_ns += S) {
		struct snapshot *s;

		for (uint32_t i = 0; i < N; i++)
			sites[i] =
				(struct model_site){ .id = i, .live_bytes = (uint64_t)i * round };
		s = model_tick(m, &in);
		CHECK_INT(s->nsites, N);
		for (uint32_t i = 0; i < N; i += 777)
			CHECK(s->sites[i].live_bytes == (uint64_t)i * round &&
				near(s->sites[i].rate_bytes_per_s, round ? i : 0));
		snapshot_unref(s);
	}
	free(sites);
	model_free(m);
}

int main(void)
{
	mallopt(M_PERTURB, 0x55); /* what is not filled in is not 0 by chance */
	RUN(counters_are_passed_on);
	RUN(mapped_sites);
	RUN(estimates_have_errors);
	RUN(more_frees_than_allocs);
	RUN(unknown_sites_are_left_out);
	RUN(late_first_tick_has_no_rate);
	RUN(early_first_tick_counts_from_start);
	RUN(attached_first_tick_has_no_rate);
	RUN(churn_has_rates);
	RUN(rates_cover_ten_seconds);
	RUN(a_program_that_ended_has_no_rates);
	RUN(what_grew_at_the_end_stays_said);
	RUN(rates_with_short_ticks);
	RUN(rates_with_long_ticks);
	RUN(shrinking_and_falling);
	RUN(faults_need_both_readings);
	RUN(new_site_grew_from_zero);
	RUN(site_left_out_for_a_while_stands_still);
	RUN(trend);
	RUN(trends_move_in_turns);
	RUN(snapshots_do_not_change);
	RUN(many_sites);
	return check_end();
}
