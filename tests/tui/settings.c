/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings' screen: each change is seen at once, and W writes all of it. */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/settings_sync.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
	screen_key(&p.ui, KEY_F(2));
	paper_draw(&p);
}

/* The cursor goes to the line that begins with these words. */
static void go_to(const char *words)
{
	paper_keys(&p, "G");
	screen_key(&p.ui, KEY_HOME);
	for (unsigned i = 0; i < p.ui.setup.count; i++) {
		paper_draw(&p);
		for (int y = 0; y < p.ui.layout.height; y++) {
			const char *line = paper_line(&p, y);

			if (line[0] == '>' && strstr(line, words))
				return;
		}
		paper_keys(&p, "j");
	}
	check_fail(__FILE__, __LINE__, words);
}

static bool seen(const char *words)
{
	paper_draw(&p);
	return paper_find(&p, words) >= 0;
}

/* Where there is little room, the label gives way. */
TEST(values_are_whole_in_a_narrow_terminal)
{
	begin(20, 40);
	CHECK(seen("Sites: columns          memory"));
	CHECK(seen("Names                   short"));
	paper_close(&p);
	begin(20, 100);
	CHECK(seen("Sites: columns                 memory"));
	paper_close(&p);
}

TEST(values_go_forth_and_back)
{
	begin(40, 100);
	go_to("sorted by");
	CHECK(seen("LIVE"));
	paper_keys(&p, " ");
	CHECK_INT(p.ui.sort, COL_ERROR);
	paper_keys(&p, "h");
	CHECK_INT(p.ui.sort, COL_LIVE);
	paper_keys(&p, "h"); /* round */
	CHECK_INT(p.ui.sort, COL_LINE);
	paper_keys(&p, "l");
	CHECK_INT(p.ui.sort, COL_LIVE);
	go_to("a row is one");
	paper_keys(&p, "\r");
	CHECK_INT(p.ui.group.by, GROUP_CALLER);
	go_to("Names");
	paper_keys(&p, "l");
	CHECK_INT(p.ui.names, NAMES_FULL);
	go_to("All frames");
	paper_keys(&p, "l");
	CHECK(p.ui.show_hidden);
	go_to("children fold");
	paper_keys(&p, "l");
	CHECK_INT(p.ui.tree.least_permille, 20);
	go_to("Header");
	paper_keys(&p, "l");
	CHECK(p.ui.header_off);
	go_to("Delay between");
	paper_keys(&p, "l");
	CHECK(p.ui.options.delay_ns == 2 * CANNED_S && p.ui.delay_changed);
	/* What is between two steps goes to the next one, or to the one before. */
	p.ui.options.delay_ns = 1500000000;
	refresh_tick(&p.ui);
	paper_keys(&p, "l");
	CHECK_INT(p.ui.options.delay_ns, 2 * CANNED_S);
	p.ui.options.delay_ns = 1500000000;
	refresh_tick(&p.ui);
	paper_keys(&p, "h");
	CHECK_INT(p.ui.options.delay_ns, CANNED_S);
	/* And a key of another view is seen here. */
	paper_keys(&p, "\033v");
	screen_key(&p.ui, KEY_F(2));
	CHECK(seen("mangled"));
	paper_close(&p);
}

/* A key that changes a choice behind the screen's back is seen at once, frozen or not, and another
 * choice does not undo it. */
TEST(keys_and_choices_agree)
{
	for (int frozen = 0; frozen < 2; frozen++) {
		begin(40, 100);
		p.ui.frozen = frozen;
		paper_keys(&p, "#");
		CHECK(p.ui.header_off);
		CHECK(seen("Header lines                   no"));
		paper_keys(&p, "#");
		CHECK(seen("Header lines                   yes"));
		go_to("All frames");
		paper_keys(&p, "#l");
		CHECK(p.ui.show_hidden && p.ui.header_off);
		paper_close(&p);
	}
}

/* A range has an order of its own, which only a choice of the order changes. */
TEST(a_range_keeps_its_order)
{
	begin(40, 120);
	p.canned.past = true;
	for (int i = 0; i < 5; i++)
		refresh_tick(&p.ui);
	paper_keys(&p, "\033,s,,");
	CHECK_INT(ui_moment(&p.ui), SNAP_RANGE);
	CHECK_INT(p.ui.sort, COL_SINCE);
	screen_key(&p.ui, KEY_F(2));
	go_to("All frames");
	paper_keys(&p, "l");
	CHECK_INT(p.ui.sort, COL_SINCE);
	go_to("reversed");
	paper_keys(&p, "l");
	CHECK_INT(p.ui.sort, COL_SINCE);
	CHECK(p.ui.reverse);
	go_to("sorted by");
	CHECK(seen("LIVE"));
	paper_keys(&p, "l");
	CHECK_INT(p.ui.sort, COL_ERROR);
	paper_keys(&p, "h");
	CHECK_INT(p.ui.sort, COL_LIVE);
	/* The order remains, after the range, too. */
	paper_keys(&p, "\033F");
	CHECK_INT(ui_moment(&p.ui), SNAP_NOW);
	CHECK_INT(p.ui.sort, COL_LIVE);
	CHECK(p.ui.reverse);
	paper_close(&p);
}

