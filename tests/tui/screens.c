/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the colours of every screen say, and what must be the same at every size. golden.c has few
 * pictures of those: the others follow by these rules.
 */
#include <search.h>
#include "tests/tui/pictures.h"

/* ---- colours ------------------------------------------------------------------------------ */

static void text_without_colours(size_t s, const struct picture *at)
{
	for (int m = 0; m < MODES; m += 2)
		for (int y = 0; y < at->height; y++)
			if (wmemcmp(text_row(&at[m], y), text_row(&at[m + 1], y),
				    (size_t)at->width))
				row_wrong(s, &at[m + 1], y, "mono says what colour says");
}

TEST(colours_change_no_text)
{
	each_size(text_without_colours);
}

/* How a cell of each ink looks without colours; 0: there is no such ink. */
static char look_in_mono(char look)
{
	static const char inks[] = ".bd4R56789ACD", mono[] = ".bduRUr.b..rR";
	const char *at = strchr(inks, look);

	return look && at ? mono[at - inks] : 0;
}

static void look_without_colours(size_t s, const struct picture *at)
{
	for (int m = 0; m < MODES; m += 2)
		for (int i = 0; i < at->width * at->height; i++)
			if (look_in_mono(at[m].looks[i]) != at[m + 1].looks[i])
				row_wrong(s, &at[m], i / at->width, "an ink's look in mono");
}

TEST(each_cell_has_an_ink_and_its_look_in_mono)
{
	each_size(look_without_colours);
}

/* Texts and their inks, wherever a size shows them. */
static const struct {
	const char *scenario;
	const wchar_t *text;
	char look;
} meanings[] = {
	{ "sites", L"● LIVE", '7' },
	{ "sites", L"[Sites]", 'b' },
	{ "sites", L"+1.0M/s", '9' },
	{ "sites", L"F10/q", 'b' },
	{ "sites", L"Quit", 'C' },
	{ "sites", L"leak scan", '.' },
	{ "frozen", L"❚❚ FROZEN", '9' },
	{ "filtered", L"filter: live", '9' },
	{ "prompt", L"show only:", 'b' },
	{ "group-choice", L"by module (g)", 'b' },
	{ "ended", L"killed by SIGSEGV", '8' },
	{ "ended", L"untracked 12", '8' },
	{ "ended", L"! tracking ended", '8' },
	{ "sampled", L"sampled 1/512k", '9' },
	{ "sampled-detail", L"±2.0M", '9' },
	{ "detail", L"grows +1.0M/s", '9' },
	{ "detail", L"cache.cc:97", 'd' },
	{ "tree", L"__libc_start_main → main → ev::Loop::run() → index", 'd' },
	{ "tree", L"SELECTED", 'b' },
	{ "tree-up", L"growth +1.0M/s", '9' },
	{ "leaks", L"definite  ", '8' },
	{ "leaks-busy", L"Grows +393k/s", '9' },
	{ "leaks-busy", L"reachable  ", 'd' },
	{ "leaks-none", L"no leaks", 'd' },
	{ "map", L"55d0a2400000", 'd' },
	{ "map", L"RSS 50.8M", 'b' },
	{ "marked", L"since mark", '9' },
	{ "past", L"PAST 10:", 'D' },
	{ "range", L"RANGE 7:", 'D' },
	{ "peak", L"PEAK 9:12", 'D' },
	{ "peak", L" now ", 'D' },
	{ "past-map", L"Not available for PAST", '9' },
	{ "replayed", L"END 12:41", 'D' },
	{ "processes", L"no data", 'd' },
	{ "help-found", L"Leak or cache?", '6' },
};

static const wchar_t *find_wide(const wchar_t *row, int width, const wchar_t *text)
{
	int length = (int)wcslen(text);

	for (int x = 0; x + length <= width; x++)
		if (!wmemcmp(row + x, text, (size_t)length))
			return row + x;
	return NULL;
}

