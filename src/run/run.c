/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One use of heaptop on one program (run.h). Main thread. */
#include "src/run/run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/run/core_target.h"
#include "src/run/event_option.h"
#include "src/run/failure.h"
#include "src/run/launch_environment.h"
#include "src/run/program_asks.h"
#include "src/run/run_parts.h"
#include "src/run/suppression_files.h"
#include "src/marks/marks.h"
#include "src/target/output.h"
#include "src/target/limits_check.h"
#include "src/util/clock.h"

/* A program that has not recorded anything by then runs without the library. */
#define SILENT_AFTER_NS UINT64_C(2000000000)

/* Sets the sampling of the options before a launched program runs, so that it holds from the first
 * block. */
static int sample_start(struct run *r)
{
	const struct sampling_request *request = &r->options->sample;
	int rc = request->given ? process_tree_sample(r->watch, request) : 0;

	return rc == 0 ? 0 : failure_print_errno("cannot switch the program to sampling", rc);
}

/* NULL, with a message: it cannot be read. */
static struct session *session_start(
	struct run *r, const char *path, const struct session_options *o, char *message)
{
	struct session *s = session_open(path, o, message);

	while (!s && r->attachment && attachment_has_moved(r->attachment))
		s = session_open(attachment_path(r->attachment), o, message);
	return s;
}

static int watch_start(struct run *r, const char *path, uint64_t family, pid_t pid)
{
	bool record = r->options->record != NULL;
	struct process_tree_options w = { .family = family,
		.keep_children = r->options->report || record || r->options->record_events,
		.release_ended = record && !r->options->report,
		.removing = event_option_removing,
		.removing_ctx = &r->past.events,
		.leak_check = r->options->leak_check,
		.is_copy = r->far != NULL,
		.session = { .debuginfod = r->options->debuginfod,
			.pid = pid,
			.faults = r->options->faults,
			.unseen = r->options->unseen,
			.ignored = &r->options->ignored,
			.core = core_target_session(r->options),
			.may_be_copy = r->options->mode == OPTIONS_READ,
			.alone = r->options->follow == OPTIONS_FOLLOW_NO } };
	char message[READ_MESSAGE_MAX];
	struct session *s;
	int rc;

	far_run_session(r->far, 0, &w.session);
	s = session_start(r, path, &w.session, message);
	if (!s)
		return failure_print(message);
	r->watch = process_tree_new(s, &w);
	if (r->watch) {
		rc = past_open(&r->past, r->options);
		return rc ? rc : sample_start(r);
	}
	session_close(s);
	return failure_print_errno("cannot observe the program's processes", -ENOMEM);
}

static int open_attach(struct run *r)
{
	int rc = attachment_open(&r->attachment, r->options);

	if (rc == 0)
		rc = watch_start(r, attachment_path(r->attachment),
			attachment_family(r->attachment), r->options->pid);
	if (rc != 0)
		return rc;
	return event_option_start(&r->past.events, r->options, run_session(r));
}

static int open_far(struct run *r)
{
	int rc = far_run_open(&r->far, r->options);

	if (rc == 0)
		rc = watch_start(r, far_run_path(r->far, 0), 0, 0);
	if (rc == 0)
		far_run_opened(r->far, 0);
	r->waits_at_exit = rc == 0 && far_run_exits(r->far) && !r->options->report;
	return rc;
}

/* With --leak-check all processes wait at their end for a scan; without, the launched program on
 * the screen does. */
static int leak_ask(struct run *r, bool screen)
{
	const struct options *o = r->options;
	uint32_t who = 0;

	if (o->leak_check)
		who = HT_LEAK_ASK_ALL;
	else if (screen && !o->no_exit_scan && !o->readonly && !o->sample.given)
		who = HT_LEAK_ASK_ONE;
	r->waits_at_exit = who == HT_LEAK_ASK_ONE;
	return who ? read_exit_scan_request(session_segment(process_tree_session(r->watch)), who)
		   : 0;
}

