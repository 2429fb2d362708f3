/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots of the peak: what was live then, with the other figures of now, or of a time before it.
 */
#include "src/model/moment.h"

#include <errno.h>
#include "tests/check.h"

/* At the peak, site 1 had 30 blocks and site 2 had 20, of which 15 came after `then`. */
static struct snap_site now_sites[] = {
	{ .id = 1,
		.allocs = 100,
		.frees = 90,
		.alloc_bytes = 1000,
		.live_bytes = 100,
		.live_blocks = 10,
		.at_peak_bytes = 300,
		.at_peak_blocks = 30 },
	{ .id = 2,
		.allocs = 50,
		.frees = 50,
		.alloc_bytes = 500,
		.at_peak_bytes = 200,
		.at_peak_blocks = 20 },
	{ .id = 3, .allocs = 7, .alloc_bytes = 70, .live_bytes = 70, .live_blocks = 7 },
};
static struct snap_site then_sites[] = {
	{ .id = 1,
		.allocs = 40,
		.frees = 10,
		.alloc_bytes = 400,
		.live_bytes = 300,
		.live_blocks = 30,
		.temporary = 4 },
	{ .id = 2, .allocs = 5, .alloc_bytes = 50, .live_bytes = 50, .live_blocks = 5 },
};
static struct snapshot now, then;

static void before(void)
{
	now = (struct snapshot){ .refs = 1,
		.state = SNAP_EXITED,
		.uptime_ns = 9000,
		.totals = { .allocs = 157,
			.frees = 140,
			.alloc_bytes = 1570,
			.live_blocks = 17,
			.live_bytes = 170,
			.peak_live_bytes = 500,
			.peak_ns = 5000,
			.has_at_peak = true,
			.at_peak_bytes = 500,
			.at_peak_blocks = 50 },
		.sites = now_sites,
		.nsites = 3 };
	then = (struct snapshot){ .refs = 1,
		.state = SNAP_RUNNING,
		.uptime_ns = 4800,
		.totals = { .allocs = 45,
			.frees = 10,
			.alloc_bytes = 450,
			.live_blocks = 35,
			.live_bytes = 350 },
		.sites = then_sites,
		.nsites = 2 };
}

TEST(without_a_past_the_other_figures_are_of_the_end)
{
	struct snapshot *s;

	before();
	s = moment_peak(&now);
	CHECK_INT(s->moment, SNAP_PEAK);
	CHECK(!s->peak_then);
	CHECK_INT(s->state, SNAP_EXITED);
	CHECK_INT(s->uptime_ns, 5000);
	CHECK_INT(s->nsites, 2);
	CHECK_INT(s->totals.live_bytes, 500);
	CHECK_INT(s->totals.live_blocks, 50);
	CHECK_INT(s->totals.allocs, 157);
	CHECK_INT(s->sites[0].live_blocks, 30);
	CHECK_INT(s->sites[0].allocs, 100);
	snapshot_unref(s);
	CHECK_INT(now.refs, 1);
	s = moment_peak_of_file(&now);
	CHECK_INT(s->state, SNAP_RUNNING);
	snapshot_unref(s);
}

TEST(with_a_past_they_are_of_then)
{
	struct snapshot *s;

	before();
	s = moment_peak_then(&now, &then);
	CHECK(s->peak_then);
	CHECK_INT(s->state, SNAP_RUNNING);
	CHECK_INT(s->uptime_ns, 5000);
	CHECK_INT(s->nsites, 2);
	CHECK_INT(s->sites[0].live_blocks, 30);
	CHECK_INT(s->sites[0].allocs, 40);
	CHECK_INT(s->sites[0].frees, 10);
	CHECK_INT(s->sites[0].alloc_bytes, 400);
	CHECK_INT(s->sites[0].temporary, 4);
	/* What was live had been allocated, if only after `then`. */
	CHECK_INT(s->sites[1].live_blocks, 20);
	CHECK_INT(s->sites[1].allocs, 20);
	CHECK_INT(s->sites[1].frees, 0);
	CHECK_INT(s->sites[1].alloc_bytes, 200);
	CHECK_INT(s->totals.live_bytes, 500);
	CHECK_INT(s->totals.allocs, 60);
	CHECK_INT(s->totals.frees, 10);
	CHECK_INT(s->totals.alloc_bytes, 600);
	CHECK_INT(s->totals.peak_ns, 5000);
	CHECK_INT(s->totals.peak_live_bytes, 500);
	CHECK_INT(s->totals.at_peak_bytes, 500);
	CHECK(s->totals.has_at_peak);
	CHECK_INT(then.refs, 2);
	snapshot_unref(s);
	CHECK_INT(then.refs, 1);
	CHECK_INT(now.refs, 1);
}

/* Site 2 came after `then`; of site 9 nothing is known. */
TEST(a_mark_has_figures_of_its_own)
{
	static const struct snap_mark_site at[] = {
		{ .id = 1, .live_bytes = 310, .live_blocks = 31, .allocs = 42, .alloc_bytes = 420 },
		{ .id = 2, .live_bytes = 20, .live_blocks = 2, .allocs = 3, .alloc_bytes = 30 },
		{ .id = 9, .live_bytes = 1, .live_blocks = 1, .allocs = 1, .alloc_bytes = 1 }
	};
	static const struct snap_mark mark = { .number = 1,
		.ns = 4900,
		.live_bytes = 331,
		.live_blocks = 34,
		.allocs = 46,
		.alloc_bytes = 451,
		.sites = at,
		.nsites = 3 };
	struct snapshot *s;

	before();
	then.moment = SNAP_PAST;
	then.nsites = 1;
	s = moment_mark(&now, &then, &mark);
	CHECK_INT(s->moment, SNAP_PAST);
	CHECK_INT(s->uptime_ns, 4900);
	CHECK(s->moments == &mark);
	CHECK_INT(s->nsites, 2);
	CHECK_INT(s->sites[0].live_bytes, 310);
	CHECK_INT(s->sites[0].allocs, 42);
	CHECK_INT(s->sites[0].frees, 11);
	CHECK_INT(s->sites[0].temporary, 4); /* of then */
	CHECK_INT(s->sites[1].id, 2);
	CHECK_INT(s->sites[1].live_blocks, 2);
	CHECK_INT(s->sites[1].frees, 1);
	CHECK_INT(s->sites[1].temporary, 0);
	CHECK_INT(s->totals.live_bytes, 331);
	CHECK_INT(s->totals.allocs, 46);
	CHECK_INT(s->totals.frees, 12);
	snapshot_unref(s);
	CHECK(then.refs == 1 && now.refs == 1);
}

TEST(an_unknown_composition_is_refused)
{
	before();
	now.totals.has_at_peak = false;
	errno = 0;
	CHECK(moment_peak_then(&now, &then) == NULL);
	CHECK_INT(errno, ENODATA);
	CHECK(moment_peak(&now) == NULL);
}

int main(void)
{
	RUN(without_a_past_the_other_figures_are_of_the_end);
	RUN(with_a_past_they_are_of_then);
	RUN(a_mark_has_figures_of_its_own);
	RUN(an_unknown_composition_is_refused);
	return check_end();
}
