/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as the screen sees and steers it (screen.h). Main thread. */
#include "src/run/screen_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/marks/marks.h"
#include "src/memory/map_reader.h"
#include "src/run/config.h"
#include "src/run/core_target.h"
#include "src/run/settings_file.h"
#include "src/run/exit_scan.h"
#include "src/run/failure.h"
#include "src/run/far_run.h"
#include "src/run/map_target.h"
#include "src/run/process_table.h"
#include "src/run/program_asks.h"
#include "src/run/report.h"
#include "src/run/screen_events.h"
#include "src/run/screen_leaks.h"
#include "src/run/snapshot_file.h"
#include "src/session/age_classes.h"
#include "src/session/threads.h"
#include "src/run/source_search.h"
#include "src/sym/sym.h"
#include "src/util/clock.h"
#include "src/util/error_hint.h"
#include "src/util/units.h"

static const char of_one_process[] = "this requires a single process: choose it in the list (p)";

struct screen_source {
	struct run *run;
	struct process_table *processes; /* and which of them is on the screen */
	struct screen_leaks *leaks;
	struct exit_scan *exit_scan;
	struct screen_events *events;
	struct map_reader *mapping; /* made when it is asked for */
	struct source_cache *sources; /* made when they are asked for */
	struct snapshot *now; /* the newest one of the process on the screen, or NULL */
	struct moment moment; /* the one on the screen, of the image that owned `moment_of` then */
	const void *moment_of;
	struct timeline timeline;
};

static void parts_free(struct screen_source *s)
{
	snapshot_unref(s->now);
	screen_events_free(s->events);
	exit_scan_free(s->exit_scan);
	screen_leaks_free(s->leaks);
	process_table_free(s->processes);
}

static struct screen_source *open_failed(struct run *r)
{
	failure_print_errno("cannot open the screen", -ENOMEM);
	run_close(r);
	return NULL;
}

struct screen_source *screen_source_open(struct run *r)
{
	struct screen_source *s = calloc(1, sizeof(*s));

	if (!s)
		return open_failed(r);
	s->run = r;
	s->processes = process_table_new(run_watch(r), run_far(r));
	s->leaks = screen_leaks_new(r);
	s->exit_scan = s->leaks ? exit_scan_new(r, s->leaks) : NULL;
	s->events = screen_events_new();
	if (s->processes && s->exit_scan && s->events)
		return s;
	parts_free(s);
	free(s);
	return open_failed(r);
}

/* The process on the screen. */
static struct process_tree *watch_shown(const struct screen_source *s)
{
	return process_table_current(s->processes);
}

static struct session *session_shown(const struct screen_source *s)
{
	return process_tree_session(watch_shown(s));
}

/* The last leak scan of the recorded program is recorded with it. */
static void leaks_record(struct screen_source *s)
{
	struct recorder *recorder = run_past(s->run)->recorder;
	struct session *program = run_session(s->run);

	if (recorder)
		recorder_leaks(recorder, program,
			session_shown(s) == program ? screen_leaks_last(s->leaks, program) : NULL);
}

/* A scan may have ended since the last tick; its result ends with the screen. */
static void leaks_record_last(struct screen_source *s)
{
	struct recorder *recorder = run_past(s->run)->recorder;

	if (!recorder)
		return;
	leaks_record(s);
	snapshot_unref(run_tick(s->run));
	recorder_leaks(recorder, NULL, NULL);
}

int screen_source_close(struct screen_source *s)
{
	int status;

	leaks_record_last(s);
	parts_free(s);
	status = run_close(s->run);
	map_reader_free(s->mapping); /* may wait for a reading: the program ends meanwhile */
	source_cache_free(s->sources);
	free(s);
	return status;
}

/* Whether all processes are shown as one, which have only figures; then `msg` gets a line. */
static bool is_refused(const struct screen_source *s, char *msg, size_t cap)
{
	bool all = process_table_all(s->processes) != NULL;

	if (all)
		snprintf(msg, cap, "%s", of_one_process);
	return all;
}

/* What acts on a program is done beside it. True: that is another machine, and `msg` gets a line.
 */
static bool is_elsewhere(const struct screen_source *s, const char *line, char *msg, size_t cap)
{
	bool far = run_far(s->run) != NULL;

	if (far)
		snprintf(msg, cap, "the program is on another machine: %s", line);
	return far;
}

/* ---- ticks and waiting ---- */

static struct snapshot *tick(struct screen_source *s)
{
	struct histories *histories = run_past(s->run)->histories;
	struct snapshot *snap;
	int error;

