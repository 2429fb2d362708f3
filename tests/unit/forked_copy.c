/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies of a program whose only thread makes them (src/leak/access/forked_copy.h): the system call
 * that it is in comes to what it would have without them, signals that come meanwhile have their
 * effect, registers and signal mask are as before, also if a viewer dies at any step.
 */
#include "preload/copy_stub.c"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "src/leak/access/forked_copy.h"
#include "src/util/clock.h"
#include "tests/check.h"
#include "tests/unit/ptrace_fixture.h"

#define PATIENCE UINT64_C(20000000000)
#define SLEEP_NS 300000000u
#define NAP_NS	 100000000u /* shorter, since there is one for each viewer killed */
#define SLEEPS	 2u /* that have to end while copies are made all the time */
#define SIGNALS	 10u
#define TERMS	 2000u
#define SHARED	 (PROT_READ | PROT_WRITE), (MAP_SHARED | MAP_ANONYMOUS)

/* ---- a program ---- */

enum way {
	SLEEPS_SO_LONG,
	SLEEPS_BY_CLOCK,
	WAITS_SO_LONG, /* for a futex */
	POLLS,
	WAITS_FOR_EVENTS,
	READS, /* until a signal comes */
	READS_ON, /* whatever comes */
	COMPUTES,
};

static const long call_of[] = { [SLEEPS_SO_LONG] = SYS_nanosleep,
	[SLEEPS_BY_CLOCK] = SYS_clock_nanosleep,
	[WAITS_SO_LONG] = SYS_futex,
	[POLLS] = SYS_ppoll,
	[WAITS_FOR_EVENTS] = SYS_epoll_pwait,
	[READS] = SYS_read,
	[READS_ON] = SYS_read };

/* What the program reports. */
static struct shared {
	volatile unsigned passes, wrong, handled;
	volatile unsigned sleep_ns;
} * shared;

static int from[2], epoll; /* what it reads, and what never has an event */

static void handle(int signal)
{
	shared->handled++;
}

static double compute(void)
{
	double sum = 0, sign = 1;

	for (unsigned i = 0; i < TERMS; i++, sign = -sign)
		sum += sign / (2.0 * i + 1);
	return sum;
}

/* One system call, or computation. False: its result is not what it is without copies. */
static bool pass(enum way way, double sum)
{
	const struct timespec t = { .tv_nsec = shared->sleep_ns };
	uint64_t until = clock_monotonic_ns() + shared->sleep_ns;
	static int word;
	struct epoll_event event;
	sigset_t two;
	char byte;

	sigemptyset(&two);
	sigaddset(&two, SIGUSR2);
	switch (way) {
	case SLEEPS_SO_LONG:
		return syscall(SYS_nanosleep, &t, NULL) == 0 && clock_monotonic_ns() >= until;
	case SLEEPS_BY_CLOCK:
		return syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL) == 0 &&
		       clock_monotonic_ns() >= until;
	case WAITS_SO_LONG:
		return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0) == -1 &&
		       errno == ETIMEDOUT && clock_monotonic_ns() >= until;
	case POLLS:
		return syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0) == -1 && errno == EINTR;
	case WAITS_FOR_EVENTS:
		return epoll_pwait(epoll, &event, 1, -1, &two) == -1 && errno == EINTR;
	case READS:
		return read(from[0], &byte, 1) == -1 && errno == EINTR;
	case READS_ON:
		return read(from[0], &byte, 1) == 1;
	case COMPUTES:
		return compute() == sum;
	}
	return false;
}

static bool has_own_mask(void)
{
	sigset_t now;
	unsigned blocked = 0;

	sigprocmask(SIG_BLOCK, NULL, &now);
	for (int i = 1; i < SIGRTMIN; i++)
		blocked += sigismember(&now, i) == 1;
	return blocked == 1 && sigismember(&now, SIGUSR2) == 1;
}

static __attribute__((noreturn)) void program(enum way way)
{
	struct sigaction act = { .sa_handler = handle,
		.sa_flags = way == READS_ON ? SA_RESTART : 0 };
	double sum = compute();
	sigset_t two;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&two);
	sigaddset(&two, SIGUSR2);
	sigprocmask(SIG_SETMASK, &two, NULL);
	sigaction(SIGUSR1, &act, NULL);
	for (;;) {
		shared->wrong += !pass(way, sum) || !has_own_mask();
		shared->passes++;
	}
}

