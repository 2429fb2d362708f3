/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heaptop: options, then compose. The only file that may include everything; what it does itself is
 * to bring a run's snapshots to the screen, to a stream of frames, or into a report.
 */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/session/age_classes.h"
#include "src/run/config.h"
#include "src/run/exit_scan.h"
#include "src/run/leak_request.h"
#include "src/run/segment_list.h"
#include "src/marks/mark_command.h"
#include "src/run/options.h"
#include "src/run/output_file.h"
#include "src/run/selection.h"
#include "src/run/report.h"
#include "src/run/run.h"
#include "src/run/screen.h"
#include "src/run/screen_leaks.h"
#include "src/sym/sym.h"
#include "src/session/threads.h"
#include "src/util/clock.h"
#include "src/util/large_stack.h"
#include "src/util/remedy.h"
#include "src/run/failure.h"
#include "src/util/text.h"
#include "src/util/units.h"
#include "src/run/verdict.h"
#include "tui/script.h"
#include "tui/term.h"
#include "tui/tui.h"

#define EXIT_UNFREED 1
#define LEAK_LOOK_MS                                                                               \
	10u /* a program that waits for its leak scan loses so much, on average half               \
	     */

/* ---- waiting without a screen ---- */

static volatile sig_atomic_t forward_signal;
static struct leak_progress scan_progress; /* of scans that we wait for */

static void on_signal(int signal)
{
	forward_signal = signal;
	scan_progress.cancelled = true; /* the program, too, may have stood still long enough */
}

static const int passed_on[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };
#define SIGINT_AT 2
#define PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))
static struct sigaction signals_before[PASSED_ON];

/*
 * The terminal's signals reach a launched program by themselves, and it decides what they mean;
 * those sent to us alone are passed on to it. What our parent had us ignore (nohup) stays ignored.
 * A reader of ours that goes away is a failed write, after which we still clear up.
 */
static void signals_prepare(const struct run *r)
{
	struct sigaction pass = { .sa_handler = on_signal }, ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGPIPE, &ignore, NULL);
	for (size_t i = 0; i < PASSED_ON; i++) {
		bool terminal = passed_on[i] == SIGINT || passed_on[i] == SIGQUIT;

		sigaction(passed_on[i], NULL, &signals_before[i]);
		if (signals_before[i].sa_handler == SIG_IGN ||
			(passed_on[i] == SIGQUIT && !r->child.pid))
			continue;
		sigaction(passed_on[i], terminal && r->child.pid ? &ignore : &pass, NULL);
	}
}

/* Nothing is waited for any more: signals mean us again. */
static void signals_restore(void)
{
	for (size_t i = 0; i < PASSED_ON; i++)
		sigaction(passed_on[i], &signals_before[i], NULL);
}

/* How long to wait at most, given what else is to be done meanwhile. */
static int wait_ms(const struct run *r, uint64_t now, uint64_t until_ns)
{
	uint64_t ms;

	if (r->options->report && r->resident.due_ns > now && r->resident.due_ns < until_ns)
		until_ns = r->resident.due_ns;
	ms = (until_ns - now) / 1000000 + 1;
	return (int)(r->options->leak_check && ms > LEAK_LOOK_MS ? LEAK_LOOK_MS : ms);
}

/* Waits until the program changed state or `until_ns`. False: we are to stop. */
static bool wait_until(struct run *r, uint64_t until_ns)
{
	uint64_t now;

	while ((now = clock_monotonic_ns()) < until_ns && run_alive(r)) {
		struct pollfd fds[RUN_FDS_MAX];
		int n = run_fds(r, fds, RUN_FDS_MAX);

		if (poll(fds, (nfds_t)n, wait_ms(r, now, until_ns)) > 0)
			run_ready(r);
		if (r->options->report)
			run_memory_look(r);
		if (r->options->leak_check)
			leak_request_make(r);
		if (!forward_signal)
			continue;
		if (r->options->report)
			run_memory_look_last(r);
		if (!r->child.pid)
			return false;
		leak_request_cancel(r);
		kill(r->child.pid, forward_signal);
		forward_signal = 0;
		scan_progress.cancelled = false;
	}
	return true;
}

/* The verdict is said on stderr, but not into a document that is there for a program to read. */
static int final_status(
	struct run *r, int fd, const struct snapshot *s, const struct options *o, int rc)
{
	bool fired = s && verdict_failed(s, o, r->ended);
	const char *unseen = s ? verdict_unseen(s, o) : NULL;
	int blind = unseen ? failure_print_reason("--leak-check", unseen) : 0;
	struct snapshot *gone = (struct snapshot *)(uintptr_t)s;
	int status;

