/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call sites that are left out, and the row that sums them up (src/model/ignored.h). */
#include "src/model/ignored.h"

#include <stdlib.h>
#include "src/model/value.h"
#include "tests/check.h"

static const struct snap_module app = { .path = "/srv/bin/app", .name = "app", .build_id = "" };
static const struct snap_module ssl = {
	.path = "/lib/libssl.so.3", .name = "libssl.so.3", .build_id = ""
};
static struct frame frames[3][2] = {
	{ { .module = &app, .function = "parse", .file = "/src/parse.c", .line = 3 },
		{ .module = &app, .function = "main", .file = "/src/main.c", .line = 9 } },
	{ { .module = &ssl, .function = "SSL_new" },
		{ .module = &app, .function = "connect_all", .file = "/src/net.c" } },
	{ { .module = &app, .function = "cache::put(int)", .file = "/src/cache.cc" },
		{ .module = &app, .function = "main", .file = "/src/main.c", .line = 12 } },
};
static struct stack stacks[3];
static struct snap_site sites[3];
static struct snap_leak_site lost[3];
static struct snap_leaks leaks;

static struct snapshot *make(void)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	for (uint32_t i = 0; i < 3; i++) {
		stacks[i] = (struct stack){ .frames = frames[i], .nframes = 2, .resolved = true };
		sites[i] = (struct snap_site){ .id = i + 1,
			.alloc_function = "malloc",
			.stack = &stacks[i],
			.live_bytes = 100u << 4 * i,
			.live_blocks = i + 1,
			.allocs = 10 * (i + 1),
			.frees = 9 * (i + 1),
			.alloc_bytes = 7000 * (i + 1),
			.at_peak_bytes = 50,
			.rate_bytes_per_s = 1.5,
			.trend = { [SNAP_TREND_POINTS - 1] = 100u << 4 * i },
			.trend_points = (uint8_t)(i + 1) };
		lost[i] = (struct snap_leak_site){ .class = SNAP_LEAK_DEFINITE,
			.site = i + 1,
			.sum = { 1, 10 * (i + 1) },
			.oldest_ns = 100 - i };
	}
	leaks = (struct snap_leaks){ .sites = lost, .nsites = 3 };
	s->refs = 1;
	s->owner = s;
	s->sites = sites;
	s->nsites = 3;
	s->leaks = &leaks;
	s->totals.live_bytes = 100 + 1600 + 25600;
	return s;
}

static struct ignored *rules(const char *ignore, const char *only)
{
	struct ignored_rules r = { .nignore = ignore != NULL, .nonly = only != NULL };

	r.ignore[0] = ignore;
	r.only[0] = only;
	return ignored_new(&r);
}

/* NULL: there is none. */
static const struct snap_site *row_of(const struct snapshot *s)
{
	for (size_t i = 0; i < s->nsites; i++)
		if (ignored_is_row(&s->sites[i]))
			return &s->sites[i];
	return NULL;
}

/* Bit i: the site of id i + 1 is left; bit 7: so is the row. */
static unsigned left(const char *ignore, const char *only)
{
	struct ignored *g = rules(ignore, only);
	struct snapshot *s = ignored_take(g, make());
	unsigned bits = 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < s->nsites; i++) {
		bits |= ignored_is_row(&s->sites[i]) ? 1u << 7 : 1u << (s->sites[i].id - 1);
		sum += s->sites[i].live_bytes;
	}
	CHECK_INT(sum, s->totals.live_bytes);
	snapshot_unref(s);
	ignored_free(g);
	return bits;
}

TEST(rules_match_any_frame)
{
	CHECK_INT(left("parse", NULL), 0x86);
	CHECK_INT(left("function:main", NULL), 0x82);
	CHECK_INT(left("file:net.c", NULL), 0x85);
	CHECK_INT(left("module:libssl", NULL), 0x85);
	CHECK_INT(left("/^cache::/", NULL), 0x83);
	CHECK_INT(left("nothing_has_this_name", NULL), 7);
	CHECK_INT(left(NULL, "parse"), 0x81);
	CHECK_INT(left(NULL, "module:app"), 7);
	CHECK_INT(left(NULL, "nothing_has_this_name"), 0x80);
	CHECK_INT(left("parse", "function:main"), 0x84);
}

