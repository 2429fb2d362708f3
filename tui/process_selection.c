/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was selected in each process (process_selection.h). */
#include "tui/process_selection.h"

static struct process_selection *selection_of(struct ui *ui, const struct snapshot *s)
{
	struct processes_state *st = &ui->processes;

	for (unsigned i = 0; i < UI_SELECTIONS; i++)
		if (st->saved[i].pid == s->pid && st->saved[i].start_ns == s->start_realtime_ns)
			return &st->saved[i];
	return NULL;
}

void process_selection_save(struct ui *ui, const struct snapshot *s)
{
	struct processes_state *st = &ui->processes;
	struct process_selection *p = selection_of(ui, s);

	if (!p)
		p = &st->saved[st->saves++ % UI_SELECTIONS];
	*p = (struct process_selection){ .pid = s->pid,
		.start_ns = s->start_realtime_ns,
		.list = ui->sites.list,
		.site = ui->sites.chosen,
		.has_site = ui->sites.has_chosen,
		.node = ui->tree.chosen,
		.has_node = ui->tree.has_chosen };
}

void process_selection_restore(struct ui *ui, const struct snapshot *s)
{
	const struct process_selection *p = selection_of(ui, s);

	if (s->processes)
		ui_message(ui,
			"now shown: all processes of the launch, those of one program in one row "
			"where their call stacks are the same");
	else
		ui_message(ui, "now shown: pid %d, %s", (int)s->pid, s->command ? s->command : "?");
	if (!p)
		return;
	ui->sites.list = p->list;
	ui->sites.selected = ui->sites.chosen = p->site;
	ui->sites.has_selected = ui->sites.has_chosen = p->has_site;
	ui->tree.selected = ui->tree.chosen = p->node;
	ui->tree.has_selected = ui->tree.has_chosen = p->has_node;
	ui->tree.list.moved = p->has_node;
}
