/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of keys (key_names.h). Curses has codes for the keys of old terminals. Keys with modifiers
 * have only terminfo's names there: xterm's "kLFT5" is Ctrl-Left.
 */
#include "tui/key_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tui/curses_api.h"
#include "tui/key_codes.h"
#include "tui/ui.h"

#define FUNCTION_KEYS 63 /* that terminfo has names for */
#define FUNCTION_ROW  12 /* on a keyboard: higher numbers are these with modifiers */

static const struct {
	int key;
	const char *name;
} plain[] = {
	{ ' ', "Space" },
	{ '\t', "Tab" },
	{ '\r', "Enter" },
	{ '\n', "Enter" },
	{ '\b', "Backspace" },
	{ 127, "Backspace" },
	{ KEY_ESC, "Esc" },
	{ KEY_ENTER, "Enter" },
	{ KEY_BACKSPACE, "Backspace" },
	{ KEY_UP, "Up" },
	{ KEY_DOWN, "Down" },
	{ KEY_LEFT, "Left" },
	{ KEY_RIGHT, "Right" },
	{ KEY_HOME, "Home" },
	{ KEY_END, "End" },
	{ KEY_PPAGE, "PgUp" },
	{ KEY_NPAGE, "PgDn" },
	{ KEY_IC, "Insert" },
	{ KEY_DC, "Delete" },
	{ KEY_BTAB, "Shift-Tab" },
	{ KEY_SR, "Shift-Up" },
	{ KEY_SF, "Shift-Down" },
	{ KEY_SLEFT, "Shift-Left" },
	{ KEY_SRIGHT, "Shift-Right" },
	{ KEY_SHOME, "Shift-Home" },
	{ KEY_SEND, "Shift-End" },
	{ KEY_SPREVIOUS, "Shift-PgUp" },
	{ KEY_SNEXT, "Shift-PgDn" },
	{ KEY_SIC, "Shift-Insert" },
	{ KEY_SDC, "Shift-Delete" },
	{ KEY_A1, "7 (keypad)" },
	{ KEY_A3, "9 (keypad)" },
	{ KEY_B2, "5 (keypad)" },
	{ KEY_C1, "1 (keypad)" },
	{ KEY_C3, "3 (keypad)" },
	{ KEY_FIND, "Find" },
	{ KEY_SELECT, "Select" },
	{ KEY_PRINT, "Print" },
	{ KEY_HELP, "Help" },
	{ KEY_CANCEL, "Cancel" },
	{ KEY_UNDO, "Undo" },
};

/* Terminfo's names, before the digit of the modifiers. */
static const char *const modified[][2] = { { "kUP", "Up" }, { "kDN", "Down" }, { "kLFT", "Left" },
	{ "kRIT", "Right" }, { "kHOM", "Home" }, { "kEND", "End" }, { "kPRV", "PgUp" },
	{ "kNXT", "PgDn" }, { "kIC", "Insert" }, { "kDC", "Delete" } };
/* That digit is 1 plus 1 for Shift, 2 for Alt and 4 for Ctrl. */
static const char *const modifiers[] = { "", "Shift-", "Alt-", "Shift-Alt-", "Ctrl-", "Ctrl-Shift-",
	"Ctrl-Alt-", "Ctrl-Shift-Alt-" };

/* F13 to F24 are F1 to F12 with Shift, and so on in xterm's order. */
static void function_key(unsigned n, char buf[KEY_NAMES_MAX])
{
	static const char *const row[] = { "", "Shift-", "Ctrl-", "Ctrl-Shift-", "Alt-",
		"Shift-Alt-" };

	snprintf(buf, KEY_NAMES_MAX, "%sF%u", row[(n - 1) / FUNCTION_ROW],
		(n - 1) % FUNCTION_ROW + 1);
}