/* Everything that may fail before the child runs. */
static int child_prepare(struct run *r, const struct winsize *screen)
{
	int rc = prepare_bind(r->prepared, r->child.pid);

	if (rc != 0)
		return failure_print_errno("cannot read the program's start time in /proc", rc);
	rc = watch_start(r, prepare_path(r->prepared), prepare_family(r->prepared), r->child.pid);
	if (rc != 0)
		return rc;
	/* Before the program runs: then no event is missing. */
	rc = event_option_start(&r->past.events, r->options, run_session(r));
	if (rc != 0)
		return rc;
	rc = leak_ask(r, screen != NULL);
	if (rc != 0)
		return failure_print_errno("cannot ask the program to wait for a leak scan", rc);
	if (r->child.pty >= 0)
		r->output = output_new(r->child.pty, screen->ws_row, screen->ws_col);
	r->output_open = r->output != NULL;
	return r->child.pty < 0 || r->output
		       ? 0
		       : failure_print_errno("cannot read the program's output", -ENOMEM);
}

/* Forks, ties the segment to the child's pid, and lets it exec. */
static int launch(
	struct run *r, const char *path, const char *library, const struct winsize *screen)
{
	const struct target_launch l = { .argv = r->options->command,
		.path = path,
		.library = library,
		.segment = prepare_path(r->prepared),
		.own_pty = screen != NULL,
		.rows = screen ? screen->ws_row : 0,
		.cols = screen ? screen->ws_col : 0,
		.env = launch_environment(r->options) };
	char message[TARGET_MESSAGE_MAX];
	int rc = target_launch(&l, &r->child, message);

	if (rc != 0)
		return failure_print(message);
	rc = child_prepare(r, screen);
	if (rc != 0) {
		target_cancel(&r->child);
		r->output_open = false;
		return rc;
	}
	rc = target_go(&r->child, message);
	if (rc != 0) {
		failure_print(message);
		r->output_open = false;
		return rc;
	}
	/* Without a pidfd, each tick checks for the end. */
	r->child_fd = (int)syscall(SYS_pidfd_open, r->child.pid, 0);
	return 0;
}

static int open_launch(struct run *r, const struct winsize *screen)
{
	static char library[PATH_MAX], path[PATH_MAX];
	char message[TARGET_MESSAGE_MAX];
	int rc;

	if (r->options->library)
		rc = target_library_at(r->options->library, library, sizeof(library), message);
	else
		rc = target_library_find(library, sizeof(library), message);
	if (rc != 0)
		return failure_print(message);
	rc = target_check(r->options->command[0], path, sizeof(path), message);
	if (rc != 0) {
		failure_print(message);
		return rc;
	}
	r->prepared = target_check_narrow(path) ? prepare_segment_narrow(r->options->depth, message)
						: prepare_segment(r->options->depth, message);
	if (!r->prepared)
		return failure_print(message);
	rc = launch(r, path, library, screen);
	if (rc != 0) {
		prepare_end(r->prepared, true);
		r->prepared = NULL;
	}
	return rc;
}

static int program_open(struct run *r, const struct winsize *screen)
{
	switch (r->options->mode) {
	case OPTIONS_RUN:
		return open_launch(r, screen);
	case OPTIONS_ATTACH:
		return open_attach(r);
	case OPTIONS_READ:
		return watch_start(r, core_target_path(r->options), 0, 0);
	case OPTIONS_FAR:
		return open_far(r);
	case OPTIONS_NONE:
	case OPTIONS_LIST:
	case OPTIONS_CLEAN:
	case OPTIONS_DIFF:
	case OPTIONS_DETACH:
	case OPTIONS_MARK:
	case OPTIONS_RECORD_SERVICE:
		break;
	}
	return FAILURE_EXIT;
}