	if (fired && (fd != STDERR_FILENO || o->format == OPTIONS_TEXT))
		verdict_say(s, o, r->ended);
	snapshot_unref(gone);
	leak_request_free(r);
	status = run_close(r);
	if (rc == 0 && fired)
		return EXIT_UNFREED;
	return rc ? rc : status ? status : blind;
}

/* A program that is attached to may never end. A signal that our parent had us ignore is none to
 * name. */
static void say_what_ends_the_wait(const struct options *o)
{
	bool interrupts = signals_before[SIGINT_AT].sa_handler != SIG_IGN;

	fprintf(stderr,
		"heaptop: process %d is still running; the report is written when it ends. Now: %s "
		"%d, "
		"or heaptop -b -n 1 --format text -a %d\n",
		(int)o->pid, interrupts ? "Ctrl-C, kill -INT" : "kill", (int)getpid(), (int)o->pid);
}

static int show_report(struct run *r, const struct options *o, int fd)
{
	char verdict[VERDICT_MAX];
	struct snapshot *s;
	bool go_on = true;
	int rc;

	/* -r shows what there is; the other modes wait for the end. */
	if (o->leak_check && !o->leak_every_ns && o->mode == OPTIONS_ATTACH) {
		leak_request_make(r);
		go_on = false;
	}
	if (go_on && o->mode == OPTIONS_ATTACH && run_alive(r))
		say_what_ends_the_wait(o);
	while (go_on && run_alive(r) && o->mode != OPTIONS_READ) {
		snapshot_unref(run_tick(r));
		go_on = wait_until(r, clock_monotonic_ns() + o->delay_ns);
	}
	signals_restore();
	s = leak_request_final(r);
	if (s)
		rc = report_put(fd, s, o, run_memory(r),
			/* On stderr the line that says so comes right behind. */
			fd == STDERR_FILENO && o->format == OPTIONS_TEXT &&
					verdict_failed(s, o, r->ended)
				? NULL
				: verdict_text(s, o, r->ended, verdict));
	else
		rc = failure_print_errno("cannot read the segment any more", errno);
	return final_status(r, fd, s, o, rc);
}

static int frame_put(struct run *r, int fd, const struct snapshot *s, const struct options *o)
{
	if (!o->format_given)
		return report_frame_put(fd, s, o);
	run_memory_look(r);
	return report_put(fd, s, o, run_memory(r), NULL);
}

static int show_batch(struct run *r, const struct options *o, int fd)
{
	struct snapshot *s = NULL;
	int rc = 0;

	/* A launched program gets a moment to allocate; one that ends meanwhile gets its last
	 * frame. */
	if (o->mode == OPTIONS_RUN)
		wait_until(r, clock_monotonic_ns() + o->delay_ns);
	for (unsigned frame = 1; rc == 0; frame++) {
		bool last = !run_alive(r) || frame == o->frames || forward_signal;

		snapshot_unref(s);
		snapshot_unref(run_tick(r));
		session_names_finish(watch_session(r->watch), o->delay_ns);
		s = run_tick(r);
		if (!s)
			rc = failure_print_errno("cannot read the segment any more", errno);
		else
			rc = frame_put(r, fd, s, o);
		if (last || !wait_until(r, clock_monotonic_ns() + o->delay_ns))
			break;
	}
	return final_status(r, fd, s, o, rc);
}

/* ---- the screen ---- */

/* What the screen shows, as it shows it. */
static int shown_put(int fd, const struct tui_shown *shown, const struct snap_leaks *leaks,
	const struct options *o)
{
	struct strbuf text = STRBUF_INIT;
	struct snapshot rows = *shown->rows;
	struct export_options e;

	report_options(&e, o);
	e.filter = shown->filter;
	e.group = shown->group;
	e.sites = shown->sites;
	e.sort = shown->sort;
	e.reverse = shown->reverse;
	e.names = shown->names;
	e.show_hidden = shown->show_hidden;
	e.memory = shown->memory;
	e.whole = shown->whole;
	rows.leaks = leaks;
	export_text(&text, &rows, &e);
	return output_file_put(fd, &text, o);
}

static struct snapshot *screen_tick(void *ctx, const char **error)
{
	static char why[256];
	struct snapshot *s = run_tick(ctx);

	if (!s)
		*error = remedy_line(why, sizeof(why), "cannot read the segment any more", errno);
	screen_leaks_tick(ctx, s);
	return s;
}

