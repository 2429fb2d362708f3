/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole screens against files in tests/tui/golden: each scenario (tests/tui/scenarios.h) at 80x24
 * in UTF-8. Four of them also show their colours, the ASCII form and other sizes; screens.c checks
 * those of all scenarios by rules. With GOLDEN_UPDATE=1 the files are written instead (`make
 * golden`); read the difference before you commit it.
 */
#include "tests/tui/scenarios.h"
#include "tui/ui.h"

#define FOLDER "tests/tui/golden"

static const char *const shown_wholly[] = { "sites", "detail", "leaks", "map", "timeline",
	"range" };

static const struct part {
	const char *head;
	struct shot_mode mode;
	bool colours;
} parts[] = { { "80x24", { 80, 24, false, false }, false },
	{ "80x24 colours", { 80, 24, false, false }, true },
	{ "80x24 ASCII", { 80, 24, true, false }, false },
	{ "40x8", { 40, 8, false, false }, false }, { "100x30", { 100, 30, false, false }, false },
	{ "200x60", { 200, 60, false, false }, false } };

/* What the signs of tui/screen_dump.h mean. */
static const char *look_name(char sign)
{
	static const char *const names[] = { ['b'] = "bold",
		['d'] = "dim",
		['r'] = "reverse",
		['R'] = "reverse bold",
		['4'] = "header",
		['5'] = "sorted header",
		['6'] = "cursor",
		['7'] = "good",
		['8'] = "bad",
		['9'] = "warning",
		['A'] = "information",
		['C'] = "key's meaning",
		['D'] = "moment" };

	return names[(unsigned char)sign];
}

/* The spans of cells that are not plain: "row 6: 0-79 cursor". */
static void row_print(FILE *to, unsigned row, const char *looks, size_t cells)
{
	const char *between = "";

	for (size_t from = 0, end; from < cells; from = end) {
		for (end = from + 1; end < cells && looks[end] == looks[from];)
			end++;
		if (looks[from] == '.')
			continue;
		if (!*between)
			fprintf(to, "row %u:", row);
		fprintf(to, "%s %zu-%zu %s", between, from, end - 1, look_name(looks[from]));
		between = ",";
	}
	if (*between)
		fputc('\n', to);
}

/* Rows of bold titles and of keys look the same in every view: screens.c checks their inks. */
static void colours_print(FILE *to, const char *looks)
{
	for (unsigned row = 0; *looks; row++) {
		size_t cells = strcspn(looks, "\n");

		if (strspn(looks, ".bC") < cells)
			row_print(to, row, looks, cells);
		looks += cells + !!looks[cells];
	}
}

static bool is_shown_wholly(const struct scenario *scenario)
{
	for (size_t i = 0; i < sizeof(shown_wholly) / sizeof(shown_wholly[0]); i++)
		if (!strcmp(shown_wholly[i], scenario->name))
			return true;
	return false;
}

static char *golden_make(const struct scenario *scenario)
{
	size_t count = is_shown_wholly(scenario) ? sizeof(parts) / sizeof(parts[0]) : 1, bytes = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &bytes);

	fprintf(f, "==== script\n%s", scenario->script);
	for (const struct part *part = parts; part < parts + count; part++) {
		struct shot shot = scenario_shot(scenario, part->mode);

		fprintf(f, "==== %s\n", part->head);
		if (part->colours)
			colours_print(f, shot.looks);
		else
			fputs(shot.text, f);
		shot_free(&shot);
	}
	fclose(f);
	return text;
}

/* The first line that is not as it was, below the head of its picture. */
static void golden_differ(const char *path, const char *want, const char *got)
{
	const char *head = got;
	size_t n, line = 1;

	for (;; line++) {
		n = strcspn(got, "\n");
		if (!strncmp(got, "==== ", 5))
			head = got;
		if (n != strcspn(want, "\n") || strncmp(got, want, n) != 0 || !got[n])
			break;
		got += n + 1;
		want += n + 1;
	}
	check_fail(path, (int)line, "the screen is as it was (see tests/tui/golden.c)");
	fprintf(stderr, "%.*s\n- %.*s\n+ %.*s\n", (int)strcspn(head, "\n"), head,
		(int)strcspn(want, "\n"), want, (int)n, got);
}

static bool view_seen[VIEW_COUNT];

static void golden_views(const char *got)
{
	for (int v = 0; v < VIEW_COUNT; v++) {
		char tab[64], below[64];

		snprintf(tab, sizeof(tab), "[%s]", view_table[v]->title);
		snprintf(below, sizeof(below), " > %s]", view_table[v]->title);
		view_seen[v] |= strstr(got, tab) || strstr(got, below);
	}
}

static void golden_test(const struct scenario *scenario)
{
	char path[256], *want, *got = golden_make(scenario);

	snprintf(path, sizeof(path), FOLDER "/%s.txt", scenario->name);
	if (getenv("GOLDEN_UPDATE"))
		file_write(path, got);
	want = file_read(path);
	if (strcmp(got, want) != 0)
		golden_differ(path, want, got);
	golden_views(got);
	free(want);
	free(got);
}

TEST(screens)
{
	for (size_t i = 0; i < SCENARIOS; i++)
		golden_test(&scenarios[i]);
}

/* No view is forgotten: the line of tabs names the one that is shown. */
TEST(each_view_is_there)
{
	for (int v = 0; v < VIEW_COUNT; v++) {
		if (!view_seen[v])
			fprintf(stderr, "%s\n", view_table[v]->title);
		CHECK(view_seen[v]);
	}
}

int main(void)
{
	if (scenarios_begin())
		return 1;
	RUN(screens);
	RUN(each_view_is_there);
	scenarios_end();
	return check_end();
}
