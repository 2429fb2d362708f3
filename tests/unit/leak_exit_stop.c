/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process at its last instant, with threads that were killed just as they were resumed. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/leak/access/exit_stop.h"
#include "src/util/clock.h"
#include "tests/check.h"

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

static enum { RESUMING_NEW, READING_NEW, RESUMING_SIGNALLED } slow_at;
static pid_t caught; /* the thread that was at its end then */

long __real_ptrace(int request, pid_t pid, void *addr, void *data);
long __wrap_ptrace(int request, ...);

static bool is_at_its_end(pid_t tid)
{
	siginfo_t info = { 0 };

	return __real_ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 &&
	       info.si_code >> 8 == PTRACE_EVENT_EXIT;
}

static bool is_slow_at(int request, pid_t tid, const void *data)
{
	if (caught != 0)
		return false;
	switch (slow_at) {
	case RESUMING_NEW:
		return request == PTRACE_CONT && tid != process;
	case READING_NEW:
		return (request == GETREGS || request == PTRACE_GETREGSET) && tid != process;
	case RESUMING_SIGNALLED:
		return request == PTRACE_CONT && (uintptr_t)data == SIGUSR1;
	}
	return false;
}

long __wrap_ptrace(int request, ...)
{
	uint64_t until = clock_monotonic_ns() + PATIENCE;
	void *addr, *data;
	va_list ap;
	pid_t tid;

	va_start(ap, request);
	tid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	if (!is_slow_at(request, tid, data))
		return __real_ptrace(request, tid, addr, data);
	close(to_end[1]);
	while (!is_at_its_end(tid) && clock_monotonic_ns() < until)
		nanosleep(&soon, NULL);
	caught = is_at_its_end(tid) ? tid : 0;
	if (slow_at != READING_NEW)
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

/* Makes a thread, and ends. */
static void with_new_thread(void)
{
	pthread_t t;

	await(to_start);
	pthread_create(&t, NULL, stay, NULL);
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

/* The process is `what`; it has two threads at its end, one of which is the caught one. */
static void end_of(void (*what)(void), size_t threads)
{
	char message[TRACE_MESSAGE_MAX];
	const struct trace_thread *t;
	struct trace_stop stop;
	int status = 0;
	pid_t last = 0;

	caught = 0;
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
	do {
		CHECK_INT(trace_stop(&stop, process, "scanned", message), 0);
		if (stop.count >= threads)
			break;
		trace_stop_release(&stop);
		nanosleep(&soon, NULL);
	} while (check_failed_here == 0);
	CHECK_INT(leak_exit_stop(&stop, let_it_end, NULL, NULL, &last), 0);
	CHECK(caught != 0 && last != 0 && last != caught);
	CHECK_INT(stop.count, 2);
	CHECK_INT(trace_stop_running(&stop), 0);
	t = thread_of(&stop, caught);
	CHECK(t && t->state == TRACE_THREAD_STOPPED && trace_registers_stack(&t->regs) != 0);
	CHECK_INT(leak_exit_stop_first_stack(&stop), 0);
	trace_stop_release(&stop);
	CHECK_INT(waitpid(process, &status, 0), process);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS);
}

TEST(killed_before_its_first_instruction)
{
	slow_at = RESUMING_NEW;
	end_of(with_new_thread, 1);
	CHECK(caught != process);
}

TEST(killed_before_its_registers_are_read)
{
	slow_at = READING_NEW;
	end_of(with_new_thread, 1);
	CHECK(caught != process);
}

TEST(first_thread_killed_before_a_signal)
{
	slow_at = RESUMING_SIGNALLED;
	end_of(with_signalled_first, 2);
	CHECK_INT(caught, process);
}

int main(void)
{
	RUN(killed_before_its_first_instruction);
	RUN(killed_before_its_registers_are_read);
	RUN(first_thread_killed_before_a_signal);
	return check_end();
}