static int screen_detail(
	void *ctx, const struct snapshot *of, uint32_t site, struct snap_detail *out)
{
	(void)ctx;
	return session_detail(of, site, out);
}

static int screen_fds(void *ctx, struct pollfd *fds, int max)
{
	int n = run_fds(ctx, fds, max);

	return n + exit_scan_fds(ctx, fds + n, max - n);
}

static bool screen_ready(void *ctx)
{
	bool changed = exit_scan_ready(ctx);

	return run_ready(ctx) || changed;
}

static size_t screen_output_lines(void *ctx)
{
	struct run *r = ctx;

	return output_lines(r->output);
}

static const char *screen_output_line(void *ctx, size_t i)
{
	struct run *r = ctx;

	return output_line(r->output, i);
}

static void screen_output_resize(void *ctx, int rows, int cols)
{
	struct run *r = ctx;
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };

	ioctl(r->child.pty, TIOCSWINSZ, &size);
}

static int screen_save(void *ctx, const struct tui_shown *shown, char *msg, size_t cap)
{
	struct run *r = ctx;
	char path[OUTPUT_FILE_NAME_MAX];
	int fd = output_file_name(path, shown->rows->pid), rc = fd < 0 ? fd : 0;

	if (rc == 0 && shown_put(fd, shown, screen_leaks_last(r), r->options) != 0)
		rc = -EIO;
	if (fd >= 0)
		close(fd);
	if (rc == 0)
		snprintf(msg, cap, "saved %s", path);
	else
		snprintf(msg, cap, "%s: not saved: %s", path, strerror(-rc));
	return rc;
}

static int screen_sample(void *ctx, const char *text, char *msg, size_t cap)
{
	return run_sample(ctx, text, msg, cap);
}

static struct map *screen_map(void *ctx)
{
	return run_map(ctx);
}

static bool screen_release(void *ctx)
{
	return exit_scan_release(ctx);
}

static void screen_end(void *ctx)
{
	run_end(ctx);
}

static uint64_t screen_now(void *ctx)
{
	(void)ctx;
	return clock_monotonic_ns();
}

static const char *const *screen_rules(void *ctx, size_t *count)
{
	(void)ctx;
	return sym_hide_rules(count);
}

/* On the terminal, or for a script. A line of it that cannot be done is told here. */
static int screen_run(const struct options *o, struct script *script,
	const struct tui_source *source, const struct tui_options *t, int *signal)
{
	char why[SCRIPT_WHY_MAX];
	int rc;

	if (!script)
		return tui_run(source, t, signal);
	rc = script_run(script, source, t, signal, why);
	if (rc == -ECANCELED)
		failure_print_reason("--script", why);
	return rc;
}

static void screen_shares(void *ctx, bool wanted)
{
	(void)ctx;
	threads_want(wanted);
}

static void screen_ages(void *ctx, bool wanted)
{
	(void)ctx;
	age_classes_want(wanted);
}

static int screen_settings_save(void *ctx, const struct settings *s, char *msg, size_t cap)
{
	(void)ctx;
	return config_save(s, msg, cap);
}

/* Rules of the user's, for all names from now on and those that are there. */
static void screen_rules_set(void *ctx, const struct settings *s)
{
	struct run *r = ctx;

	config_rules(s);
	session_rehide(watch_session(r->watch));
}

static int show_screen(
	struct run *r, const struct options *o, struct script *script, const struct config *config)
{
	struct tui_source source = { .ctx = r,
		.tick = screen_tick,
		.detail = screen_detail,
		.fds = screen_fds,
		.ready = screen_ready,
		.save = screen_save,
		.mark_name = screen_actions_mark_name,
		.since = screen_actions_since,
		.processes = screen_actions_list,
		.process_show = screen_actions_go,
		.source_text = screen_actions_source_text,
		.source_forget = screen_actions_source_forget,
		.now_ns = screen_now,
		.hide_rules = screen_rules,
		.ages = screen_ages,
		.shares = screen_shares,
		.settings_save = screen_settings_save,
		.rules_set = screen_rules_set };
	struct tui_options t = { .delay_ns = o->delay_ns,
		.frames = o->frames,
		.settings = &config->settings,
		.trouble = config->trouble[0] ? config->trouble : NULL,
		.sort = o->sort,
		.reverse = o->reverse,
		.color = (enum tui_color)o->color,
		.ascii = o->ascii,
		.no_mouse = o->no_mouse,
		.tree = o->tree,
		.readonly = o->readonly,
		.filter = o->filter,
		.group = o->group,
		.names = o->names,
		.show_hidden = o->show_hidden,
		.version = HEAPTOP_VERSION,
		.launched = r->child.pid != 0 };
	int signal = 0, rc, status;