TEST(the_row_is_the_sum)
{
	struct ignored *g = rules("function:main", NULL);
	struct snapshot *s = ignored_take(g, make()), *again;
	const struct snap_site *row = row_of(s);

	CHECK(row && s->nsites == 2);
	CHECK_INT(row->live_bytes, 100 + 25600);
	CHECK_INT(row->live_blocks, 4);
	CHECK_INT(row->allocs, 40);
	CHECK_INT(row->frees, 36);
	CHECK_INT(row->alloc_bytes, 28000);
	CHECK_INT(row->at_peak_bytes, 100);
	CHECK_INT(row->trend[SNAP_TREND_POINTS - 1], 25700);
	CHECK_INT(row->trend_points, 3);
	CHECK(row->rate_bytes_per_s > 2.9 && row->rate_bytes_per_s < 3.1);
	CHECK_STR(row->stack->frames[0].function, "(ignored)");
	/* It is never left out itself, but goes into that of more sites. */
	again = ignored_take(g, s);
	CHECK(again == s);
	ignored_free(g);
	g = rules("SSL_new", NULL);
	again = ignored_take(g, s);
	CHECK(again->nsites == 1 && row_of(again));
	CHECK_INT(again->sites[0].live_bytes, 100 + 1600 + 25600);
	snapshot_unref(again);
	ignored_free(g);
}

/* Others use ids as indices, so it has one of the program's: the oldest's, whatever the order. */
TEST(the_row_has_an_id_of_its_sites)
{
	struct ignored *g = rules("function:main", NULL);
	struct snapshot *s = make();

	sites[0].id = 9;
	s = ignored_take(g, s);
	CHECK(row_of(s) == snapshot_site(s, 3));
	CHECK(row_of(s) && snapshot_site(s, 2) && s->nsites == 2);
	snapshot_unref(s);
	ignored_free(g);
}

/* Some gigabytes, as of all that a program has allocated: their squares exceed 64 bits. */
TEST(errors_of_large_sums)
{
	struct ignored *g = rules("function:main", NULL);
	struct snapshot *s;

	s = make();
	sites[0].error.alloc_bytes = 30000000000;
	sites[2].error.alloc_bytes = 40000000000;
	sites[0].error.live_bytes = sites[2].error.live_bytes = UINT64_MAX;
	s = ignored_take(g, s);
	CHECK(ignored_is_row(&s->sites[s->nsites - 1]));
	CHECK_INT(s->sites[s->nsites - 1].error.alloc_bytes, 50000000000);
	CHECK(s->sites[s->nsites - 1].error.live_bytes == UINT64_MAX);
	snapshot_unref(s);
	ignored_free(g);
}

/* So that the threads' rows, too, add up to the totals. */
TEST(the_row_has_the_threads_shares)
{
	struct snap_share of[4] = { { .site = 1, .slot = 7, .allocs = 4, .live_bytes = 60 },
		{ .site = 1, .slot = 2, .allocs = 1, .live_bytes = 40, .thread = "two" },
		{ .site = 2, .slot = 2, .allocs = 6, .live_bytes = 1600 },
		{ .site = 3,
			.slot = 7,
			.allocs = 3,
			.alloc_bytes = 800,
			.live_bytes = 500,
			.live_blocks = 2 } };
	struct ignored *g = rules("function:main", NULL);
	struct snapshot *s = make();
	const struct snap_site *row;

	sites[0].share = of;
	sites[0].shares = 2;
	sites[1].share = &of[2];
	sites[2].share = &of[3];
	sites[1].shares = sites[2].shares = 1;
	s = ignored_take(g, s);
	row = row_of(s);
	CHECK_INT(row->shares, 2);
	if (row->shares == 2) {
		CHECK_INT(row->share[0].slot, 2);
		CHECK_STR(row->share[0].thread, "two");
		CHECK_INT(row->share[0].live_bytes, 40);
		CHECK_INT(row->share[0].site, 1);
		CHECK_INT(row->share[1].slot, 7);
		CHECK_INT(row->share[1].site, 1);
		CHECK_INT(row->share[1].live_bytes, 560);
		CHECK_INT(row->share[1].live_blocks, 2);
		CHECK_INT(row->share[1].allocs, 7);
		CHECK_INT(row->share[1].alloc_bytes, 800);
	}
	CHECK_INT(of[0].allocs, 4);
	/* The leaks follow the shares. */
	CHECK_INT(s->leaks->sites[0].sum.bytes, 40);
	snapshot_unref(s);
	ignored_free(g);
}

