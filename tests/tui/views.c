/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The smaller views: what they tell, and what keys do there. */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/header.h"

static struct paper p;

static void begin(enum view_id view, int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
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
	CHECK(paper_find(&p, "this is the first site") >= 0);
	CHECK(paper_find(&p, "site 20  index::load") >= 0);
	/* Nothing there has a name to be found by. */
	CHECK_INT(paper_find(&p, "F3Find"), -1);
	paper_keys(&p, "/");
	CHECK(!p.ui.prompt.open);
	p.canned.no_detail = true;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "unknown") >= 0);
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
	char line[SCREEN_DUMP_LINE];
	int y;

	begin(VIEW_SIZES, 60, 120);
	paper_keys(&p, " ");
	paper_draw(&p);
	y = paper_find(&p, "whole program");
	strcpy(line, paper_line(&p, y));
	for (int i = 0; i < 3; i++)
		refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK_STR(paper_line(&p, y), line);
	paper_keys(&p, " ");
	paper_draw(&p);
	CHECK(strcmp(paper_line(&p, y), line) != 0);
	paper_close(&p);
}

/* Each line can be reached after the size changed under frozen rows. */
TEST(frozen_lines_fit_the_new_size)
{
	size_t wide;

	begin(VIEW_SIZES, 24, 120);
	wide = p.ui.sizes.list.count;
	paper_keys(&p, " ");
	paper_resize(&p, 24, 80);
	CHECK(p.ui.sizes.list.count > wide);
	paper_keys(&p, "G");
	paper_draw(&p);
	CHECK(paper_find(&p, "LIFETIME of freed blocks") >= 0);
	paper_resize(&p, 24, 120);
	CHECK_INT(p.ui.sizes.list.count, wide);
	paper_close(&p);
	begin(VIEW_SITES, 30, 120);
	paper_keys(&p, "j\r ");
	paper_resize(&p, 30, 80);
	paper_keys(&p, "G");
	paper_draw(&p);
	CHECK(paper_find(&p, "SIBLINGS") >= 0);
	paper_close(&p);
	begin(VIEW_SITES, 24, 120);
	paper_keys(&p, " ?");
	paper_resize(&p, 24, 60);
	paper_draw(&p);
	for (int i = 0; i < p.ui.layout.body_height; i++)
		CHECK(!strstr(
			paper_line(&p, p.ui.layout.y[ROW_BODY] + i), draw_glyph(GLYPH_ELLIPSIS)));
	paper_close(&p);
}

/* The header's lines are the body's when it is switched off: sections go beside the stack. */
TEST(frozen_lines_fit_without_the_header)
{
	size_t count;

	begin(VIEW_SITES, 44, 120);
	paper_keys(&p, "j\r ");
	paper_draw(&p);
	count = p.ui.detail.list.count;
	paper_keys(&p, "#");
	paper_draw(&p);
	CHECK(p.ui.detail.list.count < count);
	paper_close(&p);
}

TEST(modules_sum_up_their_sites)
{
	begin(VIEW_MODULES, 30, 120);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_BODY]), "/srv/bin/server") != NULL);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_BODY]), "2,316 lines") != NULL);
	paper_keys(&p, "/libssl\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "> 14.1M") >= 0);
	CHECK(paper_find(&p, "stripped, and no build-id") >= 0);
	/* Its sites, and all of them again. */
	paper_keys(&p, "\r");
	paper_draw(&p);
	CHECK(ui_view(&p.ui) == view_table[VIEW_SITES]);
	CHECK_INT(p.ui.sites.list.count, 1);
	CHECK(paper_find(&p, "?? libssl.so.3+0x4f1c0") >= 0);
	screen_key(&p.ui, KEY_ESC);
	CHECK_INT(p.ui.sites.list.count, p.canned.nsites);
	paper_close(&p);
}

TEST(modules_are_sorted_held_and_followed)
{
	begin(VIEW_MODULES, 30, 120);
	paper_keys(&p, "j7");
	CHECK_INT(p.ui.modules.order.sort, 6);
	paper_draw(&p);
	CHECK(paper_find(&p, ">") >= 0);
	CHECK(strstr(p.ui.modules.objects.object[p.ui.modules.list.cursor].module->name, "ssl"));
	paper_keys(&p, "o1");
	CHECK_STR(p.ui.modules.objects.object[0].module->name, "server");
	paper_keys(&p, "I"); /* a held order gives way to one that is asked for */
	CHECK(strcmp(p.ui.modules.objects.object[0].module->name, "server") != 0);
	p.ui.modules.order.reverse = false; /* not by a key: it is held */
	refresh_tick(&p.ui);
	CHECK(strcmp(p.ui.modules.objects.object[0].module->name, "server") != 0);
	/* With the frames that rules hide, the library's own are named. */
	paper_keys(&p, "oH");
	for (size_t i = 0; i < p.ui.modules.objects.count; i++)
		if (strstr(p.ui.modules.objects.object[i].module->name, "stdc++"))
			CHECK_INT(p.ui.modules.objects.object[i].sites, 1);
	paper_close(&p);
}

