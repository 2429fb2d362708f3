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
	size_t len, at; /* at: of the cursor, at most len */
	int again; /* a key that answers, as Enter does: the one that repeats; 0: none */
	void (*accept)(struct ui *ui, const char *text);
};

/* Opens the question with `text` as the answer so far. */
void prompt_open(struct prompt *p, const char *question, const char *text,
	void (*accept)(struct ui *, const char *));
/* What became of a key. */
enum prompt_answer { PROMPT_TAKEN, PROMPT_NO_SUCH_KEY, PROMPT_FULL, PROMPT_NOT_ASCII };

/* Handles a key. Enter closes and calls accept, Esc closes. */
enum prompt_answer prompt_key(struct prompt *p, struct ui *ui, int key);
/* Draws the answer behind `question`, which may be another text that fits the place better. */
void prompt_draw(const struct prompt *p, const char *question, int y, unsigned cells);
/* The keys that work while it is open. */
void prompt_draw_bar(int y, unsigned cells);

#endif
