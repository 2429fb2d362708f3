/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of processes, and the screen that goes from one to another. */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/view_processes.h"
#include "tui/view_sites.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

static void draw(const char *keys)
{
	paper_keys(&p, keys);
	paper_draw(&p);
}

TEST(it_is_a_tree_and_p_goes_back)
{
	begin(30, 100);
	draw("p");
	CHECK(ui_view(&p.ui) == &view_processes);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_BODY]), "./server --port 80"));
	CHECK(paper_find(&p, "├─ sh -c ./job --all") >= 0);
	CHECK(paper_find(&p, "│ └─ ./job --all") >= 0);
	CHECK(paper_find(&p, "5 recorded processes") >= 0);
	draw("p");
	CHECK(ui_view(&p.ui) == &view_sites);
	draw("p\x7f");
	CHECK(ui_view(&p.ui) == &view_sites);
	paper_close(&p);
}

TEST(enter_shows_another_and_each_keeps_its_selection)
{
	uint32_t here;

	begin(30, 100);
	draw("jjjj");
	here = p.ui.sites.selected;
	draw("pj\r");
	CHECK(ui_view(&p.ui) == &view_sites);
	CHECK_INT(p.ui.shown->pid, 4300);
	CHECK(paper_find(&p, "now shown: pid 4300") >= 0);
	CHECK(p.ui.sites.selected != here);
	draw("jj");
	CHECK(p.ui.sites.list.cursor == 2);
	draw("p");
	CHECK_INT(p.ui.processes.list.cursor, 1); /* where we are */
	draw("k\r");
	CHECK_INT(p.ui.shown->pid, 4211);
	CHECK_INT(p.ui.sites.selected, here);
	CHECK_INT(p.ui.sites.list.cursor, 4);
	draw("pj\r");
	CHECK_INT(p.ui.sites.list.cursor, 2);
	paper_close(&p);
}

TEST(from_the_detail_of_a_site)
{
	begin(30, 100);
	draw("j\rpG\r");
	CHECK_INT(p.ui.shown->pid, 977);
	CHECK(ui_view(&p.ui) == &view_sites); /* the other has no such site */
	paper_close(&p);
}

TEST(one_that_has_ended_says_so)
{
	begin(30, 100);
	draw("pjj\r");
	CHECK(ui_view(&p.ui) == &view_processes);
	CHECK(paper_find(&p, "this process has ended") >= 0);
	CHECK_INT(p.ui.shown->pid, 4211);
	paper_close(&p);
}

/* In one line, and in full where it is asked for; the tree goes on through it. */
TEST(one_that_is_not_recorded_says_why)
{
	begin(24, 80);
	draw("p");
	CHECK(paper_find(&p,
		      "no data         -             40.0M │   └─ busybox…: statically linked") >=
		0);
	CHECK(paper_find(&p, "└─ helper --l…: without LD_PRELOAD") >= 0);
	CHECK(paper_find(&p, "5 recorded processes, 2 not recorded") >= 0);
	draw("/busybox\r\r");
	CHECK(ui_view(&p.ui) == &view_processes);
	CHECK(paper_find(&p, "process 4303 is not recorded: statically linked") >= 0);
	CHECK_INT(p.ui.shown->pid, 4211);
	paper_close(&p);
}

/* Where a command does not fit, its folder goes first. */
TEST(a_long_command_begins_with_its_name)
{
	begin(24, 80);
	draw("p");
	CHECK(paper_find(&p, "  python3 /srv/tools/report.py --ev…") >= 0);
	paper_close(&p);
	begin(30, 200);
	draw("p");
	CHECK(paper_find(&p, "  /opt/python/bin/python3 /srv/tools/report.py --every 60") >= 0);
	paper_close(&p);
}

TEST(processes_come_and_go)
{
	begin(30, 100);
	draw("pG");
	CHECK_INT(p.ui.processes.selected, 104);
	p.canned.fewer_processes = true;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK_INT(p.ui.processes.list.count, 2);
	CHECK(p.ui.processes.has_selected && p.ui.processes.list.cursor == 1);
	CHECK(paper_find(&p, "and 300 more") >= 0);
	p.canned.fewer_processes = false;
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.processes.list.cursor, 1); /* by identity, not by place */
	CHECK_INT(p.ui.processes.selected, 101);
	paper_close(&p);
}

TEST(frozen_rows_thaw_for_another)
{
	begin(30, 100);
	draw(" pj\r");
	CHECK(!p.ui.frozen);
	CHECK_INT(p.ui.shown->pid, 4300);
	paper_close(&p);
}

TEST(a_second_click_shows)
{
	begin(30, 100);
	draw("p");
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_BODY] + 1, 5);
	CHECK(ui_view(&p.ui) == &view_processes);
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_BODY] + 1, 5);
	CHECK_INT(p.ui.shown->pid, 4300);
	paper_close(&p);
}

TEST(where_there_is_no_list_p_says_so)
{
	paper_open(&p, 30, 100, false);
	p.source.processes = NULL;
	refresh_tick(&p.ui);
	draw("p");
	CHECK(ui_view(&p.ui) == &view_sites);
	CHECK(paper_find(&p, "no list of processes") >= 0);
	paper_close(&p);
}

int main(void)
{
	RUN(it_is_a_tree_and_p_goes_back);
	RUN(enter_shows_another_and_each_keeps_its_selection);
	RUN(from_the_detail_of_a_site);
	RUN(one_that_has_ended_says_so);
	RUN(one_that_is_not_recorded_says_why);
	RUN(a_long_command_begins_with_its_name);
	RUN(processes_come_and_go);
	RUN(frozen_rows_thaw_for_another);
	RUN(a_second_click_shows);
	RUN(where_there_is_no_list_p_says_so);
	return check_end();
}
