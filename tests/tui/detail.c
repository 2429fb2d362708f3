/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The site detail: the frame under the cursor, its source, and what is copied. */
#include "tests/check.h"
#include "tests/tui/alike.h"
#include "tests/tui/paper.h"
#include "tui/clipboard.h"
#include "tui/detail_source.h"

static struct paper p;

/* In the detail of cache::Shard::insert, which is named by its third frame. */
static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
	paper_keys(&p, "j\r");
	paper_draw(&p);
	CHECK_INT(p.ui.detail.site, 17);
}

static uint32_t frame(void)
{
	return detail_source_frame(&p.ui, ui_site(&p.ui, p.ui.detail.site));
}

TEST(the_source_of_the_frame_under_the_cursor)
{
	static const int sizes[][2] = { { 24, 80 }, { 30, 100 }, { 60, 200 } };

	for (int i = 0; i < 3; i++) {
		begin(sizes[i][0], sizes[i][1]);
		CHECK(paper_find(&p, "SOURCE /src/cache.cc:214 ") > 0);
		CHECK(paper_find(&p, "   214 ►         auto [pos, ok]") > 0);
		CHECK_INT(frame(), 2);
		paper_keys(&p, "j");
		paper_draw(&p);
		CHECK_INT(frame(), 3);
		CHECK(paper_find(&p, "    97 ►         shard(key)") > 0);
		CHECK(paper_find(&p, "frame 3 of 7") > 0);
		paper_keys(&p, "j");
		paper_draw(&p);
		CHECK(paper_find(&p, "/src/ev.cc is not here; --source-path DIR") > 0);
		paper_keys(&p, "kkkk");
		paper_draw(&p);
		CHECK_INT(frame(), 0);
		CHECK(paper_find(&p, "libstdc++.so.6 has no debug information for this") > 0);
		paper_close(&p);
	}
}

/* On a small screen there is the line alone, and on the smallest not even that. */
TEST(on_a_small_screen_it_is_one_line)
{
	begin(18, 80);
	CHECK(paper_find(&p, "   214 ►") == paper_find(&p, "SOURCE") + 1);
	CHECK_INT(paper_find(&p, "   213"), -1);
	/* The stack goes before it. */
	paper_resize(&p, 12, 40);
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "STACK, 7 frames") > 0 && paper_find(&p, "operator new(…)") > 0);
	CHECK_INT(paper_find(&p, "SOURCE"), -1);
	paper_resize(&p, 8, 40);
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK_INT(paper_find(&p, "SOURCE"), -1);
	paper_close(&p);
}

TEST(a_file_that_is_late_or_newer)
{
	begin(30, 100);
	p.canned.source_is_late = true;
	paper_draw(&p);
	CHECK(paper_find(&p, "looking for /src/cache.cc") > 0);
	p.canned.source_is_late = false;
	p.canned.source_is_newer = true;
	paper_draw(&p);
	CHECK(paper_find(&p, "SOURCE /src/cache.cc:214, source newer than the object file") > 0);
	paper_close(&p);
}

/* It stays the same when names come in and frames with them, and in recursion. */
TEST(a_frame_is_followed)
{
	static const struct frame early[] = { { .pc = 1, .module = &canned_app },
		{ .pc = 5, .module = &canned_app }, { .pc = 5, .module = &canned_app },
		{ .pc = 9, .module = &canned_app } };
	static const struct frame later[] = { { .module = &canned_app, .inlined = true },
		{ .pc = 1, .module = &canned_app }, { .pc = 5, .module = &canned_app },
		{ .module = &canned_app, .inlined = true },
		{ .module = &canned_app, .inlined = true }, { .pc = 5, .module = &canned_app },
		{ .pc = 9, .module = &canned_app } };
	struct stack before = { .frames = early, .nframes = 4 };
	struct stack after = { .frames = later, .nframes = 7, .title = 6 };
	struct snap_site site = { .stack = &before };

	begin(30, 100);
	for (uint32_t i = 0; i < 4; i++) {
		static const uint32_t now[] = { 1, 2, 5, 6 };

		site.stack = &before;
		detail_source_choose_frame(&p.ui, &site, i);
		CHECK_INT(detail_source_frame(&p.ui, &site), i);
		site.stack = &after;
		CHECK_INT(detail_source_frame(&p.ui, &site), now[i]);
	}
	for (uint32_t i = 0; i < 7; i++) {
		detail_source_choose_frame(&p.ui, &site, i);
		CHECK_INT(detail_source_frame(&p.ui, &site), i);
	}
	p.ui.detail.frame.chosen = false;
	CHECK_INT(detail_source_frame(&p.ui, &site), 6);
	paper_close(&p);
}

