/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole screens against files in tests/tui/golden. A screen is a script as users write them (man
 * heaptop, SCRIPTS), played on canned data with a clock of their own; its file has it at four
 * sizes, in both glyph sets, in colour and in mono: what it says, and how each cell looks
 * (tui/shot.h tells the signs). A picture that several of these share is there once. With
 * GOLDEN_UPDATE=1 the files are written instead (`make golden`); look at the difference before you
 * commit it.
 */
#include <unistd.h>
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/script.h"

#define FOLDER "tests/tui/golden"

static const struct {
	int width, height;
} sizes[] = { { 40, 8 }, { 80, 24 }, { 100, 30 }, { 200, 60 } };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* In the order of their pictures in a file. */
static const struct {
	const char *glyphs, *ink;
	enum tui_color color;
	bool ascii;
} modes[] = { { "UTF-8", "colour", TUI_COLOR_ALWAYS, false },
	{ "UTF-8", "mono", TUI_COLOR_NEVER, false }, { "ASCII", "colour", TUI_COLOR_ALWAYS, true },
	{ "ASCII", "mono", TUI_COLOR_NEVER, true } };
#define MODES (sizeof(modes) / sizeof(modes[0]))

static void program_sampled(struct canned *c)
{
	c->sampled = true;
}

static void program_killed(struct canned *c)
{
	c->state = SNAP_KILLED;
	c->notice = "tracking ended: the program was killed";
	c->untracked = 12;
}

static void program_without_leaks(struct canned *c)
{
	c->leaks.none = true;
}

#define LEAKS_OF_TWO_SCANS "L\n:wait 2\nL\n:wait 1\nA\n:type 30s\nEnter j\n"
#define TWO_MARKS	   "m\n:type warm-up\nEnter\n:wait 20\nm Enter\n:wait 5\nj\n"

static const struct screen {
	const char *name, *script;
	void (*program)(struct canned *c); /* what is special about it, or NULL */
} screens[] = {
	{ "sites", "", NULL },
	{ "frozen", "3 j j Space\n:wait 2\n", NULL },
	{ "filtered", "\\\n:type live>10M rate>0\nEnter j\n", NULL },
	{ "prompt", "\\\n:type json\n", NULL },
	{ "grouped", "g f j j\n", NULL },
	{ "group-choice", "g m g\n", NULL },
	{ "ended", "v\n", program_killed },
	{ "sampled", "", program_sampled },
	{ "sampled-detail", "Enter\n", program_sampled },
	{ "detail", "j Enter\n", NULL },
	{ "detail-end", "j Enter PgDn PgDn\n", NULL },
	{ "tree", "t j j l\n", NULL },
	{ "tree-up", "t i j j\n", NULL },
	{ "tree-zoomed", "t j j z j\n", NULL },
	{ "sizes", "j Tab Tab\n", NULL },
	{ "threads", "Tab Tab Tab j\n", NULL },
	{ "modules", "Tab Tab Tab Tab j\n", NULL },
	{ "leaks", LEAKS_OF_TWO_SCANS, NULL },
	{ "leaks-busy", LEAKS_OF_TWO_SCANS "L K K K K K K K\n", NULL },
	{ "leaks-unscanned", "F9 j\n:wait 1\n", NULL },
	{ "leaks-none", "L\n:wait 1\n", program_without_leaks },
	{ "why", LEAKS_OF_TWO_SCANS "j j j H Enter\n", NULL },
	{ "map", "F8 j l l\n", NULL },
	{ "map-zoomed", "F8 ] ] + j\n", NULL },
	{ "map-part", "F8 ] ] ] ] }\n", NULL },
	{ "output", "S-Tab\n", NULL },
	{ "marked", TWO_MARKS, NULL },
	{ "marks", TWO_MARKS "M\n", NULL },
	{ "processes", "p j\n", NULL },
	{ "settings", "F2\n", NULL },
	{ "rules", "S Enter\n:type my_alloc*\nEnter\n", NULL },
	{ "help", "?\n", NULL },
	{ "help-found", "? /\n:type leak\nEnter\n", NULL },
};

static char directory[] = "/tmp/heaptop-golden-XXXXXX", script_path[64], shot_path[2][64];

