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

#include "src/run/attachment.h"
#include "src/run/event_option.h"
#include "src/run/failure.h"
#include "src/run/launch_environment.h"
#include "src/run/mark_timer.h"
#include "src/run/program_asks.h"
#include "src/run/remains.h"
#include "src/run/suppression_files.h"
#include "src/marks/marks.h"
#include "src/target/output.h"
#include "src/target/prepare.h"
#include "src/target/limits_check.h"
#include "src/util/clock.h"

/* The longest wait of a report for function names. */
#define NAMES_TIMEOUT_NS UINT64_C(60000000000)
/* A program that has not recorded anything by then runs without the library. */
#define SILENT_AFTER_NS UINT64_C(2000000000)
/* How long run_close waits for a program that was asked to end, */
#define END_TIMEOUT_NS UINT64_C(3000000000)
/* for one that was hung up, since heaptop itself must be gone within a second, */
#define HANG_UP_TIMEOUT_NS UINT64_C(500000000)
/* for its children, which were hung up with it and may still have work to do, */
#define FAMILY_TIMEOUT_NS UINT64_C(1000000000)
/* and for a process that is certain to end, on a busy machine. */
#define ENDING_TIMEOUT_NS UINT64_C(30000000000)

struct run {
	const struct options *options;
	struct process_tree *watch;
	struct prepared *prepared; /* of a launched program */
	struct attachment *attachment; /* with -a */
	struct target_child child; /* the launched program; pid 0 otherwise */
	int child_fd; /* pidfd: readable when it has ended; -1 */
	bool ended; /* launched and ended */
	int wait_status;
	struct output *output; /* of the terminal we gave it; or NULL */
	bool output_open;
	struct suppressions *suppressions;
	struct past past;
	bool waits_at_exit;
	uint64_t started_ns;
	struct mark_timer marks;
	bool ending; /* asked to end */
	bool recorded; /* run_recording_end */
	bool hang_up; /* our terminal is gone, so the program's is closed */
};

/* Sets the sampling of the options before a launched program runs, so that it holds from the first
 * block. */
static int sample_start(struct run *r)
{
	const struct sampling_request *request = &r->options->sample;
	int rc = request->given ? process_tree_sample(r->watch, request) : 0;

	return rc == 0 ? 0 : failure_print_errno("cannot switch the program to sampling", rc);
}

