/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes that check themselves all the time, to be stopped, called and patched; and viewers that
 * die at a step: each call of ptrace, and each write to a process's memory, is one (rules.mk wraps
 * them), before it and after it. The processes are forked, so that our own functions are at the
 * same addresses there.
 */
#ifndef TESTS_UNIT_TRACED_FIXTURE_H
#define TESTS_UNIT_TRACED_FIXTURE_H

#include <errno.h>
#include <immintrin.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/util/clock.h"
#include "tests/check.h"
#include "tests/unit/ptrace_fixture.h"

#define PATIENCE UINT64_C(20000000000)
#define SHARED	 (PROT_READ | PROT_WRITE), (MAP_SHARED | MAP_ANONYMOUS)

/* ---- steps at which a viewer dies ---- */

static int step_number, step_fatal = -1;

static void step(void)
{
	if (step_number++ == step_fatal)
		kill(getpid(), SIGKILL);
}

ssize_t __real_pwrite(int fd, const void *from, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t n, off_t at);

static long ptrace_instead(int request, pid_t pid, void *addr, void *data)
{
	long rc;
	int saved;

	step();
	errno = 0;
	rc = __real_ptrace(request, pid, addr, data);
	saved = errno;
	step();
	errno = saved;
	return rc;
}

ssize_t __wrap_pwrite(int fd, const void *from, size_t n, off_t at)
{
	ssize_t rc;

	step();
	rc = __real_pwrite(fd, from, n, at);
	step();
	return rc;
}

/* ---- processes ---- */

/* Shared with the process that is stopped. */
static struct shared {
	volatile unsigned long rounds; /* of what it does, each found right */
	volatile unsigned wrong;
	volatile unsigned cut; /* EINTR without a handler */
	volatile unsigned scribbled; /* calls of `scribble` */
	volatile unsigned handled;
	volatile uint64_t lent; /* trace_remote.c: what is to be given back */
	volatile uint64_t argument[6];
	volatile bool killed; /* viewers were: errno is as the call has left it */
	volatile bool stop;
} * shared;

static void judge(bool right)
{
	if (right)
		shared->rounds++;
	else
		shared->wrong++;
}

/* Waits with a time limit: restarted by restart_syscall. */
static void in_nanosleep(void)
{
	const struct timespec t = { .tv_nsec = 30000000 };
	uint64_t from = clock_monotonic_ns();
	int rc;

	errno = ENOTTY;
	rc = nanosleep(&t, NULL);
	if (rc != 0 && errno == EINTR)
		shared->cut++;
	else
		judge(rc == 0 && (shared->killed || errno == ENOTTY) &&
			clock_monotonic_ns() - from >= 30000000);
}

static void in_poll(void)
{
	int rc = poll(NULL, 0, 30);

	if (rc < 0 && errno == EINTR)
		shared->cut++;
	else
		judge(rc == 0);
}

static void in_epoll(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;
	int rc = epoll_wait(fd, &event, 1, 30);

	close(fd);
	if (rc < 0 && errno == EINTR)
		shared->cut++;
	else
		judge(rc == 0);
}

static void in_futex(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec until;
	int rc;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 30000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mutex);
	rc = pthread_cond_timedwait(&cond, &mutex, &until);
	pthread_mutex_unlock(&mutex);
	judge(rc == ETIMEDOUT);
}

/* Of libc's functions that wait this is one that jumps on to another. */
static inline void in_semaphore(void)
{
	struct timespec until;
	sem_t sem;

	sem_init(&sem, 0, 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 30000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (sem_timedwait(&sem, &until) != -1)
		shared->wrong++;
	else if (errno == EINTR)
		shared->cut++;
	else
		judge(errno == ETIMEDOUT);
}

/* All that a thread has in registers, with no system call: it is stopped anywhere in here. */
__attribute__((target("avx2"))) static void in_registers(void)
{
	uint64_t sum = 0, red = 1;
	__m256i v = _mm256_set1_epi64x(0x0123456789abcdef), same = v;
	double x = 1.5;

	for (int i = 0; i < 100000; i++) {
		__asm__ volatile("vpaddq %1,%0,%0; vpsubq %1,%0,%0" : "+x"(v) : "x"(same));
		__asm__ volatile("movq %1,-120(%%rsp); addq %1,%0; subq -120(%%rsp),%0"
				 : "+r"(red)
				 : "r"(sum)
				 : "memory");
		__asm__ volatile("fldl %0; fadds %1; fsubs %1; fstpl %0"
				 : "+m"(x)
				 : "m"((float){ 2 }));
		sum += (uint64_t)i;
	}
	judge(_mm256_movemask_epi8(_mm256_cmpeq_epi64(v, same)) == -1 && red == 1 && x == 1.5 &&
		sum == 4999950000);
}

static void handle_long(int signal)
{
	for (int i = 0; i < 5; i++)
		in_registers();
	shared->handled++;
}

/* On an alternate stack, in a handler, most of the time. */
static void in_handler(void)
{
	static char stack[1 << 16];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) }, now;
	struct sigaction act = { .sa_handler = handle_long, .sa_flags = SA_ONSTACK };
	sigset_t none, blocked;

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &act, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	raise(SIGUSR1);
	sigaltstack(NULL, &now);
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	judge(now.ss_sp == stack && now.ss_size == sizeof(stack) && now.ss_flags == 0 &&
		!sigismember(&blocked, SIGUSR1) && !sigismember(&blocked, SIGTERM));
}

static sigjmp_buf again;

static void leap(int signal)
{
	shared->handled++;
	siglongjmp(again, 1);
}

/* One alarm each, once there is where to leap: a busy machine takes its time between two lines. */
static void in_alarms(void)
{
	struct itimerval once = { .it_value = { 0, 3000 } };
	volatile unsigned long n = 0;

	signal(SIGALRM, leap);
	if (sigsetjmp(again, 1) == 0) {
		setitimer(ITIMER_REAL, &once, NULL);
		for (;;)
			n++;
	}
	judge(true);
}

static pid_t start(void (*what)(void))
{
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!shared->stop)
			what();
		_exit(0);
	}
	return pid;
}

static bool await_rounds(unsigned long more)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	uint64_t until = clock_monotonic_ns() + PATIENCE;
	unsigned long from = shared->rounds;

	while (shared->rounds < from + more && shared->wrong == 0 && clock_monotonic_ns() < until)
		nanosleep(&pause, NULL);
	return shared->rounds >= from + more;
}

/* True: it ended by itself, as it should. */
static bool finish(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	uint64_t until = clock_monotonic_ns() + PATIENCE;
	int status = 0, got;

	shared->stop = true;
	while ((got = waitpid(pid, &status, WNOHANG)) == 0 && clock_monotonic_ns() < until)
		nanosleep(&pause, NULL);
	if (got == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return false;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static const struct program {
	const char *name;
	void (*what)(void);
	bool waits; /* with a limit: if we are killed, it may be cut */
} programs[] = {
	{ "nanosleep", in_nanosleep, true },
	{ "poll", in_poll, true },
	{ "epoll_wait", in_epoll, true },
	{ "a futex", in_futex, true },
	{ "a semaphore", in_semaphore, true },
	{ "registers", in_registers, false },
	{ "a handler on another stack", in_handler, false },
	{ "SIGALRM and siglongjmp", in_alarms, false },
};

#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

#endif
