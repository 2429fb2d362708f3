/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread that waits in a system call, again and again, and checks that each wait ended as it
 * should: with its own result, no earlier than asked, never for want of a signal, and with errno as
 * it was.
 *
 *	attach_asleep PAGE WAIT [alloc]    WAIT: a name of the table; alloc: blocks between the
 *waits
 *
 * What it waits for comes from a child that was forked before.
 */
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/faults/targets/attach_page.h"

#define NAP_NS 150000000
#define NAP_MS 150
#define KEPT   4242 /* errno before each wait */

static int pipe_of[2], pair_of[2], never[2], epoll_fd;
static const struct timespec nap = { .tv_nsec = NAP_NS };

/* What a wait must return, and errno after it. A wait for time takes NAP_NS at least. */
struct wait {
	const char *name;
	long (*wait)(void);
	long result;
	int error;
	int timed;
};

static struct timespec soon(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += NAP_NS;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static long wait_nanosleep(void)
{
	return nanosleep(&nap, NULL);
}

static long wait_until(void)
{
	struct timespec t = soon(CLOCK_MONOTONIC);

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static long wait_poll(void)
{
	struct pollfd p = { never[0], POLLIN, 0 };

	return poll(&p, 1, NAP_MS);
}

static long wait_ppoll(void)
{
	struct pollfd p = { never[0], POLLIN, 0 };
	sigset_t none;

	sigfillset(&none);
	return ppoll(&p, 1, &nap, &none);
}

static long wait_select(void)
{
	struct timeval t = { 0, NAP_NS / 1000 };

	return select(0, NULL, NULL, NULL, &t);
}

static long wait_epoll(void)
{
	struct epoll_event e;

	return epoll_wait(epoll_fd, &e, 1, NAP_MS);
}

static long wait_futex(void)
{
	static int word;

	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &nap, NULL, 0);
}

static long wait_condition(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec t = soon(CLOCK_REALTIME);
	int r;

	pthread_mutex_lock(&lock);
	r = pthread_cond_timedwait(&condition, &lock, &t);
	pthread_mutex_unlock(&lock);
	return r;
}

static long wait_semaphore(void)
{
	static sem_t semaphore;
	struct timespec t = soon(CLOCK_REALTIME);

	return sem_timedwait(&semaphore, &t);
}

static long wait_read(void)
{
	char c;

	return read(pipe_of[0], &c, 1);
}

static long wait_receive(void)
{
	char c;

	return recv(pair_of[0], &c, 1, 0);
}

static long wait_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &nap);
}

/* The child of each wait is made by the program itself. */
static long wait_child(void)
{
	int status = 0, before = errno;
	pid_t pid = fork();

	if (pid == 0) {
		nanosleep(&nap, NULL);
		_exit(9);
	}
	errno = before;
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WEXITSTATUS(status);
}

static const struct wait waits[] = {
	{ "nanosleep", wait_nanosleep, 0, KEPT, 1 },
	{ "clock_nanosleep", wait_until, 0, KEPT, 1 },
	{ "poll", wait_poll, 0, KEPT, 1 },
	{ "ppoll", wait_ppoll, 0, KEPT, 1 },
	{ "select", wait_select, 0, KEPT, 1 },
	{ "epoll", wait_epoll, 0, KEPT, 1 },
	{ "futex", wait_futex, -1, ETIMEDOUT, 1 },
	{ "condition", wait_condition, ETIMEDOUT, KEPT, 1 },
	{ "semaphore", wait_semaphore, -1, ETIMEDOUT, 1 },
	{ "signal", wait_signal, -1, EAGAIN, 1 },
	{ "read", wait_read, 1, KEPT, 0 },
	{ "receive", wait_receive, 1, KEPT, 0 },
	{ "child", wait_child, 9, KEPT, 1 },
};

static void wait_once(const struct wait *w)
{
	uint64_t before = page_now_ns();
	long result;

	errno = KEPT;
	result = w->wait();
	page_need(errno == w->error, "errno after the wait", errno);
	page_need(result == w->result, "the wait returned", result);
	page_need(!w->timed || page_now_ns() - before >= NAP_NS - 1000000, "it ended early, ns",
		(long)(page_now_ns() - before));
	page_goes_on();
}

/* Writes to who waits for it, until nobody reads any more. */
static void feed(void)
{
	signal(SIGPIPE, SIG_DFL);
	close(pipe_of[0]);
	close(pair_of[0]);
	for (;;) {
		nanosleep(&nap, NULL);
		if (write(pipe_of[1], "x", 1) != 1 || send(pair_of[1], "x", 1, 0) != 1)
			_exit(0);
	}
}

static void sources_make(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (pipe(pipe_of) || pipe(never) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair_of))
		_exit(2);
}

int main(int argc, char **argv)
{
	const struct wait *w = waits, *end = waits + sizeof(waits) / sizeof(waits[0]);
	unsigned state = 1;

	if (argc < 3)
		return 2;
	while (w < end && strcmp(w->name, argv[2]) != 0)
		w++;
	if (w == end)
		return 2;
	page_open(argv[1]);
	sources_make();
	if (!w->timed && fork() == 0)
		feed();
	page_ready();
	while (!page_stopped()) {
		wait_once(w);
		if (argc > 3)
			page_allocate(&state);
	}
	return page_end();
}
