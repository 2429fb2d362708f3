/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A single moment on the screen (still_show.h). Main thread. */
#include "src/show/still_show.h"

#include <stdio.h>

#include "src/run/diff_run.h"
#include "src/run/failure.h"
#include "src/run/load.h"
#include "src/run/screen_source.h"
#include "src/run/snapshot_file.h"
#include "src/run/still_source.h"

static int still_save(void *ctx, const struct tui_shown *shown, char *msg, size_t cap)
{
	struct export_options e;

	still_source_export_options(ctx, &e);
	screen_run_shown(&e, shown);
	return still_source_save(ctx, shown->rows, &e, shown->format, msg, cap);
}

static const struct tui_missing diff_no_leaks = { "A diff compares call sites, not leak scans.",
	"heaptop -r FILE shows the leaks of one side." };
static const struct tui_missing report_no_leaks = { "The leaks of such a file are not read back.",
	"A recording has them: export as heaptop (x) after a scan (L), or use --record FILE." };

/* A single snapshot, which it takes over; NULL: the failure was printed. */
static int snapshot_show(struct snapshot *shown, const struct options *o,
	const struct tui_options *t, struct script *script)
{
	struct still_source *s = shown ? still_source_open(shown, o) : NULL;
	bool is_diff = o->mode == OPTIONS_DIFF;
	const struct tui_source source = { .ctx = s,
		.tick = still_source_tick,
		.detail = still_source_detail,
		.moment_show = still_source_moment_show,
		.fds = still_source_fds,
		.ready = still_source_ready,
		.now_ns = still_source_now,
		.save = still_save,
		.save_formats = snapshot_file_formats(),
		.source_text = still_source_text,
		.source_forget = still_source_text_forget,
		.hide_rules = screen_source_hide_rules,
		/* The columns of a diff are not the user's choice. */
		.no_leaks = is_diff ? diff_no_leaks : report_no_leaks,
		.no_map = { "The map of memory is read from a running program or a core file.",
			"heaptop -- COMMAND, heaptop -a PID and heaptop -r CORE show it." },
		.no_output = { "What the program wrote is not in this file.",
			"heaptop -- COMMAND shows it while the program runs." },
		.settings_save = is_diff ? NULL : screen_source_settings_save };
	int signal = 0, rc;

	if (!s)
		return FAILURE_EXIT;
	rc = screen_run(&source, t, script, &signal);
	still_source_close(s);
	return screen_run_status(rc, signal, 0);
}

int still_show_report(const struct options *o, const struct config *config, struct script *script)
{
	struct tui_options t = screen_run_options(false, o, config);

	return snapshot_show(load_open(o->file, o), o, &t, script);
}

/* Only the columns that say something. */
int still_show_diff(const struct options *o, const struct config *config, struct script *script)
{
	struct tui_options t = screen_run_options(false, o, config);
	static struct settings settings; /* the stack may be small */
	struct diff_run *r = diff_run_open(o);
	int rc;

	if (!r)
		return FAILURE_EXIT;
	settings = config->settings;
	snprintf(settings.off[SETTINGS_SITES], sizeof(settings.off[SETTINGS_SITES]),
		"kept taken freed rate trend age growth");
	t.settings = &settings;
	if (!options_given(o, "sort")) {
		t.sort = COL_DELTA;
		t.reverse = false;
	}
	rc = snapshot_show(diff_run_snapshot(r, o), o, &t, script);
	diff_run_free(r);
	return rc;
}
