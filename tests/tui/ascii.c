/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ASCII form of every screen says and shows what the UTF-8 form does, at every size. golden.c
 * has few pictures of it: the others follow by these rules.
 */
#include "tests/tui/pictures.h"

/* The same looks in the same order; their lengths may differ. */
static bool same_order(const struct picture *a, const struct picture *b, int y)
{
	const char *in_a = looks_row(a, y), *in_b = looks_row(b, y);
	int xa = 0, xb = 0;

	while (xa < a->width && xb < b->width && in_a[xa] == in_b[xb]) {
		xa = next_look(in_a, a->width, xa);
		xb = next_look(in_b, b->width, xb);
	}
	return xa == a->width && xb == b->width;
}

static void looks_of_ascii(size_t s, const struct picture *at)
{
	for (int y = 0; y < at->height; y++)
		if (!same_order(&at[UTF8], &at[ASCII], y))
			row_wrong(s, &at[ASCII], y, "the colours of UTF-8");
}

TEST(ascii_has_the_same_colours)
{
	each_size(looks_of_ascii);
}

/* Letters outside ASCII belong to the program's names, and are the same in both. */
static bool cell_fits(wchar_t utf8, wchar_t ascii)
{
	if (ascii >= 128 || utf8 < 128 || iswalpha((wint_t)utf8))
		return utf8 == ascii;
	return wcschr(L" |#-+*=:.^v><`", ascii) != NULL;
}

static bool cells_fit(const wchar_t *utf8, const wchar_t *ascii, int width)
{
	int x = 0;

	while (x < width && cell_fits(utf8[x], ascii[x]))
		x++;
	return x == width;
}

#define ROW_WORDS 64

/* A word with the signs as ASCII has them; L"" for a name that is cut. False: only lines, bars. */
static bool word_plain(const wchar_t *word, wchar_t plain[WORD])
{
	static const wchar_t signs[] = L"≤±▼▲", *const in_ascii[] = { L"<=", L"+-", L"v", L"^" };
	size_t n = 0, alnum = 0;
	bool cut = wcschr(word, L'…') || wcsstr(word, L"...") || word[wcslen(word) - 1] == L'~';

	for (; *word && n < WORD - 2; word++) {
		const wchar_t *sign = wcschr(signs, *word);

		alnum += !!iswalnum((wint_t)*word);
		plain[n++] = sign ? *in_ascii[sign - signs] : *word;
		if (sign && in_ascii[sign - signs][1])
			plain[n++] = in_ascii[sign - signs][1];
	}
	plain[cut ? 0 : n] = 0;
	return cut || alnum;
}

static int row_words(const wchar_t *row, int width, wchar_t words[ROW_WORDS][WORD])
{
	const wchar_t *end = row + width;
	wchar_t word[WORD];
	int count = 0;

	while (count < ROW_WORDS && (row = next_word(row, end, L" ", word)))
		count += word_plain(word, words[count]);
	return count;
}

/* How many words are the same, from the first on or, with `step` -1, from the last; none is cut. */
static int words_alike(wchar_t (*a)[WORD], wchar_t (*b)[WORD], int most, int step)
{
	int n = 0;

	while (n < most && **a && !wcscmp(*a, *b)) {
		n++;
		a += step;
		b += step;
	}
	return n;
}

/* The same words but for those from the first cut name to the last, which are cut elsewhere, and
 * for one that may have no room left. */
static bool words_fit(const wchar_t *utf8, const wchar_t *ascii, int width)
{
	static wchar_t a[ROW_WORDS][WORD], b[ROW_WORDS][WORD];
	int na = row_words(utf8, width, a), nb = row_words(ascii, width, b);
	int most = na < nb ? na : nb, first = words_alike(a, b, most, 1);
	int last = words_alike(a + na - 1, b + nb - 1, most - first, -1);

	if (first + last == nb)
		return na <= nb + 1;
	return first + last < most && (!*a[first] || !*b[first]) &&
	       (!*a[na - 1 - last] || !*b[nb - 1 - last]);
}

/* These signs take more cells in ASCII, so that what stands beside them may move. */
static bool row_fits(const wchar_t *utf8, const wchar_t *ascii, int width)
{
	static const wchar_t wider[] = L"…≤±";

	for (int x = 0; x < width; x++)
		if (utf8[x] && wcschr(wider, utf8[x]))
			return words_fit(utf8, ascii, width);
	return cells_fit(utf8, ascii, width);
}

static void text_of_ascii(size_t s, const struct picture *at)
{
	for (int y = 0; y < at->height; y++)
		if (!row_fits(text_row(&at[UTF8], y), text_row(&at[ASCII], y), at->width))
			row_wrong(s, &at[ASCII], y, "it says what UTF-8 says");
}

TEST(ascii_says_the_same)
{
	each_size(text_of_ascii);
}

static void letters_of_ascii(size_t s, const struct picture *at)
{
	for (int i = 0; i < at->width * at->height; i++) {
		wchar_t c = at[ASCII].text[i];

		if (c >= 128 && !iswalpha((wint_t)c))
			row_wrong(s, &at[ASCII], i / at->width, "no sign but ASCII's");
	}
}

TEST(ascii_draws_only_names_in_other_letters)
{
	each_size(letters_of_ascii);
}

/* The ASCII screen has no byte above 127 but those of the names it shows. */
TEST(ascii_is_ascii)
{
	struct paper p;
	char *text;

	paper_open(&p, 30, 100, true);
	p.canned.nsites = 9; /* without the site that has a Japanese name */
	p.canned.sampled = true;
	refresh_tick(&p.ui);
	for (const char *keys = "\r?qqpjptjlizt\t\t\t\th"; *keys; keys++) {
		paper_draw(&p);
		text = paper_text(&p);
		for (const char *c = text; *c; c++)
			CHECK((unsigned char)*c < 128);
		free(text);
		screen_key(&p.ui, *keys);
	}
	paper_close(&p);
}

int main(void)
{
	if (scenarios_begin())
		return 1;
	RUN(every_scenario_fits_every_size);
	RUN(ascii_has_the_same_colours);
	RUN(ascii_says_the_same);
	RUN(ascii_draws_only_names_in_other_letters);
	pictures_free();
	scenarios_end();
	RUN(ascii_is_ascii);
	return check_end();
}
