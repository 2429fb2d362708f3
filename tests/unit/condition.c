/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of --fail-on (src/run/condition.h): what is one, and when it fails. */
#include "src/run/condition.h"
#include "tests/check.h"
#include "tests/unit/diff_fixture.h"

static char line[CONDITION_LINE_MAX];

static struct condition parsed(const char *text)
{
	struct condition c;

	CHECK_INT(condition_parse(text, &c), 0);
	return c;
}

TEST(words_and_amounts)
{
	static const struct {
		const char *text;
		enum snap_value value;
		bool any, growth, site, percent;
		double limit;
	} good[] = {
		{ "live>5", VALUE_LIVE, false, false, false, false, 5 },
		{ "peak>64M", VALUE_OWN_PEAK, false, false, false, false, 64 << 20 },
		{ "allocs>1e6", VALUE_ALLOCS, false, false, false, false, 1e6 },
		{ "allocs>2k", VALUE_ALLOCS, false, false, false, false, 2000 },
		{ "site-blocks>0", VALUE_BLOCKS, false, false, true, false, 0 },
		{ "allocated>1.5G", VALUE_ALLOCATED, false, false, false, false, 1610612736 },
		{ "growth>5%", VALUE_LIVE, true, true, false, true, 5 },
		{ "site-growth>1M", VALUE_LIVE, true, true, true, false, 1 << 20 },
		{ "temporary-growth>10", VALUE_TEMPORARY, false, true, false, false, 10 },
		{ "site-peak-growth>0.5%", VALUE_OWN_PEAK, false, true, true, true, 0.5 },
	};
	static const char *const bad[] = { "", ">", "live", "live>", "live>-1", "live>x", "live>5%",
		"live>5MB", "live>nan", "live>inf", "live>1e999", "growth", "growth>", "growth>5%%",
		"-growth>5", "livegrowth>5", "site->5", "site-site-live>5", "size>5", "live >5",
		"live> 5", "own-peak>5" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct condition c = parsed(good[i].text);

		CHECK_INT(c.value, good[i].value);
		CHECK(c.any_value == good[i].any && c.growth == good[i].growth);
		CHECK(c.site == good[i].site && c.percent == good[i].percent);
		CHECK(c.limit >= good[i].limit && c.limit <= good[i].limit);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct condition c;

		CHECK(condition_parse(bad[i], &c) != 0);
	}
}

static struct fixture_run left, right;

static bool run_fails(const char *text, const struct snapshot *s)
{
	struct condition c = parsed(text);

	return condition_failed(&c, s, line);
}

TEST(of_a_run)
{
	struct snapshot *s = FIXTURE(&left, 0, { "f main", 100 }, { "g main", 300 });
	struct snapshot *child = FIXTURE(&right, 0, { "h main", 1000 });
	const struct snapshot *const children[] = { child };

	CHECK(!run_fails("live>400", s));
	CHECK_STR(line, "live>400: 400 live bytes");
	CHECK(run_fails("live>399", s));
	CHECK(!run_fails("site-live>300", s));
	CHECK(run_fails("site-live>299", s));
	CHECK_STR(line, "site-live>299: 300 live bytes in g");
	child->pid = 7;
	s->children = children;
	s->nchildren = 1;
	CHECK(run_fails("live>400", s));
	CHECK_STR(line, "live>400: 1,000 live bytes, process 7");
	CHECK(run_fails("site-allocs>30", s));
	CHECK_STR(line, "site-allocs>30: 100 allocations in h, process 7");
}

static bool diff_fails(const char *text, const struct diff *d)
{
	struct condition c = parsed(text);

	return condition_failed_diff(&c, d, line);
}

TEST(of_a_diff)
{
	const struct snapshot *sides[2] = { FIXTURE(&left, 0, { "f main", 100000 },
						    { "g main", 500 }, { "h main", 90000 }),
		FIXTURE(&right, 0, { "f main", 104000 }, { "g main", 900 }, { "h main", 80000 }) };
	struct diff *d = diff_make(&sides[0], 1, &sides[1], 1, VALUE_ALLOCATED);

	CHECK(!diff_fails("growth>0", d));
	CHECK_STR(line, "growth>0: -5,600 allocated bytes (-2.9%)");
	CHECK(diff_fails("site-growth>3%", d));
	CHECK_STR(line, "site-growth>3%: +4,000 allocated bytes (+4.0%) in f");
	CHECK(!diff_fails("site-growth>5%", d)); /* g doubled, but that is next to nothing */
	CHECK_STR(line, "site-growth>5%: no call site");
	CHECK(diff_fails("site-growth>3999", d));
	CHECK(!diff_fails("site-growth>4000", d));
	CHECK(diff_fails("site-live-growth>100", d));
	CHECK(!diff_fails("site-temporary-growth>0", d));
	diff_free(d);
}

TEST(chance_fails_nothing)
{
	static struct fixture_run runs[10];
	const struct snapshot *sides[10];
	struct diff *d;

	for (unsigned i = 0; i < 10; i++)
		sides[i] = FIXTURE(&runs[i], 0, { "f main", 50000 + 1000 * (i * 7 % 5) + 100 * i });
	d = diff_make(sides, 5, sides + 5, 5, VALUE_LIVE);
	CHECK(d->total[VALUE_LIVE].b > d->total[VALUE_LIVE].a);
	CHECK(!diff_fails("growth>0", d));
	CHECK(strstr(line, ", within chance") != NULL);
	CHECK(!diff_fails("site-growth>0", d));
	diff_free(d);
}

int main(void)
{
	RUN(words_and_amounts);
	RUN(of_a_run);
	RUN(of_a_diff);
	RUN(chance_fails_nothing);
	return check_end();
}
