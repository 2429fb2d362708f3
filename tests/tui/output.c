/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view Output: the program's terminal, its scrollback, and the keyboard that it is lent. */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/view_output.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

TEST(output_follows_its_end)
{
	begin(30, 100);
	ui_tab(&p.ui, VIEW_OUTPUT);
	paper_draw(&p);
	CHECK(paper_find(&p, "line 299:") >= 0);
	p.canned.lines = 400;
	paper_draw(&p);
	CHECK(paper_find(&p, "line 399:") >= 0);
	paper_keys(&p, "k");
	p.canned.lines = 500;
	paper_draw(&p);
	CHECK_INT(paper_find(&p, "line 499:"), -1);
	CHECK(paper_find(&p, "line 398:") >= 0);
	paper_keys(&p, "G");
	p.canned.lines = 501;
	paper_draw(&p);
	CHECK(paper_find(&p, "line 500:") >= 0);
	CHECK_INT(p.canned.cols, 100);
	CHECK_INT(p.canned.rows, p.ui.layout.body_height);
	paper_close(&p);
}

/* Once as many lines are kept as can be, the oldest make room for new ones. */
TEST(what_is_read_stays_where_it_is)
{
	char top[256];

	begin(30, 100);
	ui_tab(&p.ui, VIEW_OUTPUT);
	paper_keys(&p, "kkkkkkkkkk");
	paper_draw(&p);
	snprintf(top, sizeof(top), "%s", paper_line(&p, p.ui.layout.y[ROW_BODY]));
	p.canned.lines_dropped += 100;
	paper_draw(&p);
	CHECK_STR(paper_line(&p, p.ui.layout.y[ROW_BODY]), top);
	/* Its own lines go at last. */
	p.canned.lines_dropped += 1000;
	paper_draw(&p);
	CHECK(strncmp(paper_line(&p, p.ui.layout.y[ROW_BODY]), "line 1100:", 10) == 0);
	paper_keys(&p, "G");
	p.canned.lines_dropped += 7;
	paper_draw(&p);
	CHECK(paper_find(&p, "line 1406:") >= 0);
	paper_close(&p);
}

/* Then every key is the program's, but the one that takes the keyboard back; twice, that goes to
 * it, too. */
TEST(the_program_has_the_keyboard)
{
	int y, x;

	begin(30, 100);
	ui_tab(&p.ui, VIEW_OUTPUT);
	paper_keys(&p, "\rq");
	screen_key(&p.ui, KEY_UP);
	paper_draw(&p);
	CHECK_STR(p.canned.typed, "q<0>");
	CHECK(!p.ui.quit);
	CHECK(paper_find(&p, "the keyboard is the program's") >= 0);
	CHECK_INT(paper_find(&p, "F10"), -1);
	CHECK(view_output_cursor(&p.ui, &y, &x));
	CHECK_INT(y, paper_find(&p, "line 299:"));
	CHECK_INT(x, 7);
	paper_keys(&p, "\035");
	paper_draw(&p);
	CHECK(paper_find(&p, "following the end") >= 0);
	CHECK(!view_output_cursor(&p.ui, &y, &x));
	CHECK_STR(p.canned.typed, "q<0>");
	paper_keys(&p, "\035x\035");
	CHECK_STR(p.canned.typed, "q<0>\035x");
	paper_keys(&p, "k\035y\035");
	CHECK_STR(p.canned.typed, "q<0>\035xy");
	paper_keys(&p, "\r\t"); /* to the program, too */
	CHECK_STR(p.canned.typed, "q<0>\035xy\t");
	paper_keys(&p, "\035\t");
	CHECK(p.ui.stack[0] != VIEW_OUTPUT);
	paper_close(&p);
}

/* A program that has ended reads nothing; and one that may not be changed gets no keys. */
TEST(the_keyboard_is_not_lent_in_vain)
{
	begin(30, 100);
	p.source.output_type = NULL;
	ui_tab(&p.ui, VIEW_OUTPUT);
	paper_keys(&p, "\r");
	CHECK(!view_output_types(&p.ui));
	p.source.output_type = canned_output_type;
	p.ui.options.readonly = true;
	paper_keys(&p, "\r");
	CHECK(!view_output_types(&p.ui));
	p.ui.options.readonly = false;
	paper_keys(&p, "\r");
	CHECK(view_output_types(&p.ui));
	paper_draw(&p);
	CHECK(paper_find(&p, "Ctrl-] takes the keyboard back") >= 0);
	/* Its end takes the keyboard back, says how it ended, and offers the keyboard no more. */
	p.canned.state = SNAP_KILLED;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(!view_output_types(&p.ui));
	CHECK(paper_find(&p, "the keyboard is heaptop's again") >= 0);
	CHECK(paper_find(&p, "300 lines   the program ") >= 0);
	CHECK(paper_find(&p, "type to the program") < 0);
	CHECK(paper_find(&p, "following the end") < 0);
	paper_keys(&p, "\r");
	CHECK(!view_output_types(&p.ui));
	paper_draw(&p);
	CHECK(paper_find(&p, "the program has ended and reads no input") >= 0);
	paper_close(&p);
}

