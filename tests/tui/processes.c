/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of processes, and the screen that goes from one to another. */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/command_words.h"
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
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_BODY]), "all processes of this launch: 8"));
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_BODY] + 1), "./server --port 80"));
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
	CHECK_INT(p.ui.processes.list.cursor, 2); /* where we are */
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

/* What `command` has for itself beside `a` and `b`. NULL: nothing. */
static const char *own(const char *command, const char *a, const char *b)
{
	static char text[64];
	const char *const other[] = { a, b };

	return command_words_own(command, other, b ? 2 : 1, "...", text, sizeof(text)) ? text
										       : NULL;
}

TEST(words_of_its_own)
{
	CHECK_STR(own("cc1 -quiet -I d a.c -o a.o", "cc1 -quiet -I d b.c -o b.o", NULL),
		"cc1 ... a.c ... a.o");
	CHECK_STR(own("/lib/cc1 a.c -O2 a.c", "cc1 b.c -O2", NULL), "cc1 a.c ...");
	/* The first two tell from the first, the others from the second. */
	CHECK_STR(own("cc1 -O2 a.c", "cc1 -O2 b.c", "cc1 -O1 a.c"), "cc1 -O2 a.c");
	CHECK_STR(own("cc1 a.c", "cc1", NULL), "cc1 a.c");
	CHECK(!own("cc1 -c", "cc1 -c a.c", NULL) && !own("cc1", "cc1 a.c", NULL) &&
		!own("", "", NULL));
	CHECK(command_words_alike("/usr/bin/cc1 a", "cc1") &&
		!command_words_alike("cc1", "cc1plus"));
	/* What is cut is cut, and no more than that. */
	CHECK_STR(own("cc1 0123456789012345678901234567890123456789012345678901234567890", "cc1",
			  NULL),
		"cc1 01234567890123456789012345678901234567890123456789012345678");
}

TEST(rows_that_would_look_the_same_show_what_differs)
{
	begin(30, 100);
	draw("p");
	CHECK(paper_find(&p, "gzip -9 a-log") >= 0); /* the only one */
	p.canned.same_commands = true;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "gzip … first.log") >= 0 && paper_find(&p, "gzip … second.log") >= 0);
	paper_resize(&p, 30, 170);
	paper_draw(&p);
	CHECK(paper_find(&p, "-9 --name --rsyncable --verbose --suffix=.archive.gz first.log") >=
		0);
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
		      "no data        -               │   └─ busybox tar …: statically linked") >=
		0);
	CHECK(paper_find(&p, "├─ helper --listen…: without LD_PRELOAD") >= 0);
	CHECK(paper_find(&p, "5 recorded processes, 2 ended, 2 not recorded   * is shown") >= 0);
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
	CHECK(paper_find(&p, "11.9M python3 /srv/tools/report.py --every 60") >= 0);
	paper_close(&p);
	begin(30, 200);
	draw("p");
	CHECK(paper_find(&p, "/opt/python/bin/python3 /srv/tools/report.py --every 60") >= 0);
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
	CHECK_INT(p.ui.processes.list.count, 3);
	CHECK(p.ui.processes.has_selected && p.ui.processes.list.cursor == 2);
	CHECK(paper_find(&p, "and 300 more") >= 0);
	p.canned.fewer_processes = false;
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.processes.list.cursor, 2); /* by identity, not by place */
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
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_BODY] + 2, 5);
	CHECK(ui_view(&p.ui) == &view_processes);
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_BODY] + 2, 5);
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
	CHECK(paper_find(&p, "this file is of one process") >= 0);
	paper_close(&p);
}

/* Sums are of what runs; what ended has a peak, and says how it ended. */
TEST(sums_and_ends)
{
	begin(30, 120);
	draw("p");
	CHECK(paper_find(&p, "4300 running     3.0M  14.9M  95.4M") >= 0);
	CHECK(paper_find(&p, "4306 exit 0                    1.5M") >= 0);
	CHECK(paper_find(&p, "4307 ended                   762.9k") >= 0);
	CHECK(paper_find(&p, "another launch: 1") >= 0);
	draw("E");
	CHECK(paper_find(&p, "exit 0") < 0 && paper_find(&p, "4307") < 0);
	CHECK(paper_find(&p, "2 ended (E)") >= 0);
	draw("E");
	CHECK(paper_find(&p, "4307 ended") >= 0);
	paper_close(&p);
}

/* What the program started is counted beside what it holds itself. */
TEST(the_header_counts_the_others)
{
	paper_open(&p, 24, 80, false);
	p.canned.launch = (struct snap_launch){ .running = 4, .live_bytes = 106u << 20 };
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "]  350.6M  +4 proc 106.0M (p)  peak 655.0M") >= 0);
	paper_close(&p);
	paper_open(&p, 30, 120, false);
	p.canned.launch = (struct snap_launch){ .running = 1, .live_bytes = 11u << 10 };
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "350.6M  +1 process 11.0k (p)  peak 655.0M") >= 0);
	p.canned.launch = (struct snap_launch){ .ended = 3 };
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "M  peak 655.0M") >= 0);
	paper_close(&p);
}

