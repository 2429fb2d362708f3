/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call tree under keys, clicks and ticks: what opens, what is selected, and where it stands. */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/curses_api.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
	paper_keys(&p, "t");
	paper_draw(&p);
}

static const char *selected_line(void)
{
	paper_draw(&p);
	return paper_line(
		&p, p.ui.layout.y[ROW_BODY] + (int)(p.ui.tree.list.cursor - p.ui.tree.list.top));
}

static void select_name(const char *name)
{
	paper_keys(&p, "gg");
	for (size_t i = 0; i < p.ui.tree.list.count && !strstr(selected_line(), name); i++)
		paper_keys(&p, "j");
	CHECK(strstr(selected_line(), name) != NULL);
}

TEST(it_starts_at_the_root_and_goes_down_to_sites)
{
	begin(30, 100);
	CHECK(ui_view(&p.ui) == view_table[VIEW_TREE]);
	CHECK(strstr(selected_line(), "> 350.") || strstr(selected_line(), ">350."));
	select_name("index::load");
	paper_keys(&p, "\r");
	paper_draw(&p);
	CHECK(ui_view(&p.ui) == view_table[VIEW_DETAIL]);
	CHECK(paper_find(&p, "SITE 20  index::load(char const*)") >= 0);
	paper_keys(&p, "q");
	CHECK(strstr(selected_line(), "index::load") != NULL);
	/* Of many sites, the largest. */
	select_name("worker::step");
	paper_keys(&p, "\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "the largest of the 2307 call sites") >= 0);
	paper_close(&p);
}

TEST(arrows_open_close_and_climb)
{
	size_t lines;

	begin(30, 140);
	lines = p.ui.tree.list.count;
	select_name("ev::Loop::run");
	CHECK(strstr(selected_line(), "- __libc_start_main") != NULL);
	paper_keys(&p, "-");
	CHECK(p.ui.tree.list.count < lines);
	CHECK(strstr(selected_line(), "+ __libc_start_main") != NULL);
	paper_keys(&p, "h"); /* closed already: to the line above */
	CHECK(strstr(selected_line(), "all") != NULL);
	paper_keys(&p, "h");
	paper_draw(&p);
	CHECK(paper_find(&p, "? is help") >= 0);
	paper_keys(&p, "ll"); /* into it, and open it */
	CHECK(strstr(selected_line(), "- __libc_start_main") != NULL);
	CHECK_INT(p.ui.tree.list.count, lines);
	paper_keys(&p, "C");
	CHECK(p.ui.tree.list.count < lines);
	paper_keys(&p, "ggEG");
	paper_draw(&p);
	CHECK_INT(p.ui.tree.list.count, lines);
	paper_close(&p);
}

TEST(small_children_open_by_their_line)
{
	size_t lines;

	begin(30, 100);
	p.canned.nsites = 8;
	refresh_tick(&p.ui);
	paper_keys(&p, "TTT"); /* 5 % */
	paper_draw(&p);
	lines = p.ui.tree.list.count;
	select_name("more below 5%");
	paper_keys(&p, "l");
	paper_draw(&p);
	CHECK(p.ui.tree.list.count > lines);
	CHECK_INT(paper_find(&p, "more below"), -1);
	CHECK(paper_find(&p, "json::Parser") >= 0);
	paper_keys(&p, "T");
	paper_draw(&p);
	CHECK(paper_find(&p, "children below 1% of the root") >= 0);
	paper_close(&p);
}

/* Whatever happens around it: the selection is a path, and keeps its line on the screen. */
TEST(selection_is_a_path_and_keeps_its_line)
{
	static const char *const doings[] = { "2", "3", "I", "5", "1", "o", "o" };
	size_t line;
	uint64_t id;

	begin(18, 100);
	select_name("http::Conn");
	id = p.ui.tree.selected;
	line = p.ui.tree.list.cursor - p.ui.tree.list.top;
	for (size_t i = 0; i < sizeof(doings) / sizeof(doings[0]); i++) {
		paper_keys(&p, doings[i]);
		refresh_tick(&p.ui);
		CHECK(strstr(selected_line(), "http::Conn") != NULL);
		CHECK(p.ui.tree.selected == id);
		if (p.ui.tree.list.top > 0 && !list_at_end(&p.ui.tree.list))
			CHECK_INT(p.ui.tree.list.cursor - p.ui.tree.list.top, line);
	}
	/* Folded away, its place is taken by what it is in. */
	paper_keys(&p, "u-");
	CHECK(strstr(selected_line(), "ev::Loop::run") != NULL);
	paper_close(&p);
}

/* A filter hides it, or it is folded among the small: when it is seen again it is selected. */
TEST(selection_outlives_what_hides_it)
{
	static const char *const hiding[][2] = { { "\\index::load\r", "\x1b" }, { "TTT", "T" } };

	begin(30, 100);
	p.canned.nsites = 8;
	refresh_tick(&p.ui);
	select_name("session::Store");
	for (size_t i = 0; i < sizeof(hiding) / sizeof(hiding[0]); i++) {
		paper_keys(&p, hiding[i][0]);
		refresh_tick(&p.ui);
		CHECK(strstr(selected_line(), "session::Store") == NULL);
		paper_keys(&p, hiding[i][1]);
		CHECK(strstr(selected_line(), "session::Store") != NULL);
	}
	/* Until the cursor is moved. */
	paper_keys(&p, "\\index::load\rG\x1b");
	CHECK(strstr(selected_line(), "session::Store") == NULL);
	paper_close(&p);
}

TEST(inverted_it_begins_with_what_allocates)
{
	begin(30, 140);
	paper_keys(&p, "ij");
	CHECK(strstr(selected_line(), "index::load") != NULL);
	CHECK(strstr(selected_line(), "main") != NULL);
	CHECK(paper_find(&p, "BOTTOM-UP") >= 0);
	CHECK_INT(paper_find(&p, "3SELF"), -1);
	paper_keys(&p, "i");
	paper_draw(&p);
	CHECK(paper_find(&p, "TOP-DOWN") >= 0);
	CHECK(paper_find(&p, "3SELF") >= 0);
	paper_close(&p);
}

TEST(zoom_goes_in_and_out)
{
	begin(30, 140);
	select_name("Cache::put");
	paper_keys(&p, "z");
	paper_draw(&p);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_BODY]), "100") != NULL);
	CHECK(paper_find(&p, "root: ") >= 0);
	CHECK_INT(p.ui.tree.rows.row[0].level, 0);
	for (int i = 0; i < 3; i++)
		refresh_tick(&p.ui);
	CHECK_INT(p.ui.tree.zooms, 1);
	screen_key(&p.ui, KEY_BACKSPACE);
	CHECK(strstr(selected_line(), "Cache::put") != NULL);
	screen_key(&p.ui, KEY_BACKSPACE); /* not zoomed in: the way one came */
	CHECK(ui_view(&p.ui) == view_table[VIEW_SITES]);
	paper_keys(&p, "t");
	/* What was zoomed into may go: then all is seen again. */
	select_name("index::load");
	paper_keys(&p, "z");
	p.canned.nsites = 0;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(p.ui.tree.list.count >= 1);
	paper_close(&p);
}

