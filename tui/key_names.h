/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of keys for people: "Ctrl-Left", not what terminfo or curses call them. Any key has one.
 * Main thread, after curses is open.
 */
#ifndef TUI_KEY_NAMES_H
#define TUI_KEY_NAMES_H

#define KEY_NAMES_MAX 32

/* `key` is as term_key gives it. Returns buf. */
const char *key_names_text(int key, char buf[KEY_NAMES_MAX]);

#endif