static bool modified_key(const char *name, char buf[KEY_NAMES_MAX])
{
	for (size_t i = 0; i < sizeof(modified) / sizeof(modified[0]); i++) {
		size_t len = strlen(modified[i][0]);
		unsigned held;

		if (strncmp(name, modified[i][0], len) != 0)
			continue;
		held = name[len] ? (unsigned)(name[len] - '1') : 1; /* "kUP" is Shift-Up */
		if (held >= sizeof(modifiers) / sizeof(modifiers[0]) ||
			(name[len] && name[len + 1]))
			continue;
		snprintf(buf, KEY_NAMES_MAX, "%s%s", modifiers[held], modified[i][1]);
		return true;
	}
	return false;
}

const char *key_names_text(int key, char buf[KEY_NAMES_MAX])
{
	const char *name;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (plain[i].key == key)
			return strcpy(buf, plain[i].name);
	if (key > ' ' && key < 127)
		snprintf(buf, KEY_NAMES_MAX, "%c", key);
	else if (key >= 0 && key < ' ')
		snprintf(buf, KEY_NAMES_MAX, "Ctrl-%c", key | (key > 0 && key <= 26 ? 0x60 : 0x40));
	else if (key > KEY_F0 && key <= KEY_F(FUNCTION_KEYS))
		function_key((unsigned)(key - KEY_F0), buf);
	else if (key >= 128 && key < 256)
		strcpy(buf, "that letter");
	else if (key <= KEY_MAX || !(name = keyname(key)) || !modified_key(name, buf))
		strcpy(buf, "that key");
	return buf;
}

/* A control sequence's last byte, or its first number before "~", is the key. */
static const struct {
	char last;
	unsigned number;
	const char *name;
} sequences[] = { { 'A', 0, "Up" }, { 'B', 0, "Down" }, { 'C', 0, "Right" }, { 'D', 0, "Left" },
	{ 'E', 0, "5 (keypad)" }, { 'F', 0, "End" }, { 'H', 0, "Home" }, { 'P', 0, "F1" },
	{ 'Q', 0, "F2" }, { 'R', 0, "F3" }, { 'S', 0, "F4" }, { 'Z', 0, "Shift-Tab" },
	{ '~', 1, "Home" }, { '~', 2, "Insert" }, { '~', 3, "Delete" }, { '~', 4, "End" },
	{ '~', 5, "PgUp" }, { '~', 6, "PgDn" }, { '~', 7, "Home" }, { '~', 8, "End" },
	{ '~', 11, "F1" }, { '~', 12, "F2" }, { '~', 13, "F3" }, { '~', 14, "F4" },
	{ '~', 15, "F5" }, { '~', 17, "F6" }, { '~', 18, "F7" }, { '~', 19, "F8" },
	{ '~', 20, "F9" }, { '~', 21, "F10" }, { '~', 23, "F11" }, { '~', 24, "F12" },
	{ '~', 25, "F13" }, { '~', 26, "F14" }, { '~', 28, "F15" }, { '~', 29, "F16" },
	{ '~', 31, "F17" }, { '~', 32, "F18" }, { '~', 33, "F19" }, { '~', 34, "F20" } };

static bool control_name(const char *text, char buf[KEY_NAMES_MAX])
{
	char *end;
	unsigned long number = strtoul(text, &end, 10), held = 1;

	if (*end == ';')
		held = strtoul(end + 1, &end, 10);
	if (held < 1 || held > sizeof(modifiers) / sizeof(modifiers[0]) || !*end || end[1])
		return false;
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
		if (sequences[i].last != *end ||
			(sequences[i].number ? sequences[i].number != number : number > 1))
			continue;
		snprintf(buf, KEY_NAMES_MAX, "%s%s", modifiers[held - 1], sequences[i].name);
		return true;
	}
	return false;
}

const char *key_names_sequence(const char *sequence, char buf[KEY_NAMES_MAX])
{
	if (*sequence && !sequence[1])
		snprintf(buf, KEY_NAMES_MAX, "Alt-%c", *sequence);
	else if ((*sequence != '[' && *sequence != 'O') || !control_name(sequence + 1, buf))
		strcpy(buf, "that key");
	return buf;
}
