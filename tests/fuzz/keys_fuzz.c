/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of the screen: keys, clicks, wheel, pasted text, sizes and ticks in any order, on canned
 * data that change under them; and the keyboard lent to a program whose terminal changes, too. Two
 * bytes are an event. What is selected must be a row that is there, and what is drawn is inside the
 * screen, or the sanitizers say so. How many there were is said at the end, and how many frames of
 * each view and each state. Under libFuzzer (-DFUZZ_LIBFUZZER); alone, and seven times as fast, it
 * makes up its own:
 *
 *	keys_alone EVENTS [FIRST-SEED]
 *
 * Each seed is some thousand events; the one that fails is said, and `keys_alone 1 SEED` runs it.
 * With EVENTS_FOR_ALL events or more, a view or a state that was never drawn is a failure.
 */
#include <sanitizer/common_interface_defs.h>
#include "src/util/text.h"
#include "tests/tui/paper.h"
#include "tui/find.h"
#include "tui/keys.h"
#include "tui/shown_moment.h"
#include "tui/view_output.h"

#define EVENTS_FOR_ALL 20000ul
#define CODES_MAX      (256 * KEYS_CODES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct paper paper;
static unsigned long keys, clicks, sizes, ticks, lent, seed_now;
static unsigned long frames[VIEW_COUNT]; /* by the view in front */

/* What changes every view, or what it may do. */
enum state {
	PROMPT_OPEN,
	AT_PEAK,
	IN_PAST,
	OVER_RANGE,
	REPLAYED,
	ROWS_FROZEN,
	FILTERED,
	SCANNING,
	LEAKS_SHOWN,
	LENT,
	SMALL,
	LARGE,
	STATES
};
static const char *const state_names[STATES] = { "prompt", "peak", "past", "range", "replay",
	"frozen", "filtered", "scan", "leaks", "lent", "40x12 or less", "200x60 or more" };
static unsigned long in_state[STATES]; /* frames */

/* The keys of the table, each as often as it has codes. */
static int code[CODES_MAX];
static unsigned codes;

static void told(void)
{
	fprintf(stderr, "events: %lu keys, %lu clicks, %lu sizes, %lu ticks, %lu lent keys\n", keys,
		clicks, sizes, ticks, lent);
	fprintf(stderr, "frames:");
	for (int i = 0; i < VIEW_COUNT; i++)
		fprintf(stderr, " %s %lu%s", view_table[i]->title, frames[i],
			i + 1 < VIEW_COUNT ? "," : "\n");
	fprintf(stderr, "of them:");
	for (int i = 0; i < STATES; i++)
		fprintf(stderr, " %s %lu%s", state_names[i], in_state[i],
			i + 1 < STATES ? "," : "\n");
	if (seed_now)
		fprintf(stderr, "last seed: %lu\n", seed_now);
}

static void must(bool holds)
{
	if (holds)
		return;
	told();
	abort();
}

/* ---- the program's terminal ---------------------------------------------------------------- */

static struct {
	size_t cursor_line;
	unsigned cursor_cell;
	bool cursor_hidden;
	unsigned long typed;
} terminal;

static bool terminal_cursor(void *ctx, size_t *line, unsigned *cell)
{
	*line = terminal.cursor_line;
	*cell = terminal.cursor_cell;
	return !terminal.cursor_hidden;
}

/* Wide and narrow characters in runs of all styles, with gaps, up to far beyond the screen. */
static void terminal_line(void *ctx, size_t i, struct term_line *out)
{
	static const char *const words[] = { "~", "表", "GET /index.html", "é", "-- INSERT --",
		"数据库", "x" };
	static struct term_run run[40];
	static char text[40 * 16 + 1];
	unsigned cell = 0;
	size_t used = 0, n;

	if (i >= paper.canned.lines)
		i = 0;
	for (n = 0; n < i % (sizeof(run) / sizeof(run[0])); n++) {
		const char *word = words[(i + n) % (sizeof(words) / sizeof(words[0]))];

		run[n] = (struct term_run){ .at = cell,
			.cells = text_cells(word),
			.from = used,
			.bytes = strlen(word),
			.style = { .fore = (int16_t)((int)(i * 7 + n) % 257 - 1),
				.back = (int16_t)((int)(i + n * 5) % 257 - 1),
				.bold = n % 2,
				.underline = n % 3 == 0,
				.italic = n % 5 == 0,
				.reverse = n % 7 == 0 } };
		memcpy(text + used, word, run[n].bytes);
		used += run[n].bytes;
		cell += run[n].cells + (n % 4 ? 0 : 9);
	}
	text[used] = '\0';
	*out = (struct term_line){ text, run, n };
}

