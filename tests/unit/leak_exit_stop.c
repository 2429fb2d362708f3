/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process at its last instant, with threads that were killed just as they were resumed, or just
 * after they had ended by themselves. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/leak/access/exit_stop.h"
#include "src/util/clock.h"
#include "tests/check.h"
#include "tests/unit/ptrace_fixture.h"

#define STATUS	 3
#define PATIENCE UINT64_C(20000000000)
#ifdef PT_GETREGS
#define GETREGS ((int)PTRACE_GETREGS)
#else
#define GETREGS ((int)PTRACE_GETREGSET)
#endif

static const struct timespec soon = { .tv_nsec = 100000 };
static pid_t process;
static int to_start[2], to_end[2]; /* pipes: the process goes on when they are closed */

/* ---- a viewer that is slow at a stop of a thread: meanwhile the process ends ---- */

static enum {
	READING_NEW, /* its registers */
	LOOKING_AT_NEW, /* whether it has been killed */
	LOOKING_AT_SIGNALLED,
	LOOKING_AT_PARENT, /* for its new thread */
	RESUMING_NEW,
	RESUMED_NEW, /* it ends by itself */
} slow_at;
static pid_t caught; /* the thread that was at its end then */
static pid_t mute; /* asked for its message, this thread has been killed; 0: none */

static bool is_at_its_end(pid_t tid)
{
	siginfo_t info = { 0 };

	return __real_ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 &&
	       info.si_code >> 8 == PTRACE_EVENT_EXIT;
}

static bool is_signalled(pid_t tid)
{
	siginfo_t info = { 0 };

	return __real_ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 && info.si_signo == SIGUSR1;
}

static bool is_slow_at(int request, pid_t tid)
{
	if (caught != 0)
		return false;
	switch (slow_at) {
	case READING_NEW:
		return (request == GETREGS || request == PTRACE_GETREGSET) && tid != process;
	case LOOKING_AT_NEW:
		return request == PTRACE_GETSIGINFO && tid != process;
	case LOOKING_AT_SIGNALLED:
		return request == PTRACE_GETSIGINFO && is_signalled(tid);
	case LOOKING_AT_PARENT:
		return request == PTRACE_GETEVENTMSG && tid != process;
	case RESUMING_NEW:
	case RESUMED_NEW:
		return request == PTRACE_CONT && tid != process;
	}
	return false;
}

/* Returns as soon as it is at its end. */
static void await_end(pid_t tid)
{
	uint64_t until = clock_monotonic_ns() + PATIENCE;

	while (!is_at_its_end(tid) && clock_monotonic_ns() < until)
		nanosleep(&soon, NULL);
	caught = is_at_its_end(tid) ? tid : 0;
}

/* The thread ends by itself, and is killed there. */
static long resumed(pid_t tid, void *addr, void *data)
{
	uint64_t until = clock_monotonic_ns() + PATIENCE;
	long rc = __real_ptrace(PTRACE_CONT, tid, addr, data);

	await_end(tid);
	close(to_end[1]);
	while (is_at_its_end(tid) && clock_monotonic_ns() < until)
		nanosleep(&soon, NULL);
	return rc;
}

static long ptrace_instead(int request, pid_t tid, void *addr, void *data)
{
	if (is_slow_at(request, tid)) {
		if (slow_at == RESUMED_NEW)
			return resumed(tid, addr, data);
		close(to_end[1]);
		await_end(tid);
	} else if (request != PTRACE_GETEVENTMSG || tid != mute) {
		return __real_ptrace(request, tid, addr, data);
	}
	if (slow_at != READING_NEW && tid != mute)
		return __real_ptrace(request, tid, addr, data);
	/* As if it were still on its way there. */
	errno = ESRCH;
	return -1;
}

/* ---- processes ---- */

static void await(const int pipe[2])
{
	char c;

	while (read(pipe[0], &c, 1) < 0 && errno == EINTR)
		;
}

static void *stay(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void *leave(void *arg)
{
	return arg;
}

/* Makes a thread, and ends. */
static void with_new_thread(void)
{
	pthread_t t;

	await(to_start);
	pthread_create(&t, NULL, slow_at == RESUMED_NEW ? leave : stay, NULL);
	await(to_end);
	_exit(STATUS);
}

/* The first thread ends while another makes one. */
static void *make_thread(void *arg)
{
	pthread_t t;

	await(to_start);
	pthread_create(&t, NULL, stay, NULL);
	return stay(arg);
}

static void with_new_grandchild(void)
{
	pthread_t t;

	pthread_create(&t, NULL, make_thread, NULL);
	await(to_end);
	_exit(STATUS);
}

/* Ends while the first thread is about to take a signal. */
static void *end_over_first(void *arg)
{
	await(to_start);
	syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1);
	await(to_end);
	_exit(STATUS);
	return arg;
}

