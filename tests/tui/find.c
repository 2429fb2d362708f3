/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding and filtering by keys, in every view that has lines. */
#include "tests/check.h"
#include "tests/tui/paper.h"

static struct paper p;

static void begin(void)
{
	paper_open(&p, 30, 120, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

static const char *cursor_line(void)
{
	const struct list *l = ui_view(&p.ui)->list(&p.ui);

	paper_draw(&p);
	return paper_line(&p, p.ui.layout.y[ROW_BODY] + (int)(l->cursor - l->top));
}

TEST(sites_are_found_and_followed)
{
	begin();
	paper_keys(&p, "/zlib\r");
	CHECK(strstr(cursor_line(), "zlib::inflate_window") != NULL);
	paper_keys(&p, "n");
	paper_draw(&p);
	CHECK(paper_find(&p, "no other match") >= 0);
	for (int i = 0; i < 5; i++)
		refresh_tick(&p.ui);
	CHECK(strstr(cursor_line(), "zlib::inflate_window") != NULL);
	paper_keys(&p, "gg/blocks>50k\r");
	CHECK(strstr(cursor_line(), "Shard::insert") != NULL);
	paper_keys(&p, "n");
	CHECK(strstr(cursor_line(), "libssl") != NULL);
	paper_keys(&p, "n");
	paper_draw(&p);
	CHECK(paper_find(&p, "continued from the beginning") >= 0);
	CHECK(strstr(cursor_line(), "Shard::insert") != NULL);
	paper_keys(&p, "N");
	CHECK(strstr(cursor_line(), "libssl") != NULL);
	paper_keys(&p, "/\r"); /* the same again */
	CHECK(strstr(cursor_line(), "Shard::insert") != NULL);
	paper_keys(&p, "/nothere\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "not found: nothere") >= 0);
	CHECK(strstr(cursor_line(), "Shard::insert") != NULL);
	paper_keys(&p, "/live>\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "the comparison needs a number") >= 0);
	paper_close(&p);
}

TEST(in_the_tree_also_what_is_folded)
{
	begin();
	paper_keys(&p, "n");
	paper_draw(&p);
	CHECK(paper_find(&p, "no search yet") >= 0);
	paper_keys(&p, "t/arena\r");
	CHECK(strstr(cursor_line(), "arena_new") != NULL);
	paper_keys(&p, "/inflate\r"); /* below 1 %: in the counted line */
	CHECK(strstr(cursor_line(), "zlib::inflate_window") != NULL);
	paper_keys(&p, "ggC/json\r");
	CHECK(strstr(cursor_line(), "json::Parser") != NULL);
	paper_keys(&p, "/nothere\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "not found: nothere") >= 0);
	paper_close(&p);
}

TEST(in_text_the_line_comes_into_sight)
{
	begin();
	ui_tab(&p.ui, VIEW_OUTPUT);
	paper_keys(&p, "/\"line 17:\"\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "line 17:") >= 0);
	CHECK(!p.ui.output.follow);
	paper_keys(&p, "?/lifetime\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "lifetime") >= 0 || paper_find(&p, "not found") >= 0);
	paper_keys(&p, "/TEMP\rn");
	paper_draw(&p);
	CHECK(paper_find(&p, "TEMP") >= 0);
	paper_keys(&p, "q");
	ui_tab(&p.ui, VIEW_SITES);
	paper_keys(&p, "j\r/main\r");
	paper_draw(&p);
	CHECK_INT(paper_find(&p, "not found"), -1);
	paper_close(&p);
}

TEST(a_filter_shows_what_matches)
{
	size_t all;

	begin();
	all = p.ui.sites.list.count;
	paper_keys(&p, "\\json\r");
	paper_draw(&p);
	CHECK_INT(p.ui.sites.list.count, 1);
	CHECK(paper_find(&p, "filter: json") == p.ui.layout.y[ROW_TABS]);
	CHECK(paper_find(&p, "1-1 of 1 site that matches") >= 0);
	/* The tree is that of the same sites. */
	paper_keys(&p, "t");
	paper_draw(&p);
	CHECK(paper_find(&p, "json::Parser") >= 0);
	CHECK_INT(paper_find(&p, "index::load"), -1);
	CHECK_INT(p.ui.tree.tree[0][0].node[TREE_ROOT].sites, 1);
	paper_keys(&p, "t");
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.sites.list.count, 1);
	/* What is wrong leaves it as it is; what matches nothing says so. */
	paper_keys(&p, "\\ nothere\r");
	CHECK_INT(p.ui.sites.list.count, 0);
	paper_draw(&p);
	CHECK(paper_find(&p, "no call site matches the filter") >= 0);
	paper_keys(&p, "\\\025live>\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "filter: \"live>\": the comparison needs a number") >= 0);
	CHECK_INT(p.ui.sites.list.count, 0);
	screen_key(&p.ui, KEY_ESC);
	CHECK_INT(p.ui.sites.list.count, all);
	paper_keys(&p, "\\rate>0\r");
	CHECK(p.ui.sites.list.count > 3 && p.ui.sites.list.count < all);
	paper_keys(&p, "\\\025\r");
	CHECK_INT(p.ui.sites.list.count, all);
	paper_close(&p);
}

/* The selection is a site: it comes through a filter that lets it pass. */
TEST(selection_survives_the_filter)
{
	uint32_t id;

	begin();
	paper_keys(&p, "jjj");
	id = p.ui.sites.selected;
	paper_keys(&p, "\\arena\r");
	CHECK_INT(p.ui.sites.selected, id);
	screen_key(&p.ui, KEY_ESC);
	CHECK_INT(p.ui.sites.selected, id);
	CHECK_INT(p.ui.sites.list.cursor, 3);
	paper_close(&p);
}

/* What hides it does not unselect it: it comes back, and to its line. */
TEST(selection_outlives_what_hides_it)
{
	static const char *const hiding[][2] = {
		{ "\\json\r", "\x1b" }, /* one row is left */
		{ "\\no-such-name\r", "\x1b" }, /* none is */
		{ "\\json\r", "\\\x15http\r\x1b" }, /* one filter after the other */
		{ "gm", "gs" }, /* rows that sum it up */
		{ "gt", "gs" }, /* rows that it is not in */
	};
	uint32_t site;
	size_t line;

	begin();
	paper_keys(&p, "1jjjj");
	site = p.ui.sites.selected;
	line = p.ui.sites.list.cursor - p.ui.sites.list.top;
	for (size_t i = 0; i < sizeof(hiding) / sizeof(hiding[0]); i++) {
		paper_keys(&p, hiding[i][0]);
		refresh_tick(&p.ui);
		paper_draw(&p);
		CHECK(p.ui.sites.list.count <= 1 || p.ui.sites.has_selected);
		paper_keys(&p, hiding[i][1]);
		paper_draw(&p);
		CHECK_INT(p.ui.sites.selected, site);
		CHECK(p.ui.sites.list.cursor - p.ui.sites.list.top == line);
	}
	/* Until the cursor is moved: then that row is the one. */
	paper_keys(&p, "\\worker\rj");
	CHECK(p.ui.sites.selected != site);
	site = p.ui.sites.selected;
	paper_keys(&p, "\x1b");
	CHECK_INT(p.ui.sites.selected, site);
	CHECK_INT(p.ui.shown->sites[p.ui.sites.order[p.ui.sites.list.cursor]].id, site);
	paper_close(&p);
}

TEST(it_can_start_with_one)
{
	struct tui_options options = { .delay_ns = CANNED_S, .filter = "live>100M", .tree = true };

	begin();
	screen_free(&p.ui);
	screen_init(&p.ui, &p.source, &options);
	screen_resize(&p.ui, 30, 120);
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(ui_view(&p.ui) == view_table[VIEW_TREE]);
	CHECK_INT(p.ui.rows->nsites, 1);
	paper_close(&p);
}

int main(void)
{
	RUN(sites_are_found_and_followed);
	RUN(in_the_tree_also_what_is_folded);
	RUN(in_text_the_line_comes_into_sight);
	RUN(a_filter_shows_what_matches);
	RUN(selection_survives_the_filter);
	RUN(selection_outlives_what_hides_it);
	RUN(it_can_start_with_one);
	return check_end();
}
