/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heaptop: reads the options and composes. The only file that includes both src/run and tui/: it
 * gives the screen its functions and its options.
 */
#include <assert.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/marks/mark_command.h"
#include "src/run/batch.h"
#include "src/run/config.h"
#include "src/run/diff_command.h"
#include "src/run/diff_run.h"
#include "src/run/event_command.h"
#include "src/run/failure.h"
#include "src/run/file_kind.h"
#include "src/run/final_report.h"
#include "src/run/list_command.h"
#include "src/run/load.h"
#include "src/run/options.h"
#include "src/run/record_run.h"
#include "src/run/record_service.h"
#include "src/run/replay_report.h"
#include "src/run/replay_source.h"
#include "src/run/run.h"
#include "src/run/screen_source.h"
#include "src/run/snapshot_file.h"
#include "src/run/still_report.h"
#include "src/run/still_source.h"
#include "src/util/large_stack.h"
#include "src/util/text.h"
#include "tui/script.h"
#include "tui/term.h"
#include "tui/tui.h"

/* What the screen shows, as it shows it. */
static void shown_take(struct export_options *e, const struct tui_shown *shown)
{
	e->filter = shown->filter;
	e->group = shown->group;
	e->sites = shown->sites;
	e->sort = shown->sort;
	e->reverse = shown->reverse;
	e->names = shown->names;
	e->show_hidden = shown->show_hidden;
	e->memory = shown->memory;
	e->whole = shown->whole;
}

static int save(void *ctx, const struct tui_shown *shown, char *msg, size_t cap)
{
	struct export_options e;

	screen_source_export_options(ctx, &e);
	shown_take(&e, shown);
	return screen_source_save(ctx, shown->rows, &e, shown->format, msg, cap);
}

static int replay_save(void *ctx, const struct tui_shown *shown, char *msg, size_t cap)
{
	struct export_options e;

	replay_source_export_options(ctx, &e);
	shown_take(&e, shown);
	return replay_source_save(ctx, shown->rows, &e, shown->format, msg, cap);
}

/* NULL functions: a segment that was read has no program, an attached program is not ours to end,
 * and the output of a program without a terminal of its own is not seen. */
static struct tui_source source_make(
	struct screen_source *s, const struct run *r, const struct options *o)
{
	bool live = o->mode != OPTIONS_READ, own_output = run_output(r) != NULL;

	return (struct tui_source){
		.ctx = s,
		.tick = screen_source_tick,
		.detail = screen_source_detail,
		.fds = screen_source_fds,
		.ready = screen_source_ready,
		.now_ns = screen_source_now,
		.output_lines = own_output ? screen_source_output_lines : NULL,
		.output_line = own_output ? screen_source_output_line : NULL,
		.output_resize = own_output ? screen_source_output_resize : NULL,
		.save = save,
		.save_formats = snapshot_file_formats(),
		.moment_show = screen_source_moment_show,
		.moment_take = screen_source_moment_take,
		.timeline = screen_source_timeline,
		.end = run_child(r) ? screen_source_end : NULL,
		.sample = live ? screen_source_sample : NULL,
		.map = live ? screen_source_map : NULL,
		.mark = live ? screen_source_mark : NULL,
		.mark_name = screen_source_mark_name,
		.since = screen_source_since,
		.processes = screen_source_processes,
		.process_show = screen_source_process_show,
		.leaks = live ? screen_source_scan_state : NULL,
		.leaks_scan = live ? screen_source_scan : NULL,
		.leaks_cancel = live ? screen_source_scan_cancel : NULL,
		.leaks_release = live && o->hold ? screen_source_scan_release : NULL,
		.leaks_every = live ? screen_source_scan_every : NULL,
		.leaks_suppress = live ? screen_source_suppress : NULL,
		.bytes = live ? screen_source_bytes : NULL,
		.source_text = screen_source_text,
		.source_forget = screen_source_text_forget,
		.hide_rules = screen_source_hide_rules,
		.rules_set = screen_source_rules_set,
		.settings_save = screen_source_settings_save,
		.ages = screen_source_ages,
		.shares = screen_source_shares,
	};
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
		.leaks = scanned ? replay_source_scan_state : NULL,
		.source_text = replay_source_text,
		.source_forget = replay_source_text_forget,
		.hide_rules = screen_source_hide_rules,
		.settings_save = screen_source_settings_save,
	};
}

