/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An off-screen curses: no terminal at all, any size, and what was drawn can be read back. One ui
 * on it, fed by canned snapshots. The bytes a real terminal would get go to a file that can be
 * measured.
 */
#ifndef TESTS_TUI_PAPER_H
#define TESTS_TUI_PAPER_H

#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/tui/canned.h"
#include "tui/curses_api.h"
#include "tui/draw.h"
#include "tui/key_codes.h"
#include "tui/screen.h"
#include "tui/screen_dump.h"
#include "tui/ui.h"

struct paper {
	struct canned canned;
	struct tui_source source;
	struct ui ui;
	SCREEN *screen;
	FILE *in, *out;
};

static inline void paper_open(struct paper *p, int height, int width, bool ascii)
{
	struct tui_options options = { .delay_ns = CANNED_S, .sort = COL_LIVE, .version = "0.1.0" };

	setlocale(LC_ALL, "C.UTF-8");
	setenv("TERM", "xterm-256color", 1);
	memset(p, 0, sizeof(*p));
	p->canned = canned_default();
	p->source = canned_source(&p->canned);
	p->in = fopen("/dev/null", "r");
	p->out = tmpfile();
	p->screen = newterm("xterm-256color", p->out, p->in);
	resizeterm(height, width);
	keypad(stdscr, TRUE);
	draw_init(TUI_COLOR_ALWAYS, ascii);
	screen_init(&p->ui, &p->source, &options);
	screen_resize(&p->ui, height, width);
}

static inline void paper_close(struct paper *p)
{
	screen_free(&p->ui);
	canned_free(&p->canned);
	endwin();
	delscreen(p->screen);
	fclose(p->in);
	fclose(p->out);
}

static inline void paper_resize(struct paper *p, int height, int width)
{
	resizeterm(height, width);
	screen_resize(&p->ui, height, width);
}

static inline void paper_draw(struct paper *p)
{
	screen_draw(&p->ui);
	doupdate();
}

static inline void paper_keys(struct paper *p, const char *keys)
{
	for (; *keys; keys++)
		screen_key(&p->ui, (unsigned char)*keys);
}

/* Bytes sent to the terminal so far. */
static inline long paper_bytes(struct paper *p)
{
	struct stat st;

	fflush(p->out);
	return fstat(fileno(p->out), &st) ? -1 : (long)st.st_size;
}

/* One line of the screen, without the blanks at its end. */
static inline const char *paper_line(struct paper *p, int y)
{
	static char text[SCREEN_DUMP_LINE];

	return screen_dump_line(y, text);
}

/* Is `what` anywhere on the screen? Returns the line, or -1. */
static inline int paper_find(struct paper *p, const char *what)
{
	for (int y = 0; y < LINES; y++)
		if (strstr(paper_line(p, y), what))
			return y;
	return -1;
}

/* The whole screen, each line ended. The caller frees. */
static inline char *paper_text(struct paper *p)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	screen_dump_text(f);
	fclose(f);
	return text;
}

#endif
