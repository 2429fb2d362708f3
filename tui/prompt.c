/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The typed answer (prompt.h): characters, Backspace, ^U, ^W, Enter, Esc. ASCII only, since answers
 * are numbers and names. Opened by actions and views, fed by screen.c, on the main thread.
 */
#include "tui/prompt.h"

#include <stdio.h>
#include <string.h>
#include "tui/curses_api.h"
#include "tui/draw.h"
#include "tui/key_codes.h"

void prompt_open(struct prompt *p, const char *question, const char *text,
	void (*accept)(struct ui *, const char *))
{
	*p = (struct prompt){ .open = true, .question = question, .accept = accept };
	p->len = (size_t)snprintf(p->text, sizeof(p->text), "%s", text);
	if (p->len >= sizeof(p->text))
		p->len = sizeof(p->text) - 1;
}

static void prompt_rubout(struct prompt *p, size_t len)
{
	p->len = len;
	p->text[len] = 0;
}

static size_t prompt_word_start(const struct prompt *p)
{
	size_t at = p->len;

	while (at && p->text[at - 1] == ' ')
		at--;
	while (at && p->text[at - 1] != ' ')
		at--;
	return at;
}

void prompt_key(struct prompt *p, struct ui *ui, int key)
{
	switch (key) {
	case '\r':
	case '\n':
	case KEY_ENTER:
		p->open = false;
		p->accept(ui, p->text);
		return;
	case KEY_ESC:
	case KEY_CTRL('g'):
		p->open = false;
		return;
	case KEY_BACKSPACE:
	case 127:
	case '\b':
		prompt_rubout(p, p->len ? p->len - 1 : 0);
		return;
	case KEY_CTRL('u'):
		prompt_rubout(p, 0);
		return;
	case KEY_CTRL('w'):
		prompt_rubout(p, prompt_word_start(p));
		return;
	default:
		if (key < ' ' || key > '~' || p->len + 1 >= sizeof(p->text))
			return;
		p->text[p->len] = (char)key;
		prompt_rubout(p, p->len + 1);
	}
}

/* A long answer is shown from its end, where it is typed. */
void prompt_draw(const struct prompt *p, int y, unsigned cells)
{
	unsigned x = draw_text(y, 1, cells - 1, STYLE_BOLD, p->question) + 1;
	size_t hidden = 0;

	if (x + 2 >= cells)
		return;
	if (p->len + x + 2 > cells)
		hidden = p->len + x + 2 - cells;
	x += 1 + draw_text(y, (int)x + 1, cells - x - 1, STYLE_PLAIN, p->text + hidden);
	draw_text(y, (int)x, cells - x, STYLE_SELECT, " ");
}
