/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of the screen: keys, clicks, wheel, sizes and ticks in any order, on canned data that
 * change under them. Two bytes are an event. What is selected must be a row that is there, and what
 * is drawn is inside the screen, or the sanitizers say so.
 */
#include "tests/tui/paper.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct paper paper;

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* One screen for all inputs; a ui for each. */
static void begin(void)
{
	struct tui_options options = { .delay_ns = CANNED_S, .sort = COL_LIVE, .version = "fuzz" };

	if (!paper.screen)
		paper_open(&paper, 30, 100, false);
	ui_free(&paper.ui);
	moments_free(&paper.canned.moments);
	map_unref(paper.canned.map);
	paper.canned = canned_default();
	paper.canned.nsites = 40;
	paper.source = canned_source(&paper.canned);
	ui_init(&paper.ui, &paper.source, &options);
	paper_resize(&paper, 30, 100);
	ui_tick(&paper.ui);
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

static void event(struct ui *ui, unsigned kind, unsigned what)
{
	if (kind < 170)
		ui_key(ui, what < 128 ? (int)what : KEY_MIN + (int)(kind * 7 + what) % 400);
	else if (kind < 200)
		ui_mouse(ui, (enum ui_mouse)(what % 3), (int)(kind - 170) * 2, (int)what);
	else if (kind < 210)
		paper_resize(&paper, 1 + (int)(kind - 200) * 8 + (int)what % 8, 1 + (int)what);
	else if (kind < 220)
		paper_resize(&paper, 24 + (int)(what & 31), 60 + (int)what / 2);
	else if (kind < 245)
		ui_tick(ui);
	else
		data_change(&paper.canned, what);
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
			ui_draw(&paper.ui);
	}
	ui_draw(&paper.ui);
	return 0;
}