TEST(found_clicked_and_the_next_site_begins_anew)
{
	begin(30, 100);
	paper_keys(&p, "/main\r");
	CHECK_INT(frame(), 5);
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_BODY] + 3 + 2 + 1, 10);
	CHECK_INT(frame(), 1);
	/* A click beside it, on the rule and far below mean nothing worse. */
	for (int y = 0; y < 30; y++)
		screen_mouse(&p.ui, SCREEN_CLICK, y, 90);
	paper_keys(&p, "\r");
	begin(30, 100);
	paper_keys(&p, "j]");
	CHECK_INT(p.ui.detail.site, 18);
	CHECK_INT(frame(), 0);
	paper_close(&p);
}

/* All sections are reached at every size, and nothing is drawn twice. */
TEST(every_section_is_somewhere)
{
	for (int h = 8; h < 70; h += 3) {
		for (int w = 40; w < 220; w += 30) {
			bool size = false, life = false, source = false;

			begin(h, w);
			for (int i = 0; i < 60; i++) {
				size |= paper_find(&p, "BLOCK SIZE") > 0;
				life |= paper_find(&p, "LIFETIME") > 0;
				source |= paper_find(&p, "SOURCE") > 0;
				paper_keys(&p, "j");
				paper_draw(&p);
			}
			CHECK(size && life);
			CHECK_INT(source, h >= 14);
			paper_close(&p);
		}
	}
}

/* A heading, and that of columns, stands where something follows. */
TEST(no_heading_stands_alone)
{
	static const int widths[] = { 80, 95, 100, 140, 200 };
	unsigned seen = 0;

	for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++)
		for (int height = 12; height < 60; height++) {
			begin(height, widths[w]);
			refresh_tick(&p.ui);
			paper_draw(&p);
			for (int y = p.ui.layout.y[ROW_BODY]; y < p.ui.layout.y[ROW_STATUS]; y++) {
				const char *rule = "\u2500 ";
				bool heads =
					strncmp(paper_line(&p, y), rule, 4) == 0 ||
					strncmp(paper_line(&p, y), "     live   share", 17) == 0;
				bool ends = strncmp(paper_line(&p, y + 1), rule, 4) == 0 ||
					    y + 1 == p.ui.layout.y[ROW_STATUS];

				CHECK(!heads || !ends);
				seen += heads;
			}
			paper_close(&p);
		}
	CHECK(seen > 100);
}

TEST(ages_and_threads)
{
	begin(60, 200);
	CHECK(paper_find(&p, "AGE: share still alive") > 0);
	CHECK(strstr(paper_line(&p, paper_find(&p, "≤2.0s old")), " 80.0%      160 of    200"));
	CHECK(strstr(paper_line(&p, paper_find(&p, "16s - 1m30s")), "20.0%    1,480 of  7,400"));
	CHECK(strstr(paper_line(&p, paper_find(&p, "before heaptop")), " nothing"));
	CHECK(strstr(paper_line(&p, paper_find(&p, "parser 4212")),
		"29.6M   31.8%     39.1M       100"));
	CHECK(strstr(paper_line(&p, paper_find(&p, "writer 4213")), "88,000"));
	CHECK(paper_find(&p, "and 3 more that allocated less") > 0);
	paper_close(&p);
	/* Where there is less room, fewer numbers, and none over another. */
	begin(70, 100);
	CHECK(strstr(paper_line(&p, paper_find(&p, "16s - 1m30s")), "20.0% of  7,400"));
	CHECK(strstr(paper_line(&p, paper_find(&p, "parser 4212")), "29.6M   31.8% parser"));
	paper_close(&p);
}