static_assert((int)TUI_COLOR_AUTO == (int)OPTIONS_COLOR_AUTO &&
		      (int)TUI_COLOR_ALWAYS == (int)OPTIONS_COLOR_ALWAYS &&
		      (int)TUI_COLOR_NEVER == (int)OPTIONS_COLOR_NEVER,
	"--color");

static struct tui_options tui_options_make(
	bool launched, const struct options *o, const struct config *config)
{
	return (struct tui_options){
		.settings = &config->settings,
		.trouble = config->trouble[0] ? config->trouble : NULL,
		.delay_ns = o->delay_ns,
		.frames = o->frames,
		.sort = o->sort,
		.reverse = o->reverse,
		.color = (enum tui_color)o->color,
		.ascii = o->ascii,
		.no_mouse = o->no_mouse,
		.tree = o->tree,
		.filter = o->filter,
		.group = o->group,
		.names = o->names,
		.show_hidden = o->show_hidden,
		.version = HEAPTOP_VERSION,
		.readonly = o->readonly,
		.launched = launched,
	};
}

/* Checks the terminal before anything is started. 0, or the exit status. */
static int terminal_check(struct winsize *size)
{
	char term[40], what[100];
	const char *name = getenv("TERM");

	if (!term_probe(size))
		return failure_print_reason(
			"no terminal for the screen", "use -b for text frames, or --report");
	if (term_can_draw())
		return 0;
	text_clean(term, sizeof(term), name ? name : "", name ? strlen(name) : 0);
	snprintf(what, sizeof(what), "the terminal cannot draw a screen (TERM=%s)", term);
	return failure_print_reason(what, "use -b for text frames, or --report");
}

/* Draws on the terminal, or plays a script, until the user leaves: what tui_run returns. */
static int screen_run(const struct tui_source *source, const struct tui_options *t,
	struct script *script, int *signal)
{
	char why[SCRIPT_WHY_MAX];
	int rc = script ? script_run(script, source, t, signal, why) : tui_run(source, t, signal);

	if (rc == -ECANCELED)
		failure_print_reason("--script", why);
	return rc;
}

/* The exit status after the screen; `status` if it ended as it should. */
static int screen_status(int rc, int signal, int status)
{
	if (rc == -EINTR)
		return 128 + signal;
	if (rc == -ECANCELED)
		return FAILURE_EXIT;
	if (rc == -ENOTTY)
		return failure_print_reason(
			"opening the terminal failed", "is TERM set? (or use -b or --report)");
	return status;
}

static int program_show(const struct options *o, const struct config *config, struct script *script,
	const struct winsize *size)
{
	struct screen_source *s;
	struct tui_source source;
	struct tui_options t;
	struct run *r;
	int signal = 0, rc = run_open(&r, o, size);

	if (rc != 0)
		return rc;
	s = screen_source_open(r);
	if (!s)
		return FAILURE_EXIT;
	source = source_make(s, r, o);
	t = tui_options_make(run_child(r) != 0, o, config);
	rc = screen_run(&source, &t, script, &signal);
	if (rc == -EIO || rc == -EINTR)
		run_hang_up(r);
	return screen_status(rc, signal, screen_source_close(s));
}

static int recording_show(
	const struct options *o, const struct config *config, struct script *script)
{
	struct tui_options t = tui_options_make(false, o, config);
	struct replay_source *s;
	struct tui_source source;
	int signal = 0, rc = replay_source_open(&s, o);

	if (rc != 0)
		return rc;
	source = replay_source_make(s);
	rc = screen_run(&source, &t, script, &signal);
	replay_source_close(s);
	return screen_status(rc, signal, 0);
}

static int still_save(void *ctx, const struct tui_shown *shown, char *msg, size_t cap)
{
	struct export_options e;

	still_source_export_options(ctx, &e);
	shown_take(&e, shown);
	return still_source_save(ctx, shown->rows, &e, shown->format, msg, cap);
}

/* A single snapshot, which it takes over; NULL: the failure was printed. */
static int still_show(struct snapshot *shown, const struct options *o, const struct tui_options *t,
	struct script *script)
{
	struct still_source *s = shown ? still_source_open(shown, o) : NULL;
	const struct tui_source source = { .ctx = s,
		.tick = still_source_tick,
		.fds = still_source_fds,
		.ready = still_source_ready,
		.now_ns = still_source_now,
		.save = still_save,
		.save_formats = snapshot_file_formats(),
		.source_text = still_source_text,
		.source_forget = still_source_text_forget,
		.hide_rules = screen_source_hide_rules,
		/* The columns of a diff are not the user's choice. */
		.settings_save = o->mode == OPTIONS_DIFF ? NULL : screen_source_settings_save };
	int signal = 0, rc;

