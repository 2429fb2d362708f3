/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys and escape sequences (term_keys.h). Curses recognises the sequences that terminfo has; the
 * rest arrives as characters, which are collected here up to the sequence's end (ECMA-48, 5.4).
 * Called by the loop when the terminal is readable, on the main thread.
 */
#include "tui/term_keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include "tui/curses_api.h"
#include "tui/key_codes.h"

#define BYTE_MS	    25 /* the rest of a sequence may still be on its way */
#define SPLIT_MS    150 /* an Esc and a "[" so close are one sequence that came in two parts */
#define STRING_MOST 65536 /* bytes of a string, such as an answer of the terminal */

static char sequence[TERM_KEYS_SEQUENCE];
static size_t used;
static bool pasting;
static struct timespec lone_esc; /* when an Esc came alone */

const char *term_keys_sequence(void)
{
	return sequence;
}

static void sequence_add(int byte)
{
	if (byte > ' ' && byte < 127 && used < sizeof(sequence) - 1)
		sequence[used++] = (char)byte;
	sequence[used] = '\0';
}

static int byte_next(void)
{
	int byte = getch();

	if (byte != ERR)
		sequence_add(byte);
	return byte;
}

/* A control string ends with BEL, or with Esc and a backslash. */
static void string_read(void)
{
	for (int i = 0, byte = 0, before; i < STRING_MOST; i++) {
		before = byte;
		byte = byte_next();
		if (byte == ERR || byte == '\a' || (before == KEY_ESC && byte == '\\'))
			return;
	}
}

static void control_read(void)
{
	int byte = byte_next();

	if (byte == '[') /* Linux's console: F1 to F5 */
		byte_next();
	else
		while (byte >= ' ' && byte < '@')
			byte = byte_next();
}

/* The rest of a sequence that begins with Esc and `kind`; it may still be on its way. */
static void sequence_read(int kind)
{
	used = 0;
	sequence_add(kind);
	timeout(BYTE_MS);
	if (kind == '[')
		control_read();
	else if (kind == 'O')
		byte_next();
	else if (kind && strchr("]P_^X", kind))
		string_read();
	nodelay(stdscr, TRUE);
}

static int sequence_key(void)
{
	if (!strcmp(sequence, "[200~"))
		pasting = true;
	else if (!strcmp(sequence, "[201~"))
		pasting = false;
	else if (strncmp(sequence, "]11;", 4) != 0 && strncmp(sequence, "[?", 2) != 0)
		return TERM_KEYS_UNKNOWN;
	/* The last two are answers that came late. */
	return term_keys_next();
}

static bool is_split(int key)
{
	struct timespec now;
	long ms;

	if ((key != '[' && key != 'O') || !lone_esc.tv_sec)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (now.tv_sec - lone_esc.tv_sec) * 1000 + (now.tv_nsec - lone_esc.tv_nsec) / 1000000;
	return ms < SPLIT_MS;
}

static int esc_key(void)
{
	int next = getch();

	if (next > ' ' && next < 127) {
		sequence_read(next);
		return sequence_key();
	}
	if (next != ERR)
		ungetch(next);
	else
		clock_gettime(CLOCK_MONOTONIC, &lone_esc);
	return KEY_ESC;
}

int term_keys_next(void)
{
	int key = getch();
	bool split = is_split(key);

	if (key == ERR)
		return ERR;
	lone_esc.tv_sec = 0;
	if (split) {
		sequence_read(key);
		return sequence_key();
	}
	if (key == KEY_ESC)
		return esc_key();
	return pasting && key < 256 ? key | TERM_KEYS_PASTED : key;
}

int term_keys_byte(void)
{
	return getch();
}