static void ignore(int signal)
{
}

static void with_signalled_first(void)
{
	pthread_t t;

	signal(SIGUSR1, ignore);
	pthread_create(&t, NULL, end_over_first, NULL);
	stay(NULL);
}

static void let_it_end(void *ctx)
{
	close(to_start[1]);
}

/* ---- */

static const struct trace_thread *thread_of(const struct trace_stop *s, pid_t tid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->thread[i].tid == tid)
			return &s->thread[i];
	return NULL;
}

static void process_begin(void (*what)(void))
{
	caught = mute = 0;
	CHECK_INT(pipe(to_start), 0);
	CHECK_INT(pipe(to_end), 0);
	process = fork();
	if (process == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to_start[1]);
		close(to_end[1]);
		what();
		_exit(1);
	}
	close(to_start[0]);
	close(to_end[0]);
}

/* The process is `what`, which is stopped with `threads` of them, and has `ends` at its end, one of
 * which is the caught one. */
static void stop_at_end(struct trace_stop *stop, void (*what)(void), size_t threads, size_t ends)
{
	char message[TRACE_MESSAGE_MAX];
	pid_t last = 0;

	process_begin(what);
	do {
		CHECK_INT(trace_stop(stop, process, "scanned", message), 0);
		if (stop->count >= threads)
			break;
		trace_stop_release(stop);
		nanosleep(&soon, NULL);
	} while (check_failed_here == 0);
	CHECK_INT(leak_exit_stop(stop, let_it_end, NULL, NULL, &last), 0);
	CHECK(caught != 0 && last != 0 && last != caught);
	CHECK_INT(stop->count, ends);
	CHECK_INT(leak_exit_stop_first_stack(stop), 0);
}

static void go_on(struct trace_stop *stop)
{
	int status = 0;

	trace_stop_release(stop);
	CHECK_INT(waitpid(process, &status, 0), process);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS);
}

/* All threads are known by their registers. */
static void known_end_of(void (*what)(void), size_t threads, size_t ends)
{
	struct trace_stop stop;

	stop_at_end(&stop, what, threads, ends);
	CHECK_INT(trace_stop_running(&stop), 0);
	for (size_t i = 0; i < stop.count; i++)
		CHECK(stop.thread[i].state == TRACE_THREAD_STOPPED &&
			trace_registers_stack(&stop.thread[i].regs) != 0);
	CHECK(trace_stop_stands(&stop));
	mute = caught; /* a kernel that wakes only one of those that it kills at their end */
	CHECK(!trace_stop_stands(&stop));
	go_on(&stop);
}

TEST(killed_before_its_registers_are_read)
{
	slow_at = READING_NEW;
	known_end_of(with_new_thread, 1, 2);
	CHECK(caught != process);
}

TEST(killed_before_its_first_instruction)
{
	slow_at = LOOKING_AT_NEW;
	known_end_of(with_new_thread, 1, 2);
	CHECK(caught != process);
}

TEST(first_thread_killed_before_a_signal)
{
	slow_at = LOOKING_AT_SIGNALLED;
	known_end_of(with_signalled_first, 2, 2);
	CHECK_INT(caught, process);
}

/* Its new thread is known all the same, and no other. */
TEST(killed_before_it_says_whom_it_made)
{
	slow_at = LOOKING_AT_PARENT;
	known_end_of(with_new_grandchild, 2, 3);
}

/* Nothing tells these two apart: the stack of either counts as a whole. */
static void unknown_end_of_new(void)
{
	const struct trace_thread *t;
	struct trace_stop stop;

	stop_at_end(&stop, with_new_thread, 1, 2);
	t = thread_of(&stop, caught);
	CHECK(t && t->state == TRACE_THREAD_UNSEIZED);
	CHECK_INT(trace_stop_running(&stop), 1);
	go_on(&stop);
}

TEST(killed_in_its_resumption)
{
	slow_at = RESUMING_NEW;
	unknown_end_of_new();
}

TEST(killed_when_it_had_ended)
{
	slow_at = RESUMED_NEW;
	unknown_end_of_new();
}

int main(void)
{
	RUN(killed_before_its_registers_are_read);
	RUN(killed_before_its_first_instruction);
	RUN(first_thread_killed_before_a_signal);
	RUN(killed_before_it_says_whom_it_made);
	RUN(killed_in_its_resumption);
	RUN(killed_when_it_had_ended);
	return check_end();
}
