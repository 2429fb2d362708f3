/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program's terminal (terminal.h): libvterm keeps the screen, and this file the lines that
 * scrolled off. A line is stored as its text and its runs of one style, so that ten thousand of
 * them take some MB at worst.
 */
#include "src/target/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

#include "src/target/sequence_guard.h"
#include "src/util/text.h"

#define LINES_MAX   10000u
#define FEED_BYTES  1024u
#define CELLS_MAX   1024u /* a line; no terminal is wider */
#define ANSWERS_MAX 65536u /* a program that asks, and reads nothing, is not answered for ever */
#define CURSOR_SAVE "\0337"
#define RIGHT_HALF  UINT32_MAX /* a cell's character */
#define ROWS_LEAST  2
#define COLS_LEAST  2

struct stored {
	char *text;
	struct term_run *run;
	size_t runs;
};

struct terminal {
	VTerm *vterm;
	struct sequence_guard guard;
	VTermScreen *screen;
	int rows, cols;
	bool alternate, hidden; /* the screen; the cursor */
	struct stored line[LINES_MAX]; /* a ring */
	size_t first, count;
	uint64_t dropped; /* lines that made room for others */
	struct strbuf answers;
	/* The line that is being made, or was asked for. */
	struct strbuf text;
	struct term_run run[CELLS_MAX];
	size_t runs;
};

/* ---- lines ---- */

static int16_t color_of(const VTermColor *c, const VTermScreen *screen)
{
	VTermColor rgb = *c;
	int r, g, b;

	if (VTERM_COLOR_IS_DEFAULT_FG(c) || VTERM_COLOR_IS_DEFAULT_BG(c))
		return TERM_LINE_DEFAULT;
	if (VTERM_COLOR_IS_INDEXED(c))
		return c->indexed.idx;
	/* The nearest of xterm's cube of 6 x 6 x 6. */
	vterm_screen_convert_color_to_rgb(screen, &rgb);
	r = (rgb.rgb.red * 5 + 127) / 255;
	g = (rgb.rgb.green * 5 + 127) / 255;
	b = (rgb.rgb.blue * 5 + 127) / 255;
	return (int16_t)(16 + 36 * r + 6 * g + b);
}

static struct term_style style_of(const VTermScreenCell *c, const VTermScreen *screen)
{
	return (struct term_style){ .fore = color_of(&c->fg, screen),
		.back = color_of(&c->bg, screen),
		.bold = c->attrs.bold,
		.underline = c->attrs.underline != VTERM_UNDERLINE_OFF,
		.italic = c->attrs.italic,
		.reverse = c->attrs.reverse };
}

static bool is_same(const struct term_style *a, const struct term_style *b)
{
	return a->fore == b->fore && a->back == b->back && a->bold == b->bold &&
	       a->underline == b->underline && a->italic == b->italic && a->reverse == b->reverse;
}

static bool is_blank(const VTermScreenCell *c, const struct term_style *s)
{
	return (c->chars[0] == 0 || c->chars[0] == ' ') && s->back == TERM_LINE_DEFAULT &&
	       !s->reverse && !s->underline;
}

