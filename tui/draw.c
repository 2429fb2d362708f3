/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Styles and text (draw.h). Every byte that reaches the terminal passes draw_text, which cleans,
 * decodes and truncates it. Called by all drawing files, on the main thread.
 */
#include "tui/draw.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include "src/util/text.h"
#include "tui/curses_api.h"

/* The longest text drawn by one call, more than any terminal is wide; longer text is truncated. */
#define DRAW_CELLS_MAX 1024

/* The brighter colours, which terminals of 16 and more have. */
#define BRIGHT	       8
#define BRIGHT_MAGENTA (COLOR_MAGENTA + BRIGHT)
#define BRIGHT_YELLOW  (COLOR_YELLOW + BRIGHT)
#define BRIGHT_CYAN    (COLOR_CYAN + BRIGHT)
#define BRIGHT_WHITE   (COLOR_WHITE + BRIGHT)

struct ink {
	short front, back; /* -1: the terminal's own */
};

/*
 * What is filled has a front and a back of its own, black on a light colour, so that it can be read
 * on any background. On a known background the other colours are those with a contrast of at least
 * 4.5 to it, and never red beside green.
 */
static const struct {
	attr_t colored, mono;
	struct ink usual; /* on a background that is unknown */
	short dark, light; /* on a dark and on a light one; 0: as usual */
	short safe; /* in the theme without red beside green; 0: as usual */
} style_table[STYLE_COUNT] = {
	[STYLE_PLAIN] = { A_NORMAL, A_NORMAL, { -1, -1 }, 0, 0, 0 },
	[STYLE_DIM] = { A_DIM, A_DIM, { -1, -1 }, 0, 0, 0 },
	[STYLE_BOLD] = { A_BOLD, A_BOLD, { -1, -1 }, 0, 0, 0 },
	/* Without colour, the cursor alone is reversed. */
	[STYLE_HEAD] = { A_NORMAL, A_UNDERLINE, { COLOR_BLACK, COLOR_GREEN }, 0, 0, 0 },
	[STYLE_HEAD_SORT] = { A_NORMAL, A_UNDERLINE | A_BOLD, { COLOR_BLACK, COLOR_CYAN }, 0, 0,
		0 },
	[STYLE_SELECT] = { A_NORMAL, A_REVERSE, { COLOR_BLACK, COLOR_CYAN }, 0, 0, 0 },
	[STYLE_GOOD] = { A_NORMAL, A_NORMAL, { COLOR_GREEN, -1 }, BRIGHT_CYAN, COLOR_BLUE,
		COLOR_CYAN },
	[STYLE_BAD] = { A_BOLD, A_BOLD, { COLOR_RED, -1 }, BRIGHT_MAGENTA, COLOR_RED,
		COLOR_MAGENTA },
	/* Yellow would be hard to read on white. */
	[STYLE_WARN] = { A_NORMAL, A_NORMAL, { COLOR_RED, -1 }, BRIGHT_YELLOW, COLOR_RED,
		COLOR_MAGENTA },
	[STYLE_INFO] = { A_NORMAL, A_NORMAL, { COLOR_CYAN, -1 }, BRIGHT_CYAN, COLOR_BLUE, 0 },
	[STYLE_KEY] = { A_BOLD, A_BOLD, { -1, -1 }, 0, 0, 0 },
	[STYLE_LABEL] = { A_NORMAL, A_REVERSE, { COLOR_BLACK, COLOR_CYAN }, 0, 0, 0 },
	[STYLE_MOMENT] = { A_BOLD, A_REVERSE | A_BOLD, { BRIGHT_WHITE, COLOR_RED }, 0, 0, 0 },
};

static const char *const glyph_table[GLYPH_COUNT][2] = {
	[GLYPH_LIVE] = { "●", "*" },
	[GLYPH_FROZEN] = { "❚❚", "||" },
	[GLYPH_DOWN] = { "▼", "v" },
	[GLYPH_UP] = { "▲", "^" },
	[GLYPH_ELLIPSIS] = { "…", "..." },
	[GLYPH_HLINE] = { "─", "-" },
	[GLYPH_VLINE] = { "│", "|" },
	[GLYPH_TEE] = { "┬", "-" },
	[GLYPH_HERE] = { "►", ">" },
	[GLYPH_AT_MOST] = { "≤", "<=" },
	[GLYPH_ELLIPSIS_1] = { "…", "." },
	[GLYPH_TREE_LINE] = { "│ ", "| " },
	[GLYPH_TREE_BRANCH] = { "├─", "|-" },
	[GLYPH_TREE_END] = { "└─", "`-" },
	[GLYPH_CALLS] = { " → ", " > " },
	[GLYPH_CALLED_BY] = { " ← ", " < " },
	[GLYPH_MORE_LEFT] = { "‹", "<" },
	[GLYPH_MORE_RIGHT] = { "›", ">" },
	[GLYPH_SHADE] = { "░", ":" },
};