	leaks_record(s);
	snap = run_tick(s->run);
	error = errno;
	process_table_tick(s->processes, histories, snap);
	errno = error;
	if (snap && process_table_all(s->processes)) {
		snapshot_unref(snap);
		return process_table_sum(s->processes);
	}
	if (watch_shown(s) == run_watch(s->run))
		return snap;
	snapshot_unref(snap);
	run_attachment_tell(s->run, session_shown(s));
	if (run_far(s->run))
		session_notice(session_shown(s), far_run_link_notice(run_far(s->run)));
	snap = session_tick(session_shown(s));
	histories_add(histories, snap);
	return snap;
}

/* The moment on the screen, of the program that `now` is the newest snapshot of. */
static struct snapshot *moment_of(struct screen_source *s, struct snapshot *now)
{
	struct snapshot *then;

	if (!now || s->moment_of != now->owner)
		s->moment = (struct moment){ .kind = SNAP_NOW };
	if (!now || s->moment.kind == SNAP_NOW)
		return now;
	then = histories_moment(run_past(s->run)->histories, now, &s->moment);
	snapshot_unref(now);
	return then;
}

struct snapshot *screen_source_tick(void *screen, const char **error)
{
	static char why[256];
	struct screen_source *s = screen;
	struct snapshot *now = tick(s), *shown;

	if (!now)
		*error = error_hint_line(why, sizeof(why), "cannot read the segment", errno);
	if (program_asks_scan(session_shown(s)))
		screen_leaks_ask(s->leaks, session_shown(s));
	screen_leaks_tick(s->leaks, session_shown(s), now);
	snapshot_unref(s->now);
	s->now = now;
	if (now)
		snapshot_ref(now);
	shown = moment_of(s, now);
	if (now && !shown)
		*error = error_hint_line(why, sizeof(why), "cannot show that moment", errno);
	return shown;
}

/* ---- the past ---- */

const struct timeline *screen_source_timeline(void *screen)
{
	struct screen_source *s = screen;
	const struct past *past = run_past(s->run);
	const struct timeline *kept = histories_timeline(past->histories, s->now);
	bool recorded = (past->recorder || past->events) && watch_shown(s) == run_watch(s->run);

	if (!kept && !recorded)
		return NULL;
	s->timeline = kept ? *kept : (struct timeline){ 0 };
	if (recorded)
		past_fill(past, &s->timeline);
	return &s->timeline;
}

int screen_source_moment_show(void *screen, const struct moment *m, char *msg, size_t cap)
{
	struct screen_source *s = screen;
	const struct timeline *kept = histories_timeline(run_past(s->run)->histories, s->now);

	if (m->kind == SNAP_PEAK && process_table_all(s->processes)) {
		snprintf(msg, cap,
			"the peak's composition is known only for a single process: choose it (p)");
		return -ENODATA;
	}
	if (m->kind == SNAP_PEAK && !(s->now && s->now->totals.has_at_peak)) {
		snprintf(msg, cap,
			"this program's recorder does not keep the composition of the peak");
		return -ENODATA;
	}
	if (m->kind > SNAP_PEAK && (!kept || kept->npoints == 0)) {
		snprintf(msg, cap, "no history is kept (see --history)");
		return -ENODATA;
	}
	s->moment = *m;
	s->moment_of = s->now ? s->now->owner : NULL;
	return 0;
}

struct snapshot *screen_source_moment_take(void *screen)
{
	struct screen_source *s = screen;

	if (s->now)
		snapshot_ref(s->now);
	return moment_of(s, s->now);
}

int screen_source_detail(
	void *screen, const struct snapshot *of, uint32_t site, struct snap_detail *out)
{
	struct screen_source *s = screen;
	struct launch_sum *all = process_table_all(s->processes);

	if (of->processes)
		return all && of->moment == SNAP_NOW ? launch_sum_detail(all, site, out) : -ENODATA;
	return session_detail(of, site, out);
}

int screen_source_fds(void *screen, struct pollfd *fds, int max)
{
	struct screen_source *s = screen;
	int n = run_fds(s->run, session_shown(s), fds, max);

	if (s->mapping && n < max)
		fds[n++] = (struct pollfd){ map_reader_fd(s->mapping), POLLIN, 0 };
	if (s->sources && n < max)
		fds[n++] = (struct pollfd){ source_cache_fd(s->sources), POLLIN, 0 };
	n += screen_events_fds(s->events, fds + n, max - n);
	n += screen_leaks_fds(s->leaks, fds + n, max - n);
	return n + exit_scan_fds(s->exit_scan, fds + n, max - n);
}

