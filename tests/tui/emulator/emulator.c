/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A terminal without a window, by libvterm: what a program wrote to its terminal goes in, and what
 *a user would see there comes out. tests/tui/emulator.py starts it and speaks to it, in lines:
 *
 *	feed N, then N bytes	the program wrote this: whole sequences and whole letters
 *	size ROWS COLS		the window became this large
 *	look			the answer: state, text, looks (see look)
 *	key NAME | click ROW COL | type LETTER
 *				the answer: in hexadecimal, what the terminal sends for it now
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

#define CELL_NEXT ((uint32_t)-1) /* the second cell of a wide letter */

static VTerm *term;
static int cursor_seen = 1, alternate, mouse;
static char sent[4097]; /* by the terminal to the program, not yet asked for */
static size_t sent_bytes;

static int on_property(VTermProp prop, VTermValue *value, void *user)
{
	(void)user;
	if (prop == VTERM_PROP_CURSORVISIBLE)
		cursor_seen = value->boolean;
	else if (prop == VTERM_PROP_ALTSCREEN)
		alternate = value->boolean;
	else if (prop == VTERM_PROP_MOUSE)
		mouse = value->number;
	return 1;
}

static void on_send(const char *bytes, size_t count, void *user)
{
	(void)user;
	if (count > sizeof(sent) - 1 - sent_bytes)
		count = sizeof(sent) - 1 - sent_bytes;
	memcpy(sent + sent_bytes, bytes, count);
	sent_bytes += count;
	sent[sent_bytes] = 0;
}

static void put_utf8(uint32_t c)
{
	if (c < 0x80) {
		putchar((int)c);
	} else if (c < 0x800) {
		printf("%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		printf("%c%c%c", 0xe0 | c >> 12, 0x80 | (c >> 6 & 0x3f), 0x80 | (c & 0x3f));
	} else {
		printf("%c%c%c%c", 0xf0 | c >> 18, 0x80 | (c >> 12 & 0x3f), 0x80 | (c >> 6 & 0x3f),
			0x80 | (c & 0x3f));
	}
}

static VTermScreenCell cell_at(int row, int col)
{
	VTermScreenCell cell;

	memset(&cell, 0, sizeof(cell));
	vterm_screen_get_cell(vterm_obtain_screen(term), (VTermPos){ row, col }, &cell);
	return cell;
}

static void put_text(int row, int cols)
{
	for (int col = 0; col < cols; col++) {
		VTermScreenCell cell = cell_at(row, col);

		if (cell.chars[0] == CELL_NEXT)
			continue;
		if (!cell.chars[0])
			putchar(' ');
		for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i]; i++)
			put_utf8(cell.chars[i]);
	}
	putchar('\n');
}

/* A colour as one letter: - the terminal's own, a digit one of the eight, ? another. */
static char color_letter(const VTermColor *color)
{
	if (color->type & VTERM_COLOR_DEFAULT_MASK)
		return '-';
	if (!VTERM_COLOR_IS_INDEXED(color) || color->indexed.idx > 15)
		return '?';
	return (char)(color->indexed.idx < 8 ? '0' + color->indexed.idx
					     : 'a' + color->indexed.idx - 8);
}

/* b bold, u underlined, U both. */
static char weight_letter(const VTermScreenCell *cell)
{
	if (cell->attrs.underline)
		return cell->attrs.bold ? 'U' : 'u';
	return cell->attrs.bold ? 'b' : '.';
}

/* Four letters per cell: colour (a to h are the bright ones), background, weight, r reverse.
 * libvterm has no dim. */
static void put_looks(int row, int cols)
{
	for (int col = 0; col < cols; col++) {
		VTermScreenCell cell = cell_at(row, col);

		printf("%c%c%c%c", color_letter(&cell.fg), color_letter(&cell.bg),
			weight_letter(&cell), cell.attrs.reverse ? 'r' : '.');
	}
	putchar('\n');
}

/* How a letter written next would look: . or the letter of what is still switched on. */
static char pen_letter(VTermState *state, VTermAttr attr, char letter)
{
	VTermValue value;

	memset(&value, 0, sizeof(value));
	vterm_state_get_penattr(state, attr, &value);
	return value.boolean ? letter : '.';
}

static void put_state(int rows, int cols)
{
	VTermState *state = vterm_obtain_state(term);
	VTermValue fg, bg;
	VTermPos at;

	vterm_state_get_cursorpos(state, &at);
	vterm_state_get_penattr(state, VTERM_ATTR_FOREGROUND, &fg);
	vterm_state_get_penattr(state, VTERM_ATTR_BACKGROUND, &bg);
	printf("%d %d %d %d %d %d %d %c%c%c%c%c\n", rows, cols, alternate, cursor_seen, mouse,
		at.row, at.col, color_letter(&fg.color), color_letter(&bg.color),
		pen_letter(state, VTERM_ATTR_BOLD, 'b'), pen_letter(state, VTERM_ATTR_REVERSE, 'r'),
		pen_letter(state, VTERM_ATTR_UNDERLINE, 'u'));
}