/* All of them call ev::Loop::run from main, but only the shard's calls it from Cache::put. */
/* The row of the site after the one shown, in the site table. */
static uint32_t next_in_table(void)
{
	const struct sites_state *st = &p.ui.sites;

	for (size_t i = 0; i + 1 < st->list.count; i++)
		if (st->ids[i] == p.ui.detail.site)
			return st->ids[i + 1];
	return 0;
}

TEST(the_next_site_is_that_after_the_one_shown)
{
	uint32_t first, next;

	/* Opened from the first row, which another site takes later. */
	paper_open(&p, 40, 120, false);
	refresh_tick(&p.ui);
	paper_keys(&p, "\r");
	first = p.ui.detail.site;
	for (int i = 0; i < 60 && p.ui.sites.ids[0] == first; i++)
		refresh_tick(&p.ui);
	CHECK(p.ui.detail.site == first && p.ui.sites.ids[0] != first);
	next = next_in_table();
	paper_keys(&p, "]");
	CHECK_INT(p.ui.detail.site, next);
	paper_keys(&p, "[");
	CHECK_INT(p.ui.detail.site, first);
	/* Opened from a leak, while the table's cursor is elsewhere. */
	paper_keys(&p, "L");
	cannedleaks_end(&p.canned.leaks, p.canned.seconds * CANNED_S);
	refresh_tick(&p.ui);
	paper_keys(&p, "jj\r\r");
	CHECK_INT(p.ui.detail.site, 26);
	next = next_in_table();
	paper_keys(&p, "]");
	CHECK(next && p.ui.detail.site == next);
	paper_close(&p);
}

