/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scripts for the screen (script.h). A line has keys, with blanks between them, or a colon and a
 * command; # begins a comment. The whole script is parsed before it starts. The screen is curses on
 * /dev/null, so it shows what a terminal of that size would. Main thread.
 */
#include "tui/script.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/array.h"
#include "src/util/clock.h"
#include "tui/curses_api.h"
#include "tui/draw.h"
#include "tui/key_codes.h"
#include "tui/refresh.h"
#include "tui/screen.h"
#include "tui/screen_dump.h"
#include "tui/ui.h"

#define SIZE_MAX_CELLS 500u /* of a screen's side */
#define WAIT_MAX       100000u
#define UNTIL_NS       60000000000ull /* time after which :until gives up */
#define UNTIL_FRAMES   1000u /* the same if frames take no time */
#define SOURCE_FDS_MAX 12

enum step_what {
	STEP_KEY,
	STEP_TYPE,
	STEP_WAIT,
	STEP_UNTIL,
	STEP_SIZE,
	STEP_CLICK,
	STEP_SAVE,
	STEP_LOOKS
};

struct step {
	enum step_what what;
	int a, b; /* a key; frames; width and height; column and row, from 0 */
	char *text; /* owned, or NULL */
	unsigned line;
};

struct script {
	char *path;
	struct step *step;
	size_t count, capacity;
};

struct player {
	struct ui ui;
	SCREEN *screen;
	FILE *in, *out;
	char *why;
	const char *path;
};

static volatile sig_atomic_t script_signal;

static void on_signal(int number)
{
	script_signal = number;
}

/* ---- understanding ------------------------------------------------------------------------ */

static const struct {
	const char *name;
	int key;
} key_names[] = {
	{ "Up", KEY_UP },
	{ "Down", KEY_DOWN },
	{ "Left", KEY_LEFT },
	{ "Right", KEY_RIGHT },
	{ "PgUp", KEY_PPAGE },
	{ "PgDn", KEY_NPAGE },
	{ "Home", KEY_HOME },
	{ "End", KEY_END },
	{ "Enter", '\r' },
	{ "Esc", KEY_ESC },
	{ "Tab", '\t' },
	{ "S-Tab", KEY_BTAB },
	{ "S-Left", KEY_SLEFT },
	{ "S-Right", KEY_SRIGHT },
	{ "S-F3", KEY_F(15) },
	{ "Space", ' ' },
	{ "Backspace", KEY_BACKSPACE },
	{ "Delete", KEY_DC },
};

int script_key(const char *name)
{
	char *end;
	long n;

	for (size_t i = 0; i < sizeof(key_names) / sizeof(key_names[0]); i++)
		if (!strcmp(name, key_names[i].name))
			return key_names[i].key;
	if (name[0] > ' ' && name[0] < 127 && !name[1])
		return name[0];
	if (name[0] == '^' && name[1] >= '@' && name[1] <= '_' && !name[2])
		return KEY_CTRL(name[1]);
	if (name[0] != 'F' || name[1] < '1' || name[1] > '9')
		return -1;
	n = strtol(name + 1, &end, 10);
	return *end || n > 12 ? -1 : KEY_F((int)n);
}

static struct step *step_add(struct script *s, enum step_what what, unsigned line)
{
	struct step *step = array_grow(s->step, s->count, &s->capacity, sizeof(*step));

	if (!step)
		return NULL;
	s->step = step;
	s->step[s->count] = (struct step){ .what = what, .line = line };
	return &s->step[s->count++];
}

static const char *number_pair(const char *args, struct step *step, int least, int most)
{
	int used = 0;

	if (sscanf(args, "%4d%*[x ]%4d%n", &step->a, &step->b, &used) != 2 || args[used] ||
		step->a < least || step->b < least || step->a > most || step->b > most)
		return step->what == STEP_SIZE ? "needs WIDTHxHEIGHT, at most 500x500"
					       : "needs a column and a row, from 1";
	return NULL;
}

/* Parses an argument. NULL, or what it should have been. */
static const char *step_argument(struct step *step, const char *args)
{
	const char *wrong;
	char *end;

	switch (step->what) {
	case STEP_WAIT:
		step->a = (int)strtol(args, &end, 10);
		return *args && !*end && step->a >= 1 && step->a <= (int)WAIT_MAX
			       ? NULL
			       : "needs a number of frames";
	case STEP_SIZE:
		return number_pair(args, step, 1, SIZE_MAX_CELLS);
	case STEP_CLICK:
		wrong = number_pair(args, step, 1, SIZE_MAX_CELLS);
		step->a--;
		step->b--;
		return wrong;
	case STEP_TYPE:
	case STEP_UNTIL:
	case STEP_SAVE:
	case STEP_LOOKS:
	case STEP_KEY:
		break;
	}
	step->text = *args ? strdup(args) : NULL;
	if (step->text)
		return NULL;
	return step->what == STEP_TYPE || step->what == STEP_UNTIL ? "needs text"
								   : "needs a file name, or -";
}

