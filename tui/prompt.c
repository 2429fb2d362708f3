/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The typed answer (prompt.h): a line with the keys of editors. Only ASCII can be typed, since
 * answers are numbers and names; a filter from the command line may have other characters. Opened
 * by actions and views, fed by screen.c, on the main thread.
 */
#include "tui/prompt.h"

#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "tui/curses_api.h"
#include "tui/draw.h"
#include "tui/infoline.h"
#include "tui/key_codes.h"

#define ANSWER_CELLS 12 /* of the line, at least, the cursor included */
#define QUESTION_MAX 512

void prompt_open(struct prompt *p, const char *question, const char *text,
	void (*accept)(struct ui *, const char *))
{
	*p = (struct prompt){ .open = true, .question = question, .accept = accept };
	p->len = (size_t)snprintf(p->text, sizeof(p->text), "%s", text);
	if (p->len >= sizeof(p->text))
		p->len = sizeof(p->text) - 1;
	p->at = p->len;
}

/* ---- editing ------------------------------------------------------------------------------ */

/* Bytes of the first character, with the combining marks behind it; 0 at the end. */
static size_t char_bytes(const char *text)
{
	size_t narrow = text_fit(text, 1, NULL);

	return narrow ? narrow : text_fit(text, 2, NULL);
}

/* Where the character before the cursor begins; 0 at the beginning. */
static size_t char_before(const struct prompt *p)
{
	size_t from = 0, next = 0;

	while (next < p->at) {
		from = next;
		next += char_bytes(p->text + next);
	}
	return from;
}

static void prompt_close(struct prompt *p, struct ui *ui)
{
	p->open = false;
}

static void prompt_accept(struct prompt *p, struct ui *ui)
{
	p->open = false;
	p->accept(ui, p->text);
}

/* Removes the characters from `from` up to `to`; the cursor is then where they were. */
static void prompt_cut(struct prompt *p, size_t from, size_t to)
{
	memmove(p->text + from, p->text + to, p->len - to + 1);
	p->len -= to - from;
	p->at = from;
}

static void prompt_rubout(struct prompt *p, struct ui *ui)
{
	prompt_cut(p, char_before(p), p->at);
}

static void prompt_delete(struct prompt *p, struct ui *ui)
{
	prompt_cut(p, p->at, p->at + char_bytes(p->text + p->at));
}

static void prompt_clear(struct prompt *p, struct ui *ui)
{
	prompt_cut(p, 0, p->len);
}

static void prompt_cut_end(struct prompt *p, struct ui *ui)
{
	prompt_cut(p, p->at, p->len);
}

static void prompt_cut_word(struct prompt *p, struct ui *ui)
{
	size_t from = p->at;

	while (from && p->text[from - 1] == ' ')
		from--;
	while (from && p->text[from - 1] != ' ')
		from--;
	prompt_cut(p, from, p->at);
}

static void prompt_left(struct prompt *p, struct ui *ui)
{
	p->at = char_before(p);
}

static void prompt_right(struct prompt *p, struct ui *ui)
{
	p->at += char_bytes(p->text + p->at);
}

static void prompt_home(struct prompt *p, struct ui *ui)
{
	p->at = 0;
}

static void prompt_end(struct prompt *p, struct ui *ui)
{
	p->at = p->len;
}

