/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every scenario (tests/tui/scenarios.h) at every size, in both glyph sets, in colour and in mono:
 * screens by cells, for rules that all of them must follow.
 */
#ifndef TESTS_TUI_PICTURES_H
#define TESTS_TUI_PICTURES_H

#include <wchar.h>
#include <wctype.h>
#include "tests/tui/paper.h"
#include "tests/tui/scenarios.h"

/* Text by cells: a wide letter's second cell is 0. */
struct picture {
	int width, height;
	wchar_t *text;
	char *looks;
};

enum { TINY, USUAL, LARGER, HUGE_SIZE, SIZES };
enum { UTF8, UTF8_MONO, ASCII, ASCII_MONO, MODES };

static const struct {
	int width, height;
} sizes[SIZES] = { { 40, 8 }, { 80, 24 }, { 100, 30 }, { 200, 60 } };

static struct picture pictures[SCENARIOS][SIZES][MODES];

static inline wchar_t *text_row(const struct picture *p, int y)
{
	return p->text + y * p->width;
}

static inline char *looks_row(const struct picture *p, int y)
{
	return p->looks + y * p->width;
}

/* One line into cells; returns where the next begins. */
static inline const char *text_parse(struct picture *p, int y, const char *line)
{
	const char *end = line + strcspn(line, "\n");
	mbstate_t state = { 0 };
	int x = 0;

	while (line < end) {
		wchar_t c;
		size_t bytes = mbrtowc(&c, line, (size_t)(end - line), &state);
		int cells = (int)bytes > 0 ? wcwidth(c) : -1;

		CHECK(cells > 0 && x + cells <= p->width);
		if (cells <= 0 || x + cells > p->width)
			break;
		text_row(p, y)[x] = c;
		if (cells == 2)
			text_row(p, y)[x + 1] = 0;
		x += cells;
		line += bytes;
	}
	return end + !!*end;
}

static inline struct picture picture_parse(const struct shot *shot, int width, int height)
{
	size_t cells = (size_t)width * (size_t)height;
	struct picture p = { width, height, malloc(cells * sizeof(wchar_t)), malloc(cells) };
	const char *text = shot->text, *looks = shot->looks;

	wmemset(p.text, L' ', cells);
	memset(p.looks, '.', cells);
	for (int y = 0; y < height; y++) {
		size_t signs = strcspn(looks, "\n");

		text = text_parse(&p, y, text);
		CHECK(signs <= (size_t)width);
		memcpy(looks_row(&p, y), looks, signs <= (size_t)width ? signs : 0);
		looks += signs + !!looks[signs];
	}
	CHECK(!*text && !*looks);
	return p;
}

static inline struct picture picture_take(const struct scenario *scenario, int size, int mode)
{
	struct shot_mode how = { sizes[size].width, sizes[size].height, mode >= ASCII, mode & 1 };
	struct shot shot = scenario_shot(scenario, how);
	struct picture p = picture_parse(&shot, how.width, how.height);

	shot_free(&shot);
	return p;
}

/* The first test of a program, between scenarios_begin and pictures_free. */
TEST(every_scenario_fits_every_size)
{
	for (size_t i = 0; i < SCENARIOS * SIZES * MODES; i++)
		(&pictures[0][0][0])[i] = picture_take(
			&scenarios[i / MODES / SIZES], (int)(i / MODES % SIZES), (int)(i % MODES));
}

static inline void pictures_free(void)
{
	for (size_t i = 0; i < SCENARIOS * SIZES * MODES; i++) {
		free((&pictures[0][0][0])[i].text);
		free((&pictures[0][0][0])[i].looks);
	}
}

/* `at` is the scenario's pictures at one size, by mode. */
static inline void each_size(void (*rule)(size_t s, const struct picture *at))
{
	for (size_t s = 0; s < SCENARIOS; s++)
		for (int size = 0; size < SIZES; size++)
			rule(s, pictures[s][size]);
}

/* Where the look of cell x ends. */
static inline int next_look(const char *looks, int cells, int x)
{
	int end = x + 1;

	while (end < cells && looks[end] == looks[x])
		end++;
	return end;
}

/* A row that breaks a rule, named. */
static inline void row_wrong(size_t s, const struct picture *p, int y, const char *rule)
{
	check_fail(scenarios[s].name, y, rule);
	fprintf(stderr, "%dx%d: %.*ls\n", p->width, p->height, p->width, text_row(p, y));
}

#define WORD 64

/* The next word, what stands between any of the signs `between`; returns its end, or NULL. */
static inline const wchar_t *next_word(
	const wchar_t *at, const wchar_t *end, const wchar_t *between, wchar_t word[WORD])
{
	size_t n = 0;

	while (at < end && (!*at || wcschr(between, *at)))
		at++;
	for (; at < end && (!*at || !wcschr(between, *at)); at++)
		if (*at && n < WORD - 1)
			word[n++] = *at;
	word[n] = 0;
	return n ? at : NULL;
}

#endif
