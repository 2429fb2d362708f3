/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a run ends (run.h): what it waits for, and what it leaves. Main thread. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/run/event_option.h"
#include "src/run/remains.h"
#include "src/run/run.h"
#include "src/run/run_parts.h"
#include "src/target/output.h"
#include "src/util/clock.h"

/* How long run_close waits for a program that was asked to end, */
#define END_TIMEOUT_NS UINT64_C(3000000000)
/* for one that was hung up, since heaptop itself must be gone within a second, */
#define HANG_UP_TIMEOUT_NS UINT64_C(500000000)
/* and for its children, which were hung up with it and may still have work to do. */
#define FAMILY_TIMEOUT_NS UINT64_C(1000000000)

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
			wait = PROCESS_TREE_ENDING_NS;
	}
}

/* A launched program's segment, and that of a program that ended, or was detached from, while we
 * were attached: there may be no one else to remove it. A file that the user names stays. */
static bool is_ours_to_remove(const struct run *r)
{
	if (!r->watch || r->options->mode == OPTIONS_READ || r->far)
		return false;
	return r->child.pid || session_is_over(process_tree_session(r->watch));
}

/* Whether to wait longer for the program's children. Those that were hung up with it get the time
 * that the machine needs to end them; the others get a moment. */
static bool family_is_ending(struct run *r, uint64_t begin)
{
	struct process_tree_left left = process_tree_clear_hung_up(r->watch);
	uint64_t waited = clock_monotonic_ns() - begin;

	return left.running > 0 &&
	       waited < (left.ending > 0 ? PROCESS_TREE_ENDING_NS : FAMILY_TIMEOUT_NS);
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
		event_option_end(&r->past.events, r->watch);
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
	far_run_close(r->far);
	attachment_free(r->attachment);
	suppressions_free(r->suppressions);
	prepare_end(r->prepared, false);
	free(r);
	return status;
}
