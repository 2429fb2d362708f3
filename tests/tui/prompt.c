/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions in the message line: how an answer is edited, which keys they refuse and how they say
 * so; and messages that need more lines than one.
 */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/find.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

TEST(prompt_takes_every_key)
{
	begin(30, 100);
	paper_keys(&p, "dq1");
	CHECK(!p.ui.quit);
	CHECK_INT(p.ui.sort, COL_LIVE);
	paper_keys(&p, "\025"
		       "250msx\b\r");
	CHECK_INT(p.ui.options.delay_ns, 250000000);
	CHECK(p.ui.delay_changed);
	paper_keys(&p, "d99h\r");
	CHECK_INT(p.ui.options.delay_ns, 250000000);
	paper_draw(&p);
	CHECK(paper_find(&p, "is not a time") >= 0);
	paper_keys(&p, "d5\033");
	CHECK(!p.ui.prompt.open);
	CHECK_INT(p.ui.options.delay_ns, 250000000);
	paper_close(&p);
}

static void type_keys(const int *keys)
{
	while (*keys)
		screen_key(&p.ui, *keys++);
}

/* As in htop and less: the cursor moves in the answer, and what follows stays. */
TEST(an_answer_is_edited)
{
	static const int fix[] = { KEY_HOME, KEY_RIGHT, KEY_DC, 'b', KEY_END, 'd', KEY_LEFT,
		KEY_BACKSPACE, 'c', 0 };
	static const int ends[] = { KEY_CTRL('a'), 'x', KEY_CTRL('e'), KEY_CTRL('b'), KEY_CTRL('f'),
		'y', 0 };
	static const int cut[] = { KEY_HOME, KEY_CTRL('d'), KEY_RIGHT, KEY_CTRL('k'), 0 };

	begin(30, 100);
	paper_keys(&p, "/a1c");
	type_keys(fix);
	CHECK_STR(p.ui.prompt.text, "abcd");
	type_keys(ends);
	CHECK_STR(p.ui.prompt.text, "xabcdy");
	type_keys(cut);
	CHECK_STR(p.ui.prompt.text, "a");
	paper_keys(&p, "\025one two three");
	type_keys((int[]){ KEY_LEFT, KEY_LEFT, KEY_LEFT, KEY_LEFT, KEY_LEFT, KEY_CTRL('w'), 0 });
	CHECK_STR(p.ui.prompt.text, "one three");
	paper_draw(&p);
	CHECK(paper_find(&p, "find: one three") >= 0);
	paper_close(&p);
}

/* A long answer is seen around the cursor, at its beginning, too; and its end is said. */
TEST(a_long_answer_is_seen_at_the_cursor)
{
	begin(12, 40);
	paper_keys(&p, "/");
	for (int i = 0; i < 60; i++)
		paper_keys(&p, i ? "x" : "a");
	paper_keys(&p, "z");
	paper_draw(&p);
	CHECK(paper_find(&p, "xz") >= 0);
	CHECK_INT(paper_find(&p, "find: a"), -1);
	screen_key(&p.ui, KEY_HOME);
	paper_draw(&p);
	CHECK(paper_find(&p, "find: ax") >= 0);
	screen_key(&p.ui, KEY_END);
	for (int i = 0; i < 200; i++)
		paper_keys(&p, "y");
	CHECK_INT(p.ui.prompt.len, PROMPT_TEXT_MAX - 1);
	paper_draw(&p);
	CHECK(paper_find(&p, "at most 127 characters") >= 0);
	paper_close(&p);
}

/* A filter from the command line may have characters of several bytes, and of two cells. */
TEST(other_characters_are_edited_whole)
{
	begin(24, 80);
	CHECK_INT(find_filter_set(&p.ui, "größe 中x"), 0);
	type_keys((int[]){ KEY_F(4), KEY_LEFT, KEY_LEFT, KEY_LEFT, KEY_LEFT, KEY_BACKSPACE, 0 });
	CHECK_STR(p.ui.prompt.text, "gröe 中x");
	type_keys((int[]){ KEY_LEFT, KEY_DC, 'o', KEY_RIGHT, KEY_RIGHT, 0 });
	CHECK_STR(p.ui.prompt.text, "groe 中x");
	CHECK_INT(p.ui.prompt.at, strlen("groe "));
	paper_draw(&p);
	CHECK(paper_find(&p, "show only: groe 中x") >= 0);
	type_keys((int[]){ KEY_DC, KEY_BACKSPACE, KEY_BACKSPACE, '\r', 0 });
	CHECK_STR(filter_text(p.ui.filter), "grox");
	paper_close(&p);
}

static bool is_cursor(int y, int x)
{
	cchar_t c;
	wchar_t text[CCHARW_MAX];
	attr_t attributes;
	short pair;

	mvin_wch(y, x, &c);
	getcchar(&c, text, &attributes, &pair, NULL);
	return pair != 0;
}

