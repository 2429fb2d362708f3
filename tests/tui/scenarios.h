/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The screens that the tests of whole screens share. A scenario is a script as users write them
 * (man heaptop, SCRIPTS), played on canned data with a clock of their own, at any size, in both
 * glyph sets, in colour and in mono.
 */
#ifndef TESTS_TUI_SCENARIOS_H
#define TESTS_TUI_SCENARIOS_H

#include <locale.h>
#include <unistd.h>
#include "tests/check.h"
#include "tests/tui/canned.h"
#include "tui/script.h"

static inline void program_sampled(struct canned *c)
{
	c->sampled = true;
}

static inline void program_killed(struct canned *c)
{
	c->state = SNAP_KILLED;
	c->notice = "tracking ended: the program was killed";
	c->untracked = 12;
}

static inline void program_without_leaks(struct canned *c)
{
	c->leaks.none = true;
}

static inline void program_with_events(struct canned *c)
{
	c->events = 250;
	c->missed = 1234;
}

static inline void program_with_wrong_frees(struct canned *c)
{
	c->wrong = CANNED_WRONG;
}

static inline void program_with_past(struct canned *c)
{
	c->past = true;
}

static inline void program_recorded(struct canned *c)
{
	c->past = true;
	c->line.file = "/var/tmp/night.heaptop";
	c->line.file_bytes = 5 << 20;
	c->line.file_limit_bytes = 1 << 30;
	c->line.file_bytes_per_s = 34 << 10;
}

static inline void program_replayed(struct canned *c)
{
	program_recorded(c);
	c->replayed = true;
}

#define LEAKS_OF_TWO_SCANS "L\n:wait 2\nL\n:wait 1\nA\n:type 30s\nEnter j\n"
#define TWO_MARKS	   "m\n:type warm-up\nEnter\n:wait 20\nm Enter\n:wait 5\nj\n"

struct scenario {
	const char *name, *script;
	void (*program)(struct canned *c); /* what is special about it, or NULL */
};

static const struct scenario scenarios[] = {
	{ "sites", "", NULL },
	{ "frozen", "3 j j Space\n:wait 2\n", NULL },
	{ "sorted", "9\n", NULL },
	{ "churn", "c c j\n", NULL },
	{ "scrolled", "l l l j\n", NULL },
	{ "filtered", "\\\n:type live>10M rate>0\nEnter j\n", NULL },
	{ "prompt", "\\\n:type json\n", NULL },
	{ "grouped", "g f j j\n", NULL },
	{ "group-choice", "g m g\n", NULL },
	{ "ended", "v\n", program_killed },
	{ "sampled", "", program_sampled },
	{ "sampled-detail", "Enter\n", program_sampled },
	{ "detail", "j Enter\n", NULL },
	{ "events", "j Enter E\n", program_with_events },
	{ "wrong-frees", "w j Enter\n", program_with_wrong_frees },
	{ "detail-end", "j Enter PgDn PgDn\n", NULL },
	{ "tree", "t j j l\n", NULL },
	{ "tree-allocs", "t c c j j\n", NULL },
	{ "tree-up", "t i j j\n", NULL },
	{ "tree-zoomed", "t j j z j\n", NULL },
	{ "sizes", "j Tab Tab\n", NULL },
	{ "threads", "Tab Tab Tab j\n", NULL },
	{ "modules", "Tab Tab Tab Tab j\n", NULL },
	{ "leaks", LEAKS_OF_TWO_SCANS, NULL },
	{ "leaks-busy", LEAKS_OF_TWO_SCANS "L K a k\n", NULL },
	{ "contents", "U\n:wait 1\nj\n", NULL },
	{ "holders", "L\n:wait 1\nO Enter j l j\n", NULL },
	{ "leaks-unscanned", "F9 j\n:wait 1\n", NULL },
	{ "leaks-none", "L\n:wait 1\n", program_without_leaks },
	{ "why", LEAKS_OF_TWO_SCANS "j j j H Enter\n", NULL },
	{ "map", "F8 j l l\n", NULL },
	{ "map-zoomed", "F8 ] ] + j\n", NULL },
	{ "map-part", "F8 ] ] ] ] }\n", NULL },
	{ "output", "S-Tab\n", NULL },
	{ "marked", TWO_MARKS, NULL },
	{ "marks", TWO_MARKS "`\n", NULL },
	{ "timeline", "m\n:type warm-up\nEnter\n:wait 30\nB\n", program_recorded },
	{ "past", "( ( ,\n", program_with_past },
	{ "past-detail", "j Enter ( (\n", program_with_past },
	{ "past-map", ", F8\n", program_with_past },
	{ "range", "m Enter\n:wait 9\nB ( s ( ( (\n", program_with_past },
	{ "range-tree", "J s , t j j l\n", program_with_past },
	{ "range-sizes", "J s , Tab Tab\n", program_with_past },
	{ "range-threads", "J s , Tab Tab Tab\n", program_with_past },
	{ "range-modules", "J s , Tab Tab Tab Tab\n", program_with_past },
	{ "peak", "P\n", program_with_past },
	{ "peak-sizes", "P Tab Tab\n", program_with_past },
	{ "replayed", "", program_replayed },
	{ "processes", "p j\n", NULL },
	{ "settings", "F2\n", NULL },
	{ "rules", "S Enter\n:type my_alloc*\nEnter\n", NULL },
	{ "help", "?\n", NULL },
	{ "help-found", "? /\n:type leak\nEnter\n", NULL },
};
#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

