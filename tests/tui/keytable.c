/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key table against itself, the help screen and the bottom lines. */
#include "src/util/text.h"
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/key_names.h"
#include "tui/keys.h"
#include "tui/term.h"
#include "tui/term_keys.h"
#include "tui/view_help.h"

char *tigetstr(const char *capability); /* <term.h> has macros for common words */

static struct paper p;

static bool help_has(const char *name, const char *help)
{
	for (size_t i = 0; i < p.ui.help.count; i++)
		if (strstr(p.ui.help.line[i], name) && strstr(p.ui.help.line[i], help))
			return true;
	return false;
}

TEST(every_key_is_in_the_help)
{
	size_t lines = 0;

	paper_open(&p, 30, 100, false);
	refresh_tick(&p.ui);
	screen_key(&p.ui, '?');
	for (size_t i = 0; i < keys_count; i++)
		CHECK(help_has(keys_table[i].name, keys_table[i].help));
	for (size_t i = 0; i < p.ui.help.count; i++)
		lines += strstr(p.ui.help.line[i], "std:: and __gnu_cxx::") != NULL;
	CHECK_INT(lines, 1);
	for (int c = 0; c < COL_COUNT; c++)
		CHECK(help_has(column_table[c].title, column_table[c].help));
	paper_close(&p);
}

/* Each question at the top of the help names a key that there is, and fits narrow screens. */
TEST(the_help_begins_with_questions)
{
	paper_open(&p, 24, 80, false);
	refresh_tick(&p.ui);
	screen_key(&p.ui, '?');
	CHECK_STR(p.ui.help.line[0], "Questions");
	for (const struct view_help_question *q = view_help_questions; q->question; q++) {
		bool found = false;

		for (size_t i = 0; i < keys_count; i++)
			found |= !strncmp(keys_table[i].name, q->key, strlen(q->key));
		CHECK(found);
		CHECK(help_has(q->question, q->answer));
	}
	paper_close(&p);
}

/* Long lines go on in the next one; a new width makes new ones. */
TEST(the_help_is_wrapped)
{
	static const int widths[] = { 60, 100, 80, 44, 40 };

	paper_open(&p, 24, 200, false);
	refresh_tick(&p.ui);
	screen_key(&p.ui, '?');
	for (unsigned w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
		paper_resize(&p, 24, widths[w]);
		refresh_tick(&p.ui);
		for (size_t i = 0; i < p.ui.help.count; i++)
			CHECK(text_cells(p.ui.help.line[i]) <= (size_t)widths[w] - 2);
		CHECK(p.ui.help.count > 200);
	}
	paper_close(&p);
}

TEST(a_key_means_one_thing_in_a_view)
{
	for (size_t i = 0; i < keys_count; i++)
		for (size_t j = i + 1; j < keys_count; j++)
			for (unsigned a = 0; a < KEYS_CODES && keys_table[i].code[a]; a++)
				for (unsigned b = 0; b < KEYS_CODES && keys_table[j].code[b]; b++)
					CHECK(keys_table[i].code[a] != keys_table[j].code[b] ||
						!(keys_table[i].scope & keys_table[j].scope));
}

static bool works(unsigned scope, int key)
{
	for (size_t i = 0; i < keys_count; i++)
		for (unsigned a = 0; a < KEYS_CODES && keys_table[i].code[a]; a++)
			if (keys_table[i].code[a] == key && (keys_table[i].scope & scope))
				return true;
	return false;
}

TEST(help_and_the_ways_out_work_everywhere)
{
	static const int keys[] = { 'q', 'Q', KEY_ESC, KEY_F(10), KEY_F(1), '?', KEY_CTRL('l'),
		KEY_CTRL('z'), KEY_UP, KEY_DOWN, KEY_NPAGE, KEY_PPAGE, KEY_HOME, KEY_END, 'j', 'k',
		'G' };

	for (int v = 0; v < VIEW_COUNT; v++)
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			CHECK(works(view_table[v]->scope, keys[i]));
}

TEST(every_key_has_a_group_that_is_shown)
{
	for (size_t i = 0; i < keys_count; i++) {
		const char *const *g = keys_groups;

		while (*g && strcmp(*g, keys_table[i].group))
			g++;
		CHECK(*g != NULL);
		CHECK(keys_table[i].place == PLACE_HELP || keys_table[i].label);
		CHECK(!keys_table[i].label_on == !keys_table[i].on);
	}
}

