/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that notices whether it is copied: it waits for children again and again, and counts
 * those that are not its own, and the signals that report them. Has so many megabytes
 * in blocks, which it writes to all the time. Says "ready"; at the end of its input it writes both
 * counts.
 *
 * copied MB alone      has no children
 * copied MB parent     has one, for which a thread waits
 * copied MB any        has one, for which a thread waits with __WALL
 * copied MB locked     its memory is locked, what is yet to come, too
 * copied MB reaper     orphans become its children
 * copied MB namespace  its children are in another pid namespace; has one more at the end
 * copied MB watched    page faults of some of its memory are told to a descriptor
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK	 65536u
#define WRITTEN	 64u /* blocks between two looks */
#define PAGE	 4096u
#define UNUSABLE 3

static char **block;
static size_t blocks;
static volatile unsigned strangers, signals;

static void on_child(int sig)
{
	(void)sig;
	signals++;
}

static pid_t child_make(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return pid;
}

struct waiter {
	pthread_t thread;
	pid_t child;
	int options;
	volatile pid_t tid; /* once it is about to wait */
};

static void *child_await(void *ctx)
{
	struct waiter *w = ctx;
	pid_t got;

	w->tid = gettid();
	while ((got = waitpid(-1, NULL, w->options)) != w->child)
		if (got > 0)
			strangers++;
	return NULL;
}

/* Returns when the thread sleeps: it waits. */
static void waiter_start(struct waiter *w)
{
	char path[64], text[256] = "";
	const char *state;

	pthread_create(&w->thread, NULL, child_await, w);
	do {
		int fd;

		usleep(1000);
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)w->tid);
		fd = open(path, O_RDONLY);
		if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
			text[0] = '\0';
		close(fd);
		state = strrchr(text, ')');
	} while (!state || state[2] != 'S');
}

static void heap_make(size_t megabytes)
{
	blocks = megabytes * 1000000 / BLOCK;
	block = malloc((blocks + 1) * sizeof(*block));
	for (size_t i = 0; i < blocks; i++) {
		block[i] = malloc(BLOCK);
		memset(block[i], 1, BLOCK);
	}
}

static void heap_write(void)
{
	static size_t at;

	for (size_t i = 0; blocks > 0 && i < WRITTEN; i++, at = (at + 1) % blocks)
		for (size_t page = 0; page < BLOCK; page += PAGE)
			block[at][page]++;
	free(malloc(1));
}

static void watch_faults(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	r.range.len = 16 * PAGE;
	r.range.start = (uintptr_t)mmap(
		NULL, r.range.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 || ioctl(fd, UFFDIO_REGISTER, &r) != 0)
		exit(UNUSABLE);
}

static void become(const char *kind)
{
	if ((strcmp(kind, "locked") == 0 && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) ||
		(strcmp(kind, "reaper") == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) ||
		(strcmp(kind, "namespace") == 0 && unshare(CLONE_NEWPID) != 0))
		exit(UNUSABLE);
	if (strcmp(kind, "watched") == 0)
		watch_faults();
}

static void work(bool has_child)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	while (poll(&input, 1, 1) == 0) {
		pid_t got = has_child ? 0 : waitpid(-1, NULL, WNOHANG);

		if (got > 0 || (got < 0 && errno != ECHILD) || (got == 0 && !has_child))
			strangers++;
		heap_write();
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[2] : "alone";
	struct waiter w = { .options = strcmp(kind, "any") == 0 ? __WALL : 0 };
	bool has_child = w.options != 0 || strcmp(kind, "parent") == 0;
	struct sigaction a = { .sa_handler = on_child, .sa_flags = SA_RESTART };

	heap_make(argc > 1 ? strtoul(argv[1], NULL, 10) : 0);
	become(kind);
	sigaction(SIGCHLD, &a, NULL);
	if (has_child)
		w.child = child_make();
	if (has_child)
		waiter_start(&w);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 2;
	work(has_child);
	if (strcmp(kind, "namespace") == 0)
		w.child = child_make();
	dprintf(STDOUT_FILENO, "%u strangers, %u signals\n", strangers, signals);
	if (w.child)
		kill(w.child, SIGKILL);
	if (has_child)
		pthread_join(w.thread, NULL);
	return w.child < 0;
}