static const struct {
	int key;
	void (*run)(struct prompt *p, struct ui *ui);
} editing[] = {
	{ '\r', prompt_accept },
	{ '\n', prompt_accept },
	{ KEY_ENTER, prompt_accept },
	{ KEY_ESC, prompt_close },
	{ KEY_CTRL('g'), prompt_close },
	{ KEY_F(10), prompt_close }, /* elsewhere it goes back, too */
	{ KEY_BACKSPACE, prompt_rubout },
	{ 127, prompt_rubout },
	{ '\b', prompt_rubout },
	{ KEY_DC, prompt_delete },
	{ KEY_CTRL('d'), prompt_delete },
	{ KEY_CTRL('u'), prompt_clear },
	{ KEY_CTRL('k'), prompt_cut_end },
	{ KEY_CTRL('w'), prompt_cut_word },
	{ KEY_LEFT, prompt_left },
	{ KEY_CTRL('b'), prompt_left },
	{ KEY_RIGHT, prompt_right },
	{ KEY_CTRL('f'), prompt_right },
	{ KEY_HOME, prompt_home },
	{ KEY_CTRL('a'), prompt_home },
	{ KEY_END, prompt_end },
	{ KEY_CTRL('e'), prompt_end },
};

static enum prompt_answer prompt_insert(struct prompt *p, char c)
{
	if (p->len + 1 >= sizeof(p->text))
		return PROMPT_FULL;
	memmove(p->text + p->at + 1, p->text + p->at, p->len - p->at + 1);
	p->text[p->at++] = c;
	p->len++;
	return PROMPT_TAKEN;
}

enum prompt_answer prompt_key(struct prompt *p, struct ui *ui, int key)
{
	for (size_t i = 0; i < sizeof(editing) / sizeof(editing[0]); i++) {
		if (editing[i].key == key) {
			editing[i].run(p, ui);
			return PROMPT_TAKEN;
		}
	}
	if (key == KEY_RESIZE)
		return PROMPT_TAKEN;
	if (p->again && key == p->again) { /* Ctrl-Space is key 0 */
		prompt_accept(p, ui);
		return PROMPT_TAKEN;
	}
	if (key >= ' ' && key <= '~')
		return prompt_insert(p, (char)key);
	return key >= 128 && key < 256 ? PROMPT_NOT_ASCII : PROMPT_NO_SUCH_KEY;
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* A question leaves cells for its answer. A message in its place, which the next key removes, takes
 * what it needs. */
static unsigned question_draw(const struct prompt *p, const char *text, int y, unsigned cells)
{
	unsigned least = text == p->question ? ANSWER_CELLS + 1 : 0;
	char cut[QUESTION_MAX];

	text_elide(
		cut, sizeof(cut), text, cells > least ? cells - least : 1, false, draw_is_ascii());
	return draw_text(y, 1, cells, STYLE_BOLD, cut);
}

/* The part of a long answer around the cursor is shown. */
void prompt_draw(const struct prompt *p, const char *question, int y, unsigned cells)
{
	unsigned x = question_draw(p, question, y, cells - 1) + 2;
	char before[PROMPT_TEXT_MAX], under[PROMPT_TEXT_MAX] = " ";
	unsigned under_cells;
	size_t hidden = 0;

	if (x + 1 >= cells)
		return;
	snprintf(before, sizeof(before), "%.*s", (int)p->at, p->text);
	if (p->at < p->len)
		snprintf(under, sizeof(under), "%.*s", (int)char_bytes(p->text + p->at),
			p->text + p->at);
	under_cells = (unsigned)text_cells(under);
	while (before[hidden] && x + text_cells(before + hidden) + under_cells > cells)
		hidden += char_bytes(before + hidden);
	draw_text(y, (int)x, cells - x, STYLE_PLAIN, p->text + hidden);
	x += (unsigned)text_cells(before + hidden);
	draw_text(y, (int)x, cells - x, STYLE_SELECT, under);
}

void prompt_draw_bar(int y, unsigned cells)
{
	static const char *const keys[][2] = { { "Enter", "Done" }, { "Esc", "Cancel" },
		{ "^U", "Clear" }, { "^W", "Erase word" } };
	struct infoline s = INFOLINE_INIT;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		infoline_left(&s, 9 - (unsigned)i, STYLE_KEY, "%s", keys[i][0]);
		infoline_join(&s, STYLE_LABEL, "%s", keys[i][1]);
	}
	infoline_draw(&s, y, 1, cells - 1);
}