static attr_t style_attr[STYLE_COUNT];
static short style_pair[STYLE_COUNT];
static bool ascii_only = true, use_braille, use_safe_theme, is_colored;
static enum draw_background background_found, background_now; /* the terminal's, and the theme's */

static bool colors_wanted(enum tui_color color)
{
	const char *no_color = getenv("NO_COLOR");

	if (color == TUI_COLOR_NEVER || !has_colors())
		return false;
	return color == TUI_COLOR_ALWAYS || !no_color || !*no_color;
}

void draw_colors(
	enum draw_background on, enum draw_style style, bool safe, short *front, short *back)
{
	short known = on == DRAW_DARK	 ? style_table[style].dark
		      : on == DRAW_LIGHT ? style_table[style].light
					 : 0;

	*front = known				   ? known
		 : safe && style_table[style].safe ? style_table[style].safe
						   : style_table[style].usual.front;
	*back = style_table[style].usual.back;
}

static void pair_set(int style, short background)
{
	short front, back;

	draw_colors(background_now, (enum draw_style)style, use_safe_theme, &front, &back);
	if (front >= COLORS)
		front = (short)(front - BRIGHT);
	style_pair[style] = 0;
	if (front < 0)
		return;
	style_pair[style] = (short)(style + 1);
	init_pair(style_pair[style], front, back < 0 ? background : back);
}

static void init_colors(bool colored)
{
	short background = -1;

	is_colored = colored;
	if (colored) {
		start_color();
		if (use_default_colors() == ERR)
			background = COLOR_BLACK;
	}
	for (int i = 0; i < STYLE_COUNT; i++) {
		style_attr[i] = colored ? style_table[i].colored : style_table[i].mono;
		style_pair[i] = 0;
		if (colored)
			pair_set(i, background);
	}
}

