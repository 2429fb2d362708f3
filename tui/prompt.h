/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A question in the message line, answered by typing. While it is open it takes every key. Main
 * thread.
 */
#ifndef TUI_PROMPT_H
#define TUI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#define PROMPT_TEXT_MAX 128

struct ui;

struct prompt {
	bool open;
	const char *question; /* static */
	const char *hint; /* static: examples of answers, for the line above; or NULL */
	char text[PROMPT_TEXT_MAX];
	size_t len;
	void (*accept)(struct ui *ui, const char *text);
};

/* Opens the question with `text` as the answer so far. */
void prompt_open(struct prompt *p, const char *question, const char *text,
	void (*accept)(struct ui *, const char *));
/* Handles a key. Enter closes and calls accept, Esc closes. */
void prompt_key(struct prompt *p, struct ui *ui, int key);
void prompt_draw(const struct prompt *p, int y, unsigned cells);

#endif