TEST(glyphs_and_colors)
{
	begin(30, 100);
	go_to("Graphs");
	paper_keys(&p, "ll");
	CHECK_INT(draw_glyph_set(), GLYPHS_BRAILLE);
	paper_keys(&p, "l");
	CHECK(draw_is_ascii());
	paper_keys(&p, "l");
	CHECK_INT(draw_glyph_set(), GLYPHS_BLOCKS);
	go_to("Theme");
	paper_keys(&p, "l");
	CHECK(seen("safe"));
	paper_keys(&p, "l");
	go_to("Mouse");
	paper_keys(&p, "l");
	CHECK(p.ui.options.no_mouse);
	paper_close(&p);
}

TEST(columns_are_switched_off)
{
	begin(30, 100);
	go_to("[x] BLOCKS"); /* the first is of Sites */
	paper_keys(&p, " ");
	CHECK(seen("[ ] BLOCKS"));
	CHECK_STR(p.ui.settings.off[SETTINGS_SITES], "age blocks");
	paper_keys(&p, "\033");
	CHECK(!seen("5BLOCKS") && seen("6AVG"));
	/* Those of other tables, where each keeps its digit. */
	screen_key(&p.ui, KEY_F(2));
	settings_sync_column_switch(&p.ui, SETTINGS_MODULES, 2);
	settings_sync_column_switch(&p.ui, SETTINGS_TREE, 4);
	paper_keys(&p, "\033");
	ui_tab(&p.ui, VIEW_MODULES);
	CHECK(!seen("3RATE") && seen("4BLOCKS"));
	ui_tab(&p.ui, VIEW_TREE);
	CHECK(seen("4RATE") && !seen("5BLOCKS"));
	p.canned.sampled = true; /* a table of its own, and the same columns */
	refresh_tick(&p.ui);
	CHECK(seen("4RATE") && !seen("5BLOCKS") && seen("9ERROR"));
	paper_close(&p);
	/* The next screen has them all again. */
	paper_open(&p, 30, 100, false);
	refresh_tick(&p.ui);
	ui_tab(&p.ui, VIEW_MODULES);
	CHECK(seen("3RATE"));
	paper_close(&p);
}

TEST(columns_are_moved_and_sized)
{
	begin(40, 100);
	go_to("[x] BLOCKS");
	paper_keys(&p, "[++");
	CHECK(seen("BLOCKS       (9 cells)"));
	CHECK_STR(p.ui.settings.widths, "blocks:9");
	paper_keys(&p, "[");
	CHECK_INT(p.ui.setup.line[p.ui.setup.list.cursor].index, COL_BLOCKS); /* it is followed */
	paper_keys(&p, "\033");
	CHECK(seen("5BLOCKS 4TREND") || seen("  5BLOCKS"));
	CHECK(p.ui.look.order[COL_COUNT - 1] == COL_LINE);
	paper_keys(&p, "W");
	CHECK(strstr(p.canned.kept.order, "blocks kept trend avg") != NULL);
	screen_key(&p.ui, KEY_F(2));
	go_to("CALL SITE");
	paper_keys(&p, "+");
	CHECK(seen("takes what the other columns leave"));
	paper_keys(&p, "\r");
	CHECK(seen("always shown"));
	go_to("Mouse");
	paper_keys(&p, "]");
	CHECK(seen("only for the columns of Sites"));
	paper_close(&p);
}

static void trouble_tell(void *ctx, unsigned line, const char *words)
{
	fprintf(stderr, "%u: %s\n", line, words);
}

/* The model knows the columns of all tables. */
TEST(columns_are_called_alike)
{
	static const char *const tables[] = { "sites", "tree", "threads", "modules" };
	struct settings s;

	begin(30, 100);
	settings_default(&s);
	for (unsigned t = 0; t < SETTINGS_TABLES; t++)
		for (unsigned c = 0; c < settings_sync_columns(t); c++) {
			const char *key = settings_sync_column_key(t, c);
			char text[100];

			if (!key)
				continue;
			snprintf(text, sizeof(text), "columns-off.%s = %s", tables[t], key);
			CHECK_INT(settings_parse(&s, text, strlen(text), trouble_tell, NULL), 0);
			CHECK(settings_is_off(&s, (enum settings_table)t, key));
		}
	paper_close(&p);
}

