/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal: taken once, and restored on every way out, a crash of ours included. While it is
 * taken, our stderr goes to memory and is printed afterwards. Signals become flags and wake the
 * loop. Main thread; one per process.
 */
#ifndef TUI_TERM_H
#define TUI_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The signals that arrived since the last call. */
struct term_signals {
	int quit; /* TERM, INT, HUP or QUIT: its number, else 0 */
	bool suspend, resume, resized;
};

/* Can a screen be drawn on this TERM? Not if its cursor cannot be moved. An unknown terminal is
 * tried by term_open. Call it before term_open. */
bool term_can_draw(void);
/* The size of the terminal for term_open; unchanged if unknown. False: there is no terminal. */
struct winsize;
bool term_probe(struct winsize *size);
/* Opens the screen: on stdin and stdout when both are terminals, else on /dev/tty. 0 or -ENOTTY. */
int term_open(bool mouse);
/* Mouse events go to us, or to the terminal. Does nothing while no terminal is open. */
void term_mouse(bool ours);
/* Restores everything. Safe to call when it is not open. */
void term_close(void);
/* The descriptor of keys, and one that is readable after a signal. */
int term_fd(void);
int term_wake_fd(void);
/* Whether ^C, ^Z and the like are bytes, and no signals, and pasted text is as if it were typed. */
void term_raw(bool on);
/* Takes the flags and empties the wake descriptor. */
struct term_signals term_signals_take(void);
/* Stops us like ^Z; afterwards the screen must be repainted. */
void term_suspend(void);
/* The same after SIGCONT from elsewhere (kill -STOP, then fg). */
void term_resume(void);
/* Lends the terminal to a child, which ^Z suspends together with us, and takes it back. */
void term_lend(void);
void term_take_back(void);
/* The descriptor that it writes to. */
int term_out_fd(void);
/* Does it understand, or at least ignore, what terminfo does not describe? */
bool term_has_modes(void);
/* Sends bytes unchanged, between two frames. */
void term_write(const char *bytes, size_t len);
/* Reads the size of the terminal and passes it to curses. */
void term_measure(int *height, int *width);

#endif
