/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording on the screen (recording_show.h). Main thread. */
#include "src/show/recording_show.h"

#include "src/run/replay_source.h"
#include "src/run/screen_source.h"
#include "src/run/snapshot_file.h"

static int replay_save(void *ctx, const struct tui_shown *shown, char *msg, size_t cap)
{
	struct export_options e;

	replay_source_export_options(ctx, &e);
	screen_run_shown(&e, shown);
	return replay_source_save(ctx, shown->rows, &e, shown->format, msg, cap);
}

/* A recording: what needs the program's memory, or would change the program, is missing. */
static struct tui_source replay_source_make(struct replay_source *s)
{
	bool scanned = replay_source_has_leaks(s);

	return (struct tui_source){
		.ctx = s,
		.tick = replay_source_tick,
		.detail = replay_source_detail,
		.fds = replay_source_fds,
		.ready = replay_source_ready,
		.now_ns = replay_source_now,
		.save = replay_save,
		.save_formats = snapshot_file_formats(),
		.moment_show = replay_source_moment_show,
		.moment_take = replay_source_moment_take,
		.timeline = replay_source_timeline,
		.since = replay_source_since,
		.mark_name = replay_source_mark_name,
		.processes = replay_source_processes,
		.process_show = replay_source_process_show,
		.no_leaks = { "No leak scan is in this recording.",
			"Scan (L) before you export, or record with --leak-check=every:60s." },
		.no_map = { "The map of memory is read from a running program or a core file.",
			"heaptop -- COMMAND, heaptop -a PID and heaptop -r CORE show it." },
		.no_output = { "What the program wrote is not in a recording.",
			"heaptop -- COMMAND shows it while the program runs." },
		.leaks = scanned ? replay_source_scan_state : NULL,
		.source_text = replay_source_text,
		.source_forget = replay_source_text_forget,
		.hide_rules = screen_source_hide_rules,
		.settings_save = screen_source_settings_save,
	};
}

int recording_show(const struct options *o, const struct config *config, struct script *script)
{
	struct tui_options t = screen_run_options(false, o, config);
	struct replay_source *s;
	struct tui_source source;
	int signal = 0, rc = replay_source_open(&s, o);

	if (rc != 0)
		return rc;
	source = replay_source_make(s);
	rc = screen_run(&source, &t, script, &signal);
	replay_source_close(s);
	return screen_run_status(rc, signal, 0);
}
