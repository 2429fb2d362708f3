/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Map: what is selected stays what it is, keys and clicks do what they say, and its panes are
 * inside the screen at every size. */
#include "tests/check.h"
#include "tests/tui/alike.h"
#include "tests/tui/paper.h"
#include "tui/map_panes.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
	screen_key(&p.ui, KEY_F(8));
	CHECK(ui_view(&p.ui) == view_table[VIEW_MAP]);
	paper_draw(&p);
}

static void check_panes(int height, int width)
{
	int end = p.ui.layout.y[ROW_BODY] + p.ui.layout.body_height, used;
	struct map_panes q;

	map_panes_make(&q, &p.ui);
	used = q.account + 1 + q.rows + (q.grid ? q.grid + 2 : 0) + (q.pins ? q.pins + 2 : 0);
	CHECK(q.account >= 1 && q.rows >= 0 && used <= p.ui.layout.body_height);
	CHECK(q.rows_y + q.rows <= end);
	CHECK(!q.grid || (q.grid_y > q.rows_y + q.rows && q.grid_y + q.grid + 1 <= end));
	CHECK(!q.pins || (q.grid && q.pins_y - 2 > q.grid_y + q.grid && q.pins_y + q.pins <= end));
	CHECK(MAP_PANES_ADDRESS + (int)q.cells <= (q.classes_x < 0 ? width : q.classes_x - 1));
	if (height >= 24 && width >= 80)
		CHECK(q.rows >= 3 && q.grid >= 3 && q.pins >= 2);
}

TEST(panes_are_inside_at_every_size)
{
	begin(30, 100);
	for (int h = LAYOUT_MIN_HEIGHT; h <= 80; h++) {
		for (int w = LAYOUT_MIN_WIDTH; w <= 250; w += w < 110 ? 1 : 13) {
			screen_resize(&p.ui, h, w);
			check_panes(h, w);
		}
	}
	paper_close(&p);
}

/* The lines of the sum hold all of its parts, or end with an ellipsis. */
static bool sum_is_told(bool *whole)
{
	struct map_panes panes;
	char lines[2048] = "";

	map_panes_make(&panes, &p.ui);
	for (int i = 0; i < panes.account; i++)
		snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "%s\n",
			paper_line(&p, panes.account_y + i));
	*whole = true;
	for (unsigned i = 0; i < MAP_PARTS; i++)
		if (p.ui.map.map->account.part[i] && !strstr(lines, map_part_name(i)))
			*whole = false;
	return *whole || strstr(lines, "…") != NULL;
}

TEST(the_sum_is_whole_or_says_that_it_is_not)
{
	bool whole;

	begin(30, 100);
	for (int h = LAYOUT_MIN_HEIGHT; h <= 40; h += 4)
		for (int w = LAYOUT_MIN_WIDTH; w <= 100; w += 5) {
			screen_resize(&p.ui, h, w);
			paper_draw(&p);
			CHECK(sum_is_told(&whole));
			CHECK(whole || h < 24);
		}
	paper_close(&p);
}

TEST(rss_is_the_sum_of_its_parts)
{
	const struct map_account *a;
	uint64_t sum = 0;

	begin(24, 80);
	a = &p.ui.map.map->account;
	for (unsigned i = 0; i < MAP_PARTS; i++)
		sum += a->part[i];
	CHECK_INT(sum, a->rss_bytes);
	CHECK(paper_find(&p, "RSS 50.8M = heap 33.7M (live 7.2M + mmap'ed 10.0M") >= 0);
	CHECK(paper_find(&p, "PINNED PAGES") >= 0);
	CHECK(paper_find(&p, "…ssion::Store::touch(…) ") >= 0);
	paper_close(&p);
}

/* What is long is shortened where that says least: the function's name stays. */
TEST(names_keep_their_ends)
{
	begin(30, 57);
	CHECK(paper_find(&p, "…::Store::touch(…)") >= 0);
	paper_close(&p);
	begin(30, 40);
	CHECK(paper_find(&p, "other anonymous…") >= 0);
	CHECK(paper_find(&p, " 1   7.7M   2,000  …::Store::touch(…)") >= 0);
	paper_close(&p);
	begin(30, 100);
	CHECK(paper_find(&p, "session::Store::touch(…)") >= 0);
	paper_close(&p);
}