static pid_t begin(enum way way)
{
	pid_t pid;

	CHECK(!shared || munmap((void *)shared, sizeof(*shared)) == 0);
	shared = mmap(NULL, sizeof(*shared), SHARED, -1, 0);
	CHECK(shared != MAP_FAILED);
	shared->sleep_ns = SLEEP_NS;
	CHECK(pipe2(from, O_CLOEXEC) == 0);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	CHECK(epoll >= 0);
	(void)copy_stub_publish();
	pid = fork();
	if (pid == 0)
		program(way);
	return pid;
}

static void end(pid_t pid)
{
	CHECK_INT(shared->wrong, 0);
	CHECK_INT(kill(pid, SIGKILL), 0);
	waitpid(pid, NULL, 0);
	close(from[0]);
	close(from[1]);
	close(epoll);
}

static void await_call(pid_t pid, enum way way)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	uint64_t until = clock_monotonic_ns() + PATIENCE;
	char path[64];
	long number = -1;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	while (number != call_of[way] && clock_monotonic_ns() < until) {
		FILE *f = fopen(path, "re");

		if (!f || fscanf(f, "%ld", &number) != 1)
			number = -1;
		if (f)
			fclose(f);
		nanosleep(&pause, NULL);
	}
	CHECK_INT(number, call_of[way]);
}

static void await_passes(unsigned passes)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	uint64_t until = clock_monotonic_ns() + PATIENCE;

	while (shared->passes < passes && clock_monotonic_ns() < until)
		nanosleep(&pause, NULL);
	CHECK(shared->passes >= passes);
}

/* ---- a viewer ---- */

static int step_number, step_fatal = -1;

static void step(void)
{
	if (step_number++ == step_fatal)
		kill(getpid(), SIGKILL);
}

/* A viewer dies before it or after it. */
static long ptrace_instead(int request, pid_t pid, void *addr, void *data)
{
	long rc;
	int saved;

	step();
	rc = __real_ptrace(request, pid, addr, data);
	saved = errno;
	step();
	errno = saved;
	return rc;
}

enum sent {
	NOTHING,
	BEFORE, /* a signal is sent before the copy is made */
	AFTER,
};

/* Makes a copy, and ends it. NULL, or why there is none. `then`: waits until it has been passed so
 * often, and the next call entered; what a signal is about to interrupt makes no calls for us. */
static const char *copy_once(pid_t pid, enum way way, enum sent sent, unsigned then)
{
	char message[TRACE_MESSAGE_MAX];
	struct leak_forked_copy copy;
	struct trace_stop stop;
	const char *why;
	bool stuck;

	if (trace_stop(&stop, pid, "copied", message) != 0)
		return "it was not stopped";
	if (sent == BEFORE)
		kill(pid, SIGUSR1);
	why = leak_forked_copy_make(&stop, copy_stub_publish(), &copy, &stuck);
	if (sent == AFTER)
		kill(pid, SIGUSR1);
	trace_stop_release(&stop);
	if (sent != NOTHING) {
		await_passes(then);
		await_call(pid, way);
	}
	if (why || stuck)
		return why ? why : "it is stuck";
	if (!leak_forked_copy_settle(&copy))
		why = "it does not settle";
	if (!leak_forked_copy_end(&copy))
		why = "a copy is left";
	return why;
}

static void check_copied(pid_t pid, enum way way, enum sent sent, unsigned then)
{
	const char *why = copy_once(pid, way, sent, then);

	CHECK_STR(why ? why : "", "");
}

/* ---- tests ---- */

/* One that began anew with each copy would never end. */
TEST(a_sleep_ends_in_time)
{
	static const enum way way[] = { SLEEPS_SO_LONG, SLEEPS_BY_CLOCK, WAITS_SO_LONG };

	for (unsigned i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		uint64_t until = clock_monotonic_ns() + PATIENCE;
		pid_t pid = begin(way[i]);

		while (shared->passes < SLEEPS && clock_monotonic_ns() < until &&
			!check_failed_here) {
			await_call(pid, way[i]);
			check_copied(pid, way[i], NOTHING, 0);
		}
		CHECK(shared->passes >= SLEEPS);
		end(pid);
	}
}

/* A call that a signal ends is not restarted behind its handler's back: otherwise the program would
 * wait for ever. */
TEST(a_signal_ends_the_call_in_which_it_comes)
{
	static const enum way way[] = { POLLS, WAITS_FOR_EVENTS, READS };

	for (unsigned i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		pid_t pid = begin(way[i]);

		for (unsigned n = 1; n <= SIGNALS && !check_failed_here; n++) {
			await_call(pid, way[i]);
			check_copied(pid, way[i], n % 2 ? BEFORE : AFTER, n);
			CHECK_INT(shared->handled, n);
		}
		CHECK_INT(shared->passes, SIGNALS);
		end(pid);
	}
}

