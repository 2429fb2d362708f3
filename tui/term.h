/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal: taken once, given back on every path out, a crash of ours included. While it is
 * taken, our own stderr goes to memory and is printed afterwards. Signals become flags and wake the
 * loop. Main thread; one per process.
 */
#ifndef TUI_TERM_H
#define TUI_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What signals asked for since the last look. */
struct term_signals {
	int quit; /* TERM, INT, HUP or QUIT: its number, else 0 */
	bool suspend, resume, resized;
};

/* Whether a screen can be drawn on what TERM names: not where the cursor cannot be put anywhere.
 * One that is not known is tried (term_open). Before term_open. */
bool term_can_draw(void);
/* How large the terminal is that term_open would take; left as it is where that is not known.
 * False: there is none. */
struct winsize;
bool term_probe(struct winsize *size);
/* Opens the screen: on stdin and stdout when both are terminals, else on /dev/tty. 0 or -ENOTTY. */
int term_open(bool mouse);
/* The mouse is ours, or the terminal's. Does nothing while no terminal is open. */
void term_mouse(bool ours);
/* Gives everything back. Safe to call when it is not open. */
void term_close(void);
/* The descriptor keys come from, and one that is readable when a signal has come. */
int term_fd(void);
int term_wake_fd(void);
/* A key as getch gives it, or ERR: there is none now. Sequences that terminfo does not know are
 * TERM_KEY_UNKNOWN, not the characters that they are made of. */
#define TERM_KEY_UNKNOWN (-2)
int term_key(void);
/* Takes the flags and empties the wake descriptor. */
struct term_signals term_signals_take(void);
/* Stops us as ^Z does, and comes back with a screen that is to be painted anew. */
void term_suspend(void);
/* The same after SIGCONT from elsewhere (kill -STOP, then fg). */
void term_resume(void);
/* Gives the terminal to somebody else, who suspends us with himself, and takes it back. */
void term_lend(void);
void term_take_back(void);
/* Where that one writes. */
int term_out_fd(void);
/* Sends bytes as they are, between two frames. */
void term_write(const char *bytes, size_t len);
/* Asks the terminal how large it is and tells curses. */
void term_measure(int *height, int *width);

#endif
