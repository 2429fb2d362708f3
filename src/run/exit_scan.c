/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scan at the end of the program on the screen (exit_scan.h). */
#include "src/run/exit_scan.h"

#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "src/util/clock.h"

/* The longest time until the viewer notices a program at its end; half of it on average. */
#define POLL_NS 50000000l
/* The longest time that the scan delays a program's end: its heap may be very large, or its
 * destructors slow. */
#define SCAN_MAX_NS UINT64_C(60000000000)

struct exit_scan {
	struct run *run;
	struct screen_leaks *leaks;
	int timer; /* checks for the program's end; -1: it was not asked to wait */
	const struct session *seen; /* the image that was found waiting at its end */
	uint64_t seen_ns; /* when it was found */
};

struct exit_scan *exit_scan_new(struct run *r, struct screen_leaks *l)
{
	const struct timespec every = { .tv_nsec = POLL_NS };
	const struct itimerspec t = { every, every };
	struct exit_scan *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	*e = (struct exit_scan){ .run = r, .leaks = l, .timer = -1 };
	if (run_waits_at_exit(r))
		e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (e->timer >= 0)
		timerfd_settime(e->timer, 0, &t, NULL);
	return e;
}

void exit_scan_free(struct exit_scan *e)
{
	if (!e)
		return;
	if (e->timer >= 0 && !run_ended(e->run))
		run_exit_release(e->run);
	if (e->timer >= 0)
		close(e->timer);
	free(e);
}

int exit_scan_fds(const struct exit_scan *e, struct pollfd *fds, int max)
{
	if (e->timer < 0 || run_ended(e->run) || max < 1)
		return 0;
	fds[0] = (struct pollfd){ e->timer, POLLIN, 0 };
	return 1;
}

/* Scans only the process on the screen: the user does not see the scan of another. */
static bool scan_start(struct exit_scan *e, struct session *s, const struct process_tree *shown)
{
	bool hold = run_options(e->run)->hold;

	if (shown == run_watch(e->run) && screen_leaks_start_at_exit(e->leaks, s, hold) == 0)
		return true;
	run_exit_release(e->run);
	return false;
}

bool exit_scan_ready(struct exit_scan *e, const struct process_tree *shown)
{
	struct session *s;
	uint64_t times;

	if (e->timer < 0 || run_ended(e->run) || read(e->timer, &times, sizeof(times)) <= 0)
		return false;
	process_tree_poll(run_watch(e->run)); /* the ending image may be a new one */
	s = run_session(e->run);
	if (e->seen == s && clock_monotonic_ns() - e->seen_ns > SCAN_MAX_NS)
		screen_leaks_give_up(e->leaks, "no leak scan at exit: it took more than 60 s");
	if (e->seen == s || !run_exit_is_waiting(e->run))
		return false;
	e->seen = s;
	e->seen_ns = clock_monotonic_ns();
	return scan_start(e, s, shown);
}

bool exit_scan_release(struct exit_scan *e)
{
	bool held = screen_leaks_release(e->leaks);

	if (held)
		run_end_expect(e->run); /* the release is all that its end waited for */
	return held;
}
