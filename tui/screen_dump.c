/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the screen back from curses (screen_dump.h). Main thread. */
#include "tui/screen_dump.h"

#include <limits.h>
#include <string.h>
#include <wchar.h>
#include "tui/curses_api.h"

#define SHOT_CELLS 500

const char *shot_line(int y, char text[SHOT_LINE])
{
	wchar_t wide[SHOT_CELLS + 1];
	int n = mvinnwstr(y, 0, wide, COLS < SHOT_CELLS ? COLS : SHOT_CELLS);
	mbstate_t state = { 0 };
	size_t len = 0;

	for (int i = 0; i < n && len + MB_LEN_MAX < SHOT_LINE; i++) {
		size_t k = wcrtomb(text + len, wide[i], &state);

		len += k == (size_t)-1 ? 0 : k;
	}
	while (len && text[len - 1] == ' ')
		len--;
	text[len] = 0;
	return text;
}

void shot_text(FILE *to)
{
	char text[SHOT_LINE];

	for (int y = 0; y < LINES; y++)
		fprintf(to, "%s\n", shot_line(y, text));
}

/* Styles have the pairs from 1 on, so that 4 is always the same one. */
static char cell_look(int y, int x)
{
	wchar_t wide[CCHARW_MAX + 1];
	cchar_t cell;
	attr_t attrs;
	short pair;

	mvin_wch(y, x, &cell);
	getcchar(&cell, wide, &attrs, &pair, NULL);
	if (pair > 0)
		return (char)(pair < 10 ? '0' + pair : 'A' + pair - 10);
	if (attrs & A_REVERSE)
		return attrs & A_BOLD ? 'R' : 'r';
	return attrs & A_BOLD ? 'b' : attrs & A_DIM ? 'd' : '.';
}

void shot_looks(FILE *to)
{
	for (int y = 0; y < LINES; y++) {
		char looks[SHOT_CELLS];
		int n = COLS < SHOT_CELLS ? COLS : SHOT_CELLS;

		for (int x = 0; x < n; x++)
			looks[x] = cell_look(y, x);
		while (n && looks[n - 1] == '.')
			n--;
		fprintf(to, "%.*s\n", n, looks);
	}
}