void draw_background_set(enum draw_background on)
{
	background_found = on;
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

void draw_init(enum tui_color color, bool ascii)
{
	if (background_now == DRAW_UNKNOWN)
		background_now = background_found;
	ascii_only = ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0 || term_lacks_glyphs();
	init_colors(colors_wanted(color));
}

void draw_configure(
	enum settings_color color, enum settings_glyphs glyphs, enum settings_theme theme)
{
	use_safe_theme = theme == SETTINGS_THEME_SAFE;
	background_now = theme == SETTINGS_THEME_DARK	 ? DRAW_DARK
			 : theme == SETTINGS_THEME_LIGHT ? DRAW_LIGHT
							 : background_found;
	draw_init((enum tui_color)color, glyphs == SETTINGS_GLYPHS_ASCII);
	/* An explicit choice holds wherever the locale can encode it. */
	if (glyphs == SETTINGS_GLYPHS_BLOCKS || glyphs == SETTINGS_GLYPHS_BRAILLE)
		ascii_only = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	use_braille = glyphs == SETTINGS_GLYPHS_BRAILLE;
}

bool draw_is_ascii(void)
{
	return ascii_only;
}

enum glyphs draw_glyph_set(void)
{
	if (ascii_only)
		return GLYPHS_ASCII;
	return use_braille ? GLYPHS_BRAILLE : GLYPHS_BLOCKS;
}

const char *draw_glyph(enum draw_glyph sign)
{
	return glyph_table[sign][ascii_only];
}

/* Decodes clean text into wide characters of at most `cells` cells; returns their number. */
static unsigned decode_cells(const char *text, unsigned cells, wchar_t *wide, unsigned *used)
{
	size_t left = strlen(text);
	unsigned n = 0;

	*used = 0;
	while (left && n < DRAW_CELLS_MAX - 1) {
		uint32_t code;
		size_t bytes = text_decode(text, left, &code);
		int width = wcwidth((wchar_t)code);

		if (width < 0) { /* the locale cannot show it */
			code = '?';
			width = 1;
		}
		if (*used + (unsigned)width > cells)
			break;
		if (width || n) /* a combining mark needs a base character */
			wide[n++] = (wchar_t)code;
		*used += (unsigned)width;
		text += bytes;
		left -= bytes;
	}
	wide[n] = 0;
	return n;
}

static unsigned draw_as(int y, int x, unsigned cells, attr_t attributes, int pair, const char *text)
{
	/* Static, since only the main thread draws and the stack may be small. */
	static char clean[DRAW_CELLS_MAX * 4];
	static wchar_t wide[DRAW_CELLS_MAX];
	unsigned used, n;

	if (y < 0 || x < 0 || !cells)
		return 0;
	text_clean(clean, sizeof(clean), text, strlen(text));
	n = decode_cells(clean, cells, wide, &used);
	if (!n)
		return 0;
	attr_set(attributes, 0, &pair);
	mvaddnwstr(y, x, wide, (int)n);
	attr_set(A_NORMAL, 0, NULL);
	return used;
}

unsigned draw_text(int y, int x, unsigned cells, enum draw_style style, const char *text)
{
	return draw_as(y, x, cells, style_attr[style], style_pair[style], text);
}

int draw_sentence(int y, int x, unsigned cells, int most, enum draw_style style, const char *text)
{
	char line[DRAW_CELLS_MAX];
	int lines = 0;
	size_t n;

	for (; *text && cells && lines < most; text += n + strspn(text + n, " ")) {
		n = lines + 1 < most ? text_line(text, cells) : strlen(text);
		if (n < strlen(text))
			snprintf(line, sizeof(line), "%.*s", (int)n, text);
		else
			text_elide(line, sizeof(line), text, cells, false, ascii_only);
		draw_text(y + lines++, x, cells, style, line);
	}
	return lines;
}

/* The nearest colour that the terminal has. */
static int program_color(int color)
{
	int levels[3];

	if (color < 0 || color < COLORS)
		return color;
	if (color < 16)
		return color % 8;
	if (color >= 232)
		return color >= 244 ? COLOR_WHITE : COLOR_BLACK;
	/* xterm's cube of 6 x 6 x 6: one bit of each of red, green and blue. */
	for (int i = 0, c = color - 16; i < 3; i++, c /= 6)
		levels[i] = c % 6 >= 3;
	return levels[2] | levels[1] << 1 | levels[0] << 2;
}

void draw_program(int y, int x, unsigned cells, const struct term_style *style, const char *text)
{
	attr_t attributes = (style->bold ? A_BOLD : 0) | (style->underline ? A_UNDERLINE : 0) |
			    (style->italic ? A_ITALIC : 0) | (style->reverse ? A_REVERSE : 0);
	int pair = 0;

	if (is_colored && (style->fore >= 0 || style->back >= 0))
		pair = alloc_pair(program_color(style->fore), program_color(style->back));
	draw_as(y, x, cells, attributes, pair < 0 ? 0 : pair, text);
}

void draw_fill(int y, int x, unsigned cells, enum draw_style style)
{
	char blanks[DRAW_CELLS_MAX];

	if (cells > sizeof(blanks) - 1)
		cells = sizeof(blanks) - 1;
	memset(blanks, ' ', cells);
	blanks[cells] = 0;
	draw_text(y, x, cells, style, blanks);
}

void draw_padded(int y, int x, unsigned cells, enum draw_style style, const char *text)
{
	unsigned used = draw_text(y, x, cells, style, text);

	if (used < cells)
		draw_fill(y, x + (int)used, cells - used, style);
}

void draw_rule(int y, int x, unsigned cells, const char *title)
{
	unsigned used = 0;

	for (unsigned i = 0; i < cells; i++)
		draw_text(y, x + (int)i, 1, STYLE_DIM, draw_glyph(GLYPH_HLINE));
	if (!title || cells < 6)
		return;
	used = draw_text(y, x + 2, cells - 3, STYLE_BOLD, title);
	draw_text(y, x + 1, 1, STYLE_DIM, " ");
	draw_text(y, x + 2 + (int)used, 1, STYLE_DIM, " ");
}
