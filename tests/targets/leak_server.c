/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program at work that is to notice nothing of being scanned: threads wait in the system calls
 * that a stop may cut short, requests go round between two of them, others allocate, above all by
 * realloc, and lose nothing. Says "ready"; at the end of its input it writes how many calls ended
 * by EINTR and how many requests were lost. Ends 0 if there were none.
 *
 * leak_server calm: those that allocate pause now and then, and so does who asks
 * leak_server calm undumpable: the same, and not dumpable: prctl(2)
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/poll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS	 2000000
#define CHILDREN 200

static volatile int ending, cut_short, calm;
static int semaphore, ask[2], answer[2];

static void look(long rc)
{
	if (rc < 0 && errno == EINTR)
		__atomic_fetch_add(&cut_short, 1, __ATOMIC_RELAXED);
}

static int epoll;

static bool epoll_begin(void)
{
	struct epoll_event e = { .events = EPOLLIN };

	epoll = epoll_create1(0);
	return epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, eventfd(0, 0), &e) == 0;
}

static void wait_epoll(void)
{
	struct epoll_event e;

	look(epoll_wait(epoll, &e, 1, WAIT_NS / 1000000));
}

static void wait_signal(void)
{
	const struct timespec t = { .tv_nsec = WAIT_NS };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	look(sigtimedwait(&set, NULL, &t));
}

static void wait_semaphore(void)
{
	const struct timespec t = { .tv_nsec = WAIT_NS };
	struct sembuf down = { .sem_op = -1 };

	look(semtimedop(semaphore, &down, 1, &t));
}

static void wait_sleep(void)
{
	const struct timespec t = { .tv_nsec = WAIT_NS };

	look(nanosleep(&t, NULL));
}

static void wait_futex(void)
{
	const struct timespec t = { .tv_nsec = WAIT_NS };
	static int word;

	look(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &t, NULL, 0));
}

static void wait_poll(void)
{
	struct pollfd p = { .fd = -1 };

	look(poll(&p, 1, WAIT_NS / 1000000));
}

static void wait_select(void)
{
	struct timeval t = { .tv_usec = WAIT_NS / 1000 };

	look(select(0, NULL, NULL, NULL, &t));
}

/* The answer to each request is its number. Goes on until no more can come. */
static void serve(void)
{
	uint32_t number;
	ssize_t got;

	while ((got = read(ask[0], &number, sizeof(number))) != 0) {
		look(got);
		look(write(answer[1], &number, sizeof(number)));
	}
}

static volatile int lost;

static void request(void)
{
	static uint32_t next;
	uint32_t got = 0;

	next++;
	look(write(ask[1], &next, sizeof(next)));
	look(read(answer[0], &got, sizeof(got)));
	lost += got != next;
	if (calm)
		wait_sleep();
}

/* An array that grows and shrinks by realloc is all that holds its elements. */
static void grow(void)
{
	static __thread void **array;
	static __thread size_t room;

	if (!array) {
		for (size_t i = 0; i < CHILDREN; i++) {
			array = realloc(array, (i + 1) * sizeof(*array));
			array[i] = malloc(16 + i);
		}
		room = CHILDREN;
	}
	for (int i = 0; i < 100; i++) {
		room = room == CHILDREN ? 2 * CHILDREN : CHILDREN;
		array = realloc(array, room * sizeof(*array));
		free(malloc(room));
	}
	if (calm)
		wait_sleep();
}

static void *run(void *arg)
{
	void (*step)(void) = *(void (**)(void))arg;

	while (!ending)
		step();
	return NULL;
}

static void (*steps[])(void) = { wait_epoll, wait_signal, wait_semaphore, wait_sleep, wait_futex,
	wait_poll, wait_select, serve, request, grow, grow };
#define STEPS (sizeof(steps) / sizeof(steps[0]))

int main(int argc, char **argv)
{
	pthread_t thread[STEPS];
	sigset_t set;
	char c;

	calm = argc > 1 && strcmp(argv[1], "calm") == 0;
	if (argc > 2 && strcmp(argv[2], "undumpable") == 0)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	semaphore = semget(IPC_PRIVATE, 1, 0600);
	/* All descriptors are there when it says "ready". */
	if (semaphore < 0 || pipe(ask) != 0 || pipe(answer) != 0 || !epoll_begin())
		return 2;
	for (size_t i = 0; i < STEPS; i++)
		pthread_create(&thread[i], NULL, run, &steps[i]);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 2;
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	ending = 1;
	for (size_t i = STEPS; i-- > 0;) {
		pthread_join(thread[i], NULL);
		if (steps[i] == request)
			close(ask[1]);
	}
	semctl(semaphore, 0, IPC_RMID);
	dprintf(STDOUT_FILENO, "%d cut short, %d lost\n", cut_short, lost);
	return cut_short != 0 || lost != 0;
}