int run_open(struct run **out, const struct options *o, const struct winsize *screen)
{
	struct run *r = calloc(1, sizeof(*r));
	char message[TARGET_MESSAGE_MAX];
	int rc;

	*out = NULL;
	if (!r)
		return failure_print_errno("cannot start", -ENOMEM);
	*r = (struct run){ .options = o, .child_fd = -1, .started_ns = clock_monotonic_ns() };
	r->marks.marked_ns = r->started_ns;
	r->child.pty = -1;
	rc = limits_check(message) != 0 ? failure_print(message) : launch_environment_check(o);
	if (rc == 0)
		rc = suppression_files_load(o, &r->suppressions);
	if (rc == 0)
		rc = program_open(r, screen);
	if (rc == 0) {
		*out = r;
		return 0;
	}
	past_discard(&r->past);
	run_close(r);
	return rc;
}

/* ---- what others ask ---- */

const struct options *run_options(const struct run *r)
{
	return r->options;
}

struct process_tree *run_watch(const struct run *r)
{
	return r->watch;
}

struct session *run_session(const struct run *r)
{
	return process_tree_session(r->watch);
}

struct past *run_past(struct run *r)
{
	return &r->past;
}

pid_t run_child(const struct run *r)
{
	return r->child.pid;
}

bool run_ended(const struct run *r)
{
	return r->ended;
}

uint64_t run_started_ns(const struct run *r)
{
	return r->started_ns;
}

bool run_waits_at_exit(const struct run *r)
{
	return r->waits_at_exit;
}

bool run_scans_at_exit(const struct run *r)
{
	return r->child.pid || far_run_exits(r->far);
}

/* Nothing is written into the copy of another machine's segment: its agent knows that we live, and
 * lets a program go that is not scanned. */
bool run_exit_is_waiting(const struct run *r)
{
	struct read_segment *s = session_segment(process_tree_session(r->watch));

	if (r->far)
		return far_run_exits(r->far) && read_exit_scan_waits(s);
	return r->child.pid && read_exit_scan_is_waiting(s);
}

void run_exit_release(const struct run *r)
{
	if (!r->far)
		read_exit_scan_done(session_segment(process_tree_session(r->watch)));
}

struct suppressions *run_suppressions(const struct run *r)
{
	return r->suppressions;
}

struct suppressions *run_suppressions_make(struct run *r)
{
	if (!r->suppressions)
		r->suppressions = suppressions_new();
	return r->suppressions;
}

struct output *run_output(const struct run *r)
{
	return r->output;
}

bool run_alive(const struct run *r)
{
	if (r->child.pid)
		return !r->ended;
	return session_alive(process_tree_session(r->watch)) && far_run_is_open(r->far);
}

bool run_attached(const struct run *r)
{
	return attachment_is_ours(r->attachment);
}

const struct snap_attach *run_attach_facts(const struct run *r)
{
	return r->attachment ? attachment_facts(r->attachment, r->options->pid) : NULL;
}

int run_detach(struct run *r, pid_t pid, char *msg, size_t cap)
{
	if (r->attachment)
		return attachment_detach(r->attachment, pid, msg, cap);
	return attachment_detach_process(pid ? pid : r->child.pid, r->options, msg, cap);
}

void run_attachment_tell(const struct run *r, struct session *s)
{
	const struct snap_attach *facts =
		r->attachment ? attachment_facts(r->attachment, session_pid(s)) : NULL;

	if (facts)
		session_attached(s, facts);
}

void run_keep(struct run *r)
{
	attachment_keep(r->attachment);
}

/* ---- ticks ---- */

/* Passes the kernel's accounting to the session once the child is reaped. */
static void usage_report(struct run *r)
{
	struct rusage u;

	if (getrusage(RUSAGE_CHILDREN, &u) == 0)
		session_usage(process_tree_session(r->watch), (uint64_t)u.ru_maxrss * 1024,
			(uint64_t)u.ru_minflt, (uint64_t)u.ru_majflt);
}

