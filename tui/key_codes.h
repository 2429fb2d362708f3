/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Codes of keys that curses has no names for, as getch gives them. */
#ifndef TUI_KEY_CODES_H
#define TUI_KEY_CODES_H

#define KEY_ESC	    27
#define KEY_CTRL(c) ((c)&0x1f)

#endif