bool screen_source_ready(void *screen)
{
	struct screen_source *s = screen;
	bool changed = exit_scan_ready(s->exit_scan, watch_shown(s));

	changed |= s->mapping && map_reader_collect(s->mapping);
	changed |= s->sources && source_cache_collect(s->sources);
	changed |= screen_leaks_collect(s->leaks);
	changed |= screen_events_collect(s->events);
	return run_ready(s->run, session_shown(s)) || changed;
}

uint64_t screen_source_now(void *screen)
{
	return clock_monotonic_ns();
}

struct output *screen_source_output(const struct screen_source *s)
{
	return run_output(s->run);
}

/* ---- a file ---- */

void screen_source_export_options(void *screen, struct export_options *e)
{
	struct screen_source *s = screen;

	report_options(e, run_options(s->run));
	e->timeline = histories_timeline(run_past(s->run)->histories, s->now);
}

int screen_source_save(void *screen, const struct snapshot *rows, const struct export_options *e,
	const char *format, char *msg, size_t cap)
{
	struct screen_source *s = screen;
	struct snapshot saved = *rows;

	if (rows->moment == SNAP_NOW && !rows->processes)
		saved.leaks = screen_leaks_last(s->leaks, session_shown(s));
	return snapshot_file_save(&saved, e, format, msg, cap);
}

/* ---- processes ---- */

size_t screen_source_processes(void *screen, const struct process_row **rows, size_t *more)
{
	struct screen_source *s = screen;

	return process_table_rows(s->processes, rows, more);
}

int screen_source_process_show(void *screen, uint64_t id, char *msg, size_t cap)
{
	struct screen_source *s = screen;

	return process_table_show(s->processes, id, msg, cap);
}

void screen_source_end(void *screen)
{
	struct screen_source *s = screen;

	run_end(s->run);
}

int screen_source_detach(void *screen, bool all, char *msg, size_t cap)
{
	struct screen_source *s = screen;
	pid_t pid = all ? 0 : session_pid(session_shown(s));

	if (is_elsewhere(s, "the recording is ended there (heaptop --detach)", msg, cap))
		return -ENOTSUP;
	return run_detach(s->run, pid, msg, cap);
}

void screen_source_keep(void *screen)
{
	struct screen_source *s = screen;

	run_keep(s->run);
}

/* A request as people type it: a limit with its percent sign, or a rate. */
static int sampling_parse(const char *text, struct sampling_request *request)
{
	return strchr(text, '%') ? sampling_control_parse_limit(text, request)
				 : sampling_control_parse_rate(text, request);
}

int screen_source_sample(void *screen, const char *text, char *msg, size_t cap)
{
	struct screen_source *s = screen;
	struct sampling_request request = { 0 };
	char rate[UNITS_MAX];
	int rc;

	if (is_elsewhere(s, "sampling is chosen there (--sample)", msg, cap))
		return -ENOTSUP;
	rc = sampling_parse(text, &request);

	if (rc != 0) {
		snprintf(msg, cap,
			"sampling: type exact, auto, 1K to 64M (bytes), or a limit like 5%%");
		return rc;
	}
	rc = process_tree_sample(watch_shown(s), &request);
	if (rc != 0)
		snprintf(msg, cap, "sampling: switching the program failed: %s", strerror(-rc));
	else if (request.limit > 0)
		snprintf(
			msg, cap, "sampling is adjusted to cost at most %g%%", request.limit * 100);
	else if (request.bytes == 0)
		snprintf(msg, cap, "from now on every block is recorded");
	else
		snprintf(msg, cap, "from now on one block in %s is recorded",
			snapshot_rate_text(request.bytes, rate));
	return rc;
}

/* A map is of one image. */
static struct map_reader *mapping_of_now(struct screen_source *s)
{
	struct session *session = session_shown(s);

	if (s->mapping && !map_reader_is_of(s->mapping, session_path(session), session)) {
		map_reader_free(s->mapping);
		s->mapping = NULL;
	}
	if (!s->mapping) {
		const struct map_reader_of of = map_target_of(s->run, session);

		s->mapping = map_reader_new(&of, session);
	}
	return s->mapping;
}

struct map *screen_source_map(void *screen)
{
	struct screen_source *s = screen;
	struct map_reader *m = process_table_all(s->processes) ? NULL : mapping_of_now(s);

