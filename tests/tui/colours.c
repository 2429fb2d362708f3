/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The palettes: contrast on dark and light backgrounds, and which of them a terminal has. */
#include <math.h>
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/background.h"
#include "tui/refresh.h"

#define CONTRAST_LEAST 4.5

/* xterm's colours, and backgrounds that terminals come with. */
static const unsigned xterm[16] = { 0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
	0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff,
	0xffffff };
static const unsigned backgrounds[][3] = { [DRAW_DARK] = { 0x000000, 0x111111, 0x1a1a1a },
	[DRAW_LIGHT] = { 0xffffff, 0xfdf6e3, 0xeeeeee } };

static double channel(unsigned value)
{
	double c = value / 255.0;

	return c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* Relative luminance and contrast as WCAG 2.1 has them. */
static double luminance(unsigned rgb)
{
	return 0.2126 * channel(rgb >> 16) + 0.7152 * channel(rgb >> 8 & 255) +
	       0.0722 * channel(rgb & 255);
}

static double contrast(unsigned a, unsigned b)
{
	double x = luminance(a), y = luminance(b);

	return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

TEST(every_colour_can_be_read)
{
	double least = 100;

	CHECK(contrast(0, 0xffffff) > 20.9 && contrast(0x767676, 0xffffff) > 4.5);
	for (int on = DRAW_DARK; on <= DRAW_LIGHT; on++)
		for (int style = 0; style < STYLE_COUNT; style++)
			for (int safe = 0; safe < 2; safe++)
				for (int b = 0; b < 3; b++) {
					short front, back;
					double c;

					draw_colors((enum draw_background)on,
						(enum draw_style)style, safe, &front, &back);
					if (front < 0)
						continue;
					c = contrast(xterm[front],
						back < 0 ? backgrounds[on][b] : xterm[back]);
					if (c < CONTRAST_LEAST)
						fprintf(stderr, "style %d on %06x: %.1f\n", style,
							backgrounds[on][b], c);
					CHECK(c >= CONTRAST_LEAST);
					least = c < least ? c : least;
				}
	fprintf(stderr, "the least contrast is %.1f\n", least);
}

/* Where it is unknown, what is filled can be read all the same. */
TEST(filled_rows_do_not_depend_on_the_background)
{
	static const enum draw_style filled[] = { STYLE_HEAD, STYLE_HEAD_SORT, STYLE_SELECT,
		STYLE_LABEL, STYLE_MOMENT };

	for (int on = DRAW_UNKNOWN; on <= DRAW_LIGHT; on++)
		for (unsigned i = 0; i < sizeof(filled) / sizeof(filled[0]); i++) {
			short front, back;

			draw_colors((enum draw_background)on, filled[i], false, &front, &back);
			CHECK(back >= 0 && contrast(xterm[front], xterm[back]) >= CONTRAST_LEAST);
		}
}

/* Red beside green is what most colour-blind people cannot tell apart. */
TEST(no_red_beside_green)
{
	for (int on = DRAW_DARK; on <= DRAW_LIGHT; on++) {
		short good, warn, bad, back;

		draw_colors((enum draw_background)on, STYLE_GOOD, false, &good, &back);
		draw_colors((enum draw_background)on, STYLE_WARN, false, &warn, &back);
		draw_colors((enum draw_background)on, STYLE_BAD, false, &bad, &back);
		CHECK(good % 8 != COLOR_GREEN && warn != good && bad != good);
		CHECK(fabs(luminance(xterm[good]) - luminance(xterm[warn])) > 0.05 ||
			(xterm[good] & 255) > (xterm[warn] & 255)); /* blue, or by lightness */
	}
}

TEST(backgrounds_are_understood)
{
	CHECK_INT(background_parse("\033]11;rgb:0000/0000/0000\033\\"), DRAW_DARK);
	CHECK_INT(background_parse("jj\033]11;rgb:ffff/ffff/ffff\a\033[?62c"), DRAW_LIGHT);
	CHECK_INT(background_parse("\033]11;rgb:fdfd/f6f6/e3e3\a"), DRAW_LIGHT);
	CHECK_INT(background_parse("\033]11;rgb:1e/1e/2e\a"), DRAW_DARK);
	CHECK_INT(background_parse("\033]11;rgb:ff/ff/ff\a"), DRAW_LIGHT);
	CHECK_INT(background_parse("\033]11;rgb:\a"), DRAW_UNKNOWN);
	CHECK_INT(background_parse("\033[?62c"), DRAW_UNKNOWN);
	CHECK_INT(background_parse(""), DRAW_UNKNOWN);
	CHECK_INT(background_of_colorfgbg("15;0"), DRAW_DARK);
	CHECK_INT(background_of_colorfgbg("0;15"), DRAW_LIGHT);
	CHECK_INT(background_of_colorfgbg("0;default;15"), DRAW_LIGHT);
	CHECK_INT(background_of_colorfgbg("15;default"), DRAW_UNKNOWN);
	CHECK_INT(background_of_colorfgbg(""), DRAW_UNKNOWN);
	CHECK_INT(background_of_colorfgbg(NULL), DRAW_UNKNOWN);
}

static attr_t attributes_at(int y)
{
	wchar_t wide[CCHARW_MAX + 1];
	cchar_t cell;
	attr_t attrs;
	short pair;

	mvin_wch(y, 30, &cell);
	getcchar(&cell, wide, &attrs, &pair, NULL);
	CHECK_INT(pair, 0);
	return attrs;
}

/* Without colour the header and the cursor look different, even one below the other. */
TEST(mono_tells_the_cursor_from_the_header)
{
	static struct paper p;
	attr_t head, cursor;

	paper_open(&p, 24, 80, false);
	draw_init(TUI_COLOR_NEVER, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
	head = attributes_at(p.ui.layout.y[ROW_HEAD]);
	cursor = attributes_at(p.ui.layout.y[ROW_BODY]);
	CHECK(head != cursor && head && cursor);
	paper_close(&p);
}

int main(void)
{
	RUN(every_colour_can_be_read);
	RUN(filled_rows_do_not_depend_on_the_background);
	RUN(no_red_beside_green);
	RUN(backgrounds_are_understood);
	RUN(mono_tells_the_cursor_from_the_header);
	return check_end();
}