/* Rows, columns, alternate screen, cursor seen, mouse, the cursor's row and column, the pen; then
 * the text of each row; then the looks of each. */
static void look(void)
{
	int rows, cols;

	vterm_get_size(term, &rows, &cols);
	put_state(rows, cols);
	for (int row = 0; row < rows; row++)
		put_text(row, cols);
	for (int row = 0; row < rows; row++)
		put_looks(row, cols);
}

static void feed(size_t count)
{
	char *bytes = malloc(count + 1);

	if (!bytes || fread(bytes, 1, count, stdin) != count)
		exit(1);
	vterm_input_write(term, bytes, count);
	free(bytes);
}

static void feed_text(const char *text)
{
	vterm_input_write(term, text, strlen(text));
}

/* The first line of the scroll region, from 1: libvterm has no other way to ask for it. */
static int region_top(void)
{
	size_t before = sent_bytes;
	int top = 1;

	feed_text("\033P$qr\033\\");
	if (sscanf(sent + before, "\033P1$r%d;", &top) != 1)
		exit(3);
	sent_bytes = before;
	return top;
}

static VTermPos cursor(void)
{
	VTermPos at;

	vterm_state_get_cursorpos(vterm_obtain_state(term), &at);
	return at;
}

/*
 * libvterm 0.1 writes outside its memory after some resizes, so these states are avoided. A smaller
 * window can leave a scroll region that begins below the last line: it is dropped first, and the
 * cursor stays. It can leave the cursor above the first line: the cursor goes there. One column
 * cannot hold a wide letter: the window keeps two.
 */
static void resize(int rows, int cols)
{
	char home[48];
	VTermPos at = cursor();

	if (region_top() > rows) {
		snprintf(home, sizeof(home), "\033[r\033[%d;%dH", at.row + 1, at.col + 1);
		feed_text(home);
	}
	vterm_set_size(term, rows, cols < 2 ? 2 : cols);
	if (cursor().row < 0)
		feed_text("\033[H");
}

static void press(const char *name)
{
	static const struct {
		const char *name;
		VTermKey key;
	} keys[] = { { "Up", VTERM_KEY_UP }, { "Down", VTERM_KEY_DOWN }, { "Home", VTERM_KEY_HOME },
		{ "End", VTERM_KEY_END }, { "PgDn", VTERM_KEY_PAGEDOWN },
		{ "Enter", VTERM_KEY_ENTER }, { "Tab", VTERM_KEY_TAB }, { "Esc", VTERM_KEY_ESCAPE },
		{ "F1", VTERM_KEY_FUNCTION(1) }, { "F4", VTERM_KEY_FUNCTION(4) },
		{ "F5", VTERM_KEY_FUNCTION(5) }, { "F8", VTERM_KEY_FUNCTION(8) } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i].name, name))
			vterm_keyboard_key(term, keys[i].key, VTERM_MOD_NONE);
}

/* libvterm would report it to a program that has not asked for it, too. */
static void click(int row, int col)
{
	if (!mouse)
		return;
	vterm_mouse_move(term, row, col, VTERM_MOD_NONE);
	vterm_mouse_button(term, 1, true, VTERM_MOD_NONE);
	vterm_mouse_button(term, 1, false, VTERM_MOD_NONE);
}

static void answer_sent(void)
{
	for (size_t i = 0; i < sent_bytes; i++)
		printf("%02x", (unsigned char)sent[i]);
	putchar('\n');
	sent_bytes = 0;
}

static int command(const char *line)
{
	size_t count;
	int row, col;
	char name[16];

	if (sscanf(line, "feed %zu", &count) == 1) {
		feed(count);
		return 0;
	}
	if (sscanf(line, "size %d %d", &row, &col) == 2) {
		resize(row, col);
		return 0;
	}
	if (!strncmp(line, "look", 4)) {
		look();
		return 0;
	}
	if (sscanf(line, "key %15s", name) == 1)
		press(name);
	else if (sscanf(line, "click %d %d", &row, &col) == 2)
		click(row, col);
	else if (sscanf(line, "type %1s", name) == 1)
		vterm_keyboard_unichar(term, (uint32_t)name[0], VTERM_MOD_NONE);
	else
		return 1;
	answer_sent();
	return 0;
}

int main(void)
{
	static const VTermScreenCallbacks calls = { .settermprop = on_property };
	char line[128];

	term = vterm_new(24, 80);
	vterm_set_utf8(term, 1);
	vterm_output_set_callback(term, on_send, NULL);
	vterm_screen_set_callbacks(vterm_obtain_screen(term), &calls, NULL);
	vterm_screen_enable_altscreen(vterm_obtain_screen(term), 1);
	vterm_screen_reset(vterm_obtain_screen(term), 1);
	while (fgets(line, sizeof(line), stdin)) {
		if (command(line))
			return 2;
		fflush(stdout);
	}
	vterm_free(term);
	return 0;
}
