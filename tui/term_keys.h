/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys as the terminal sends them: what terminfo does not know, and what is pasted, never runs as
 * commands. Main thread; the terminal must be open (term.h).
 */
#ifndef TUI_TERM_KEYS_H
#define TUI_TERM_KEYS_H

/* A sequence that terminfo does not know, or Alt with a character, not its characters. */
#define TERM_KEYS_UNKNOWN (-2)
/* With this bit: a character of pasted text. */
#define TERM_KEYS_PASTED 0x1000000

#define TERM_KEYS_SEQUENCE 24

/* A key as getch gives it, or one of the above; ERR if none is waiting. */
int term_keys_next(void);
/* The same without a look at sequences: whatever terminfo does not know comes byte by byte. */
int term_keys_byte(void);
/* The last unknown sequence without its first Esc, as far as it was kept: "[1;5D"; or "". Static.
 */
const char *term_keys_sequence(void);

#endif