static void child_poll(struct run *r)
{
	if (r->child.pid == 0 || r->ended || target_poll(&r->child, &r->wait_status) != 1)
		return;
	r->ended = true;
	process_tree_poll(r->watch); /* its last image, if that came and went since the last poll */
	session_ended(process_tree_session(r->watch), r->wait_status);
	launch_processes_ended(process_tree_launch(r->watch), r->child.pid, r->wait_status);
	usage_report(r);
}

/* What the user must know before anything else; NULL: nothing. */
static const char *notice_of(const struct run *r, const struct snapshot *s)
{
	const char *attached = r->far ? far_run_notice(r->far) : attachment_notice(r->attachment);

	if (attached)
		return attached;
	/* Instead of an empty screen. */
	if (s && s->state == SNAP_STARTING &&
		clock_monotonic_ns() - r->started_ns > SILENT_AFTER_NS)
		return "no data: the program runs without libheaptop.so (its environment was "
		       "emptied, or the dynamic loader refused the library)";
	if (past_notice(&r->past))
		return past_notice(&r->past);
	return r->unsaved[0] ? r->unsaved : NULL;
}

/* What the session cannot know. */
static void attachment_tell(struct run *r)
{
	if (!r->attachment)
		return;
	session_attached(run_session(r), run_attach_facts(r));
	if (attachment_notice(r->attachment))
		session_notice(run_session(r), attachment_notice(r->attachment));
}

/* The program on another machine called exec. */
static void image_follow(struct run *r)
{
	char message[READ_MESSAGE_MAX];

	if (!far_run_image(r->far, 0))
		return;
	(void)process_tree_follow(r->watch, far_run_path(r->far, 0), message);
	far_run_opened(r->far, 0);
}

struct snapshot *run_tick(struct run *r)
{
	struct snapshot *s;
	int error;

	process_tree_poll(r->watch);
	far_run_tick(r->far);
	image_follow(r);
	child_poll(r);
	mark_timer_check(&r->marks, r->options->mark_every_ns, process_tree_session(r->watch));
	process_tree_sample_adjust(r->watch);
	attachment_tell(r);
	s = session_tick(process_tree_session(r->watch));
	error = errno;
	process_tree_launch_fill(r->watch, s);
	past_add(&r->past, r->watch, s);
	program_asks_save(process_tree_session(r->watch), s, r->options, r->unsaved);
	session_notice(process_tree_session(r->watch), notice_of(r, s));
	errno = error;
	return s;
}

void run_poll_last(struct run *r)
{
	child_poll(r);
	process_tree_poll_last(r->watch);
}

struct snapshot *run_final(struct run *r)
{
	struct snapshot *s;

	far_run_tick(r->far);
	s = process_tree_final(r->watch, NAMES_TIMEOUT_NS, true);
	histories_add(r->past.histories, s);
	return s;
}

struct far_run *run_far(const struct run *r)
{
	return r->far;
}

int run_fds(const struct run *r, const struct session *shown, struct pollfd *fds, int max)
{
	int n = 0;

	if (n < max)
		fds[n++] = (struct pollfd){ session_fd(shown), POLLIN, 0 };
	if (r->output_open && n < max)
		fds[n++] = (struct pollfd){ r->child.pty, POLLIN, 0 };
	if (r->far && far_run_fd(r->far) >= 0 && n < max)
		fds[n++] = (struct pollfd){ far_run_fd(r->far), POLLIN, 0 };
	if (r->child_fd >= 0 && !r->ended && n < max)
		fds[n++] = (struct pollfd){ r->child_fd, POLLIN, 0 };
	return n;
}

bool run_ready(struct run *r, struct session *shown)
{
	bool came = far_run_listen(r->far);
	bool changed = session_collect(shown) || came, closed = false, was_ended = r->ended;

	if (r->output_open && output_read(r->output, &closed))
		changed = true;
	if (closed)
		r->output_open = false;
	child_poll(r);
	return changed || r->ended != was_ended;
}
