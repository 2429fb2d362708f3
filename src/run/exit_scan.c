/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scan at the end of the program on the screen (exitscan.h). */
#include "src/run/exit_scan.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include "src/read/read.h"
#include "src/scan/scan_control.h"
#include "src/session/session.h"
#include "src/run/screen_leaks.h"
#include "src/util/clock.h"
#include "src/run/watch.h"

/* The longest wait until the viewer notices a program at its end; half of it on average. */
#define LOOK_NS 50000000l
/* A program is kept from its end so long at most: its heap is very large, or its end is. */
#define SCAN_MAX_NS UINT64_C(60000000000)

void exit_scan_open(struct run *r)
{
	const struct timespec every = { .tv_nsec = LOOK_NS };
	const struct itimerspec t = { every, every };

	if (!r->exit_asked)
		return;
	r->exit_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->exit_timer >= 0)
		timerfd_settime(r->exit_timer, 0, &t, NULL);
}

/* Nobody looks any more: a program that ends later, or is being ended, need not wait. */
void exit_scan_close(struct run *r)
{
	if (r->exit_timer < 0)
		return;
	if (!r->ended)
		read_leak_done(session_segment(watch_session(r->watch)));
	close(r->exit_timer);
	r->exit_timer = -1;
}

int exit_scan_fds(const struct run *r, struct pollfd *fds, int max)
{
	if (r->exit_timer < 0 || r->ended || max < 1)
		return 0;
	fds[0] = (struct pollfd){ r->exit_timer, POLLIN, 0 };
	return 1;
}

/* Only what is on the screen: nobody waits for another one's scan. */
static bool scan_start(struct run *r, struct session *s)
{
	struct scan_control *scans = run_shown(r) == r->watch ? screen_leaks_control(r) : NULL;

	if (scans && scan_control_start_at_exit(scans, r->options->hold) == 0)
		return true;
	read_leak_done(session_segment(s));
	return false;
}

bool exit_scan_ready(struct run *r)
{
	struct session *s;
	uint64_t times;

	if (r->exit_timer < 0 || r->ended || read(r->exit_timer, &times, sizeof(times)) <= 0)
		return false;
	watch_poll(r->watch); /* the image that ends may be a new one */
	s = watch_session(r->watch);
	if (r->exit_seen == s && r->scans && clock_monotonic_ns() - r->exit_since_ns > SCAN_MAX_NS)
		scan_control_give_up(r->scans, "no leak scan at its end: it took more than 60 s");
	if (r->exit_seen == s || !read_leak_waits(session_segment(s)))
		return false;
	r->exit_seen = s;
	r->exit_since_ns = clock_monotonic_ns();
	return scan_start(r, s);
}

bool exit_scan_release(struct run *r)
{
	bool held = r->scans && scan_control_release(r->scans);

	r->ending |= held; /* it takes no more than that */
	return held;
}
