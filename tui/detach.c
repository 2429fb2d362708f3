/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detaching (detach.h). Main thread. */
#include "tui/detach.h"

#include "tui/curses_api.h"
#include "tui/refresh.h"

#define ALL_KEY 'a'

/* Did this heaptop attach to what is on the screen, and is it still? */
static bool is_attached(const struct ui *ui)
{
	return ui->current && ui->current->attach.how == SNAP_ATTACH_DONE && ui_program_runs(ui);
}

/* The others that it attached to. */
static unsigned others(const struct ui *ui)
{
	return ui->current ? ui->current->attach.others : 0;
}

bool detach_can(const struct ui *ui)
{
	return ui->source->detach && is_attached(ui);
}

/* Why there is nothing to detach from; NULL: there is. */
static const char *refusal(const struct ui *ui)
{
	if (others(ui))
		return NULL;
	if (!ui->source->detach || !ui_program_runs(ui))
		return "nothing to detach from: no program is running";
	if (ui->current->attach.how == SNAP_ATTACH_ENDED)
		return "heaptop has detached from the program already";
	if (ui->current->attach.how == SNAP_ATTACH_OUTSIDE)
		return "nothing to detach from: the program is watched from outside";
	return NULL;
}

static void ask(struct ui *ui)
{
	unsigned all = others(ui) + is_attached(ui);

	if (others(ui))
		ui_message(ui,
			"D again ends the recording of process %d, %c of all %u that heaptop "
			"attached to; other keys cancel",
			(int)ui->current->pid, ALL_KEY, all);
	else
		ui_message(
			ui, "D again ends the recording; the program runs on. Other keys cancel");
	ui->detaching = true;
}

static void detach(struct ui *ui, bool all)
{
	char said[UI_MESSAGE_MAX] = "";

	ui->detaching = false;
	(void)ui->source->detach(ui->source->ctx, all, said, sizeof(said));
	refresh_tick(ui);
	ui_message(ui, "%s", said);
}

void detach_key(struct ui *ui, int arg, int key)
{
	const char *no = refusal(ui);

	if (no)
		ui_message(ui, "%s", no);
	else if (!ui->detaching)
		ask(ui);
	else
		detach(ui, false);
}

/* Is a recording left that heaptop began? */
static bool is_left(const struct ui *ui)
{
	return detach_can(ui) || (ui->source->detach && others(ui));
}

bool detach_asks(struct ui *ui)
{
	if (!ui->options.asks_to_detach || !is_left(ui) || ui->leaving)
		return false;
	if (others(ui))
		ui_message(ui,
			"q detaches from all programs, k leaves them recorded, other keys cancel");
	else
		ui_message(
			ui, "q detaches from the program, k leaves it recorded, other keys cancel");
	ui->leaving = true;
	return true;
}

bool detach_answer(struct ui *ui, int key)
{
	if (ui->leaving && key == 'k' && ui->options.asks_to_detach && is_left(ui)) {
		ui->source->keep(ui->source->ctx);
		ui->quit = true;
		return true;
	}
	if (ui->detaching && key == ALL_KEY && others(ui)) {
		detach(ui, true);
		return true;
	}
	if (key != 'D')
		ui->detaching = false;
	return false;
}
