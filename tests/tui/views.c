/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The smaller views: what they tell, and what keys do there. */
#include "tests/check.h"
#include "tests/tui/paper.h"

static struct paper p;

static void begin(enum view_id view, int height, int width)
{
	paper_open(&p, height, width, false);
	ui_tick(&p.ui);
	ui_tab(&p.ui, view);
	paper_draw(&p);
}

TEST(sizes_of_the_program_and_of_a_site)
{
	begin(VIEW_SIZES, 60, 120);
	CHECK(paper_find(&p, "whole program   470.4k live blocks") >= 0);
	CHECK(paper_find(&p, "site 20  index::load") >= 0);
	CHECK(paper_find(&p, "LIFETIME of freed blocks") >= 0);
	paper_keys(&p, "]");
	paper_draw(&p);
	CHECK(paper_find(&p, "site 17  cache::Shard::insert") >= 0);
	CHECK_INT(p.ui.sites.selected, 17);
	paper_keys(&p, "[[");
	paper_draw(&p);
	CHECK(paper_find(&p, "no site before this one") >= 0);
	CHECK(paper_find(&p, "site 20  index::load") >= 0);
	p.canned.no_detail = true;
	ui_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "not known") >= 0);
	paper_close(&p);
}

/* On a narrow screen the site follows the program, in one list. */
TEST(narrow_sizes_scroll)
{
	begin(VIEW_SIZES, 24, 80);
	CHECK_INT(paper_find(&p, "site 20"), -1);
	paper_keys(&p, "G");
	paper_draw(&p);
	CHECK(paper_find(&p, "site 20") >= 0 || paper_find(&p, "LIFETIME") >= 0);
	paper_keys(&p, "gg");
	paper_draw(&p);
	CHECK(paper_find(&p, "whole program") >= 0);
	paper_close(&p);
}

TEST(frozen_sizes_stand_still)
{
	char line[PAPER_LINE];
	int y;

	begin(VIEW_SIZES, 60, 120);
	paper_keys(&p, " ");
	paper_draw(&p);
	y = paper_find(&p, "whole program");
	strcpy(line, paper_line(&p, y));
	for (int i = 0; i < 3; i++)
		ui_tick(&p.ui);
	paper_draw(&p);
	CHECK_STR(paper_line(&p, y), line);
	paper_keys(&p, " ");
	paper_draw(&p);
	CHECK(strcmp(paper_line(&p, y), line) != 0);
	paper_close(&p);
}

int main(void)
{
	RUN(sizes_of_the_program_and_of_a_site);
	RUN(narrow_sizes_scroll);
	RUN(frozen_sizes_stand_still);
	return check_end();
}