static char *file_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t cap = 0;

	if (!f || getdelim(&text, &cap, 0, f) < 0) {
		free(text);
		text = strdup("");
	}
	if (f)
		fclose(f);
	return text;
}

static void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f) {
		check_fail(path, 1, "it can be written");
		return;
	}
	fputs(text, f);
	fclose(f);
}

/* A scan that was begun is through at the next frame. */
static struct snapshot *golden_tick(void *ctx, const char **error)
{
	struct canned *c = ctx;

	if (c->leaks.state.phase != LEAKS_IDLE)
		cannedleaks_end(&c->leaks, c->seconds * CANNED_S);
	return canned_tick(ctx, error);
}

/* Plays the script that lies in its file; NULL, or why not. */
static const char *golden_play(const struct screen *screen, size_t mode)
{
	static char why[SCRIPT_WHY_MAX];
	struct canned canned = canned_default();
	struct tui_source source = canned_source(&canned);
	struct tui_options options = { .delay_ns = CANNED_S,
		.sort = COL_LIVE,
		.version = "0.1.0",
		.color = modes[mode].color,
		.ascii = modes[mode].ascii };
	struct script *script = script_load(script_path, why);
	int signal, rc;

	source.tick = golden_tick;
	if (screen->program)
		screen->program(&canned);
	rc = script ? script_run(script, &source, &options, &signal, why) : -1;
	script_free(script);
	moments_free(&canned.moments);
	map_unref(canned.map);
	return rc ? why : NULL;
}

/* What the screen says and how it looks, in each mode. The caller frees them. */
static void golden_shots(const struct screen *screen, size_t size, char *shot[2][MODES])
{
	char script[1024];

	snprintf(script, sizeof(script), ":size %dx%d\n%s:save-display %s\n:save-looks %s\n",
		sizes[size].width, sizes[size].height, screen->script, shot_path[0], shot_path[1]);
	file_write(script_path, script);
	for (size_t m = 0; m < MODES; m++) {
		const char *wrong = golden_play(screen, m);

		if (wrong)
			check_fail(screen->name, 1, wrong);
		for (int i = 0; i < 2; i++) {
			shot[i][m] = file_read(shot_path[i]);
			unlink(shot_path[i]);
		}
	}
}

/* Each different one of the pictures, under a line that tells whose it is. */
static void golden_print(FILE *to, size_t size, const char *what, char *shot[MODES])
{
	for (size_t m = 0; m < MODES; m++) {
		size_t first = 0;

		while (strcmp(shot[first], shot[m]) != 0)
			first++;
		if (first < m)
			continue;
		fprintf(to, "==== %dx%d %s:", sizes[size].width, sizes[size].height, what);
		for (size_t same = m; same < MODES; same++)
			if (!strcmp(shot[same], shot[m]))
				fprintf(to, "%s %s %s", same == m ? "" : ",", modes[same].glyphs,
					modes[same].ink);
		fprintf(to, "\n%s", shot[m]);
	}
}

static char *golden_make(const struct screen *screen)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);

	fprintf(f, "==== script\n%s", screen->script);
	for (size_t size = 0; size < SIZES; size++) {
		char *shot[2][MODES];

		golden_shots(screen, size, shot);
		golden_print(f, size, "text", shot[0]);
		golden_print(f, size, "looks", shot[1]);
		for (size_t m = 0; m < MODES; m++) {
			free(shot[0][m]);
			free(shot[1][m]);
		}
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

static void golden_test(const struct screen *screen)
{
	char path[256], *want, *got = golden_make(screen);

	snprintf(path, sizeof(path), FOLDER "/%s.txt", screen->name);
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
	for (size_t i = 0; i < sizeof(screens) / sizeof(screens[0]); i++)
		golden_test(&screens[i]);
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
	if (!mkdtemp(directory))
		return 1;
	setenv("LC_ALL", "C.UTF-8", 1);
	snprintf(script_path, sizeof(script_path), "%s/script", directory);
	snprintf(shot_path[0], sizeof(shot_path[0]), "%s/text", directory);
	snprintf(shot_path[1], sizeof(shot_path[1]), "%s/looks", directory);
	RUN(screens);
	RUN(each_view_is_there);
	unlink(script_path);
	rmdir(directory);
	return check_end();
}