static size_t utf8_put(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* A cell's characters, clean. One that was the right half of a wide character is blank. */
static void cell_text(const VTermScreenCell *c, char *out, size_t cap)
{
	char raw[VTERM_MAX_CHARS_PER_CELL * 4];
	size_t n = 0;

	for (unsigned i = 0;
		i < VTERM_MAX_CHARS_PER_CELL && c->chars[i] && c->chars[i] != RIGHT_HALF; i++)
		n += utf8_put(raw + n, c->chars[i]);
	if (n == 0)
		raw[n++] = ' ';
	text_clean(out, cap, raw, n);
}

static void line_begin(struct terminal *t)
{
	strbuf_reset(&t->text);
	t->runs = 0;
}

/* Appends one cell at `at`: to the last run, if it is of the same style and ends there. */
static void line_cell(struct terminal *t, unsigned at, const VTermScreenCell *c)
{
	struct term_style style = style_of(c, t->screen);
	struct term_run *last = t->runs ? &t->run[t->runs - 1] : NULL;
	unsigned cells = c->width > 1 ? (unsigned)c->width : 1;
	char text[VTERM_MAX_CHARS_PER_CELL * 4 + 1];
	size_t from = t->text.len;

	cell_text(c, text, sizeof(text));
	strbuf_puts(&t->text, text);
	if (last && last->at + last->cells == at && is_same(&last->style, &style)) {
		last->cells += cells;
		last->bytes += t->text.len - from;
		return;
	}
	if (t->runs < CELLS_MAX)
		t->run[t->runs++] = (struct term_run){ at, cells, from, t->text.len - from, style };
}

/* Makes a line of cells, without the blanks at its end. */
static void line_make(struct terminal *t, const VTermScreenCell *cells, unsigned count)
{
	line_begin(t);
	while (count > 0) {
		struct term_style s = style_of(&cells[count - 1], t->screen);

		if (!is_blank(&cells[count - 1], &s))
			break;
		count--;
	}
	for (unsigned at = 0; at<count; at += cells[at].width> 1 ? (unsigned)cells[at].width : 1)
		line_cell(t, at, &cells[at]);
}

static unsigned row_read(const struct terminal *t, int row, VTermScreenCell *cells)
{
	unsigned count = t->cols < (int)CELLS_MAX ? (unsigned)t->cols : CELLS_MAX;

	for (unsigned col = 0; col < count; col++) {
		VTermPos at = { row, (int)col };

		memset(&cells[col], 0, sizeof(cells[col]));
		vterm_screen_get_cell(t->screen, at, &cells[col]);
	}
	return count;
}

static bool row_is_blank(const struct terminal *t, int row)
{
	for (int col = 0; col < t->cols; col++) {
		VTermScreenCell c = { 0 };
		VTermPos at = { row, col };
		struct term_style s;

		vterm_screen_get_cell(t->screen, at, &c);
		s = style_of(&c, t->screen);
		if (!is_blank(&c, &s))
			return false;
	}
	return true;
}

/* ---- what scrolled off ---- */

static void stored_drop(struct stored *l)
{
	free(l->text);
	free(l->run);
	*l = (struct stored){ 0 };
}

/* Keeps the line that was made. Without memory it is an empty one. */
static void line_store(struct terminal *t)
{
	struct stored *l = &t->line[(t->first + t->count) % LINES_MAX];

	stored_drop(l);
	l->text = strdup(strbuf_text(&t->text));
	l->run = t->runs ? malloc(t->runs * sizeof(*l->run)) : NULL;
	if (l->text && l->run) {
		memcpy(l->run, t->run, t->runs * sizeof(*l->run));
		l->runs = t->runs;
	}
	if (t->count < LINES_MAX) {
		t->count++;
	} else {
		t->first = (t->first + 1) % LINES_MAX;
		t->dropped++;
	}
}

static int on_pushed(int cols, const VTermScreenCell *cells, void *user)
{
	struct terminal *t = user;

	line_make(t, cells, cols < (int)CELLS_MAX ? (unsigned)cols : CELLS_MAX);
	line_store(t);
	return 1;
}

static int on_property(VTermProp property, VTermValue *value, void *user)
{
	struct terminal *t = user;

	if (property == VTERM_PROP_ALTSCREEN)
		t->alternate = value->boolean;
	else if (property == VTERM_PROP_CURSORVISIBLE)
		t->hidden = !value->boolean;
	return 1;
}

static const VTermScreenCallbacks callbacks = {
	.settermprop = on_property,
	.sb_pushline = on_pushed,
};

static void on_answer(const char *bytes, size_t n, void *user)
{
	struct terminal *t = user;

	if (t->answers.len + n <= ANSWERS_MAX)
		strbuf_add(&t->answers, bytes, n);
}

/* ---- the terminal ---- */

static void size_set(struct terminal *t, int rows, int cols)
{
	t->rows = rows < ROWS_LEAST ? ROWS_LEAST : rows;
	t->cols = cols < COLS_LEAST ? COLS_LEAST : cols;
}

struct terminal *terminal_new(int rows, int cols)
{
	struct terminal *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	size_set(t, rows, cols);
	t->vterm = vterm_new(t->rows, t->cols);
	if (!t->vterm) {
		free(t);
		return NULL;
	}
	vterm_set_utf8(t->vterm, 1);
	vterm_output_set_callback(t->vterm, on_answer, t);
	t->screen = vterm_obtain_screen(t->vterm);
	vterm_screen_set_callbacks(t->screen, &callbacks, t);
	vterm_screen_enable_altscreen(t->screen, 1);
	vterm_screen_reset(t->screen, 1);
	/* Programs restore what they have not saved, which in the emulator is no colour at all. */
	vterm_input_write(t->vterm, CURSOR_SAVE, strlen(CURSOR_SAVE));
	return t;
}

void terminal_free(struct terminal *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < LINES_MAX; i++)
		stored_drop(&t->line[i]);
	vterm_free(t->vterm);
	strbuf_free(&t->answers);
	strbuf_free(&t->text);
	free(t);
}

