/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the screen back from curses (screen_dump.h). Main thread. */
#include "tui/screen_dump.h"

#include <limits.h>
#include <string.h>
#include <wchar.h>
#include "tui/curses_api.h"

#define SCREEN_DUMP_CELLS 500

const char *screen_dump_line(int y, char text[SCREEN_DUMP_LINE])
{
	wchar_t wide[SCREEN_DUMP_CELLS + 1];
	int n = mvinnwstr(y, 0, wide, COLS < SCREEN_DUMP_CELLS ? COLS : SCREEN_DUMP_CELLS);
	mbstate_t state = { 0 };
	size_t len = 0;

	for (int i = 0; i < n && len + MB_LEN_MAX < SCREEN_DUMP_LINE; i++) {
		size_t k = wcrtomb(text + len, wide[i], &state);

		len += k == (size_t)-1 ? 0 : k;
	}
	while (len && text[len - 1] == ' ')
		len--;
	text[len] = 0;
	return text;
}

void screen_dump_text(FILE *to)
{
	char text[SCREEN_DUMP_LINE];

	for (int y = 0; y < LINES; y++)
		fprintf(to, "%s\n", screen_dump_line(y, text));
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
	if (attrs & A_UNDERLINE)
		return attrs & A_BOLD ? 'U' : 'u';
	if (attrs & A_REVERSE)
		return attrs & A_BOLD ? 'R' : 'r';
	return attrs & A_BOLD ? 'b' : attrs & A_DIM ? 'd' : '.';
}

void screen_dump_looks(FILE *to)
{
	for (int y = 0; y < LINES; y++) {
		char looks[SCREEN_DUMP_CELLS];
		int n = COLS < SCREEN_DUMP_CELLS ? COLS : SCREEN_DUMP_CELLS;

		for (int x = 0; x < n; x++)
			looks[x] = cell_look(y, x);
		while (n && looks[n - 1] == '.')
			n--;
		fprintf(to, "%.*s\n", n, looks);
	}
}