TEST(all_as_one)
{
	begin(30, 120);
	draw("pg");
	draw("g\r");
	CHECK(ui_view(&p.ui) == &view_sites);
	CHECK(paper_find(&p, " all 8 processes ") >= 0 && paper_find(&p, "pid 0") < 0);
	CHECK(paper_find(&p, "now shown: all processes of the launch") >= 0);
	draw("p");
	CHECK_INT(p.ui.processes.list.cursor, 0);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_BODY]), ">*"));
	draw("j\r");
	CHECK(paper_find(&p, "pid 4211") >= 0 && paper_find(&p, "all 8") < 0);
	paper_close(&p);
}

TEST(siblings_are_sorted_and_the_tree_stays)
{
	begin(30, 120);
	draw("p3");
	CHECK(paper_find(&p, "├─ gzip") < paper_find(&p, "├─ sh -c ./job"));
	CHECK_INT(paper_find(&p, "│ └─ ./job"), paper_find(&p, "├─ sh -c ./job") + 1);
	draw("I");
	CHECK(paper_find(&p, "─ sh -c ./job") < paper_find(&p, "─ gzip"));
	draw("5"); /* PEAK */
	CHECK(paper_find(&p, "─ sh -c ./job") < paper_find(&p, "─ gzip"));
	CHECK(paper_find(&p, "─ gzip") < paper_find(&p, "─ sh -c ./warm"));
	paper_close(&p);
}

TEST(lines_fold)
{
	size_t all;

	begin(30, 120);
	draw("pj"); /* 4300 */
	all = p.ui.processes.list.count;
	draw("-");
	CHECK_INT(p.ui.processes.list.count, all - 2);
	CHECK(paper_find(&p, "sh -c ./job --all  +2") >= 0);
	CHECK_INT(p.ui.processes.selected, 101);
	draw("h"); /* the parent */
	CHECK_INT(p.ui.processes.selected, 100);
	draw("jl");
	CHECK_INT(p.ui.processes.list.count, all);
	draw("Gk\r"); /* a heading */
	CHECK(ui_view(&p.ui) == &view_processes);
	CHECK_INT(p.ui.processes.list.count, all - 1);
	CHECK(paper_find(&p, "another launch: 1, folded") >= 0);
	draw("\r");
	CHECK_INT(p.ui.processes.list.count, all);
	paper_close(&p);
}

/* The second image of the server, or the first one again. */
static int show_other_image(void *ctx, uint64_t id, char *msg, size_t cap)
{
	struct canned *c = ctx;

	c->image = c->image ? NULL : c;
	c->image_start_ns = c->image ? CANNED_S : 0;
	return 0;
}

/* A recording lists each image of a process that called exec. */
TEST(another_image_of_the_same_process)
{
	uint32_t here;

	begin(30, 100);
	p.source.process_show = show_other_image;
	draw("jjjj");
	here = p.ui.sites.selected;
	draw("pj\r");
	CHECK(p.ui.shown->owner == &p.canned);
	CHECK(paper_find(&p, "now shown: pid 4211") >= 0 && paper_find(&p, "exec") < 0);
	CHECK(p.ui.sites.list.cursor == 0);
	draw("pj\r");
	CHECK(!p.ui.shown->owner);
	CHECK(paper_find(&p, "now shown: pid 4211") >= 0 && paper_find(&p, "exec") < 0);
	CHECK_INT(p.ui.sites.selected, here);
	show_other_image(&p.canned, 0, NULL, 0); /* by itself */
	refresh_tick(&p.ui);
	draw("");
	CHECK(paper_find(&p, "the program called exec") >= 0);
	paper_close(&p);
}

int main(void)
{
	RUN(it_is_a_tree_and_p_goes_back);
	RUN(enter_shows_another_and_each_keeps_its_selection);
	RUN(from_the_detail_of_a_site);
	RUN(words_of_its_own);
	RUN(rows_that_would_look_the_same_show_what_differs);
	RUN(one_that_has_ended_says_so);
	RUN(one_that_is_not_recorded_says_why);
	RUN(a_long_command_begins_with_its_name);
	RUN(processes_come_and_go);
	RUN(frozen_rows_thaw_for_another);
	RUN(a_second_click_shows);
	RUN(where_there_is_no_list_p_says_so);
	RUN(sums_and_ends);
	RUN(the_header_counts_the_others);
	RUN(all_as_one);
	RUN(siblings_are_sorted_and_the_tree_stays);
	RUN(lines_fold);
	RUN(another_image_of_the_same_process);
	return check_end();
}
