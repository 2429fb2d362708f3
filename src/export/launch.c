/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes of a launch in reports (launch.h). Pure. */
#include "src/export/launch.h"

#include <stdio.h>
#include <sys/wait.h>

#include "src/model/processes.h"
#include "src/util/text.h"
#include "src/util/units.h"

#define COMMAND_MOST 60u /* cells of a command line */

static void line_text(struct strbuf *out, const struct process_row *row, bool ascii)
{
	char peak[UNITS_MAX], live[UNITS_MAX], command[COMMAND_MOST * 4 + 1];

	text_elide(command, sizeof(command), row->command[0] ? row->command : "?", COMMAND_MOST,
		false, ascii);
	strbuf_printf(out, "  %7s  %7s  %-9s  %8d  %*s%s\n", units_bytes(peak, row->peak_bytes),
		units_bytes(live, row->live_bytes), row->state, (int)row->pid, (int)row->level * 2,
		"", command);
}

void launch_text(struct strbuf *out, const struct export_options *o)
{
	const struct export_launch *l = o->launch;
	char peak[UNITS_MAX], count[UNITS_MAX + 8];

	if (!l)
		return;
	strbuf_puts(out, "\n----\n\n");
	strbuf_printf(out, "launch    %s processes, at least %s live at once\n\n",
		units_exact(count, (uint64_t)l->all.running + l->all.ended),
		units_bytes(peak, l->all.peak_bytes));
	strbuf_puts(out, "     peak     live  state           pid  command\n");
	for (size_t i = 0; i < l->count; i++)
		line_text(out, &l->rows[i], o->ascii);
}

/* ---- JSON ---- */

static void row_json(struct writer *w, const struct process_row *row, pid_t parent)
{
	bool known = row->ended && row->wait_status >= 0;
	char signal[24];

	writer_object(w, NULL);
	writer_int(w, "pid", row->pid);
	if (parent)
		writer_int(w, "parent_pid", parent);
	else
		writer_null(w, "parent_pid");
	writer_string(w, "command", row->command);
	writer_string(w, "state", row->ended ? "ended" : "running");
	if (known && WIFEXITED(row->wait_status))
		writer_int(w, "exit_status", WEXITSTATUS(row->wait_status));
	else
		writer_null(w, "exit_status");
	snprintf(signal, sizeof(signal), "%s", row->state);
	writer_string(w, "signal", known && WIFSIGNALED(row->wait_status) ? signal : NULL);
	writer_uint(w, "live_bytes", row->live_bytes);
	writer_uint(w, "peak_live_bytes", row->peak_bytes);
	writer_end(w);
}

/* The row above that is one level higher; rows are in the order of the tree. */
static pid_t parent_of(const struct export_launch *l, size_t i)
{
	for (size_t k = i; l->rows[i].level > 0 && k-- > 0;)
		if (l->rows[k].level < l->rows[i].level)
			return l->rows[k].pid;
	return 0;
}

bool launch_json(struct writer *w, const struct export_options *o)
{
	const struct export_launch *l = o->launch;

	if (!l)
		return false;
	writer_object(w, "launch");
	writer_uint(w, "running", l->all.running);
	writer_uint(w, "ended", l->all.ended);
	writer_uint(w, "live_bytes", l->all.live_bytes);
	writer_uint(w, "peak_live_bytes", l->all.peak_bytes);
	writer_array(w, "processes");
	writer_lines(w);
	for (size_t i = 0; i < l->count; i++)
		row_json(w, &l->rows[i], parent_of(l, i));
	writer_end(w);
	return true;
}