TEST(unknown_sequences_have_plain_names)
{
	static const char *const names[][2] = { { "[1;5D", "Ctrl-Left" }, { "[15~", "F5" },
		{ "[15;2~", "Shift-F5" }, { "[3;3~", "Alt-Delete" }, { "OP", "F1" },
		{ "x", "Alt-x" }, { "[1;17D", "that key" }, { "[[A", "that key" },
		{ "", "that key" }, { "]", "Alt-]" }, { "[99~", "that key" }, { "[", "Alt-[" },
		{ "O", "Alt-O" }, { "[1;5", "that key" } };
	char buf[KEY_NAMES_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK_STR(key_names_sequence(names[i][0], buf), names[i][1]);
}

TEST(digits_and_columns_agree)
{
	for (int key = '1'; key <= '9'; key++)
		CHECK_INT(layout_column_digit((enum column)layout_digit_column(key)), key);
	CHECK_INT(layout_digit_column('0'), -1);
	CHECK_INT(layout_digit_column('a'), -1);
}

TEST(a_refused_key_says_why)
{
	paper_open(&p, 30, 100, false);
	refresh_tick(&p.ui);
	paper_keys(&p, "[");
	paper_draw(&p);
	CHECK(paper_find(&p, "[ works only in Sizes, Map, Site detail, Settings (? expl") >= 0);
	paper_keys(&p, "\t\t/");
	paper_draw(&p);
	CHECK(paper_find(&p, "/ does nothing in Sizes, unlike in most views (? lists the keys)") >=
		0);
	screen_key(&p.ui, KEY_BTAB);
	screen_key(&p.ui, KEY_BTAB);
	paper_keys(&p, "K");
	paper_draw(&p);
	CHECK(paper_find(&p, "K works only in Leaks (choose the kinds") >= 0);
	paper_keys(&p, "_");
	paper_draw(&p);
	CHECK(paper_find(&p, "_ does nothing here") >= 0);
	paper_keys(&p, "pL"); /* not in Sites alone */
	paper_draw(&p);
	CHECK(paper_find(&p, "L works in the tabs; Esc goes back to them") >= 0);
	screen_key(&p.ui, KEY_ESC);
	paper_keys(&p, "h");
	paper_draw(&p);
	CHECK(paper_find(&p, "? is help") >= 0);
	screen_key(&p.ui, KEY_ESC);
	paper_draw(&p);
	CHECK(paper_find(&p, "q quits") >= 0);
	paper_close(&p);
}

/* A view is said once: "in Marks: in Marks: ..." was what some said. */
TEST(refusals_name_a_view_once)
{
	static const enum view_id from[] = { VIEW_HELP, VIEW_SITES, VIEW_MAP, VIEW_MARKS };

	for (size_t f = 0; f < sizeof(from) / sizeof(from[0]); f++)
		for (size_t i = 0; i < keys_count; i++) {
			if (keys_table[i].scope & view_table[from[f]]->scope)
				continue;
			paper_open(&p, 30, 100, false);
			refresh_tick(&p.ui);
			ui_push(&p.ui, from[f]);
			screen_key(&p.ui, keys_table[i].code[0]);
			CHECK(!strstr(p.ui.message, ": in "));
			paper_close(&p);
		}
}

/* None that curses or terminfo made up, whatever the key. */
TEST(keys_have_plain_names)
{
	static const struct {
		int key;
		const char *name;
	} some[] = { { KEY_F(17), "Shift-F5" }, { KEY_F(36), "Ctrl-F12" },
		{ KEY_SLEFT, "Shift-Left" }, { KEY_BTAB, "Shift-Tab" }, { ' ', "Space" },
		{ KEY_CTRL('a'), "Ctrl-a" }, { 0xe4, "that letter" },
		{ TERM_KEYS_UNKNOWN, "that key" }, { 'x', "x" }, { 28, "Ctrl-\\" } };
	static const struct {
		const char *terminfo, *name;
	} held[] = { { "kLFT5", "Ctrl-Left" }, { "kUP", "Shift-Up" }, { "kDN3", "Alt-Down" },
		{ "kNXT6", "Ctrl-Shift-PgDn" }, { "kDC7", "Ctrl-Alt-Delete" } };
	char name[KEY_NAMES_MAX];

	paper_open(&p, 30, 100, false);
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		CHECK_STR(key_names_text(some[i].key, name), some[i].name);
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		const char *sequence = tigetstr(held[i].terminfo);
		int key = sequence && sequence != (char *)-1 ? key_defined(sequence) : 0;

		CHECK(key > 0);
		CHECK_STR(key_names_text(key, name), held[i].name);
	}
	for (int key = -10; key < 4096; key++) {
		key_names_text(key, name);
		CHECK(name[0] && !strstr(name, "KEY_") && strncmp(name, "M-", 2) != 0 &&
			(name[0] != 'k' || !name[1]) && (name[0] != '^' || !name[1]));
	}
	paper_close(&p);
}

TEST(the_bar_says_how_to_get_out)
{
	static const int widths[] = { 40, 60, 80, 100, 200 };

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		paper_open(&p, 24, widths[i], false);
		refresh_tick(&p.ui);
		paper_draw(&p);
		CHECK(strstr(paper_line(&p, 23), "F10/qQuit") != NULL);
		CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_HINT]), "? keys") != NULL);
		paper_keys(&p, "\r");
		paper_draw(&p);
		CHECK(strstr(paper_line(&p, 23), "F10/qBack") != NULL);
		paper_close(&p);
	}
}

TEST(hints_follow_the_state)
{
	paper_open(&p, 30, 100, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "Space freeze") >= 0);
	paper_keys(&p, " ");
	paper_draw(&p);
	CHECK(paper_find(&p, "Space unfreeze") >= 0);
	paper_close(&p);
}