/* At most as many as a line has cells. */
static void glyph_repeat(struct terminal *t)
{
	char again[CELLS_MAX];
	size_t n = t->guard.repeat < (unsigned)t->cols ? t->guard.repeat : (unsigned)t->cols;

	n = n < sizeof(again) ? n : sizeof(again);
	memset(again, t->guard.glyph, n);
	vterm_input_write(t->vterm, again, n);
}

void terminal_feed(struct terminal *t, const char *bytes, size_t n)
{
	char safe[FEED_BYTES + SEQUENCE_PASS_MOST];

	while (n > 0) {
		size_t piece = 0;

		do {
			piece += sequence_guard_pass(&t->guard, *bytes++, safe + piece);
		} while (--n > 0 && piece < FEED_BYTES && t->guard.repeat == 0);
		vterm_input_write(t->vterm, safe, piece);
		if (t->guard.repeat > 0)
			glyph_repeat(t);
	}
}

static int within(int at, int count)
{
	return at < 0 ? 0 : at < count ? at : count - 1;
}

/* The emulator may leave the cursor and the margins outside of a smaller screen. As in other
 * terminals, the margins become those of the screen, which moves the cursor; it is put back. */
void terminal_resize(struct terminal *t, int rows, int cols)
{
	int former_rows = t->rows, former_cols = t->cols;
	char again[64];
	VTermPos at;

	size_set(t, rows, cols);
	vterm_set_size(t->vterm, t->rows, t->cols);
	if (t->rows >= former_rows && t->cols >= former_cols)
		return;
	vterm_state_get_cursorpos(vterm_obtain_state(t->vterm), &at);
	snprintf(again, sizeof(again), "\033[r\033[s\033[%d;%dH", within(at.row, t->rows) + 1,
		within(at.col, t->cols) + 1);
	vterm_input_write(t->vterm, again, strlen(again));
}

static size_t scrolled(const struct terminal *t)
{
	return t->alternate ? 0 : t->count;
}

uint64_t terminal_dropped(const struct terminal *t)
{
	return t->dropped;
}

size_t terminal_lines(const struct terminal *t)
{
	int rows = t->rows;

	while (!t->alternate && rows > 0 && row_is_blank(t, rows - 1))
		rows--;
	return scrolled(t) + (size_t)rows;
}

void terminal_line(struct terminal *t, size_t i, struct term_line *out)
{
	static VTermScreenCell cells[CELLS_MAX];
	const struct stored *l = &t->line[(t->first + i) % LINES_MAX];

	if (i < scrolled(t)) {
		*out = (struct term_line){ l->text ?: "", l->run, l->runs };
		return;
	}
	i -= scrolled(t);
	line_begin(t);
	if (i < (size_t)t->rows)
		line_make(t, cells, row_read(t, (int)i, cells));
	*out = (struct term_line){ strbuf_text(&t->text), t->run, t->runs };
}

bool terminal_cursor(const struct terminal *t, size_t *line, unsigned *cell)
{
	VTermPos at;

	vterm_state_get_cursorpos(vterm_obtain_state(t->vterm), &at);
	*line = scrolled(t) + (size_t)at.row;
	*cell = (unsigned)at.col;
	return !t->hidden;
}

void terminal_press(struct terminal *t, enum term_press key)
{
	static const VTermKey keys[TERM_PRESS_F] = {
		[TERM_PRESS_UP] = VTERM_KEY_UP,
		[TERM_PRESS_DOWN] = VTERM_KEY_DOWN,
		[TERM_PRESS_LEFT] = VTERM_KEY_LEFT,
		[TERM_PRESS_RIGHT] = VTERM_KEY_RIGHT,
		[TERM_PRESS_HOME] = VTERM_KEY_HOME,
		[TERM_PRESS_END] = VTERM_KEY_END,
		[TERM_PRESS_PAGE_UP] = VTERM_KEY_PAGEUP,
		[TERM_PRESS_PAGE_DOWN] = VTERM_KEY_PAGEDOWN,
		[TERM_PRESS_INSERT] = VTERM_KEY_INS,
		[TERM_PRESS_DELETE] = VTERM_KEY_DEL,
		[TERM_PRESS_BACKSPACE] = VTERM_KEY_BACKSPACE,
		[TERM_PRESS_BACK_TAB] = VTERM_KEY_TAB,
	};
	VTermModifier with = key == TERM_PRESS_BACK_TAB ? VTERM_MOD_SHIFT : VTERM_MOD_NONE;

	if (key < TERM_PRESS_F)
		vterm_keyboard_key(t->vterm, keys[key], with);
	else
		vterm_keyboard_key(
			t->vterm, (VTermKey)(VTERM_KEY_FUNCTION_0 + (key - TERM_PRESS_F)), with);
}

struct strbuf *terminal_answers(struct terminal *t)
{
	return &t->answers;
}
