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
	{ KEY_B2, "5 (keypad)" },
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
	else if (key > 0 && key < ' ')
		snprintf(buf, KEY_NAMES_MAX, "Ctrl-%c", key | (key <= 26 ? 0x60 : 0x40));
	else if (key > KEY_F0 && key <= KEY_F(FUNCTION_KEYS))
		function_key((unsigned)(key - KEY_F0), buf);
	else if (key <= KEY_MAX || !(name = keyname(key)) || !modified_key(name, buf))
		strcpy(buf, "that key");
	return buf;
}