/* How many rows show the text; rows under the cursor have that ink instead. */
static unsigned meaning_check(size_t s, const struct picture *p, const wchar_t *text, char look)
{
	unsigned found = 0;

	for (int y = 0; y < p->height; y++) {
		const wchar_t *at = find_wide(text_row(p, y), p->width, text);
		const char *looks = at ? p->looks + (at - p->text) : NULL;

		if (!at || (*looks == '6' && look != '6'))
			continue;
		found++;
		for (size_t i = 0; text[i]; i++)
			if (looks[i] != look && text[i] != L' ') {
				row_wrong(s, p, y, "a text has its ink");
				break;
			}
	}
	return found;
}

static size_t scenario_find(const char *name)
{
	size_t s = 0;

	while (s < SCENARIOS && strcmp(scenarios[s].name, name) != 0)
		s++;
	return s;
}

TEST(colours_mean_what_they_should)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		size_t s = scenario_find(meanings[i].scenario);

		CHECK(s < SCENARIOS);
		for (int size = 0; s < SCENARIOS && size < SIZES; size++) {
			const struct picture *p = &pictures[s][size][UTF8];

			if (!meaning_check(s, p, meanings[i].text, meanings[i].look) &&
				size == USUAL)
				row_wrong(s, p, 0, "it shows each text of the table");
		}
	}
}

/* ---- other sizes -------------------------------------------------------------------------- */

/* The row of headers, and where in it the name of the one that sorts is; -1: there is none. */
static int header_row(const struct picture *p, int *x)
{
	const char *at = memchr(p->looks, '5', (size_t)(p->width * p->height));
	int cell = at ? (int)(at - p->looks) : -1;

	if (!at)
		return -1;
	*x = cell % p->width + (int)wcsspn(p->text + cell, L" ");
	return cell / p->width;
}

static void same_sorted_header(size_t s, const struct picture *at)
{
	const struct picture *usual = pictures[s][USUAL];
	int x, x_usual, y = header_row(at, &x), y_usual = header_row(usual, &x_usual);
	const wchar_t *name;

	CHECK_INT(y < 0, y_usual < 0);
	if (y < 0 || y_usual < 0)
		return;
	name = text_row(usual, y_usual) + x_usual;
	if (wmemcmp(text_row(at, y) + x, name, wcscspn(name, L" ▼▲") + 1))
		row_wrong(s, at, y, "the same column sorts");
}

TEST(the_sorted_column_is_the_same_at_every_size)
{
	each_size(same_sorted_header);
}

static void columns_stay(size_t s, const struct picture *at)
{
	const struct picture *usual = pictures[s][USUAL];
	int x, y = header_row(at, &x), y_usual = header_row(usual, &x);
	const wchar_t *name, *end;
	wchar_t word[WORD];

	if (y < 0 || y_usual < 0 || at->width < usual->width)
		return;
	name = text_row(usual, y_usual);
	end = name + usual->width;
	if (*name == L'‹')
		return; /* a larger screen scrolls less far */
	while ((name = next_word(name, end, L" ▼▲›", word)))
		if (!find_wide(text_row(at, y), at->width, word))
			row_wrong(s, at, y, "the columns of smaller screens");
}

TEST(larger_screens_have_the_columns_of_smaller_ones)
{
	each_size(columns_stay);
}

/* The row under the cursor, which has its sign too; -1: none. */
static int cursor_row(size_t s, const struct picture *p)
{
	int row = -1;

	for (int y = 0; y < p->height; y++) {
		if ((*text_row(p, y) == L'>') != (*looks_row(p, y) == '6'))
			row_wrong(s, p, y, "the cursor is a sign and an ink");
		if (row < 0 && *looks_row(p, y) == '6')
			row = y;
	}
	return row;
}

/* The first word of the row, which differs from those of other rows. */
static size_t first_word(const wchar_t *row, const wchar_t **word)
{
	*word = row + 1 + wcsspn(row + 1, L" ");
	return wcscspn(*word, L" ");
}

static void same_cursor_row(size_t s, const struct picture *at)
{
	const struct picture *usual = pictures[s][USUAL];
	int y = cursor_row(s, at), y_usual = cursor_row(s, usual);
	const wchar_t *word, *word_usual;
	size_t length;
	int x;

	CHECK_INT(y < 0, y_usual < 0);
	if (y >= 0 && header_row(at, &x) >= 0 &&
		next_look(looks_row(at, y), at->width, 0) < at->width)
		row_wrong(s, at, y, "the whole row of a table is under the cursor");
	/* A site's detail is no table: each size breaks its lines elsewhere. */
	if (y < 0 || y_usual < 0 || strstr(scenarios[s].name, "detail"))
		return;
	length = first_word(text_row(usual, y_usual), &word_usual);
	if (first_word(text_row(at, y), &word) != length || wmemcmp(word, word_usual, length))
		row_wrong(s, at, y, "the same row is under the cursor");
}