static void terminal_type(void *ctx, const char *bytes, size_t n)
{
	must(n == 1);
	terminal.typed += n;
}

static void terminal_press(void *ctx, enum term_press key)
{
	must((unsigned)key <= TERM_PRESS_F + 12u);
	terminal.typed++;
}

/* ---- events --------------------------------------------------------------------------------- */

static void codes_collect(void)
{
	codes = 0;
	for (size_t i = 0; i < keys_count; i++)
		for (unsigned k = 0; k < KEYS_CODES && keys_table[i].code[k]; k++)
			if (codes < CODES_MAX)
				code[codes++] = keys_table[i].code[k];
}

/* One screen for all inputs; a ui for each, that may have been started in several ways. */
static void begin(unsigned how)
{
	struct tui_options options = { .delay_ns = CANNED_S,
		.sort = COL_LIVE,
		.version = "fuzz",
		.tree = how & 1,
		.readonly = how % 16 == 2,
		.launched = how & 4,
		.asks_to_detach = how % 32 == 8 };

	if (!paper.screen) {
		paper_open(&paper, 30, 100, false);
		codes_collect();
		atexit(told);
		__sanitizer_set_death_callback(told);
	}
	screen_free(&paper.ui);
	canned_free(&paper.canned);
	paper.canned = canned_default();
	paper.canned.nsites = 40;
	paper.canned.past = how & 16;
	paper.source = canned_source(&paper.canned);
	paper.source.output_line = terminal_line;
	paper.source.output_cursor = terminal_cursor;
	paper.source.output_type = terminal_type;
	paper.source.output_press = terminal_press;
	memset(&terminal, 0, sizeof(terminal));
	screen_init(&paper.ui, &paper.source, &options);
	paper_resize(&paper, 30, 100);
	refresh_tick(&paper.ui);
}

static void terminal_change(unsigned how)
{
	struct canned *c = &paper.canned;

	c->lines = how % 5 == 0 ? 0 : how * 3;
	terminal.cursor_line = how % 7 == 0 ? c->lines + 2000 : c->lines + how % 40;
	terminal.cursor_cell = how % 11 == 0 ? UINT_MAX : how * 2;
	terminal.cursor_hidden = how % 3 == 0;
}

/* A scan that runs ends, or fails. */
static void leaks_change(struct canned *c, unsigned how)
{
	c->leaks.none = how % 8 == 0;
	if (c->leaks.state.phase != LEAKS_IDLE && how % 4)
		cannedleaks_end(&c->leaks, c->now_ns);
	c->leaks.state.failed = how % 4 ? NULL : "the process is gone";
}

static void past_change(struct canned *c, unsigned how)
{
	c->past = how & 1;
	c->replayed = how % 8 == 3;
	c->few = how & 4 ? how : 0;
	c->none = how % 16 == 5;
	c->no_peak = how & 2;
	c->between = how & 8 ? how * 4 : 0;
}

static void data_change(struct canned *c, unsigned which, unsigned how)
{
	static char image;

	switch (which) {
	case 0:
		c->nsites = how;
		break;
	case 1:
		c->sampled = !c->sampled;
		break;
	case 2:
		c->state = (enum snap_state)(how % 5);
		c->exit_status = (int)how;
		break;
	case 3:
		c->error = how & 1 ? "cannot be read" : NULL;
		break;
	case 4:
		c->image = how & 1 ? &image : NULL;
		break;
	case 5:
		c->fewer_processes = !c->fewer_processes;
		break;
	case 6:
		c->no_detail = how & 1;
		c->source_is_late = how & 2;
		c->source_is_newer = how & 4;
		break;
	case 7:
		past_change(c, how);
		break;
	case 8:
		c->wrong = how % (CANNED_WRONG + 1);
		c->untracked = how;
		break;
	case 9:
		c->maps = how & 1;
		c->no_map = how & 2;
		break;
	case 10:
		c->events = how * 3;
		c->missed = how;
		break;
	case 11:
	case 12:
		leaks_change(c, how);
		break;
	case 13:
	case 14:
		terminal_change(how);
		break;
	default:
		c->notice = how & 1 ? "a notice" : NULL;
	}
}

static void size_change(unsigned kind, unsigned what)
{
	sizes++;
	if (kind < 210)
		paper_resize(&paper, 1 + (int)(kind - 200) * 8 + (int)what % 8, 1 + (int)what);
	else
		paper_resize(&paper, 24 + (int)(what & 31), 60 + (int)what / 2);
}