static bool hinted(const char *what)
{
	paper_draw(&p);
	return strstr(paper_line(&p, p.ui.layout.y[ROW_HINT]), what) != NULL;
}

/* What is refused is not offered: of a program that has ended, and of a segment that it left. */
TEST(hints_offer_what_can_be_done)
{
	static const char *const hints[] = { "L leak scan", "m mark", "r recording" };

	paper_open(&p, 30, 200, false);
	refresh_tick(&p.ui);
	for (size_t i = 0; i < 3; i++)
		CHECK(hinted(hints[i]));
	CHECK(hinted("p processes") && hinted("W save") && hinted("x export"));
	p.canned.state = SNAP_KILLED;
	refresh_tick(&p.ui);
	for (size_t i = 0; i < 3; i++)
		CHECK(!hinted(hints[i]));
	CHECK(hinted("p processes") && hinted("W save") && hinted("x export"));
	paper_close(&p);
	/* A segment is read of a program that runs. */
	paper_open(&p, 30, 200, false);
	p.source.leaks = NULL;
	p.source.mark = NULL;
	p.source.sample = NULL;
	p.source.processes = NULL;
	p.source.settings_save = NULL;
	refresh_tick(&p.ui);
	for (size_t i = 0; i < 3; i++)
		CHECK(!hinted(hints[i]));
	CHECK(!hinted("p processes") && !hinted("W save"));
	paper_close(&p);
}

#define MAN	    "man/heaptop-screen.7"
#define MAN_COLUMNS 76 /* mandoc -Tlint takes 80, and an escape takes some */
#define MAN_BEGIN                                                                                  \
	".\\\" From the key table: GOLDEN_UPDATE=1 build/tests/tui/keytable writes this.\n"
#define MAN_END ".\\\" The end of the keys.\n"

/* Text for mdoc: what would be a request, an escape or a delimiter is none. */
static void man_text(FILE *f, const char *text)
{
	size_t column = 0;

	for (const char *c = text; *c; c++) {
		bool begins = c == text || c[-1] == ' ';

		column++;
		if (*c == ' ' && column + strcspn(c + 1, " ") > MAN_COLUMNS) {
			fputc('\n', f);
			column = 0;
			continue;
		}

		if (begins && strchr(".'[]<>#()|?!,:;", *c))
			fputs("\\&", f);
		if (*c == '\\')
			fputs("\\e", f);
		else if (*c == '"' || *c == '^')
			fputs(*c == '"' ? "\\(dq" : "\\(ha", f);
		else if (!strncmp(c, ". ", 2))
			fputs(".\n", f), c++, column = 0;
		else
			fputc(*c, f);
	}
}

static void man_group(FILE *f, const char *group)
{
	fprintf(f, ".Ss %s\n.Bl -tag -width Backspace -compact\n", group);
	for (size_t i = 0; i < keys_count; i++) {
		if (strcmp(keys_table[i].group, group))
			continue;
		fputs(".It Ic ", f);
		man_text(f, keys_table[i].name);
		fputc('\n', f);
		man_text(f, keys_table[i].help);
		fputc('\n', f);
	}
	fputs(".El\n", f);
}

static char *man_keys(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	for (const char *const *g = keys_groups; *g; g++)
		man_group(f, *g);
	fclose(f);
	return text;
}

static void man_write(const char *page, const char *begin, const char *keys, const char *end)
{
	FILE *f = fopen(MAN, "w");

	if (!f)
		return;
	fprintf(f, "%.*s%s%s", (int)(begin - page), page, keys, end);
	fclose(f);
}

TEST(the_man_page_has_the_keys)
{
	char *page = NULL, *keys = man_keys(), *begin, *end;
	FILE *f = fopen(MAN, "r");
	size_t cap = 0;

	CHECK(f && getdelim(&page, &cap, 0, f) > 0);
	begin = page ? strstr(page, MAN_BEGIN) : NULL;
	end = begin ? strstr(begin, MAN_END) : NULL;
	CHECK(end != NULL);
	if (end) {
		begin += strlen(MAN_BEGIN);
		if (getenv("GOLDEN_UPDATE"))
			man_write(page, begin, keys, end);
		else
			CHECK((size_t)(end - begin) == strlen(keys) &&
				!memcmp(begin, keys, strlen(keys)));
	}
	if (f)
		fclose(f);
	free(page);
	free(keys);
}

int main(void)
{
	RUN(the_man_page_has_the_keys);
	RUN(every_key_is_in_the_help);
	RUN(the_help_begins_with_questions);
	RUN(the_help_is_wrapped);
	RUN(a_key_means_one_thing_in_a_view);
	RUN(help_and_the_ways_out_work_everywhere);
	RUN(every_key_has_a_group_that_is_shown);
	RUN(digits_and_columns_agree);
	RUN(unknown_sequences_have_plain_names);
	RUN(a_refused_key_says_why);
	RUN(refusals_name_a_view_once);
	RUN(keys_have_plain_names);
	RUN(the_bar_says_how_to_get_out);
	RUN(hints_follow_the_state);
	RUN(hints_offer_what_can_be_done);
	return check_end();
}