	if (r->child.pid)
		source.end = screen_end;
	if (o->mode != OPTIONS_READ) {
		source.sample = screen_sample;
		source.mark = screen_actions_mark;
	}
	if (o->mode != OPTIONS_READ) {
		source.map = screen_map;
		source.leaks = screen_leaks_state;
		source.leaks_scan = screen_leaks_scan;
		source.leaks_cancel = screen_leaks_cancel;
		source.leaks_every = screen_leaks_every;
		source.leaks_suppress = screen_leaks_suppress;
		source.bytes = screen_leaks_bytes;
		source.leaks_release = o->hold ? screen_release : NULL;
	}
	if (r->output) {
		source.output_lines = screen_output_lines;
		source.output_line = screen_output_line;
		source.output_resize = screen_output_resize;
	}
	exit_scan_open(r);
	rc = screen_run(o, script, &source, &t, &signal);
	exit_scan_close(r);
	r->hang_up = rc == -EIO || rc == -EINTR;
	status = run_close(r);
	if (rc == -EINTR)
		return 128 + signal;
	if (rc == -ECANCELED)
		return FAILURE_EXIT;
	if (rc == -ENOTTY)
		return failure_print_reason(
			"the terminal cannot be used", "is TERM set? (or use -b, --report)");
	return status;
}

/* Before anything is started. 0, or the status to end with. */
static int terminal_check(struct winsize *size)
{
	char term[40], what[100];
	const char *name = getenv("TERM");

	if (!term_probe(size))
		return failure_print_reason(
			"no terminal", "use -b for frames as text, or --report");
	if (term_can_draw())
		return 0;
	text_clean(term, sizeof(term), name ? name : "", name ? strlen(name) : 0);
	snprintf(what, sizeof(what), "a terminal on which no screen can be drawn (TERM=%s)", term);
	return failure_print_reason(what, "use -b for frames as text, or --report");
}

static int run_on_screen(const struct options *o, const struct config *config)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	char why[SCRIPT_WHY_MAX];
	struct script *script = o->script ? script_load(o->script, why) : NULL;
	static struct run r;
	int rc;

	if (o->script && !script) {
		failure_print_reason("--script", why);
		return OPTIONS_EXIT_USAGE;
	}
	rc = script ? 0 : terminal_check(&size);
	if (rc != 0)
		return rc;
	rc = run_open(&r, o, true, size.ws_row, size.ws_col);
	if (rc == 0)
		rc = show_screen(&r, o, script, config);
	else
		run_close(&r);
	script_free(script);
	return rc;
}

static int run_as_text(const struct options *o)
{
	bool to_stderr = o->report && o->mode == OPTIONS_RUN;
	int fd = output_file_open(o, to_stderr ? STDERR_FILENO : STDOUT_FILENO), rc;
	static struct run r;

	if (fd < 0)
		return FAILURE_EXIT;
	rc = run_open(&r, o, false, 0, 0);
	if (rc != 0) {
		run_close(&r);
		return rc;
	}
	signals_prepare(&r);
	r.leak_progress = &scan_progress;
	leak_request_begin(&r, fd);
	age_classes_want(selection_wants_ages(o));
	threads_want(selection_wants_threads(o));
	return o->report ? show_report(&r, o, fd) : show_batch(&r, o, fd);
}

struct arguments {
	int argc;
	char **argv;
};

static int all(void *ctx)
{
	static struct config config;
	static struct options o;
	const struct arguments *a = ctx;
	int status;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error to tell */
	status = options_parse(a->argc, a->argv, &o, stdout, stderr);
	if (status >= 0)
		return status;
	if (o.mode == OPTIONS_MARK)
		return mark_command_print(o.pid, o.mark_name) == 0 ? 0 : FAILURE_EXIT;
	if (o.mode == OPTIONS_LIST || o.mode == OPTIONS_CLEAN) {
		status = o.mode == OPTIONS_LIST ? segment_list_print() : segment_list_clean();
		return status < 0 ? failure_print_errno(
					    "cannot read the directory of segments", -status)
				  : 0;
	}
	config_take(&config, &o);
	return o.batch || o.report ? run_as_text(&o) : run_on_screen(&o, &config);
}

int main(int argc, char **argv)
{
	struct arguments a = { argc, argv };

	return ownstack_run(all, &a);
}