static int watch_start(struct run *r, const char *path, uint64_t family, pid_t pid)
{
	bool record = r->options->record != NULL;
	struct process_tree_options w = { .family = family,
		.keep_children = r->options->report || record,
		.release_ended = record && !r->options->report,
		.removing = event_option_removing,
		.removing_ctx = &r->past.events,
		.leak_check = r->options->leak_check,
		.session = { .debuginfod = r->options->debuginfod,
			.pid = pid,
			.may_be_copy = r->options->mode == OPTIONS_READ,
			.alone = r->options->follow == OPTIONS_FOLLOW_NO } };
	char message[READ_MESSAGE_MAX];
	struct session *s = session_open(path, &w.session, message);
	int rc;

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
static int launch(struct run *r, const char *library, const struct winsize *screen)
{
	const struct target_launch l = { .argv = r->options->command,
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
	r->prepared = prepare_segment(r->options->depth, message);
	if (!r->prepared)
		return failure_print(message);
	rc = launch(r, library, screen);
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
		return watch_start(r, r->options->file, 0, 0);
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
	return r->child.pid ? !r->ended : session_alive(process_tree_session(r->watch));
}

bool run_attached(const struct run *r)
{
	return attachment_is_ours(r->attachment);
}

const struct snap_attach *run_attach_facts(const struct run *r)
{
	return r->attachment ? attachment_facts(r->attachment) : NULL;
}

int run_detach(struct run *r, char *msg, size_t cap)
{
	if (r->attachment)
		return attachment_detach(r->attachment, msg, cap);
	return attachment_detach_process(r->child.pid, r->options, msg, cap);
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
	usage_report(r);
}

/* A launched program that records nothing gets a notice instead of an empty screen; so does a
 * recording that ended. */
static void notice_update(struct run *r, const struct snapshot *s)
{
	const char *attached = attachment_notice(r->attachment);
	bool silent = s && s->state == SNAP_STARTING &&
		      clock_monotonic_ns() - r->started_ns > SILENT_AFTER_NS;

	session_notice(process_tree_session(r->watch),
		attached ? attached
		: silent ? "no data: the program runs without libheaptop.so (its environment was "
			   "emptied, or the dynamic loader refused the library)"
			 : past_notice(&r->past));
}

/* What the session cannot know. */
static void attachment_tell(struct run *r)
{
	if (!r->attachment)
		return;
	session_attached(run_session(r), attachment_facts(r->attachment));
	if (attachment_notice(r->attachment))
		session_notice(run_session(r), attachment_notice(r->attachment));
}

struct snapshot *run_tick(struct run *r)
{
	struct snapshot *s;
	int error;

	process_tree_poll(r->watch);
	child_poll(r);
	mark_timer_check(&r->marks, r->options->mark_every_ns, process_tree_session(r->watch));
	process_tree_sample_adjust(r->watch);
	attachment_tell(r);
	s = session_tick(process_tree_session(r->watch));
	error = errno;
	past_add(&r->past, r->watch, s);
	program_asks_save(process_tree_session(r->watch), s, r->options);
	notice_update(r, s);
	errno = error;
	return s;
}

struct snapshot *run_final(struct run *r)
{
	struct snapshot *s;

	child_poll(r);
	process_tree_poll(r->watch);
	s = process_tree_final(r->watch, NAMES_TIMEOUT_NS);
	histories_add(r->past.histories, s);
	return s;
}

int run_fds(const struct run *r, const struct session *shown, struct pollfd *fds, int max)
{
	int n = 0;

	if (n < max)
		fds[n++] = (struct pollfd){ session_fd(shown), POLLIN, 0 };
	if (r->output_open && n < max)
		fds[n++] = (struct pollfd){ r->child.pty, POLLIN, 0 };
	if (r->child_fd >= 0 && !r->ended && n < max)
		fds[n++] = (struct pollfd){ r->child_fd, POLLIN, 0 };
	return n;
}

bool run_ready(struct run *r, struct session *shown)
{
	bool changed = session_collect(shown), closed = false, was_ended = r->ended;

	if (r->output_open && output_read(r->output, &closed))
		changed = true;
	if (closed)
		r->output_open = false;
	child_poll(r);
	return changed || r->ended != was_ended;
}

/* ---- the end ---- */

void run_end(struct run *r)
{
	if (r->child.pid && !r->ended && kill(r->child.pid, SIGTERM) == 0) {
		kill(r->child.pid, SIGCONT);
		r->ending = true;
	}
}

void run_end_expect(struct run *r)
{
	r->ending = true;
}

void run_hang_up(struct run *r)
{
	r->hang_up = true;
}

/* Closes the program's terminal since ours is gone: the kernel then hangs the program up. */
static void terminal_drop(struct run *r)
{
	if (!r->hang_up || r->child.pty < 0)
		return;
	close(r->child.pty);
	r->child.pty = -1;
	r->output_open = false;
	r->ending = true;
}

/* Waits for a program that was asked to end, and reads its output meanwhile. */
static void end_await(struct run *r)
{
	uint64_t wait = r->hang_up ? HANG_UP_TIMEOUT_NS : END_TIMEOUT_NS;
	uint64_t begin = clock_monotonic_ns();

	while (r->ending && !r->ended && clock_monotonic_ns() - begin < wait) {
		struct pollfd fds[RUN_FDS_MAX];
		int n = run_fds(r, run_session(r), fds, RUN_FDS_MAX);

		poll(fds, (nfds_t)n, 100);
		run_ready(r, run_session(r));
		if (!r->ended && target_is_ending(r->child.pid))
			wait = ENDING_TIMEOUT_NS;
	}
}

/* A launched program's segment, and that of a program that ended while we were attached: there may
 * be no one else to remove it. A file that the user names stays. */
static bool is_ours_to_remove(const struct run *r)
{
	if (!r->watch || r->options->mode == OPTIONS_READ)
		return false;
	return r->child.pid ||
	       session_identity(process_tree_session(r->watch))->state == HT_STATE_EXITED;
}

/* Whether to wait longer for the program's children. Those that were hung up with it get the time
 * that the machine needs to end them; the others get a moment. */
static bool family_is_ending(struct run *r, uint64_t begin)
{
	struct process_tree_left left = process_tree_clear_hung_up(r->watch);
	uint64_t waited = clock_monotonic_ns() - begin;

	return left.running > 0 &&
	       waited < (left.ending > 0 ? ENDING_TIMEOUT_NS : FAMILY_TIMEOUT_NS);
}

/* Waits for children that were hung up with the program. The first segment stays meanwhile: a child
 * that starts and does not find it takes our launch for over. */
static void family_await(struct run *r)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	uint64_t begin = clock_monotonic_ns();

	if (!r->watch || !r->child.pid)
		return;
	while (r->ending && r->ended && family_is_ending(r, begin))
		nanosleep(&pause, NULL);
}

/* Whoever waits for a report or a recording waits for names; a user who leaves the screen does not.
 */
static void recording_end(struct run *r)
{
	const struct options *o = r->options;
	uint64_t names = o->report || o->headless ? NAMES_TIMEOUT_NS : END_TIMEOUT_NS;

	past_close(&r->past, r->watch, r->hang_up ? HANG_UP_TIMEOUT_NS : names);
}

void run_recording_end(struct run *r)
{
	if (r->recorded)
		return;
	r->recorded = true;
	end_await(r);
	recording_end(r);
	if (r->watch)
		event_option_end(&r->past.events, run_session(r));
}

int run_close(struct run *r)
{
	const char *kept = NULL;
	int status = 0;

	terminal_drop(r);
	run_recording_end(r);
	if (r->watch)
		session_sample_leave(process_tree_session(r->watch));
	if (r->ended)
		status = WIFSIGNALED(r->wait_status) ? 128 + WTERMSIG(r->wait_status)
						     : WEXITSTATUS(r->wait_status);
	family_await(r);
	if (r->attachment && r->watch)
		attachment_leave(r->attachment);
	if (is_ours_to_remove(r))
		kept = process_tree_remove(r->watch, r->ended && remains_is_crash(r->wait_status));
	if (r->output_open && !r->ended && !r->hang_up)
		output_leave(r->child.pty, r->child.pid);
	remains_print(&(struct remains){ .child = r->child.pid,
		.ended = r->ended,
		.asked = r->ending,
		.hung_up = r->hang_up,
		.wait_status = r->wait_status,
		.kept = kept });
	if (r->watch && (r->child.pid || attachment_is_ours(r->attachment)))
		process_tree_disown(r->watch);
	output_free(r->output);
	if (r->child.pty >= 0)
		close(r->child.pty);
	if (r->child_fd >= 0)
		close(r->child_fd);
	process_tree_free(r->watch);
	attachment_free(r->attachment);
	suppressions_free(r->suppressions);
	prepare_end(r->prepared, false);
	free(r);
	return status;
}
