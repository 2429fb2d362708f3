/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sites that grow: how many the header counts, and the keys that walk them, the worst first. */
#include "tests/check.h"
#include "tests/tui/paper.h"

static struct paper p;

static void begin(void)
{
	paper_open(&p, 30, 120, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

/* Three of the canned sites grow: 17, 18 and 19, in this order. */
TEST(the_header_counts_what_grows_and_not_what_rose)
{
	begin();
	CHECK_INT(p.ui.growing, 3);
	CHECK(paper_find(&p, "3 sites growing") >= 0);
	paper_close(&p);
}

/* Rates say what they are over where there is room, and there are none of what has ended. */
TEST(the_header_says_what_rates_are_over)
{
	begin();
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_LIVE]), "+1.4M/s over 10s  ") != NULL);
	p.ui.current->rates_ns = 7600000000;
	paper_draw(&p);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_LIVE]), " ~+1.4M/s over 8s  ") != NULL);
	paper_resize(&p, 30, 60);
	paper_draw(&p);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_LIVE]), "over") == NULL);
	p.canned.state = SNAP_EXITED;
	paper_resize(&p, 30, 120);
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_LIVE]), "over") == NULL);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_LIVE]), "/s") == NULL);
	paper_close(&p);
}

TEST(braces_walk_the_growers_from_the_worst_on)
{
	begin();
	paper_keys(&p, "jjj}");
	CHECK_INT(p.ui.sites.selected, 17);
	paper_draw(&p);
	CHECK(paper_find(&p, "growing site 1 of 3: +1.0M/s over 9m36s, sure: rose all along; "
			     "blocks over 4m48s old stay") >= 0);
	paper_keys(&p, "}");
	CHECK_INT(p.ui.sites.selected, 18);
	paper_keys(&p, "}");
	CHECK_INT(p.ui.sites.selected, 19);
	paper_keys(&p, "}");
	CHECK_INT(p.ui.sites.selected, 19);
	paper_draw(&p);
	CHECK(paper_find(&p, "this is the last growing site") >= 0);
	paper_keys(&p, "{");
	CHECK_INT(p.ui.sites.selected, 18);
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.sites.selected, 18);
	paper_close(&p);
}

/* The worst is the first even if the cursor is on it: it says why. */
TEST(the_first_brace_shows_the_worst)
{
	begin();
	paper_keys(&p, "3}");
	CHECK_INT(p.ui.sites.selected, 17);
	paper_draw(&p);
	CHECK(paper_find(&p, "growing site 1 of 3") >= 0);
	paper_keys(&p, "}");
	CHECK_INT(p.ui.sites.selected, 18);
	/* After another move it begins again. */
	paper_keys(&p, "k}");
	CHECK_INT(p.ui.sites.selected, 17);
	/* Where not all of the evidence fits, a whole part of it does. */
	paper_resize(&p, 24, 80);
	refresh_tick(&p.ui);
	paper_keys(&p, "j}");
	CHECK_STR(p.ui.message, "growing site 1 of 3: +1.0M/s over 9m36s, sure: rose all along");
	paper_close(&p);
}

static struct snapshot *young_tick(void *ctx, const char **error)
{
	struct snapshot *s = canned_tick(ctx, error);

	s->rates_ns = 3 * CANNED_S;
	return s;
}

/* Ten seconds that begin with the program's first one. */
static struct snapshot *starting_tick(void *ctx, const char **error)
{
	struct snapshot *s = canned_tick(ctx, error);

	s->rates_ns = 10 * CANNED_S;
	s->uptime_ns = 10 * CANNED_S + CANNED_S / 2;
	return s;
}

/* A program that has just started seems to grow fast: such rates say that they are young. */
TEST(young_rates_are_marked)
{
	begin();
	CHECK(paper_find(&p, " +1.0M/s") >= 0 && paper_find(&p, "~+") < 0);
	p.source.tick = young_tick;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "~+1.0M/s") >= 0 && paper_find(&p, "~-94k/s") >= 0);
	p.source.tick = starting_tick;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "~+1.0M/s") >= 0);
	CHECK(paper_find(&p, " 0 ") >= 0 && paper_find(&p, "~0") < 0);
	paper_keys(&p, "t");
	paper_draw(&p);
	CHECK(paper_find(&p, "~+1.0M/s") >= 0);
	paper_close(&p);
}

TEST(they_walk_in_the_detail_too)
{
	begin();
	paper_keys(&p, "}\r}");
	CHECK_INT(p.ui.detail.site, 18);
	paper_draw(&p);
	CHECK(paper_find(&p, "SITE 18") >= 0);
	CHECK(paper_find(&p, "grows +393k/s over 9m36s") >= 0);
	paper_keys(&p, "]");
	CHECK(p.ui.detail.site != 18);
	paper_keys(&p, "q");
	CHECK_INT(p.ui.sites.selected, p.ui.detail.site);
	paper_close(&p);
}

/* What the filter hides is not walked to. */
TEST(only_among_what_is_shown)
{
	begin();
	paper_keys(&p, "\\json\r}");
	CHECK_INT(p.ui.sites.selected, 19);
	paper_keys(&p, "\\zlib\r}");
	paper_draw(&p);
	CHECK(paper_find(&p, "no site is growing (?") >= 0);
	/* It began a moment ago. */
	p.source.tick = young_tick;
	refresh_tick(&p.ui);
	paper_keys(&p, "}");
	paper_draw(&p);
	CHECK(paper_find(&p, "no site is growing yet: that takes ten seconds to see") >= 0);
	paper_close(&p);
}

int main(void)
{
	RUN(the_header_counts_what_grows_and_not_what_rose);
	RUN(the_header_says_what_rates_are_over);
	RUN(braces_walk_the_growers_from_the_worst_on);
	RUN(the_first_brace_shows_the_worst);
	RUN(young_rates_are_marked);
	RUN(they_walk_in_the_detail_too);
	RUN(only_among_what_is_shown);
	return check_end();
}