	if (!m)
		return NULL;
	if (session_alive(session_shown(s)) || !map_reader_newest(m))
		map_reader_want(m);
	return map_reader_newest(m);
}

int screen_source_mark(void *screen, char *msg, size_t cap)
{
	char message[MARKS_MESSAGE_MAX];
	int rc;

	if (is_refused(screen, msg, cap))
		return -ENODATA;
	rc = session_mark(session_shown(screen), NULL, message);
	snprintf(msg, cap, "%s", message);
	return rc;
}

void screen_source_mark_name(void *screen, unsigned number, const char *name)
{
	marks_name(session_marks(session_shown(screen)), number, name);
}

void screen_source_since(void *screen, unsigned since, unsigned until)
{
	marks_choose(session_marks(session_shown(screen)), since, until);
}

const struct source_text *screen_source_text(void *screen, const struct frame *f)
{
	struct screen_source *s = screen;

	if (!s->sources)
		s->sources = source_search_new(run_options(s->run));
	return s->sources ? source_cache_get(s->sources, f->file, f->module->path) : NULL;
}

void screen_source_text_forget(void *screen)
{
	struct screen_source *s = screen;

	if (s->sources)
		source_cache_forget(s->sources);
}

/* ---- the events of a call site ---- */

int screen_source_events_follow(void *screen, uint32_t site, char *msg, size_t cap)
{
	struct screen_source *s = screen;

	const struct session *shown = session_shown(s);

	if (is_refused(s, msg, cap))
		return -ENODATA;
	return screen_events_follow(s->events, session_path(shown),
		far_run_order(run_far(s->run), FAR_EVENTS, session_far(shown)), site, msg, cap);
}

void screen_source_events_stop(void *screen)
{
	struct screen_source *s = screen;

	screen_events_stop(s->events);
}

const struct event_lines *screen_source_events(void *screen)
{
	struct screen_source *s = screen;

	return screen_events_lines(s->events);
}

/* ---- leak scans ---- */

const struct leaks *screen_source_scan_state(void *screen)
{
	static const struct leaks none = { .failed = of_one_process };
	struct screen_source *s = screen;

	if (process_table_all(s->processes))
		return &none;
	return screen_leaks_state(s->leaks, session_shown(s));
}

int screen_source_scan(void *screen, bool contents, char *msg, size_t cap)
{
	struct screen_source *s = screen;

	if (is_refused(s, msg, cap))
		return -ENODATA;
	return screen_leaks_scan(s->leaks, session_shown(s), contents, msg, cap);
}

void screen_source_scan_cancel(void *screen)
{
	struct screen_source *s = screen;

	screen_leaks_cancel(s->leaks);
}

void screen_source_scan_every(void *screen, uint64_t ns)
{
	struct screen_source *s = screen;

	screen_leaks_every(s->leaks, session_shown(s), ns);
}

bool screen_source_scan_release(void *screen)
{
	struct screen_source *s = screen;

	return exit_scan_release(s->exit_scan);
}

int screen_source_suppress(void *screen, const struct snapshot *snap,
	const struct leak_chosen *chosen, char *msg, size_t cap)
{
	struct screen_source *s = screen;

	return screen_leaks_suppress(s->leaks, session_shown(s), snap, chosen, msg, cap);
}

long screen_source_bytes(void *screen, uint64_t addr, void *out, size_t bytes)
{
	struct screen_source *s = screen;
	const struct core *core = core_target_core(run_options(s->run));
	struct session *shown = session_shown(s);

	if (core)
		return core_read(core, addr, out, bytes);
	if (run_far(s->run))
		return far_run_contents(run_far(s->run), session_far(shown), addr, out, bytes);
	return screen_leaks_bytes(shown, addr, out, bytes);
}

/* ---- settings ---- */

const char *const *screen_source_hide_rules(void *screen, size_t *count)
{
	return hide_rules_lines(count);
}

void screen_source_ages(void *screen, bool wanted)
{
	age_classes_want(wanted);
}

void screen_source_shares(void *screen, bool wanted)
{
	threads_want(wanted);
}

int screen_source_settings_save(
	void *screen, const struct settings *settings, char *msg, size_t cap)
{
	return settings_file_save(settings, msg, cap);
}

/* Applies to new names and to those that are known already. */
void screen_source_rules_set(void *screen, const struct settings *settings)
{
	struct screen_source *s = screen;

	config_rules(settings);
	session_hide_again(run_session(s->run));
	if (process_table_all(s->processes))
		launch_sum_hide_again(process_table_all(s->processes));
}
