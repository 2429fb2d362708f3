/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only include of curses: the wide-character interface as plain functions (its macros take
 * names such as clear, move and box). Only the drawing and terminal files of this room include it.
 */
#ifndef TUI_CURSES_API_H
#define TUI_CURSES_API_H

#define NCURSES_NOMACROS 1
#ifndef NCURSES_WIDECHAR
#define NCURSES_WIDECHAR 1
#endif
#include <curses.h>

#endif