TEST(leaks_are_summed_up_by_class)
{
	struct ignored *g = rules("function:main", NULL);
	struct snapshot *s = ignored_take(g, make());

	CHECK_INT(s->leaks->nsites, 2);
	CHECK_INT(s->leaks->sites[0].site, row_of(s)->id);
	CHECK_INT(s->leaks->sites[0].sum.bytes, 40);
	CHECK_INT(s->leaks->sites[0].sum.blocks, 2);
	CHECK_INT(s->leaks->sites[0].oldest_ns, 98);
	CHECK_INT(s->leaks->sites[1].site, 2);
	CHECK_INT(leaks.nsites, 3);
	snapshot_unref(s);
	ignored_free(g);
}

/* The frame that decides is numbered as in the program, which knows no inlined ones. */
TEST(the_innermost_matching_frame_decides)
{
	struct ignored *g = rules("main", "SSL_new");
	struct snapshot *s = make();
	uint32_t frame = 7;

	CHECK(ignored_decides(g, &s->sites[0], &frame));
	CHECK_INT(frame, 1);
	frames[0][0].inlined = true;
	CHECK(ignored_decides(g, &s->sites[0], &frame));
	CHECK_INT(frame, 0);
	frames[0][0].inlined = false;
	CHECK(!ignored_decides(g, &s->sites[1], &frame));
	ignored_free(g);
	g = rules(NULL, "SSL_new");
	CHECK(ignored_decides(g, &s->sites[2], &frame));
	CHECK_INT(frame, IGNORED_WHOLE);
	snapshot_unref(s);
	ignored_free(g);
}

/* What the program counts there is in the row, whatever the rules. */
TEST(the_programs_own_row_is_summed_up)
{
	struct frame total = { .module = &app, .function = IGNORED_NAME };
	struct ignored *g = rules("parse", NULL);
	struct snapshot *s = make();
	uint32_t frame;

	stacks[1] = (struct stack){ .frames = &total, .nframes = 1, .resolved = true };
	CHECK(ignored_is_total(&s->sites[1]) && !ignored_is_total(&s->sites[0]));
	CHECK(!ignored_decides(g, &s->sites[1], &frame));
	s = ignored_take(g, s);
	CHECK_INT(s->nsites, 2);
	CHECK_INT(row_of(s)->live_bytes, 1700);
	snapshot_unref(s);
	ignored_free(g);
}

/* Names come late; another image's sites have the same ids. */
TEST(verdicts_follow_the_names_and_the_image)
{
	struct ignored *g = rules("late", NULL);
	struct snapshot *s = make();

	stacks[0].resolved = false;
	s = ignored_take(g, s);
	CHECK_INT(s->nsites, 3);
	frames[0][0].function = "late";
	stacks[0].resolved = true;
	s = ignored_take(g, s);
	CHECK(row_of(s) && row_of(s) == snapshot_site(s, 1));
	frames[0][0].function = "parse";
	snapshot_unref(s);
	s = make();
	s->owner = &leaks;
	s = ignored_take(g, s);
	CHECK_INT(s->nsites, 3);
	CHECK(!row_of(s));
	snapshot_unref(s);
	ignored_free(g);
}

/* Its runs have their rows, which another sum would take what they were compared by. */
TEST(a_diff_stays_as_it_is)
{
	struct ignored *g = rules("function:main", NULL);
	struct snapshot *s = make(), *same;

	s->compared = &value_table[VALUE_LIVE];
	same = ignored_take(g, s);
	CHECK(same == s);
	snapshot_unref(same);
	ignored_free(g);
}

TEST(what_is_a_rule)
{
	char why[FILTER_WHY_MAX];

	CHECK(ignored_is_rule("word", why) && ignored_is_rule("/re|gex/", why) &&
		ignored_is_rule("module:libc", why));
	CHECK(!ignored_is_rule("live>1M", why));
	CHECK_STR(why, "must name a function, file or module");
	CHECK(!ignored_is_rule("/.*/", why) && !ignored_is_rule("", why) &&
		!ignored_is_rule("/(/", why));
	CHECK(ignored_new(&(struct ignored_rules){ .nignore = 0 }) == NULL);
}

int main(void)
{
	RUN(rules_match_any_frame);
	RUN(the_row_is_the_sum);
	RUN(the_row_has_an_id_of_its_sites);
	RUN(errors_of_large_sums);
	RUN(the_row_has_the_threads_shares);
	RUN(leaks_are_summed_up_by_class);
	RUN(the_innermost_matching_frame_decides);
	RUN(the_programs_own_row_is_summed_up);
	RUN(verdicts_follow_the_names_and_the_image);
	RUN(a_diff_stays_as_it_is);
	RUN(what_is_a_rule);
	return check_end();
}