/* The cursor is counted in cells. */
TEST(the_cursor_is_on_its_character)
{
	int y, x = 1 + (int)strlen("show only: ");

	begin(24, 40);
	CHECK_INT(find_filter_set(&p.ui, "ö中中x"), 0);
	type_keys((int[]){ KEY_F(4), 0 });
	paper_draw(&p);
	y = p.ui.layout.y[ROW_MESSAGE];
	CHECK(is_cursor(y, x + 6) && !is_cursor(y, x + 5) && !is_cursor(y, x + 7));
	type_keys((int[]){ KEY_LEFT, KEY_LEFT, 0 });
	paper_draw(&p);
	CHECK(is_cursor(y, x + 3) && !is_cursor(y, x + 2) && !is_cursor(y, x + 5));
	/* Up to the last cell of the line, and beyond it. */
	for (int i = 0; i < 15; i++)
		type_keys((int[]){ 'a', 0 });
	CHECK_INT(p.ui.prompt.at, strlen("ö中") + 15);
	paper_draw(&p);
	CHECK(paper_find(&p, "show only: ö中aaaaaaaaaaaaaaa中x") >= 0);
	for (int i = 0; i < 15; i++)
		type_keys((int[]){ KEY_RIGHT, 'b', 0 });
	paper_draw(&p);
	CHECK(is_cursor(y, 39) && !is_cursor(y, 38));
	CHECK(paper_find(&p, "show only: aaaaaa") >= 0);
	paper_close(&p);
}

/* However long the question is and narrow the screen: the answer is seen, and what was cut off the
 * question. */
TEST(a_long_question_leaves_room_for_the_answer)
{
	for (int width = 40; width <= 80; width++) {
		char *line;

		begin(24, width);
		paper_keys(&p, "r1234567");
		paper_draw(&p);
		line = strstr(paper_line(&p, p.ui.layout.y[ROW_MESSAGE]), "record exact, auto");
		CHECK(line && strstr(line, " 1234567"));
		CHECK(line && (strstr(line, "(512K):") || strstr(line, "… 1234567")));
		paper_close(&p);
	}
}

/* Every question: a key that it has no use for says so and leaves the answer alone, on small
 * screens, too; F10 leaves it, and no key below it works meanwhile. */
TEST(a_question_names_the_keys_that_it_refuses)
{
	static const char openers[] = { 'd', '/', '\\', 'm', 'r' };
	static const int sizes[][2] = { { 12, 40 }, { 24, 80 }, { 30, 100 } };
	static const int refused[] = { KEY_F(1), KEY_F(2), KEY_F(5), KEY_F(9), KEY_UP, KEY_PPAGE,
		'\t', KEY_CTRL('l'), KEY_CTRL('@') };

	for (size_t i = 0; i < sizeof(openers); i++) {
		begin(sizes[i % 3][0], sizes[i % 3][1]);
		screen_key(&p.ui, openers[i]);
		CHECK(p.ui.prompt.open);
		paper_keys(&p, "7k");
		for (size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); k++) {
			screen_key(&p.ui, refused[k]);
			CHECK(strstr(p.ui.message, "does nothing in a question") != NULL);
			paper_draw(&p);
			CHECK(paper_find(&p, "does nothing in a") >= 0);
			CHECK_STR(p.ui.prompt.text, "7k");
		}
		CHECK(paper_find(&p, "EscCancel") >= 0);
		CHECK_INT(paper_find(&p, "F2Setup"), -1);
		screen_key(&p.ui, KEY_F(10));
		CHECK(!p.ui.prompt.open && !p.ui.quit);
		CHECK_INT(p.ui.depth, 1);
		paper_close(&p);
	}
}

/* The key that opened a search or a filter answers it, as in htop. */
TEST(the_same_key_answers)
{
	begin(30, 100);
	screen_key(&p.ui, KEY_F(4));
	paper_keys(&p, "json");
	screen_key(&p.ui, KEY_F(3));
	CHECK(p.ui.prompt.open);
	screen_key(&p.ui, KEY_F(4));
	CHECK(!p.ui.prompt.open && p.ui.filter);
	paper_keys(&p, "\033");
	screen_key(&p.ui, KEY_F(3));
	paper_keys(&p, "parse");
	screen_key(&p.ui, KEY_F(3));
	CHECK(!p.ui.prompt.open && p.ui.find);
	paper_close(&p);
}

/* A message that needs more than a line takes those of the hints and of the bar; what is still too
 * long ends in an ellipsis, and the next key gives the lines back. */
TEST(a_long_message_takes_more_lines)
{
	static const int sizes[][2] = { { 12, 40 }, { 20, 60 }, { 24, 80 }, { 30, 100 } };

	for (size_t i = 0; i < 4; i++) {
		int hint, last;

		begin(sizes[i][0], sizes[i][1]);
		hint = p.ui.layout.y[ROW_HINT];
		last = p.ui.layout.y[ROW_BAR];
		ui_message(&p.ui, "the first of several words stand here, and at the very end "
				  "the LAST");
		paper_draw(&p);
		CHECK(paper_find(&p, "the first of several") ==
			(hint >= 0 && sizes[i][1] < 70 ? hint : p.ui.layout.y[ROW_MESSAGE]));
		CHECK(paper_find(&p, "LAST") > 0);
		memset(p.ui.message, 'x', 400);
		p.ui.message[400] = 0;
		paper_draw(&p);
		CHECK(strstr(paper_line(&p, last), "F10/q") == NULL);
		paper_keys(&p, "j");
		paper_draw(&p);
		CHECK(strstr(paper_line(&p, last), "F10/q") != NULL);
		paper_close(&p);
	}
}

int main(void)
{
	RUN(prompt_takes_every_key);
	RUN(an_answer_is_edited);
	RUN(a_long_answer_is_seen_at_the_cursor);
	RUN(other_characters_are_edited_whole);
	RUN(the_cursor_is_on_its_character);
	RUN(a_long_question_leaves_room_for_the_answer);
	RUN(a_question_names_the_keys_that_it_refuses);
	RUN(the_same_key_answers);
	RUN(a_long_message_takes_more_lines);
	return check_end();
}