TEST(the_cursor_is_on_the_same_row_at_every_size)
{
	each_size(same_cursor_row);
}

/* Brackets, lines and the arrow of the sorted column touch words. */
static const wchar_t between[] = L" []▼▲│";

/* Made by the size itself: numbers of what is shown, addresses of cells, bars, cut names. */
static bool word_is_free(const wchar_t *word)
{
	size_t sign = wcsspn(word, L"+-(>");

	if (!word[sign] || iswdigit((wint_t)word[sign]) ||
		wcsspn(word, L"0123456789abcdef") == wcslen(word))
		return true;
	for (; *word; word++)
		if (*word >= 128 && !iswalpha((wint_t)*word))
			return true;
	return false;
}

static int word_order(const void *a, const void *b)
{
	return wcscmp(a, b);
}

static void words_add(void **words, const struct picture *p)
{
	for (int y = 0; y < p->height; y++) {
		const wchar_t *row = text_row(p, y), *end = row + p->width,
			      *at = row + (*row == L'>');
		wchar_t word[WORD];

		while ((at = next_word(at, end, between, word))) {
			wchar_t *copy = wcsdup(word), **there = tsearch(copy, words, word_order);

			if (*there != copy)
				free(copy);
		}
	}
}

static void words_check(size_t s, const struct picture *p, void **of_all, void **of_huge)
{
	for (int y = 0; y < p->height; y++) {
		const wchar_t *row = text_row(p, y), *end = row + p->width,
			      *at = row + (*row == L'>');
		wchar_t word[WORD];

		while ((at = next_word(at, end, between, word)))
			if (!word_is_free(word) && !tfind(word, of_all, word_order) &&
				!tfind(word, of_huge, word_order))
				row_wrong(s, p, y, "each word is whole, as where there is room");
	}
}

/* The bottom bar where there is no room for the keys' own. */
static const wchar_t *const tiny_bar[] = { L"help", L"q", L"quit", L"back" };

static void *words_of_all(void)
{
	void *words = NULL;

	for (size_t i = 0; i < sizeof(tiny_bar) / sizeof(tiny_bar[0]); i++)
		tsearch(wcsdup(tiny_bar[i]), &words, word_order);
	for (int c = 0; c < COL_COUNT; c++) { /* which messages name */
		wchar_t title[WORD];

		swprintf(title, WORD, L"%s", column_table[c].title);
		tsearch(wcsdup(title), &words, word_order);
	}
	for (size_t s = 0; s < SCENARIOS; s++)
		words_add(&words, &pictures[s][USUAL][UTF8]);
	return words;
}

/* Text over text, or cut without a sign of it, makes words that larger screens do not have. */
TEST(words_are_whole_at_every_size)
{
	void *of_all = words_of_all();

	for (size_t s = 0; s < SCENARIOS; s++) {
		void *of_huge = NULL;

		words_add(&of_huge, &pictures[s][HUGE_SIZE][UTF8]);
		words_check(s, &pictures[s][TINY][UTF8], &of_all, &of_huge);
		words_check(s, &pictures[s][LARGER][UTF8], &of_all, &of_huge);
		tdestroy(of_huge, free);
	}
	tdestroy(of_all, free);
}

int main(void)
{
	if (scenarios_begin())
		return 1;
	RUN(every_scenario_fits_every_size);
	RUN(colours_change_no_text);
	RUN(each_cell_has_an_ink_and_its_look_in_mono);
	RUN(colours_mean_what_they_should);
	RUN(the_sorted_column_is_the_same_at_every_size);
	RUN(larger_screens_have_the_columns_of_smaller_ones);
	RUN(the_cursor_is_on_the_same_row_at_every_size);
	RUN(words_are_whole_at_every_size);
	pictures_free();
	scenarios_end();
	return check_end();
}
