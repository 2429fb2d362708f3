/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of the screen: keys, clicks, wheel, sizes and ticks in any order, on canned data that
 * change under them. Two bytes are an event. What is selected must be a row that is there, and what
 * is drawn is inside the screen, or the sanitizers say so. How many there were is said at the end.
 * Under libFuzzer (-DFUZZ_LIBFUZZER); alone, and seven times as fast, it makes up its own:
 *
 *	keys_alone EVENTS [FIRST-SEED]
 *
 * Each seed is some thousand events; the one that fails is said, and `keys_alone 1 SEED` runs it.
 */
#include <sanitizer/common_interface_defs.h>
#include "tests/tui/paper.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct paper paper;
static unsigned long keys, clicks, sizes, ticks, seed_now;

static void told(void)
{
	fprintf(stderr, "events: %lu keys, %lu clicks, %lu sizes, %lu ticks\n", keys, clicks, sizes,
		ticks);
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

/* One screen for all inputs; a ui for each. */
static void begin(void)
{
	struct tui_options options = { .delay_ns = CANNED_S, .sort = COL_LIVE, .version = "fuzz" };

	if (!paper.screen) {
		paper_open(&paper, 30, 100, false);
		atexit(told);
		__sanitizer_set_death_callback(told);
	}
	screen_free(&paper.ui);
	mark_list_free(&paper.canned.moments);
	map_unref(paper.canned.map);
	paper.canned = canned_default();
	paper.canned.nsites = 40;
	paper.source = canned_source(&paper.canned);
	screen_init(&paper.ui, &paper.source, &options);
	paper_resize(&paper, 30, 100);
	refresh_tick(&paper.ui);
}

static void data_change(struct canned *c, unsigned how)
{
	static char image;

	switch (how % 8) {
	case 0:
		c->nsites = how;
		break;
	case 1:
		c->sampled = !c->sampled;
		break;
	case 2:
		c->state = (enum snap_state)(how / 8 % 5);
		break;
	case 3:
		c->error = how & 8 ? "cannot be read" : NULL;
		break;
	case 4:
		c->image = how & 8 ? &image : NULL;
		break;
	case 5:
		c->fewer_processes = !c->fewer_processes;
		break;
	case 6:
		c->no_detail = !c->no_detail;
		break;
	default:
		c->notice = how & 8 ? "a notice" : NULL;
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

static void event(struct ui *ui, unsigned kind, unsigned what)
{
	if (kind < 170) {
		keys++;
		screen_key(ui, what < 128 ? (int)what : KEY_MIN + (int)(kind * 7 + what) % 400);
	} else if (kind < 200) {
		clicks++;
		screen_mouse(ui, (enum screen_mouse)(what % 3), (int)(kind - 170) * 2, (int)what);
	} else if (kind < 220) {
		size_change(kind, what);
	} else {
		ticks++;
		if (kind < 245)
			refresh_tick(ui);
		else
			data_change(&paper.canned, what);
	}
}

static void check(const struct ui *ui)
{
	must(ui->depth >= 1 && ui->depth <= UI_STACK_MAX);
	must(!ui->sites.list.count || ui->sites.list.cursor < ui->sites.list.count);
	must(!ui->processes.list.count || ui->processes.list.cursor < ui->processes.list.count);
	must(memchr(ui->message, 0, sizeof(ui->message)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	begin();
	for (size_t i = 0; i + 1 < bytes; i += 2) {
		event(&paper.ui, data[i], data[i + 1]);
		check(&paper.ui);
		/* As after a frame: a wish to quit or to be suspended is not heard here. */
		paper.ui.quit = paper.ui.suspend = paper.ui.repaint = false;
		if (i % 8 == 0)
			screen_draw(&paper.ui);
	}
	screen_draw(&paper.ui);
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
	return 0;
}

#endif