TEST(a_signal_does_not_end_a_call_that_goes_on)
{
	pid_t pid = begin(READS_ON);

	for (unsigned n = 1; n <= SIGNALS && !check_failed_here; n++) {
		await_call(pid, READS_ON);
		check_copied(pid, READS_ON, n % 2 ? BEFORE : AFTER, n - 1);
		CHECK(write(from[1], "", 1) == 1);
		await_passes(n);
		CHECK_INT(shared->handled, n);
	}
	end(pid);
}

/* A viewer's end when the thread is still on its way back from the last one's copy, or into the
 * call that was interrupted. */
#define AGAIN 2

/* Fork: the viewer may die. Returns its status. */
static int view(pid_t pid, int fatal)
{
	pid_t viewer = fork();
	int status = 0;

	if (viewer == 0) {
		const char *why;

		step_fatal = fatal;
		step_number = 0;
		why = copy_once(pid, READS_ON, NOTHING, 0);
		if (why && (strstr(why, "in progress") || strstr(why, "can be used") ||
				   strstr(why, "could not reap")))
			_exit(AGAIN);
		if (why)
			fprintf(stderr, "  %s\n", why);
		_exit(why ? 1 : 0);
	}
	waitpid(viewer, &status, 0);
	return status;
}

/* True: it has not died. Each try is of another viewer: that of one seizes the copy, too, if the
 * thread is about to make it because of the one before. */
static bool view_until(pid_t pid, int fatal)
{
	uint64_t until = clock_monotonic_ns() + PATIENCE;
	int status;

	do {
		status = view(pid, fatal);
	} while (WIFEXITED(status) && WEXITSTATUS(status) == AGAIN && clock_monotonic_ns() < until);
	CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFEXITED(status);
}

/* A stop before the one in which the viewer dies: the kernel is to resume a sleep by another call.
 */
static void interrupt(pid_t pid)
{
	char message[TRACE_MESSAGE_MAX];
	struct trace_stop stop;

	CHECK_INT(trace_stop(&stop, pid, "copied", message), 0);
	trace_stop_release(&stop);
}

TEST(a_viewer_dies_at_any_step_while_the_program_sleeps)
{
	static const enum way way[] = { SLEEPS_SO_LONG, WAITS_SO_LONG };

	for (unsigned i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		pid_t pid = begin(way[i]);
		int fatal = 0;
		bool through;

		shared->sleep_ns = NAP_NS;
		do {
			unsigned passes = shared->passes;

			await_call(pid, way[i]);
			if (way[i] == SLEEPS_SO_LONG)
				interrupt(pid);
			through = view_until(pid, fatal++);
			await_passes(passes + 1);
		} while (!through && !check_failed_here);
		CHECK(fatal > 20);
		end(pid);
	}
}

/* One that began anew whenever a viewer dies would never end. */
TEST(a_sleep_ends_in_time_though_viewers_die)
{
	uint64_t until = clock_monotonic_ns() + PATIENCE;
	pid_t pid = begin(SLEEPS_SO_LONG);

	for (int i = 0; shared->passes < SLEEPS && clock_monotonic_ns() < until; i += 7)
		view(pid, 20 + i % 40);
	CHECK(shared->passes >= SLEEPS);
	end(pid);
}

TEST(a_viewer_dies_at_any_step)
{
	static const enum way way[] = { READS_ON, COMPUTES };

	for (unsigned i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		pid_t pid = begin(way[i]);
		int fatal = 0;
		bool through;

		do {
			unsigned passes = shared->passes;

			if (way[i] == READS_ON)
				await_call(pid, way[i]);
			through = view_until(pid, fatal++);
			if (way[i] == READS_ON)
				CHECK(write(from[1], "", 1) == 1);
			await_passes(passes + (way[i] == READS_ON ? 1 : 2));
		} while (!through && !check_failed_here);
		CHECK(fatal > 20);
		end(pid);
	}
}

int main(void)
{
	RUN(a_sleep_ends_in_time);
	RUN(a_signal_ends_the_call_in_which_it_comes);
	RUN(a_signal_does_not_end_a_call_that_goes_on);
	RUN(a_sleep_ends_in_time_though_viewers_die);
	RUN(a_viewer_dies_at_any_step);
	RUN(a_viewer_dies_at_any_step_while_the_program_sleeps);
	return check_end();
}
