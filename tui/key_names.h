/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Readable names of keys: "Ctrl-Left", not those of terminfo or curses. Every key has one. Main
 * thread, after curses was opened.
 */
#ifndef TUI_KEY_NAMES_H
#define TUI_KEY_NAMES_H

#define KEY_NAMES_MAX 32

/* `key` is as term_keys_next gives it. Returns buf. */
const char *key_names_text(int key, char buf[KEY_NAMES_MAX]);

/* The name of an unknown sequence, without its first Esc: "Ctrl-Left" of "[1;5D", "Alt-x" of "x";
 * "that key" if it is none. Returns buf. */
const char *key_names_sequence(const char *sequence, char buf[KEY_NAMES_MAX]);

#endif
