/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stopping a process: what its system calls and signals come to. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/trace/stop.h"
#include "src/util/clock.h"
#include "tests/check.h"

#define ROUNDS	 300
#define STEP_NS	 1000u
#define PATIENCE UINT64_C(10000000000)
#define SHARED	 (PROT_READ | PROT_WRITE), (MAP_SHARED | MAP_ANONYMOUS)

/* Shared with a child that waits by epoll_pwait, a system call that a stop cuts short. */
static struct shared {
	volatile unsigned ran; /* the handler, in this call */
	volatile unsigned signals; /* calls that a signal ended, and nothing else */
	volatile unsigned cut; /* that ended with EINTR, and no handler had run */
	volatile unsigned many; /* that went on after one had */
} * shared;

static void handle(int signal)
{
	shared->ran++;
}

static int wait_for_signals(void)
{
	struct sigaction act = { .sa_handler = handle };
	int fd = epoll_create1(0);
	struct epoll_event event;
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigaction(SIGUSR1, &act, NULL);
	for (;;) {
		shared->ran = 0;
		if (epoll_pwait(fd, &event, 1, -1, &none) != -1 || errno != EINTR)
			return 1;
		if (shared->ran == 0)
			shared->cut++;
		else if (shared->ran > 1)
			shared->many++;
		shared->signals += shared->ran > 0;
	}
}

struct stopper {
	pid_t pid;
	volatile bool stands;
	int rc;
};

/* A thread that ends with it: that lets go of what did not stop in time. */
static void *stop_and_go(void *ctx)
{
	struct stopper *s = ctx;
	char message[TRACE_MESSAGE_MAX];
	struct trace_stop stop;

	s->rc = trace_stop(&stop, s->pid, "scanned", message);
	s->stands = true;
	if (s->rc == 0)
		trace_stop_release(&stop);
	return NULL;
}

/* Stops it, and sends it a signal about when it is let go. */
static int stop_and_send(pid_t pid, uint64_t after_ns)
{
	struct stopper s = { .pid = pid };
	pthread_t thread;
	uint64_t from;
	int rc = pthread_create(&thread, NULL, stop_and_go, &s);

	if (rc != 0)
		return rc;
	while (!s.stands)
		;
	for (from = clock_monotonic_ns(); clock_monotonic_ns() - from < after_ns;)
		;
	kill(pid, SIGUSR1);
	pthread_join(thread, NULL);
	return s.rc;
}

static bool await_signals(unsigned count)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	uint64_t until = clock_monotonic_ns() + PATIENCE;

	while (shared->signals < count && clock_monotonic_ns() < until)
		nanosleep(&pause, NULL);
	return shared->signals == count;
}

/* A call that was cut short by the stop goes on; one in which a handler runs ends with EINTR, as
 * it does without us, whenever the signal comes: else it is waited for that has been. */
TEST(a_signal_ends_the_call_in_which_it_comes)
{
	sigset_t set;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	shared = mmap(NULL, sizeof(*shared), SHARED, -1, 0);
	CHECK(shared != MAP_FAILED);
	pid = fork();
	if (pid == 0)
		_exit(wait_for_signals());
	kill(pid, SIGUSR1);
	CHECK(await_signals(1));
	for (unsigned i = 1; i <= ROUNDS && !check_failed_here; i++) {
		CHECK_INT(stop_and_send(pid, i % 100 * STEP_NS), 0);
		CHECK(await_signals(i + 1));
	}
	CHECK_INT(shared->cut, 0);
	CHECK_INT(shared->many, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- time limits ---- */

#define LIMIT_MS 200
#define CALLS	 3

/* Calls with a limit that a stop cuts short. False: it was not the limit that ended it. */
static bool limited_call(int which, int fd, int semaphores)
{
	const struct timespec limit = { .tv_nsec = LIMIT_MS * 1000000 };
	struct sembuf take = { .sem_op = -1 };
	struct epoll_event event;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	switch (which) {
	case 0:
		return epoll_wait(fd, &event, 1, LIMIT_MS) == 0;
	case 1:
		return sigtimedwait(&set, NULL, &limit) == -1 && errno == EAGAIN;
	default:
		return semtimedop(semaphores, &take, 1, &limit) == -1 && errno == EAGAIN;
	}
}

/* 0: each call ended by its limit, and not before. */
static int wait_for_limits(int semaphores)
{
	int fd = epoll_create1(0), bad = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 3 * CALLS; i++) {
		uint64_t from = clock_monotonic_ns();

		bad += !limited_call(i / CALLS, fd, semaphores);
		bad += clock_monotonic_ns() - from < (uint64_t)LIMIT_MS * 1000000;
	}
	return bad;
}

/* A program that is stopped more often than its calls' limits passes all of them. */
TEST(limits_end_calls_that_are_stopped_again_and_again)
{
	int semaphores = semget(IPC_PRIVATE, 1, 0600), status = -1;
	const struct timespec pause = { .tv_nsec = LIMIT_MS * 1000000 / 20 };
	uint64_t until = clock_monotonic_ns() + 3 * PATIENCE;
	pid_t pid = fork(), ended = 0;

	if (pid == 0)
		_exit(wait_for_limits(semaphores));
	while (ended == 0 && clock_monotonic_ns() < until) {
		char message[TRACE_MESSAGE_MAX];
		struct trace_stop stop;

		if (trace_stop(&stop, pid, "scanned", message) == 0)
			trace_stop_release(&stop);
		do {
			nanosleep(&pause, NULL);
			stop = (struct trace_stop){ .pid = pid };
		} while (trace_stop_state(&stop, pid) == 'R');
		ended = waitpid(pid, &status, WNOHANG);
	}
	CHECK_INT(ended, pid);
	CHECK_INT(status, 0);
	if (ended == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	semctl(semaphores, 0, IPC_RMID);
}

int main(void)
{
	RUN(a_signal_ends_the_call_in_which_it_comes);
	RUN(limits_end_calls_that_are_stopped_again_and_again);
	return check_end();
}
