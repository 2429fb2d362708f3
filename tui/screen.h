/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The screen as a whole: keys, clicks and sizes go in, a drawn frame comes out on stdscr. It
 * never waits and owns no terminal (loop.c and term.c do), so tests drive it with canned
 * snapshots on an off-screen curses. Main thread.
 */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include "tui/refresh.h"
#include "tui/ui.h"

enum screen_mouse {
	SCREEN_CLICK, /* the left button is pressed, */
	SCREEN_DRAG, /* moves while it is, */
	SCREEN_RELEASE, /* and is released */
	SCREEN_CLICK_RIGHT,
	SCREEN_WHEEL_UP,
	SCREEN_WHEEL_DOWN
};

void screen_init(struct ui *ui, const struct tui_source *source, const struct tui_options *options);
void screen_free(struct ui *ui);
/* A key as getch returns it, other than KEY_MOUSE. */
void screen_key(struct ui *ui, int key);
/* A character of pasted text: for a prompt, and never a command. */
void screen_pasted(struct ui *ui, int key);
void screen_mouse(struct ui *ui, enum screen_mouse what, int y, int x);
/* The screen has this size now. */
void screen_resize(struct ui *ui, int height, int width);
/* Paints stdscr; the caller calls doupdate. */
void screen_draw(struct ui *ui);

#endif