TEST(rules_of_ones_own)
{
	begin(30, 100);
	paper_keys(&p, "\033S");
	CHECK(seen("(add one: Enter)"));
	paper_keys(&p, "\rarena_*\r");
	CHECK_INT(p.canned.rules, 1);
	CHECK(seen("no site is named after arena_* any more"));
	CHECK(seen("arena_*"));
	paper_keys(&p, "S\rarena_*\r"); /* S: on the first rule, so this is a hint */
	CHECK_INT(p.ui.settings.rules, 1);
	paper_keys(&p, "j\r**\r");
	CHECK(seen("a rule is a function name"));
	paper_keys(&p, "S");
	screen_key(&p.ui, KEY_DC);
	CHECK_INT(p.canned.rules, 0);
	screen_key(&p.ui, KEY_DC);
	CHECK(seen("only your own rules"));
	CHECK(seen("std:: and __gnu_cxx::"));
	paper_close(&p);
}

TEST(w_saves)
{
	begin(24, 80);
	paper_keys(&p, "\033vI5W");
	CHECK(seen("settings saved"));
	CHECK_INT(p.canned.kept.names, NAMES_FULL);
	CHECK_INT(p.canned.kept.sort, COL_BLOCKS);
	CHECK_INT(p.canned.kept.reverse, 0);
	p.ui.options.readonly = true;
	p.canned.kept.names = 99;
	paper_keys(&p, "W");
	CHECK_INT(p.canned.kept.names, 99);
	p.ui.options.readonly = false;
	p.source.settings_save = NULL;
	paper_keys(&p, "W");
	CHECK(seen("there is no settings file"));
	paper_close(&p);
}

/* A screen that starts with settings follows them, and reports what was wrong with their file. */
TEST(a_screen_begins_with_them)
{
	struct tui_options options = { .delay_ns = CANNED_S, .trouble = "config:3: no such key" };
	struct settings s;

	paper_open(&p, 30, 100, false);
	screen_free(&p.ui);
	settings_default(&s);
	s.header = 0;
	s.least_permille = 50;
	s.glyphs = SETTINGS_GLYPHS_BRAILLE;
	settings_switch(&s, SETTINGS_SITES, "percent", true);
	options.settings = &s;
	screen_init(&p.ui, &p.source, &options);
	screen_resize(&p.ui, 30, 100);
	refresh_tick(&p.ui);
	CHECK(seen("config:3: no such key"));
	CHECK(!seen("2%"));
	CHECK_INT(p.ui.layout.y[ROW_LIVE], -1);
	CHECK_INT(p.ui.tree.least_permille, 50);
	CHECK_INT(draw_glyph_set(), GLYPHS_BRAILLE);
	paper_close(&p);
}

/* A heading is seen with a line below it, unless the cursor is there. */
TEST(no_heading_stands_alone)
{
	unsigned heads = 0;

	for (int height = 12; height < 60; height++) {
		begin(height, 80);
		for (unsigned i = 0; i < p.ui.setup.list.height; i++) {
			size_t row = p.ui.setup.list.top + i;
			bool head =
				row < p.ui.setup.count && p.ui.setup.line[row].kind == SETUP_HEAD;
			const char *line = paper_line(&p, p.ui.layout.y[ROW_BODY] + (int)i);

			CHECK(!head || i + 1 < p.ui.setup.list.height || line[1] == ' ' ||
				!line[0]);
			heads += head && line[1] > ' ';
		}
		paper_close(&p);
	}
	CHECK(heads > 40);
}

TEST(every_size)
{
	begin(24, 80);
	for (int i = 0; i < 300; i++) {
		paper_resize(&p, 1 + i * 7 % 80, 1 + i * 13 % 250);
		paper_keys(&p, i % 3 ? "j" : " ");
		paper_draw(&p);
	}
	paper_close(&p);
}

int main(void)
{
	RUN(values_are_whole_in_a_narrow_terminal);
	RUN(values_go_forth_and_back);
	RUN(keys_and_choices_agree);
	RUN(a_range_keeps_its_order);
	RUN(glyphs_and_colors);
	RUN(columns_are_switched_off);
	RUN(columns_are_moved_and_sized);
	RUN(columns_are_called_alike);
	RUN(rules_of_ones_own);
	RUN(w_saves);
	RUN(a_screen_begins_with_them);
	RUN(no_heading_stands_alone);
	RUN(every_size);
	return check_end();
}