/* A view without anything to show is a tab like the others, and says why, and what would fill it:
 * each word of it, at every size. */
TEST(a_tab_without_content_says_why)
{
	static const int sizes[][2] = { { 12, 40 }, { 24, 80 }, { 30, 100 }, { 60, 200 } };
	static const struct {
		enum view_id tab;
		const char *words[6];
		char keys[12];
	} tabs[] = { { VIEW_LEAKS, { "memory", "gone", "core", "file" }, "\rK!EH1+-o" },
		{ VIEW_MAP, { "running", "program", "PID", "shows" }, "\r+-[]a1hl" },
		{ VIEW_OUTPUT, { "terminal", "its own", "COMMAND", "starts" }, "\r\035hljkG" } };

	for (size_t i = 0; i < 12; i++) {
		begin(sizes[i / 3][0], sizes[i / 3][1]);
		p.source.leaks = NULL;
		p.source.map = NULL;
		p.source.output_lines = NULL;
		p.source.no_leaks = (struct tui_missing){ "The program's memory is gone.",
			"heaptop -r CORE: a core file has it." };
		p.source.no_map = (struct tui_missing){ "The map is read from a running program.",
			"heaptop -a PID shows it." };
		p.source.no_output =
			(struct tui_missing){ "The program writes to a terminal of its own.",
				"heaptop -- COMMAND shows the output of what it starts." };
		refresh_tick(&p.ui);
		for (int k = 0; k < (int)tabs[i % 3].tab; k++)
			paper_keys(&p, "\t");
		CHECK(ui_view(&p.ui) == view_table[tabs[i % 3].tab]);
		paper_draw(&p);
		CHECK_INT(p.ui.message[0], 0);
		for (size_t k = 0; k < 6 && tabs[i % 3].words[k]; k++)
			CHECK(paper_find(&p, tabs[i % 3].words[k]) > p.ui.layout.y[ROW_TABS]);
		/* Its keys have nothing to work on, and say so. */
		for (const char *key = tabs[i % 3].keys; *key; key++) {
			screen_key(&p.ui, *key);
			CHECK(ui_view(&p.ui) == view_table[tabs[i % 3].tab]);
			refresh_tick(&p.ui);
			paper_draw(&p);
		}
		paper_keys(&p, "\r");
		CHECK(strstr(p.ui.message, "nothing to show") != NULL);
		paper_close(&p);
	}
}

/* The lines of the screen from `y` on. The caller frees. */
static char *text_from(int y)
{
	char *text = paper_text(&p), *at = text;

	while (y--)
		at = strchr(at, '\n') + 1;
	at = strdup(at);
	free(text);
	return at;
}

/* The sentences end within the body, on screens that are too small for them with an ellipsis: the
 * lines below are those of any other sentence. */
TEST(sentences_in_place_of_a_view_stay_in_its_body)
{
	static const struct tui_missing few = { "No.", "None." },
					many = { "A view that is empty says why in a sentence, "
						 "which may be as long as this one here.",
						"heaptop -- COMMAND, heaptop -a PID and heaptop -r "
						"CORE show it, says the remedy." };

	for (int height = 8; height <= 12; height++) {
		char *below[2];
		int end;

		begin(height, 40);
		p.source.leaks = NULL;
		p.source.no_leaks = few;
		ui_tab(&p.ui, VIEW_LEAKS);
		paper_draw(&p);
		end = p.ui.layout.y[ROW_BODY] + p.ui.layout.body_height;
		below[0] = text_from(end);
		p.source.no_leaks = many;
		paper_draw(&p);
		below[1] = text_from(end);
		CHECK_STR(below[1], below[0]);
		CHECK(paper_find(&p, "A view that is empty") == p.ui.layout.y[ROW_BODY]);
		CHECK(paper_find(&p, "heaptop -- COMMAND") > p.ui.layout.y[ROW_BODY]);
		CHECK(paper_find(&p, "remedy.") > 0 || strstr(paper_line(&p, end - 1), "…"));
		free(below[0]);
		free(below[1]);
		paper_close(&p);
	}
}

/* A sentence about another moment is broken at words, too. */
TEST(a_refusal_is_read_on_a_narrow_screen)
{
	begin(12, 40);
	p.canned.past = true;
	refresh_tick(&p.ui);
	refresh_tick(&p.ui);
	ui_tab(&p.ui, VIEW_LEAKS);
	paper_keys(&p, ",");
	paper_draw(&p);
	CHECK(paper_find(&p, "Leak scans read the program as it is") > 0);
	CHECK(paper_find(&p, "  now.") > 0);
	CHECK(paper_find(&p, "F returns to the newest moment.") > 0);
	paper_close(&p);
}

int main(void)
{
	RUN(output_follows_its_end);
	RUN(what_is_read_stays_where_it_is);
	RUN(the_program_has_the_keyboard);
	RUN(the_keyboard_is_not_lent_in_vain);
	RUN(a_tab_without_content_says_why);
	RUN(sentences_in_place_of_a_view_stay_in_its_body);
	RUN(a_refusal_is_read_on_a_narrow_screen);
	return check_end();
}