static const char *command_parse(struct script *s, const char *text, unsigned line)
{
	static const struct {
		const char *name;
		enum step_what what;
	} commands[] = { { "type", STEP_TYPE }, { "wait", STEP_WAIT }, { "until", STEP_UNTIL },
		{ "size", STEP_SIZE }, { "click", STEP_CLICK }, { "save-display", STEP_SAVE },
		{ "save-looks", STEP_LOOKS } };
	size_t len = strcspn(text, " \t");
	const char *args = text + len + strspn(text + len, " \t");

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct step *step;

		if (strlen(commands[i].name) != len || strncmp(commands[i].name, text, len))
			continue;
		step = step_add(s, commands[i].what, line);
		return step ? step_argument(step, args) : "out of memory";
	}
	return "unknown command (type, wait, until, size, click, save-display, save-looks)";
}

static const char *keys_parse(struct script *s, char *text, unsigned line)
{
	char *rest;

	for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
		struct step *step = step_add(s, STEP_KEY, line);

		if (!step)
			return "out of memory";
		step->a = script_key(word);
		if (step->a < 0)
			return "unknown key (such as j, Enter, PgDn, F5, ^L; for text use :type)";
	}
	return NULL;
}

/* "#" alone is a key, so a comment begins a line and has a blank after its "#". */
static bool is_comment(const char *line)
{
	return line[0] == '#' && (line[1] == ' ' || line[1] == '!');
}

static const char *line_parse(struct script *s, char *line, unsigned number)
{
	size_t len = strlen(line);

	while (len && strchr(" \t\r\n", line[len - 1]))
		line[--len] = 0;
	line += strspn(line, " \t");
	if (is_comment(line))
		return NULL;
	if (*line == ':' && line[1])
		return command_parse(s, line + 1, number);
	return keys_parse(s, line, number);
}

struct script *script_load(const char *path, char why[SCRIPT_WHY_MAX])
{
	struct script *s = calloc(1, sizeof(*s));
	FILE *f = fopen(path, "re");
	const char *wrong = s && f ? NULL : strerror(errno);
	char *line = NULL;
	size_t cap = 0;

	snprintf(why, SCRIPT_WHY_MAX, "%s: %s", path, wrong ? wrong : strerror(ENOMEM));
	for (unsigned n = 1; !wrong && getline(&line, &cap, f) >= 0; n++) {
		wrong = line_parse(s, line, n);
		if (wrong)
			snprintf(why, SCRIPT_WHY_MAX, "%s:%u: %s", path, n, wrong);
	}
	if (!wrong && ferror(f)) {
		wrong = strerror(errno);
		snprintf(why, SCRIPT_WHY_MAX, "%s: %s", path, wrong);
	}
	if (!wrong)
		s->path = strdup(path);
	free(line);
	if (f)
		fclose(f);
	if (!wrong && s->path)
		return s;
	script_free(s);
	return NULL;
}

void script_free(struct script *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		free(s->step[i].text);
	free(s->step);
	free(s->path);
	free(s);
}

/* ---- the screen --------------------------------------------------------------------------- */

static void player_draw(struct player *p)
{
	screen_draw(&p->ui);
	doupdate();
}

static bool screen_has(const char *what)
{
	char text[SCREEN_DUMP_LINE];

	for (int y = 0; y < LINES; y++)
		if (strstr(screen_dump_line(y, text), what))
			return true;
	return false;
}

static int screen_source_save(const char *path, void (*shot)(FILE *to))
{
	bool to_stdout = !strcmp(path, "-");
	FILE *f = to_stdout ? stdout : fopen(path, "we");
	int rc;

	if (!f)
		return -errno;
	shot(f);
	rc = fflush(f) || ferror(f) ? -EIO : 0;
	if (!to_stdout && fclose(f) && rc == 0)
		rc = -errno;
	return rc;
}

/* ---- doing -------------------------------------------------------------------------------- */

/* Waits until the next frame is due, and handles the source meanwhile. */
static void frame_await(struct player *p)
{
	const struct tui_source *source = p->ui.source;
	uint64_t now, until = clock_monotonic_ns() + p->ui.options.delay_ns;

	if (!source->fds)
		return;
	while (!script_signal && (now = clock_monotonic_ns()) < until) {
		struct pollfd fds[SOURCE_FDS_MAX];
		int n = source->fds(source->ctx, fds, SOURCE_FDS_MAX);

		if (poll(fds, (nfds_t)n, (int)((until - now) / 1000000) + 1) > 0)
			source->ready(source->ctx);
	}
}

