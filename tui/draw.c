/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inks and the drawing of text. Every byte that reaches the terminal passes ink_text, which
 * cleans it, decodes it and cuts it on cells. Called by all drawing files, on the main thread.
 */
#include "tui/draw.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include "src/util/text.h"
#include "tui/curses_api.h"

/* Longest text drawn by one call; wider than any terminal we met, and cut there, not overrun. */
#define INK_CELLS_MAX 1024

static const struct {
	short color; /* -1: the terminal's own */
	attr_t colored, mono;
	short safe; /* instead, in the theme without red beside green; 0: the same */
} ink_table[INK_COUNT] = {
	[INK_PLAIN] = { -1, A_NORMAL, A_NORMAL, 0 },
	[INK_DIM] = { -1, A_DIM, A_DIM, 0 },
	[INK_BOLD] = { -1, A_BOLD, A_BOLD, 0 },
	[INK_HEAD] = { COLOR_GREEN, A_REVERSE, A_REVERSE, COLOR_CYAN },
	[INK_HEAD_SORT] = { COLOR_CYAN, A_REVERSE, A_REVERSE | A_BOLD, 0 },
	[INK_SELECT] = { COLOR_CYAN, A_REVERSE, A_REVERSE, 0 },
	[INK_GOOD] = { COLOR_GREEN, A_NORMAL, A_NORMAL, COLOR_CYAN },
	[INK_BAD] = { COLOR_RED, A_BOLD, A_BOLD, COLOR_MAGENTA },
	/* Yellow would be hard to read on white. */
	[INK_WARN] = { COLOR_RED, A_NORMAL, A_NORMAL, COLOR_MAGENTA },
	[INK_INFO] = { COLOR_CYAN, A_NORMAL, A_NORMAL, 0 },
	[INK_KEY] = { -1, A_BOLD, A_BOLD, 0 },
	[INK_LABEL] = { COLOR_CYAN, A_REVERSE, A_REVERSE, 0 },
};

static const char *const sign_table[SIGN_COUNT][2] = {
	[SIGN_LIVE] = { "●", "*" },
	[SIGN_FROZEN] = { "❚❚", "||" },
	[SIGN_DOWN] = { "▼", "v" },
	[SIGN_UP] = { "▲", "^" },
	[SIGN_ELLIPSIS] = { "…", "..." },
	[SIGN_HLINE] = { "─", "-" },
	[SIGN_VLINE] = { "│", "|" },
	[SIGN_TEE] = { "┬", "-" },
	[SIGN_HERE] = { "►", ">" },
	[SIGN_AT_MOST] = { "≤", "<=" },
	[SIGN_ELLIPSIS_1] = { "…", "." },
	[SIGN_TREE_LINE] = { "│ ", "| " },
	[SIGN_TREE_BRANCH] = { "├─", "|-" },
	[SIGN_TREE_END] = { "└─", "`-" },
	[SIGN_CALLS] = { " → ", " > " },
	[SIGN_CALLED_BY] = { " ← ", " < " },
};

static attr_t ink_attr[INK_COUNT];
static short ink_pair[INK_COUNT];
static bool ink_is_ascii = true, ink_is_braille, ink_is_safe;

static bool colors_wanted(enum tui_color color)
{
	const char *no_color = getenv("NO_COLOR");

	if (color == TUI_COLOR_NEVER || !has_colors())
		return false;
	return color == TUI_COLOR_ALWAYS || !no_color || !*no_color;
}

static short ink_color(int i)
{
	return ink_is_safe && ink_table[i].safe ? ink_table[i].safe : ink_table[i].color;
}

static void ink_init_colors(bool colored)
{
	short background = -1;

	if (colored) {
		start_color();
		if (use_default_colors() == ERR)
			background = COLOR_BLACK;
	}
	for (int i = 0; i < INK_COUNT; i++) {
		ink_attr[i] = colored ? ink_table[i].colored : ink_table[i].mono;
		ink_pair[i] = 0;
		if (!colored || ink_table[i].color < 0)
			continue;
		ink_pair[i] = (short)(i + 1);
		init_pair(ink_pair[i], ink_color(i), background);
	}
}

