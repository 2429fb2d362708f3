/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of the sites is shown and exported, and what is said when it is not the table that explains.
 */
#include "tests/check.h"
#include "tests/tui/paper.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	ui_tick(&p.ui);
	paper_draw(&p);
}

TEST(what_is_saved_is_what_the_filter_shows)
{
	begin(30, 100);
	paper_keys(&p, "\\libssl\rx");
	CHECK_INT(p.canned.saved_sites, 1);
	ui_key(&p.ui, UI_KEY_ESC);
	paper_keys(&p, "x");
	CHECK_INT(p.canned.saved_sites, p.canned.nsites);
	paper_close(&p);
}

TEST(what_ended_badly_has_said_why_in_output)
{
	begin(24, 80);
	p.canned.state = SNAP_EXITED;
	p.canned.exit_status = 127;
	ui_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "the program exited 127; what it wrote is in the Output tab") >= 0);
	ui_tab(&p.ui, VIEW_OUTPUT);
	paper_draw(&p);
	CHECK_INT(paper_find(&p, "what it wrote is in"), -1);
	ui_tab(&p.ui, VIEW_SITES);
	p.canned.lines = 0;
	paper_draw(&p);
	CHECK_INT(paper_find(&p, "what it wrote is in"), -1);
	p.canned.lines = 1;
	p.canned.exit_status = 0;
	ui_tick(&p.ui);
	paper_draw(&p);
	CHECK_INT(paper_find(&p, "what it wrote is in"), -1);
	paper_close(&p);
}

int main(void)
{
	RUN(what_is_saved_is_what_the_filter_shows);
	RUN(what_ended_badly_has_said_why_in_output);
	return check_end();
}