/* From a site, F5 shows where its stack ends, though what leads there was closed. */
TEST(a_site_is_shown_in_the_tree)
{
	begin(30, 100);
	paper_keys(&p, "Ct");
	paper_keys(&p, "jj\rt");
	CHECK(ui_view(&p.ui) == view_table[VIEW_TREE]);
	CHECK(strstr(selected_line(), "http::Conn") != NULL);
	paper_close(&p);
}

TEST(hidden_frames_are_shown_on_request)
{
	begin(40, 120);
	paper_keys(&p, "E");
	paper_draw(&p);
	CHECK_INT(paper_find(&p, "operator new"), -1);
	paper_keys(&p, "HggE");
	paper_draw(&p);
	CHECK(paper_find(&p, "operator new") >= 0);
	paper_close(&p);
}

/* The cell where a column of the tree begins. */
static int column_x(unsigned column)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(view_table[VIEW_TREE]->table(&p.ui), NULL, 100, place);

	for (unsigned i = 0; i < n; i++)
		if (place[i].column == column)
			return place[i].x;
	return -1;
}

TEST(clicks_select_sort_and_open)
{
	size_t lines;
	int y;

	begin(30, 100);
	y = p.ui.layout.y[ROW_BODY];
	lines = p.ui.tree.list.count;
	screen_mouse(&p.ui, SCREEN_CLICK, y + 1, 40);
	CHECK_INT(p.ui.tree.list.cursor, 1);
	screen_mouse(&p.ui, SCREEN_CLICK, y + 1, 40);
	CHECK(p.ui.tree.list.count < lines);
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_HEAD], column_x(TREE_ROWS_BLOCKS) + 1);
	CHECK_INT(p.ui.tree.order.sort, TREE_ROWS_BLOCKS);
	paper_close(&p);
}

/* The next image's tree has nothing of this one's. */
TEST(exec_begins_a_new_tree)
{
	int images[2];

	begin(30, 100);
	p.canned.image = &images[0];
	refresh_tick(&p.ui);
	select_name("index::load");
	paper_keys(&p, "z");
	p.canned.image = &images[1];
	p.canned.nsites = 2;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK_INT(p.ui.tree.zooms, 0);
	CHECK_INT(p.ui.tree.list.cursor, 0);
	CHECK_INT(paper_find(&p, "index::load"), -1);
	paper_close(&p);
}

TEST(steady_frame_is_below_1_kb)
{
	const int frames = 20;
	long before;

	begin(30, 100);
	paper_keys(&p, "jj");
	paper_draw(&p);
	before = paper_bytes(&p);
	for (int i = 0; i < frames; i++) {
		refresh_tick(&p.ui);
		paper_draw(&p);
	}
	fprintf(stderr, "%ld bytes per frame\n", (paper_bytes(&p) - before) / frames);
	CHECK((paper_bytes(&p) - before) / frames <= 1024);
	paper_close(&p);
}

int main(void)
{
	RUN(it_starts_at_the_root_and_goes_down_to_sites);
	RUN(arrows_open_close_and_climb);
	RUN(small_children_open_by_their_line);
	RUN(selection_is_a_path_and_keeps_its_line);
	RUN(selection_outlives_what_hides_it);
	RUN(inverted_it_begins_with_what_allocates);
	RUN(zoom_goes_in_and_out);
	RUN(a_site_is_shown_in_the_tree);
	RUN(hidden_frames_are_shown_on_request);
	RUN(clicks_select_sort_and_open);
	RUN(exec_begins_a_new_tree);
	RUN(steady_frame_is_below_1_kb);
	return check_end();
}