TEST(a_module_that_a_filter_hides_stays_selected)
{
	uint64_t id;

	paper_open(&p, 30, 100, false);
	refresh_tick(&p.ui);
	ui_tab(&p.ui, VIEW_MODULES);
	paper_keys(&p, "j");
	id = p.ui.modules.selected;
	paper_keys(&p, "\\index::load\r");
	refresh_tick(&p.ui);
	CHECK(p.ui.modules.selected != id);
	paper_keys(&p, "\x1b");
	CHECK(p.ui.modules.selected == id);
	paper_close(&p);
}

static struct snapshot *compared_tick(void *ctx, const char **error)
{
	static const struct snap_thread nobody[CANNED_THREADS];
	static const struct snap_versus versus = { .threads = nobody };
	struct snapshot *s = canned_tick(ctx, error);

	s->versus = &versus;
	return s;
}

/* A column that others give way to, since it is sorted by, is in all lines. */
TEST(threads_of_a_diff_have_the_columns_of_their_header)
{
	paper_open(&p, 30, 60, false);
	p.source.tick = compared_tick;
	refresh_tick(&p.ui);
	ui_tab(&p.ui, VIEW_THREADS);
	paper_keys(&p, "6");
	paper_draw(&p);
	CHECK(paper_find(&p, "6FREES A") == p.ui.layout.y[ROW_HEAD]);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_BODY]), " 0 server") != NULL);
	paper_close(&p);
}

TEST(threads_tell_who_frees_for_whom)
{
	begin(VIEW_THREADS, 30, 120);
	CHECK(paper_find(&p, "parser") == p.ui.layout.y[ROW_BODY]);
	CHECK(paper_find(&p, "writer") == p.ui.layout.y[ROW_BODY] + 2);
	/* It frees what the parser allocated. */
	CHECK(strstr(paper_line(&p, paper_find(&p, "writer")), "67.7M    67.7M     4213") != NULL);
	CHECK(paper_find(&p, "job-17  (and 40 that ended)") >= 0);
	CHECK(paper_find(&p, "(ended, 3 threads)") >= 0);
	paper_keys(&p, "/writer\r9o");
	CHECK_INT(p.ui.threads.selected, 3);
	refresh_tick(&p.ui);
	paper_keys(&p, "1");
	paper_draw(&p);
	CHECK_INT(p.ui.threads.selected, 3);
	CHECK(paper_find(&p, "> ") == paper_find(&p, "writer"));
	CHECK(paper_find(&p, "writer") == p.ui.layout.y[ROW_BODY] + 2);
	paper_keys(&p, "\\");
	paper_draw(&p);
	CHECK(paper_find(&p, "works only in Sites") >= 0); /* a filter is of sites */
	paper_close(&p);
}

/* Where one is stands in brackets, and whole, however much else there is to be said beside it. */
static void check_tab(enum view_id tab, enum view_id top, int width)
{
	char want[64];
	bool two = top != tab;

	paper_open(&p, 30, width, false);
	p.canned.sampled = true;
	refresh_tick(&p.ui);
	paper_keys(&p, "m\rm\r\\live>10M rate>0 module:libssl\ro");
	ui_tab(&p.ui, tab);
	p.ui.stack[1] = top;
	p.ui.depth = two ? 2 : 1;
	erase();
	header_draw(&p.ui);
	snprintf(want, sizeof(want), "[%s%s%s]", view_table[tab]->title, two ? " > " : "",
		two ? view_table[top]->title : "");
	if (paper_find(&p, want) < 0)
		check_fail(want, width, paper_line(&p, p.ui.layout.y[ROW_TABS]));
	p.ui.depth = 1;
	paper_close(&p);
}

TEST(the_tab_in_front_has_its_whole_name)
{
	static const int widths[] = { 40, 80, 100 };

	for (unsigned w = 0; w < 3; w++)
		for (int tab = 0; tab < VIEW_TABS; tab++)
			for (int top = VIEW_TABS - 1; top < VIEW_COUNT; top++)
				check_tab((enum view_id)tab,
					(enum view_id)(top < VIEW_TABS ? tab : top), widths[w]);
}

int main(void)
{
	RUN(sizes_of_the_program_and_of_a_site);
	RUN(narrow_sizes_scroll);
	RUN(frozen_sizes_stand_still);
	RUN(frozen_lines_fit_the_new_size);
	RUN(frozen_lines_fit_without_the_header);
	RUN(a_module_that_a_filter_hides_stays_selected);
	RUN(threads_of_a_diff_have_the_columns_of_their_header);
	RUN(threads_tell_who_frees_for_whom);
	RUN(modules_sum_up_their_sites);
	RUN(modules_are_sorted_held_and_followed);
	RUN(the_tab_in_front_has_its_whole_name);
	return check_end();
}
