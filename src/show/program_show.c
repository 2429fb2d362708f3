/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program on the screen (program_show.h). Main thread. */
#include "src/show/program_show.h"

#include <errno.h>
#include <stdio.h>

#include "src/run/core_target.h"
#include "src/run/failure.h"
#include "src/run/run.h"
#include "src/run/screen_output.h"
#include "src/run/screen_source.h"
#include "src/run/snapshot_file.h"

static int save(void *ctx, const struct tui_shown *shown, char *msg, size_t cap)
{
	struct export_options e;

	screen_source_export_options(ctx, &e);
	screen_run_shown(&e, shown);
	return screen_source_save(ctx, shown->rows, &e, shown->format, msg, cap);
}

/* Why there is nothing to scan and no map: the program's memory cannot be read. */
static struct tui_missing no_memory(bool running)
{
	if (running)
		return (struct tui_missing){
			"heaptop watches this process from outside: its blocks are not known.",
			"heaptop -- COMMAND records them from the start."
		};
	return (struct tui_missing){ "This file is of a program whose memory is gone.",
		"heaptop -- COMMAND, heaptop -a PID and heaptop -r CORE read it." };
}

static struct tui_missing no_output(const struct options *o)
{
	if (o->mode == OPTIONS_READ)
		return (struct tui_missing){ "What the program wrote is not in this file.",
			"heaptop -- COMMAND shows it while the program runs." };
	if (o->mode != OPTIONS_RUN)
		return (struct tui_missing){ "The program writes to a terminal or file of its own.",
			"heaptop -- COMMAND shows the output of a program that it starts." };
	return (struct tui_missing){ "The program's output is redirected.",
		"heaptop -- COMMAND shows it here if it goes to the terminal." };
}

/* NULL functions: a segment that was read has no program, one that is watched from outside has no
 * recording, an attached program is not ours to end, and the output of a program without a terminal
 * of its own is not seen. */
static struct tui_source source_make(
	struct screen_source *s, const struct run *r, const struct options *o)
{
	const struct snap_attach *attach = run_attach_facts(r);
	bool running = o->mode != OPTIONS_READ, own_output = run_output(r) != NULL;
	bool scans, live = running && !(attach && attach->how == SNAP_ATTACH_OUTSIDE);

	scans = live || core_target_core(o) != NULL;
	return (struct tui_source){
		.ctx = s,
		.tick = screen_source_tick,
		.detail = screen_source_detail,
		.fds = screen_source_fds,
		.ready = screen_source_ready,
		.now_ns = screen_source_now,
		.output_lines = own_output ? screen_output_lines : NULL,
		.output_dropped = screen_output_dropped,
		.output_line = own_output ? screen_output_line : NULL,
		.output_resize = own_output ? screen_output_resize : NULL,
		.output_cursor = own_output ? screen_output_cursor : NULL,
		.output_type = own_output ? screen_output_type : NULL,
		.output_press = own_output ? screen_output_press : NULL,
		.no_output = no_output(o),
		.save = save,
		.save_formats = snapshot_file_formats(),
		.moment_show = screen_source_moment_show,
		.moment_take = screen_source_moment_take,
		.timeline = screen_source_timeline,
		.end = run_child(r) ? screen_source_end : NULL,
		.detach = running ? screen_source_detach : NULL,
		.keep = screen_source_keep,
		.sample = live ? screen_source_sample : NULL,
		.map = running || core_target_core(o) ? screen_source_map : NULL,
		.no_map = no_memory(running),
		.mark = live ? screen_source_mark : NULL,
		.mark_name = screen_source_mark_name,
		.since = screen_source_since,
		.processes = screen_source_processes,
		.process_show = screen_source_process_show,
		.events_follow = live ? screen_source_events_follow : NULL,
		.events_stop = screen_source_events_stop,
		.events = screen_source_events,
		.leaks = scans ? screen_source_scan_state : NULL,
		.no_leaks = no_memory(running),
		.leaks_scan = scans ? screen_source_scan : NULL,
		.leaks_cancel = scans ? screen_source_scan_cancel : NULL,
		.leaks_release = live && o->hold ? screen_source_scan_release : NULL,
		.leaks_every = live ? screen_source_scan_every : NULL,
		.leaks_suppress = scans ? screen_source_suppress : NULL,
		.bytes = scans ? screen_source_bytes : NULL,
		.source_text = screen_source_text,
		.source_forget = screen_source_text_forget,
		.hide_rules = screen_source_hide_rules,
		.rules_set = screen_source_rules_set,
		.settings_save = screen_source_settings_save,
		.ages = screen_source_ages,
		.shares = screen_source_shares,
	};
}

#define GREETING_MAX (SNAP_ATTACH_MAX + 64)

static const char *greeting(const struct snap_attach *a, char out[GREETING_MAX])
{
	const struct snapshot s = { .attach = *a };
	char cost[SNAP_ATTACH_MAX];

	snprintf(out, GREETING_MAX, "%s; D detaches", snapshot_attach_text(&s, cost));
	return out;
}

int program_show(const struct options *o, const struct config *config, struct script *script,
	const struct winsize *size)
{
	struct screen_source *s;
	struct tui_source source;
	struct tui_options t;
	char hello[GREETING_MAX], message[128]; /* of a failure for lack of memory */
	struct run *r;
	int signal = 0, rc = run_open(&r, o, size);

	if (rc != 0)
		return rc;
	s = screen_source_open(r);
	if (!s)
		return FAILURE_EXIT;
	if (o->all_processes)
		screen_source_process_show(s, PROCESSES_ALL, message, sizeof(message));
	source = source_make(s, r, o);
	t = screen_run_options(run_child(r) != 0, o, config);
	t.asks_to_detach = run_attached(r) && !o->attach.keep;
	t.greeting = run_attached(r) ? greeting(run_attach_facts(r), hello) : NULL;
	rc = screen_run(&source, &t, script, &signal);
	if (rc == -EIO || rc == -EINTR)
		run_hang_up(r);
	return screen_run_status(rc, signal, screen_source_close(s));
}