	if (!s)
		return FAILURE_EXIT;
	rc = screen_run(&source, t, script, &signal);
	still_source_close(s);
	return screen_status(rc, signal, 0);
}

static int report_show(const struct options *o, const struct config *config, struct script *script)
{
	struct tui_options t = tui_options_make(false, o, config);

	return still_show(load_open(o->file, o), o, &t, script);
}

/* Only the columns that say something. */
static int diff_show(const struct options *o, const struct config *config, struct script *script)
{
	struct tui_options t = tui_options_make(false, o, config);
	static struct settings settings; /* the stack may be small */
	struct diff_run *r = diff_run_open(o);
	int rc;

	if (!r)
		return FAILURE_EXIT;
	settings = config->settings;
	snprintf(settings.off[SETTINGS_SITES], sizeof(settings.off[SETTINGS_SITES]),
		"kept rate trend age growth");
	t.settings = &settings;
	if (!options_given(o, "sort")) {
		t.sort = COL_SINCE;
		t.reverse = false;
	}
	rc = still_show(diff_run_snapshot(r, o), o, &t, script);
	diff_run_free(r);
	return rc;
}

static int file_show(const struct options *o, const struct config *config, struct script *script,
	const struct winsize *size)
{
	enum file_kind kind = o->mode == OPTIONS_READ ? file_kind_of(o->file) : FILE_KIND_SEGMENT;

	if (o->mode == OPTIONS_DIFF)
		return diff_show(o, config, script);
	if (kind == FILE_KIND_RECORDING)
		return recording_show(o, config, script);
	return kind == FILE_KIND_REPORT ? report_show(o, config, script)
					: program_show(o, config, script, size);
}

static int run_on_screen(const struct options *o, const struct config *config)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	char why[SCRIPT_WHY_MAX];
	struct script *script = o->script ? script_load(o->script, why) : NULL;
	int rc;

	if (o->script && !script) {
		failure_print_reason("--script", why);
		return OPTIONS_EXIT_USAGE;
	}
	rc = script ? 0 : terminal_check(&size);
	if (rc == 0)
		rc = file_show(o, config, script, &size);
	script_free(script);
	return rc;
}

/* Whether a diff goes to the screen: unless the output or an option asks for text. */
static bool diff_is_text(const struct options *o)
{
	struct winsize size;

	return o->report ||
	       (!o->script && (!isatty(STDOUT_FILENO) || !term_probe(&size) || !term_can_draw()));
}

/* -b and reports of files that are no segments. -1: it is something else. */
static int file_report(const struct options *o)
{
	if (o->mode == OPTIONS_DIFF)
		return diff_is_text(o) ? diff_command_run(o) : -1;
	if (o->mode != OPTIONS_READ || (!o->report && !o->batch))
		return -1;
	switch (file_kind_of(o->file)) {
	case FILE_KIND_RECORDING:
		return replay_report_run(o);
	case FILE_KIND_REPORT:
		return still_report_run(o);
	case FILE_KIND_SEGMENT:
		break;
	}
	return -1;
}

struct arguments {
	int argc;
	char **argv;
};

static int run_all(void *ctx)
{
	static struct config config;
	static struct options o;
	const struct arguments *a = ctx;
	int status;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error to report */
	status = options_parse(a->argc, a->argv, &o, stdout, stderr);
	if (status >= 0)
		return status;
	if (o.mode == OPTIONS_MARK)
		return mark_command_print(o.pid, o.mark_name) == 0 ? 0 : FAILURE_EXIT;
	if (o.mode == OPTIONS_RECORD_SERVICE)
		return record_service_run(&o);
	if (o.mode == OPTIONS_LIST)
		return list_command_print();
	if (o.mode == OPTIONS_CLEAN)
		return list_command_clean();
	o.headless = record_run_is_headless(&o);
	config_take(&config, &o);
	if (event_command_is(&o))
		return event_command_run(&o);
	if (o.event_format)
		return failure_print_reason(
			"--format", "the file of -r must be a recording of events");
	if (o.headless)
		return record_run(&o);
	status = file_report(&o);
	if (status >= 0)
		return status;
	if (o.report)
		return final_report_run(&o);
	return o.batch ? batch_run(&o) : run_on_screen(&o, &config);
}

int main(int argc, char **argv)
{
	struct arguments a = { argc, argv };

	return large_stack_run(run_all, &a);
}