static void age_set(uint64_t age_ns)
{
	p.ui.current->now_realtime_ns = CANNEDMAP_READ_NS + age_ns;
	paper_draw(&p);
}

TEST(how_old_it_is_is_said)
{
	begin(30, 100);
	age_set(3000000000);
	CHECK(paper_find(&p, "read 3.0s ago, every 5.0s, in 40ms") >= 0);
	age_set(83000000000);
	CHECK(paper_find(&p, "read 1m23s ago, every 5.0s, in 40ms") >= 0);
	p.ui.map.map->account.note = "something else";
	paper_draw(&p);
	CHECK(paper_find(&p, "read 1m23s ago   something else") >= 0);
	age_set(4000000000);
	CHECK(paper_find(&p, " something else") >= 0 && paper_find(&p, " ago ") < 0);
	paper_close(&p);
}

/* The next reading has one mapping less below: row and page are found again. */
TEST(row_and_page_stay_what_they_are)
{
	uint64_t id, page;
	struct map *next;

	begin(30, 100);
	paper_keys(&p, "]]]]lll");
	id = p.ui.map.row_id;
	page = p.ui.map.cursor;
	CHECK_STR(map_row_name(map_panes_row(&p.ui), (char[48]){ 0 }), "arena 2");
	next = cannedmap_new(false);
	next->row[3] = next->row[4]; /* arena 1 is gone */
	memmove(&next->row[4], &next->row[5], (next->rows - 5) * sizeof(*next->row));
	next->rows--;
	map_unref(p.canned.map);
	p.canned.map = next;
	refresh_tick(&p.ui);
	CHECK(p.ui.map.map == next);
	CHECK_INT(p.ui.map.row, 3);
	CHECK_INT(p.ui.map.row_id, id);
	CHECK_INT(p.ui.map.cursor, page);
	paper_close(&p);
}

TEST(frozen_it_stays)
{
	struct map *before;

	begin(30, 100);
	before = p.ui.map.map;
	paper_keys(&p, " ");
	map_unref(p.canned.map);
	p.canned.map = NULL;
	refresh_tick(&p.ui);
	CHECK(p.ui.map.map == before);
	paper_keys(&p, " ");
	CHECK(p.ui.map.map != before && p.ui.map.map);
	paper_close(&p);
}

TEST(another_image_has_another_map)
{
	static int image;

	begin(30, 100);
	p.canned.image = &image;
	p.canned.no_map = true;
	refresh_tick(&p.ui);
	CHECK(p.ui.map.map == NULL);
	paper_draw(&p);
	CHECK(paper_find(&p, "reading the address space") >= 0);
	paper_close(&p);
}

TEST(zoom_keeps_the_page)
{
	uint64_t page;
	struct map_panes q;
	size_t zoom;

	begin(30, 100);
	paper_keys(&p, "jjll");
	page = p.ui.map.cursor;
	map_panes_make(&q, &p.ui);
	zoom = map_panes_zoom(&p.ui, &q);
	paper_keys(&p, "+");
	CHECK_INT(map_panes_zoom(&p.ui, &q), zoom / 2);
	CHECK_INT(p.ui.map.cursor, page);
	paper_keys(&p, "++++++++++");
	CHECK_INT(map_panes_zoom(&p.ui, &q), 1);
	CHECK_INT(p.ui.map.cursor, page);
	CHECK_INT(p.ui.map.list.cursor, map_panes_cursor(&p.ui) / q.cells);
	paper_draw(&p);
	CHECK(paper_find(&p, "a cell is one page") >= 0);
	for (int i = 0; i < 40; i++)
		paper_keys(&p, "-");
	CHECK_INT(p.ui.map.list.count, 1);
	CHECK_INT(p.ui.map.cursor, page);
	paper_close(&p);
}