static bool term_lacks_glyphs(void)
{
	static const char *const names[] = { "linux", "dumb", "vt100", "vt102", "vt220" };
	const char *term = getenv("TERM");

	for (size_t i = 0; term && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(term, names[i]))
			return true;
	return false;
}

void ink_init(enum tui_color color, bool ascii)
{
	ink_is_ascii = ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0 || term_lacks_glyphs();
	ink_init_colors(colors_wanted(color));
}

void ink_settle(enum settings_color color, enum settings_glyphs glyphs, enum settings_theme theme)
{
	ink_is_safe = theme == SETTINGS_THEME_SAFE;
	ink_init((enum tui_color)color, glyphs == SETTINGS_GLYPHS_ASCII);
	/* Asked for by name, they are drawn wherever the locale can. */
	if (glyphs == SETTINGS_GLYPHS_BLOCKS || glyphs == SETTINGS_GLYPHS_BRAILLE)
		ink_is_ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	ink_is_braille = glyphs == SETTINGS_GLYPHS_BRAILLE;
}

bool ink_ascii(void)
{
	return ink_is_ascii;
}

enum glyphs ink_glyphs(void)
{
	if (ink_is_ascii)
		return GLYPHS_ASCII;
	return ink_is_braille ? GLYPHS_BRAILLE : GLYPHS_BLOCKS;
}

const char *ink_sign(enum ink_sign sign)
{
	return sign_table[sign][ink_is_ascii];
}

/* Decodes clean text into at most `cells` cells of wide characters; returns how many of them. */
static unsigned ink_decode(const char *text, unsigned cells, wchar_t *wide, unsigned *used)
{
	size_t left = strlen(text);
	unsigned n = 0;

	*used = 0;
	while (left && n < INK_CELLS_MAX - 1) {
		uint32_t code;
		size_t bytes = text_decode(text, left, &code);
		int width = wcwidth((wchar_t)code);

		if (width < 0) { /* the locale cannot show it */
			code = '?';
			width = 1;
		}
		if (*used + (unsigned)width > cells)
			break;
		if (width || n) /* a combining mark needs something to stand on */
			wide[n++] = (wchar_t)code;
		*used += (unsigned)width;
		text += bytes;
		left -= bytes;
	}
	wide[n] = 0;
	return n;
}

unsigned ink_text(int y, int x, unsigned cells, enum ink ink, const char *text)
{
	/* Drawing is the main thread's alone; both are too large for a stack that may be small. */
	static char clean[INK_CELLS_MAX * 4];
	static wchar_t wide[INK_CELLS_MAX];
	unsigned used, n;

	if (y < 0 || x < 0 || !cells)
		return 0;
	text_clean(clean, sizeof(clean), text, strlen(text));
	n = ink_decode(clean, cells, wide, &used);
	if (!n)
		return 0;
	attr_set(ink_attr[ink], ink_pair[ink], NULL);
	mvaddnwstr(y, x, wide, (int)n);
	attr_set(A_NORMAL, 0, NULL);
	return used;
}

void ink_fill(int y, int x, unsigned cells, enum ink ink)
{
	char blanks[INK_CELLS_MAX];

	if (cells > sizeof(blanks) - 1)
		cells = sizeof(blanks) - 1;
	memset(blanks, ' ', cells);
	blanks[cells] = 0;
	ink_text(y, x, cells, ink, blanks);
}

void ink_padded(int y, int x, unsigned cells, enum ink ink, const char *text)
{
	unsigned used = ink_text(y, x, cells, ink, text);

	if (used < cells)
		ink_fill(y, x + (int)used, cells - used, ink);
}

void ink_rule(int y, int x, unsigned cells, const char *title)
{
	unsigned used = 0;

	for (unsigned i = 0; i < cells; i++)
		ink_text(y, x + (int)i, 1, INK_DIM, ink_sign(SIGN_HLINE));
	if (!title || cells < 6)
		return;
	used = ink_text(y, x + 2, cells - 3, INK_BOLD, title);
	ink_text(y, x + 1, 1, INK_DIM, " ");
	ink_text(y, x + 2 + (int)used, 1, INK_DIM, " ");
}