static void frame_next(struct player *p)
{
	frame_await(p);
	refresh_tick(&p->ui);
	if (p->ui.options.frames && p->ui.ticks >= p->ui.options.frames)
		p->ui.quit = true;
	player_draw(p);
}

static int step_failed(struct player *p, const struct step *step, const char *what)
{
	snprintf(p->why, SCRIPT_WHY_MAX, "%s:%u: %s", p->path, step->line, what);
	return -ECANCELED;
}

static int step_until(struct player *p, const struct step *step)
{
	uint64_t end = clock_monotonic_ns() + UNTIL_NS;

	for (unsigned n = 0; !screen_has(step->text); n++) {
		if (script_signal || p->ui.quit)
			return 0;
		if (clock_monotonic_ns() > end || n == UNTIL_FRAMES)
			return step_failed(p, step, "this never appeared on the screen");
		frame_next(p);
	}
	return 0;
}

static int step_save(struct player *p, const struct step *step)
{
	char what[200];
	int rc;

	if (p->ui.options.readonly && strcmp(step->text, "-"))
		return step_failed(p, step, "no file is written with --readonly (- is stdout)");
	rc = screen_source_save(
		step->text, step->what == STEP_LOOKS ? screen_dump_looks : screen_dump_text);
	if (!rc)
		return 0;
	snprintf(what, sizeof(what), "%s: %s", step->text, strerror(-rc));
	return step_failed(p, step, what);
}

static int step_do(struct player *p, const struct step *step)
{
	switch (step->what) {
	case STEP_KEY:
		screen_key(&p->ui, step->a);
		break;
	case STEP_TYPE:
		for (const char *c = step->text; *c; c++)
			screen_key(&p->ui, (unsigned char)*c);
		break;
	case STEP_CLICK:
		screen_mouse(&p->ui, SCREEN_CLICK, step->b, step->a);
		break;
	case STEP_SIZE:
		resizeterm(step->b, step->a);
		screen_resize(&p->ui, step->b, step->a);
		break;
	case STEP_WAIT:
		for (int i = 0; i < step->a && !p->ui.quit && !script_signal; i++)
			frame_next(p);
		break;
	case STEP_UNTIL:
		return step_until(p, step);
	case STEP_SAVE:
	case STEP_LOOKS:
		return step_save(p, step);
	}
	player_draw(p);
	return 0;
}

static int player_open(struct player *p, const struct tui_options *options)
{
	static const char *const terms[] = { "xterm-256color", "xterm", "dumb" };

	setlocale(LC_CTYPE, "");
	p->in = fopen("/dev/null", "re");
	p->out = fopen("/dev/null", "we");
	for (size_t i = 0; !p->screen && p->in && p->out && i < 3; i++) {
		setenv("TERM", terms[i], 1); /* it decides the glyphs, too */
		p->screen = newterm(terms[i], p->out, p->in);
	}
	if (!p->screen)
		return -ENOTTY;
	keypad(stdscr, TRUE);
	draw_init(options->color, options->ascii);
	return 0;
}

static void player_close(struct player *p)
{
	if (p->screen) {
		endwin();
		delscreen(p->screen);
	}
	if (p->in)
		fclose(p->in);
	if (p->out)
		fclose(p->out);
}

static void signals_take(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_handler = on_signal }, was;

	script_signal = 0;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(numbers[i], &act, NULL);
}

static int steps_do(struct player *p, const struct script *s, const struct tui_source *source,
	const struct tui_options *options)
{
	int rc = 0;

	signals_take();
	screen_init(&p->ui, source, options);
	resizeterm(24, 80);
	screen_resize(&p->ui, 24, 80);
	refresh_tick(&p->ui);
	player_draw(p);
	for (size_t i = 0; rc == 0 && i < s->count && !p->ui.quit && !script_signal; i++)
		rc = step_do(p, &s->step[i]);
	screen_free(&p->ui);
	return rc;
}

int script_run(const struct script *s, const struct tui_source *source,
	const struct tui_options *options, int *signal, char why[SCRIPT_WHY_MAX])
{
	struct player *p = calloc(1, sizeof(*p)); /* its screen is too large for the stack */
	int rc;

	*signal = 0;
	if (!p)
		return -ENOMEM;
	p->why = why;
	p->path = s->path;
	rc = player_open(p, options);
	if (rc == 0) {
		rc = steps_do(p, s, source, options);
		*signal = script_signal;
	}
	player_close(p);
	free(p);
	return rc == 0 && *signal ? -EINTR : rc;
}