TEST(down_keeps_the_column_and_ends_at_the_end)
{
	struct map_panes q;
	uint64_t page;

	begin(30, 100);
	paper_keys(&p, "lllll");
	page = map_panes_cursor(&p.ui);
	paper_keys(&p, "j");
	map_panes_make(&q, &p.ui);
	CHECK_INT(map_panes_cursor(&p.ui), page + q.cells * map_panes_zoom(&p.ui, &q));
	paper_keys(&p, "k");
	CHECK_INT(map_panes_cursor(&p.ui), page);
	paper_keys(&p, "G");
	for (int i = 0; i < 100; i++)
		paper_keys(&p, "l");
	CHECK_INT(map_panes_cursor(&p.ui), map_panes_row(&p.ui)->pages - 1);
	paper_close(&p);
}

TEST(enter_and_digits_show_the_site)
{
	begin(30, 100);
	paper_keys(&p, "1");
	CHECK(ui_view(&p.ui) == view_table[VIEW_DETAIL]);
	CHECK_INT(p.ui.detail.site, 23);
	screen_key(&p.ui, KEY_ESC);
	CHECK(ui_view(&p.ui) == view_table[VIEW_MAP]);
	paper_keys(&p, "\r");
	CHECK_INT(p.ui.detail.site, 17);
	screen_key(&p.ui, KEY_ESC);
	paper_keys(&p, "9");
	paper_draw(&p);
	CHECK(paper_find(&p, "no call site has the number 9") >= 0);
	paper_keys(&p, "G\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "no live block here") >= 0);
	paper_close(&p);
}

TEST(pinning_sites_of_one_name_say_what_differs)
{
	alike[0] = 23, alike[1] = 18;
	paper_open(&p, 30, 100, false);
	p.source.tick = alike_tick;
	refresh_tick(&p.ui);
	screen_key(&p.ui, KEY_F(8));
	paper_draw(&p);
	CHECK(paper_find(&p, "open_one ‹make_shared<Conn>›") > 0);
	CHECK(paper_find(&p, "open_one ‹make_shared<Session>›") > 0);
	paper_close(&p);
	alike[0] = alike[1] = 0;
}

TEST(an_address_is_gone_to)
{
	char text[64];

	begin(30, 100);
	snprintf(text, sizeof(text), "a0x%llx\r",
		(unsigned long long)CANNEDMAP_ARENA + (64 << 20) + 5 * 4096 + 17);
	paper_keys(&p, text);
	paper_draw(&p);
	CHECK_INT(map_panes_row(&p.ui)->kind, MAP_ARENA);
	CHECK_INT(p.ui.map.cursor, CANNEDMAP_ARENA + (64 << 20) + 5 * 4096);
	CHECK_INT(p.ui.map.zoom, 1);
	/* As a line of maps begins; and a mapping without known pages. */
	snprintf(text, sizeof(text), "a%llx-%llx\r", (unsigned long long)CANNEDMAP_BRK,
		(unsigned long long)CANNEDMAP_BRK + 4096);
	paper_keys(&p, text);
	CHECK_INT(map_panes_row(&p.ui)->kind, MAP_BRK);
	CHECK_INT(p.ui.map.cursor, CANNEDMAP_BRK);
	paper_keys(&p, "a7ffc00001000\r");
	paper_draw(&p);
	CHECK_INT(map_panes_row(&p.ui)->kind, MAP_STACK);
	CHECK(paper_find(&p, "part 1 of 1: 7ffc00000000-7ffc00084000, 528.0k, 132.0k resident") >=
		0);
	paper_keys(&p, "a1234\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "no listed mapping contains the address 1234") >= 0);
	CHECK_INT(map_panes_row(&p.ui)->kind, MAP_STACK);
	paper_keys(&p, "azebra\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "\"zebra\" is not an address") >= 0);
	paper_close(&p);
}

TEST(parts_of_what_is_several_mappings)
{
	size_t parts = 1;

	begin(30, 100);
	for (int i = 0; i < 10 && map_panes_row(&p.ui)->spans < 2; i++)
		paper_keys(&p, "]");
	CHECK(map_panes_row(&p.ui)->spans >= 2);
	for (size_t i = 1; i < map_panes_row(&p.ui)->spans; i++) {
		const struct map_row *row = map_panes_row(&p.ui);
		const struct map_span *s = &p.ui.map.map->span[row->first_span + i];
		char text[64];

		paper_keys(&p, "}");
		paper_draw(&p);
		if (s->is_fine)
			CHECK_INT(p.ui.map.cursor, s->start);
		snprintf(text, sizeof(text), "part %zu of %zu: %llx-%llx", i + 1, row->spans,
			(unsigned long long)s->start, (unsigned long long)s->end);
		CHECK(paper_find(&p, text) >= 0);
		parts++;
	}
	CHECK_INT(parts, map_panes_row(&p.ui)->spans);
	paper_keys(&p, "}");
	paper_draw(&p);
	CHECK(paper_find(&p, "this is the last part") >= 0);
	paper_keys(&p, "{");
	paper_draw(&p);
	CHECK(paper_find(&p, ", part ") >= 0);
	paper_close(&p);
}

/* Names are cut by cells, not within a letter of two bytes. */
TEST(names_of_sites_are_cut_whole)
{
	static const struct frame frame = { .module = &canned_app,
		.function = "gro\303\237e_\303\204nderungs\303\274bersichts_verwaltung" };
	static const struct stack stack = { .frames = &frame, .nframes = 1, .resolved = true };
	struct snap_site *site;
	char name[MAP_PANES_NAME];

	paper_open(&p, 30, 100, false);
	p.canned.maps = true;
	refresh_tick(&p.ui);
	screen_key(&p.ui, KEY_F(8));
	for (int i = 0; i < 10 && map_panes_row(&p.ui)->kind != MAP_MAPPED; i++)
		paper_keys(&p, "]");
	site = (struct snap_site *)(uintptr_t)ui_any_site(&p.ui, 9001);
	site->stack = &stack;
	CHECK_STR(map_panes_name(&p.ui, map_panes_row(&p.ui), name),
		"mmap gro\303\237e_\303\204nderungs\303\274bersichts_verwa\342\200\246");
	p.canned.maps = false;
	paper_close(&p);
}

/* What the program mapped is named by its call site; Enter shows it, and so mapped memory. */
TEST(what_was_mapped_leads_to_its_site)
{
	paper_open(&p, 30, 100, false);
	p.canned.maps = true;
	refresh_tick(&p.ui);
	screen_key(&p.ui, KEY_F(8));
	for (int i = 0; i < 10 && map_panes_row(&p.ui)->kind != MAP_MAPPED; i++)
		paper_keys(&p, "]");
	CHECK_INT(map_panes_row(&p.ui)->site, 9001);
	paper_draw(&p);
	CHECK(paper_find(&p, ">mmap ") >= 0);
	CHECK(paper_find(&p, "+ mapped 4.0M") >= 0 && paper_find(&p, "+ anon 1.0M") >= 0);
	paper_keys(&p, "\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "Site detail") >= 0);
	CHECK_INT(p.ui.sites.chosen, 9001);
	CHECK_INT(p.ui.kinds, KINDS_BOTH);
	CHECK(paper_find(&p, "the heap and mapped memory are shown now (M)") >= 0);
	/* Whichever kinds are shown, blocks have the names of their sites. */
	paper_keys(&p, "\177MMM");
	for (int i = 0; i < 3 && p.ui.kinds != KINDS_MAPPED; i++)
		paper_keys(&p, "M");
	paper_draw(&p);
	CHECK_INT(p.ui.kinds, KINDS_MAPPED);
	CHECK(paper_find(&p, "PINNED PAGES") >= 0 && paper_find(&p, "not known yet") < 0);
	p.canned.maps = false;
	paper_close(&p);
}

/* What has no pages to show is opened into its mappings; right and left choose one of them. */
TEST(parts_without_pages_are_listed)
{
	int y;

	begin(30, 100);
	for (int i = 0; i < 10 && map_panes_row(&p.ui)->kind != MAP_OTHER; i++)
		paper_keys(&p, "]");
	CHECK_INT(map_panes_row(&p.ui)->spans, 2);
	paper_draw(&p);
	y = paper_find(&p, "4.0M resident");
	CHECK(y > 0 && paper_line(&p, y)[0] == '>');
	CHECK_INT(paper_find(&p, "1.0M resident"), y + 1);
	screen_key(&p.ui, KEY_RIGHT);
	paper_draw(&p);
	CHECK(paper_line(&p, y + 1)[0] == '>');
	CHECK(paper_find(&p, "part 2 of 2") >= 0);
	screen_key(&p.ui, KEY_LEFT);
	paper_draw(&p);
	CHECK(paper_line(&p, y)[0] == '>');
	paper_close(&p);
}

TEST(clicks)
{
	struct map_panes q;

	begin(30, 100);
	map_panes_make(&q, &p.ui);
	screen_mouse(&p.ui, SCREEN_CLICK, q.rows_y + 2, 5);
	CHECK_INT(p.ui.map.row, 2);
	screen_mouse(&p.ui, SCREEN_CLICK, q.rows_y, 5);
	CHECK_INT(p.ui.map.row, 0);
	map_panes_make(&q, &p.ui);
	screen_mouse(&p.ui, SCREEN_CLICK, q.grid_y + 1, MAP_PANES_ADDRESS + 3);
	CHECK_INT(map_panes_cursor(&p.ui), (q.cells + 3) * map_panes_zoom(&p.ui, &q));
	screen_mouse(&p.ui, SCREEN_CLICK, q.pins_y + 1, 40);
	CHECK_INT(p.ui.detail.site, 18);
	paper_close(&p);
}

TEST(what_cannot_be_had_says_why)
{
	begin(24, 80);
	p.ui.map.map->account.known = false;
	p.ui.map.map->account.why = "the process is gone";
	paper_draw(&p);
	CHECK(paper_find(&p, "the process is gone") >= 0);
	CHECK(paper_find(&p, "RSS ") < 0);
	paper_close(&p);
}

TEST(a_map_without_process_says_why)
{
	paper_open(&p, 24, 80, false);
	p.source.map = NULL;
	p.source.no_map.why = "The process is gone.";
	refresh_tick(&p.ui);
	screen_key(&p.ui, KEY_F(8));
	paper_draw(&p);
	CHECK(ui_view(&p.ui) == view_table[VIEW_MAP]);
	CHECK(paper_find(&p, "The process is gone.") >= 0);
	CHECK(paper_find(&p, "[Map]") >= 0);
	screen_key(&p.ui, KEY_ESC);
	CHECK(ui_view(&p.ui) == view_table[VIEW_SITES]);
	paper_close(&p);
}

TEST(steady_frames_are_small)
{
	long before;

	begin(30, 100);
	before = paper_bytes(&p);
	for (int i = 0; i < 10; i++) {
		refresh_tick(&p.ui);
		paper_draw(&p);
	}
	CHECK((paper_bytes(&p) - before) / 10 <= 1024);
	paper_close(&p);
}

int main(void)
{
	RUN(panes_are_inside_at_every_size);
	RUN(the_sum_is_whole_or_says_that_it_is_not);
	RUN(rss_is_the_sum_of_its_parts);
	RUN(names_keep_their_ends);
	RUN(how_old_it_is_is_said);
	RUN(row_and_page_stay_what_they_are);
	RUN(frozen_it_stays);
	RUN(another_image_has_another_map);
	RUN(zoom_keeps_the_page);
	RUN(down_keeps_the_column_and_ends_at_the_end);
	RUN(enter_and_digits_show_the_site);
	RUN(pinning_sites_of_one_name_say_what_differs);
	RUN(an_address_is_gone_to);
	RUN(parts_of_what_is_several_mappings);
	RUN(what_was_mapped_leads_to_its_site);
	RUN(names_of_sites_are_cut_whole);
	RUN(parts_without_pages_are_listed);
	RUN(clicks);
	RUN(what_cannot_be_had_says_why);
	RUN(a_map_without_process_says_why);
	RUN(steady_frames_are_small);
	return check_end();
}