/* One screen: what it says, and how each cell looks (tui/screen_dump.h lists the signs). */
struct shot {
	char *text, *looks;
};

struct shot_mode {
	int width, height;
	bool ascii, mono;
};

static char shot_folder[] = "/tmp/heaptop-shots-XXXXXX";
static char script_path[64], text_path[64], looks_path[64];

static inline char *file_read(const char *path)
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

static inline void file_write(const char *path, const char *text)
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
static inline struct snapshot *scenario_tick(void *ctx, const char **error)
{
	struct canned *c = ctx;

	if (c->leaks.state.phase != LEAKS_IDLE)
		cannedleaks_end(&c->leaks, c->seconds * CANNED_S);
	return canned_tick(ctx, error);
}

/* Plays the script that lies in its file; NULL, or why not. */
static inline const char *scenario_play(const struct scenario *scenario, struct shot_mode mode)
{
	static char why[SCRIPT_WHY_MAX];
	struct canned canned = canned_default();
	struct tui_source source = canned_source(&canned);
	struct tui_options options = { .delay_ns = CANNED_S,
		.sort = COL_LIVE,
		.version = "0.1.0",
		.color = mode.mono ? TUI_COLOR_NEVER : TUI_COLOR_ALWAYS,
		.ascii = mode.ascii };
	struct script *script = script_load(script_path, why);
	int signal, rc;

	source.tick = scenario_tick;
	if (scenario->program)
		scenario->program(&canned);
	rc = script ? script_run(script, &source, &options, &signal, why) : -1;
	script_free(script);
	canned_free(&canned);
	return rc ? why : NULL;
}

static inline struct shot scenario_shot(const struct scenario *scenario, struct shot_mode mode)
{
	const char *wrong;
	char script[1024];
	struct shot shot;

	snprintf(script, sizeof(script), ":size %dx%d\n%s:save-display %s\n:save-looks %s\n",
		mode.width, mode.height, scenario->script, text_path, looks_path);
	file_write(script_path, script);
	wrong = scenario_play(scenario, mode);
	if (wrong)
		check_fail(scenario->name, 1, wrong);
	shot = (struct shot){ file_read(text_path), file_read(looks_path) };
	unlink(text_path);
	unlink(looks_path);
	return shot;
}

static inline void shot_free(struct shot *shot)
{
	free(shot->text);
	free(shot->looks);
}

/* Call at the beginning and the end of a program. Returns 0, or -1. */
static inline int scenarios_begin(void)
{
	setenv("LC_ALL", "C.UTF-8", 1);
	setlocale(LC_ALL, "");
	if (!mkdtemp(shot_folder))
		return -1;
	snprintf(script_path, sizeof(script_path), "%s/script", shot_folder);
	snprintf(text_path, sizeof(text_path), "%s/text", shot_folder);
	snprintf(looks_path, sizeof(looks_path), "%s/looks", shot_folder);
	return 0;
}

static inline void scenarios_end(void)
{
	unlink(script_path);
	rmdir(shot_folder);
}

#endif