static void key_event(struct ui *ui, unsigned kind, unsigned what)
{
	/* What leads from view to view; otherwise few keys do. */
	static const int ways[] = { '\t', KEY_BTAB, KEY_ESC, '\n' };
	int key = what < 128 ? (int)what : KEY_MIN + (int)(kind * 7 + what) % 400;

	keys++;
	lent += view_output_types(ui);
	if (kind >= 150)
		key = ways[what % (sizeof(ways) / sizeof(ways[0]))];
	else if (kind >= 80)
		key = code[((kind - 80) * 256 + what) % codes];
	/* The loop hands these over byte by byte; and the way back. */
	if (view_output_types(ui) && kind < 40)
		key = (int)what;
	if (view_output_types(ui) && kind >= 140)
		key = KEY_CTRL(']');
	screen_key(ui, key);
}

static void event(struct ui *ui, unsigned kind, unsigned what)
{
	if (kind < 168) {
		key_event(ui, kind, what);
	} else if (kind < 170) {
		screen_pasted(ui, (int)what);
	} else if (kind < 200) {
		clicks++;
		screen_mouse(ui, (enum screen_mouse)(what % (SCREEN_WHEEL_DOWN + 1)),
			(int)(kind - 170) * 2, (int)what);
	} else if (kind < 220) {
		size_change(kind, what);
	} else {
		ticks++;
		if (kind < 240)
			refresh_tick(ui);
		else
			data_change(&paper.canned, kind - 240, what);
	}
}

static void check(struct ui *ui)
{
	const struct list *l = ui_view(ui)->list ? ui_view(ui)->list(ui) : NULL;

	must(ui->depth >= 1 && ui->depth <= UI_STACK_MAX);
	must(!l || l->scroll_only || !l->count || l->cursor < l->count);
	must(!ui->sites.list.count || ui->sites.list.cursor < ui->sites.list.count);
	must(!ui->processes.list.count || ui->processes.list.cursor < ui->processes.list.count);
	must(memchr(ui->message, 0, sizeof(ui->message)) != NULL);
}

static void states_count(const struct ui *ui)
{
	const struct snapshot *shown = ui->shown;
	bool is[STATES] = { [PROMPT_OPEN] = ui->prompt.open,
		[AT_PEAK] = shown && shown->moment == SNAP_PEAK,
		[IN_PAST] = shown && shown->moment == SNAP_PAST,
		[OVER_RANGE] = shown && shown->moment == SNAP_RANGE,
		[REPLAYED] = shown_moment_is_replay(ui),
		[ROWS_FROZEN] = ui->frozen,
		[FILTERED] = find_has_filter(ui),
		[SCANNING] = paper.canned.leaks.state.phase != LEAKS_IDLE,
		[LEAKS_SHOWN] = ui_view(ui)->scope == IN_LEAKS && ui->leaks.list.count,
		[LENT] = view_output_types(ui),
		[SMALL] = LINES <= 12 && COLS <= 40,
		[LARGE] = LINES >= 60 && COLS >= 200 };

	for (int i = 0; i < STATES; i++)
		in_state[i] += is[i];
}

static void frame(void)
{
	screen_draw(&paper.ui);
	frames[paper.ui.stack[paper.ui.depth - 1]]++;
	states_count(&paper.ui);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	begin(bytes ? data[0] : 0);
	for (size_t i = 0; i + 1 < bytes; i += 2) {
		event(&paper.ui, data[i], data[i + 1]);
		check(&paper.ui);
		/* As after a frame: a wish to quit or to be suspended is not heard here. */
		paper.ui.quit = paper.ui.suspend = paper.ui.repaint = false;
		if (i % 8 == 0)
			frame();
	}
	frame();
	return 0;
}

#ifndef FUZZ_LIBFUZZER

#define SEED_BYTES 4096

static void run_seed(unsigned long seed)
{
	static uint8_t data[SEED_BYTES];
	uint64_t random = (uint64_t)seed * 0x9e3779b97f4a7c15ull + 1;

	for (size_t i = 0; i < sizeof(data); i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		data[i] = (uint8_t)(random >> 32);
	}
	seed_now = seed;
	LLVMFuzzerTestOneInput(data, sizeof(data));
}

int main(int argc, char **argv)
{
	unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	for (; keys + clicks + sizes < wanted; seed++)
		run_seed(seed);
	for (int i = 0; i < VIEW_COUNT && wanted >= EVENTS_FOR_ALL; i++)
		if (!frames[i]) {
			fprintf(stderr, "ERROR: the view %s was never drawn\n",
				view_table[i]->title);
			return 1;
		}
	for (int i = 0; i < STATES && wanted >= EVENTS_FOR_ALL; i++)
		if (!in_state[i]) {
			fprintf(stderr, "ERROR: %s: never drawn\n", state_names[i]);
			return 1;
		}
	return 0;
}

#endif