TEST(siblings_are_gone_to)
{
	begin(60, 200);
	CHECK(paper_find(&p, "SIBLINGS through the call in cache::Cache::put") > 0);
	CHECK(paper_find(&p, "no other site is reached through this call") > 0);
	paper_keys(&p, "]");
	paper_draw(&p);
	CHECK(paper_find(&p, "SIBLINGS through the call in ev::Loop::run()") > 0);
	CHECK(paper_find(&p, "2,316 in all") > 0 || paper_find(&p, "2316 in all") > 0);
	CHECK(strstr(paper_line(&p, paper_find(&p, " site 20 ")), "124.9M"));
	paper_keys(&p, "\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "Enter opens a sibling") > 0);
	paper_keys(&p, "Gk\r"); /* the last that is named */
	CHECK(p.ui.detail.site != 18);
	CHECK_INT(p.ui.sites.selected, p.ui.detail.site);
	CHECK_INT(frame(), ui_site(&p.ui, p.ui.detail.site)->stack->title);
	paper_close(&p);
}

TEST(siblings_of_one_name_say_what_differs)
{
	alike[0] = 20, alike[1] = 18;
	paper_open(&p, 60, 200, false);
	p.source.tick = alike_tick;
	refresh_tick(&p.ui);
	paper_keys(&p, "j\r]]");
	paper_draw(&p);
	CHECK_INT(p.ui.detail.site, 21);
	CHECK(paper_find(&p, "open_one ‹make_shared<Conn>›") > 0);
	CHECK(paper_find(&p, "open_one ‹make_shared<Session>›") > 0);
	paper_close(&p);
	alike[0] = alike[1] = 0;
}

/* ---- keys --------------------------------------------------------------------------------- */

TEST(e_asks_for_the_editor_at_the_line)
{
	begin(30, 100);
	paper_keys(&p, "e");
	paper_draw(&p);
	CHECK(paper_find(&p, "no terminal for an editor") > 0);
	p.ui.has_terminal = true;
	paper_keys(&p, "e");
	paper_draw(&p);
	CHECK(paper_find(&p, "no editor: set VISUAL or EDITOR") > 0);
	p.ui.editor = "vi";
	paper_keys(&p, "e");
	CHECK_INT(p.ui.edit_line, 214);
	CHECK_STR(p.ui.edit_path, "/src/cache.cc");
	p.ui.edit_line = 0;
	paper_keys(&p, "jje");
	paper_draw(&p);
	CHECK(paper_find(&p, "/src/ev.cc is not here") == p.ui.layout.y[ROW_MESSAGE] ||
		strstr(paper_line(&p, p.ui.layout.y[ROW_MESSAGE]), "ev.cc is not here"));
	CHECK_INT(p.ui.edit_line, 0);
	p.ui.options.readonly = true;
	paper_keys(&p, "kke");
	paper_draw(&p);
	CHECK(paper_find(&p, "e is refused") > 0);
	CHECK_INT(p.ui.edit_line, 0);
	paper_close(&p);
}

TEST(y_copies_the_stack)
{
	begin(30, 100);
	paper_keys(&p, "y");
	paper_draw(&p);
	CHECK(paper_find(&p, "not copied: no terminal to copy to") > 0);
	p.ui.has_terminal = true;
	unsetenv("TMUX");
	setenv("TERM", "linux", 1);
	paper_keys(&p, "y");
	paper_draw(&p);
	CHECK(paper_find(&p, "not copied: this terminal type (TERM) has no clipboard") > 0);
	setenv("TERM", "xterm-256color", 1);
	paper_keys(&p, "yy");
	paper_draw(&p);
	CHECK(paper_find(&p, "7 frames of site 17, ") > 0);
	CHECK(p.ui.clipboard.len > 0);
	CHECK(!strncmp(p.ui.clipboard.data, "\033]52;c;c2l0ZSAxNzog", 19)); /* "site 17: " */
	CHECK(!strstr(p.ui.clipboard.data + 1, "\033"));
	CHECK_INT(p.ui.clipboard.data[p.ui.clipboard.len - 1], '\a');
	paper_close(&p);
}

TEST(what_is_copied)
{
	struct snap_site site = { .id = 3,
		.alloc_function = "malloc",
		.live_bytes = 10,
		.live_blocks = 2,
		.stack = &canned_rows[0].stack };
	struct strbuf out = STRBUF_INIT;
	struct clipboard_result r = clipboard_text(&out, &site);

	CHECK_INT(r.frames, 7);
	CHECK_INT(r.bytes, out.len);
	CHECK(strstr(out.data, "site 3: malloc, 10 bytes live in 2 blocks\n") == out.data);
	CHECK(strstr(out.data, "\n#0   operator new(unsigned long) in /lib/libstdc++.so.6\n"));
	CHECK(strstr(out.data,
		"::_M_insert(std::string const&) (inlined) at /usr/include/c++/12/bits/"
		"hashtable.h:2151\n"));
	CHECK(strstr(out.data, "\n#4   ev::Loop::run() at /src/ev.cc:71\n"));
	strbuf_reset(&out);
	/* tmux: once as it is, once wrapped, with each escape doubled. */
	clipboard_encode(&out, &site, CLIPBOARD_TMUX);
	CHECK(strstr(out.data, "\a\033Ptmux;\033\033]52;c;c2l0"));
	CHECK(!strcmp(out.data + out.len - 3, "\a\033\\"));
	strbuf_free(&out);
}

TEST(what_is_copied_is_bounded)
{
	static struct frame many[2000];
	struct stack st = { .frames = many, .nframes = 2000 };
	struct snap_site site = { .alloc_function = "malloc", .stack = &st };
	struct strbuf out = STRBUF_INIT;
	struct clipboard_result r;

	for (int i = 0; i < 2000; i++)
		many[i] = (struct frame){ .pc = 1,
			.module = &canned_app,
			.function = "a::rather<long>::name(of a function, with arguments)" };
	r = clipboard_encode(&out, &site, CLIPBOARD_TERMINAL);
	CHECK(r.frames > 100 && r.frames < 2000);
	CHECK(r.bytes <= CLIPBOARD_BYTES_MAX && out.len <= CLIPBOARD_BYTES_MAX / 3 * 4 + 16);
	strbuf_free(&out);
}

TEST(who_has_a_clipboard)
{
	CHECK(!clipboard_unsupported("xterm-256color") && !clipboard_unsupported("foot"));
	CHECK(!clipboard_unsupported("screen-256color") && clipboard_unsupported("linux"));
	CHECK(clipboard_unsupported("vt100") && clipboard_unsupported("dumb"));
	CHECK(clipboard_unsupported(NULL) && clipboard_unsupported(""));
	CHECK_INT(clipboard_target("xterm-256color", NULL), CLIPBOARD_TERMINAL);
	CHECK_INT(clipboard_target("screen-256color", "/tmp/tmux-0/default,1,0"), CLIPBOARD_TMUX);
	CHECK_INT(clipboard_target("screen", NULL), CLIPBOARD_SCREEN);
}

/* What GNU screen hands on, without what it is wrapped in, is the plain sequence. */
TEST(screen_gets_it_in_pieces)
{
	struct snap_site site = { .alloc_function = "malloc", .stack = &canned_rows[0].stack };
	struct strbuf plain = STRBUF_INIT, wrapped = STRBUF_INIT, joined = STRBUF_INIT;
	unsigned pieces = 0;

	clipboard_encode(&plain, &site, CLIPBOARD_TERMINAL);
	clipboard_encode(&wrapped, &site, CLIPBOARD_SCREEN);
	for (const char *at = wrapped.data, *end; *at; at = end + 2, pieces++) {
		CHECK(!strncmp(at, "\033P", 2));
		end = strstr(at + 2, "\033\\");
		CHECK(end && end - at < 700);
		strbuf_add(&joined, at + 2, (size_t)(end - at - 2));
	}
	CHECK(pieces > 1);
	CHECK_STR(joined.data, plain.data);
	strbuf_free(&plain);
	strbuf_free(&wrapped);
	strbuf_free(&joined);
}

/* Names scroll sideways up to an end, and 0 leads back at once. */
TEST(names_stay_at_their_end)
{
	unsigned end;

	begin(30, 100);
	for (int i = 0; i < 600; i++)
		paper_keys(&p, "l");
	end = p.ui.detail.shift;
	CHECK(end >= 1000);
	paper_keys(&p, "l");
	CHECK_INT(p.ui.detail.shift, end);
	paper_keys(&p, "h");
	CHECK_INT(p.ui.detail.shift, end - 8);
	paper_keys(&p, "0");
	CHECK_INT(p.ui.detail.shift, 0);
	paper_close(&p);
}

int main(void)
{
	RUN(the_source_of_the_frame_under_the_cursor);
	RUN(on_a_small_screen_it_is_one_line);
	RUN(a_file_that_is_late_or_newer);
	RUN(a_frame_is_followed);
	RUN(found_clicked_and_the_next_site_begins_anew);
	RUN(every_section_is_somewhere);
	RUN(no_heading_stands_alone);
	RUN(ages_and_threads);
	RUN(the_next_site_is_that_after_the_one_shown);
	RUN(siblings_are_gone_to);
	RUN(siblings_of_one_name_say_what_differs);
	RUN(names_stay_at_their_end);
	RUN(e_asks_for_the_editor_at_the_line);
	RUN(y_copies_the_stack);
	RUN(what_is_copied);
	RUN(what_is_copied_is_bounded);
	RUN(who_has_a_clipboard);
	RUN(screen_gets_it_in_pieces);
	return check_end();
}
