/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls in another process: what they return, and that its threads find nothing changed. The
 * processes are forked, so that our own functions are at the same addresses there. `viewer`s are
 * processes, too, some of which kill themselves at a step: each call of ptrace, and each write to
 * the process's memory, is one (rules.mk wraps them), before it and after it.
 */
#include <errno.h>
#include <immintrin.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/trace/remote.h"
#include "src/trace/unwind.h"
#include "src/util/clock.h"
#include "tests/check.h"

#define PATIENCE  UINT64_C(20000000000)
#define SHARED	  (PROT_READ | PROT_WRITE), (MAP_SHARED | MAP_ANONYMOUS)
#define STEPS_MAX 400
#define WAIT_MS	  300

/* ---- steps at which a viewer dies ---- */

static int step_number, step_fatal = -1;

static void step(void)
{
	if (step_number++ == step_fatal)
		kill(getpid(), SIGKILL);
}

long __real_ptrace(int request, pid_t pid, void *addr, void *data);
long __wrap_ptrace(int request, ...);
ssize_t __real_pwrite(int fd, const void *from, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t n, off_t at);

long __wrap_ptrace(int request, ...)
{
	va_list ap;
	pid_t pid;
	void *addr, *data;
	long rc;
	int saved;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
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
	volatile uint64_t argument[6];
	volatile bool killed; /* viewers were: errno is as the call has left it */
	volatile bool stop;
} * shared;

/* What a function may do to a thread: all registers that it need not keep, errno, its stack. */
static void scribble(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	char stack[8192];
	const uint64_t given[6] = { a, b, c, d, e, f };

	memset(stack, 0xa5, sizeof(stack));
	__asm__ volatile("" ::"r"(stack) : "memory");
	for (int i = 0; i < 6; i++)
		shared->argument[i] = given[i];
	__asm__ volatile("vpcmpeqd %%ymm0,%%ymm0,%%ymm0; vpcmpeqd %%ymm7,%%ymm7,%%ymm7\n"
			 "vpcmpeqd %%ymm15,%%ymm15,%%ymm15; vpcmpeqd %%ymm8,%%ymm8,%%ymm8\n"
			 "fldpi; fldpi" ::
				 : "xmm0", "xmm7", "xmm8", "xmm15", "st", "st(1)");
	errno = EDOM;
	getppid();
	errno = ERANGE;
	shared->scribbled++;
}

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

/* All that a thread has in registers, with no system call: it is stopped anywhere in here. */
static void in_registers(void)
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

static void in_alarms(void)
{
	struct itimerval each = { { 0, 3000 }, { 0, 3000 } };
	volatile unsigned long n = 0;

	signal(SIGALRM, leap);
	setitimer(ITIMER_REAL, &each, NULL);
	if (sigsetjmp(again, 1) == 0)
		for (;;)
			n++;
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

/* ---- the viewer ---- */

struct result {
	bool stopped, begun, parent_right, error_right, mapped, called, ended;
};

static void calls(struct trace_remote *r, pid_t pid, struct result *out)
{
	uint64_t none[6] = { 0 }, numbers[6] = { 11, 12, 13, 14, 15, 16 };
	uint64_t map[6] = { 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		(uint64_t)-1, 0 };
	uint64_t close_bad[6] = { 9999 };
	uint64_t unmap[6] = { 0, 4096 };
	long at;

	out->parent_right = trace_remote_syscall(r, SYS_gettid, none) == pid;
	out->error_right = trace_remote_syscall(r, SYS_close, close_bad) == -EBADF;
	at = trace_remote_syscall(r, SYS_mmap, map);
	unmap[0] = (uint64_t)at;
	out->mapped = at > 0 && trace_memory_write(r->memory, (uint64_t)at, "abc", 3) &&
		      trace_remote_syscall(r, SYS_munmap, unmap) == 0;
	out->called = trace_remote_call(r, (uint64_t)(uintptr_t)scribble, numbers, PATIENCE) == 0;
}

static void view(pid_t pid, struct result *out)
{
	char message[TRACE_MESSAGE_MAX];
	struct trace_remote_code code;
	struct trace_memory memory;
	struct trace_image image;
	struct trace_remote r;
	struct trace_stop s;

	*out = (struct result){ 0 };
	if (trace_memory_open(&memory, pid) != 0 || trace_image_read(&image, pid, &memory) != 0)
		return;
	if (trace_remote_code_find(
		    &code, &image, trace_image_definer(&image, "gnu_get_libc_version")) &&
		trace_stop(&s, pid, "attached to", message) == 0) {
		out->stopped = s.whole && s.thread[0].held;
		if (out->stopped &&
			trace_remote_begin(&r, &s, &s.thread[0], &memory, &code, false) == 0) {
			out->begun = true;
			calls(&r, pid, out);
			out->ended = trace_remote_end(&r);
		}
		trace_stop_release(&s);
	}
	trace_image_free(&image);
	trace_memory_close(&memory);
}

/* In a process of its own, which dies at a step; returns whether it did. */
static bool view_until(pid_t pid, int fatal)
{
	pid_t viewer = fork();
	int status;

	if (viewer == 0) {
		struct result out;

		step_number = 0;
		step_fatal = fatal;
		view(pid, &out);
		_exit(0);
	}
	waitpid(viewer, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
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
	{ "registers", in_registers, false },
	{ "a handler on another stack", in_handler, false },
	{ "SIGALRM and siglongjmp", in_alarms, false },
};

#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

TEST(calls_return_what_they_should_and_change_nothing)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		pid_t pid = start(programs[i].what);
		struct result r;

		CHECK(await_rounds(1));
		for (int n = 0; n < 20; n++) {
			view(pid, &r);
			/* A signal of its own may come first. */
			if (!r.stopped)
				continue;
			CHECK(r.begun && r.parent_right && r.error_right && r.mapped && r.called &&
				r.ended);
			CHECK_INT(shared->argument[0], 11);
			CHECK_INT(shared->argument[5], 16);
		}
		CHECK(await_rounds(2));
		CHECK(shared->scribbled > 0);
		CHECK_INT(shared->wrong, 0);
		CHECK_INT(shared->cut, 0);
		CHECK(finish(pid));
		if (check_failed_here)
			fprintf(stderr, "  in %s\n", programs[i].name);
	}
}

TEST(a_viewer_may_be_killed_at_each_step)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		pid_t pid = start(programs[i].what);
		int steps = 0;

		shared->killed = true;
		CHECK(await_rounds(1));
		while (steps < STEPS_MAX && view_until(pid, steps))
			steps += 1 + (int)i % 3;
		CHECK(steps > 20 && steps < STEPS_MAX);
		CHECK(await_rounds(2));
		CHECK_INT(shared->wrong, 0);
		CHECK(programs[i].waits || shared->cut == 0);
		CHECK(finish(pid));
		if (check_failed_here)
			fprintf(stderr, "  in %s, %d steps\n", programs[i].name, steps);
	}
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), SHARED, -1, 0);
	RUN(calls_return_what_they_should_and_change_nothing);
	RUN(a_viewer_may_be_killed_at_each_step);
	return check_end();
}
