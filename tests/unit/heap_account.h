/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that keeps an account of its own of what it has allocated: the test program, executed
 * again. It fills arenas, bins, threads' caches and mappings, then stands still. For tests that
 * walk through its heap from outside.
 */
#ifndef TESTS_UNIT_HEAP_ACCOUNT_H
#define TESTS_UNIT_HEAP_ACCOUNT_H

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/check.h"

#define THREADS 6u
#define ENDING	2u /* of them */
#define SLOTS	2000u
#define OPS	40000u
#define ROOM	(THREADS * SLOTS + 4096)
/* libc's own: of its streams, and one array and perhaps a stack for each thread. */
#define OWN_MOST (THREADS + 16u)

struct account {
	uint64_t count;
	uint64_t below_bytes; /* chunk_underlay */
	struct {
		uint64_t addr, usable;
	} block[ROOM];
};

/* ---- the process that is walked through ---- */

static void *slots[THREADS][SLOTS];
static pthread_barrier_t barrier;

static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static size_t size_of(uint64_t *state)
{
	uint64_t r = draw(state);

	if (r % 1000 == 0)
		return 150000 + draw(state) % 1000000;
	return r % 20 == 0 ? draw(state) % 60000 : draw(state) % 200;
}

static void *block_new(uint64_t *state, void *old)
{
	uint64_t r = draw(state) % 100;

	if (r < 10)
		return realloc(old, size_of(state) + 1);
	free(old);
	if (r < 20)
		return memalign((size_t)16 << draw(state) % 9, size_of(state));
	if (r == 20 && draw(state) % 50 == 0)
		return memalign((size_t)1 << 21, 300000);
	return r < 30 ? calloc(1, size_of(state)) : malloc(size_of(state));
}

static void *work(void *arg)
{
	uintptr_t self = (uintptr_t)arg;
	uint64_t state = self * 977 + 1;

	for (unsigned i = 0; i < OPS; i++) {
		unsigned at = (unsigned)(draw(&state) % SLOTS);

		slots[self][at] = block_new(&state, slots[self][at]);
		if (draw(&state) % 3 == 0) {
			free(slots[self][at]);
			slots[self][at] = NULL;
		}
	}
	pthread_barrier_wait(&barrier);
	/* What another thread has allocated goes to its arena's bins, and to our cache. */
	for (unsigned i = 0; i < SLOTS; i += 3) {
		void **slot = &slots[(self + 1) % THREADS][i];

		free(*slot);
		*slot = NULL;
	}
	pthread_barrier_wait(&barrier);
	while (self >= ENDING)
		pause();
	return NULL;
}

/* Chunks that are merged with nothing, more than a thread caches. */
static void fastbins_fill(void)
{
	void *p[400];

	for (unsigned i = 0; i < 400; i++)
		p[i] = malloc(24 + i % 5 * 16);
	for (unsigned i = 0; i < 400; i += 2)
		free(p[i]);
	for (unsigned i = 1; i < 400; i += 2)
		slots[0][i] = slots[0][i] ? slots[0][i] : p[i];
	for (unsigned i = 1; i < 400; i += 2)
		if (slots[0][i] != p[i])
			free(p[i]);
}

/* The program's own use of brk makes a hole in malloc's heap. */
static void brk_take(void)
{
	for (unsigned i = 0; i < 300; i++)
		slots[1][i] = realloc(slots[1][i], 1000 + i);
	CHECK(sbrk(12345 / 16 * 16) != (void *)-1);
	for (unsigned i = 300; i < 900; i++)
		slots[1][i] = realloc(slots[1][i], 3000 + i);
}

/* What brk has given becomes three mappings side by side, as it does in a forked child that grows.
 */
static void heap_split(void)
{
	uintptr_t middle;

	for (unsigned i = 0; i < 300; i++)
		slots[1][i] = realloc(slots[1][i], 2000 + i);
	middle = (uintptr_t)slots[1][150] & ~(uintptr_t)4095;
	CHECK(madvise((void *)middle, 8192, MADV_DONTFORK) == 0);
}

/* Memory of the program's own right below a chunk with a mapping, as much as fits there: the kernel
 * makes one mapping of both, which does not begin with the chunk. Returns how much. */
static size_t underlay_of(uintptr_t chunk)
{
	size_t bytes = (size_t)128 << 20;
	void *got = MAP_FAILED;

	for (; got == MAP_FAILED && bytes > 4096; bytes -= bytes / 4 / 4096 * 4096 + 4096)
		got = mmap((void *)(chunk - bytes), bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (got == MAP_FAILED)
		return 0;
	memset(got, 1, chunk - (uintptr_t)got);
	return chunk - (uintptr_t)got;
}

/* That of the last of some chunks. A chunk that lies just above another mapping fills the gap that
 * it was put into, so the next one lies elsewhere. */
static uint64_t chunk_underlay(void)
{
	size_t bytes = 0;

	for (unsigned i = 1; bytes <= 4u << 20 && i < 16; i++) {
		free(slots[1][i]);
		slots[1][i] = malloc((size_t)40 << 20); /* more than any threshold of malloc's */
		bytes = underlay_of((uintptr_t)slots[1][i] - 16);
	}
	return bytes;
}

/* A heap of another kind, larger than all else, with what looks like a chunk that has a mapping. */
static void other_heap_map(void)
{
	const size_t bytes = (size_t)3 << 30;
	uint64_t *heap = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (heap == MAP_FAILED)
		return;
	for (size_t at = bytes / 2; at < bytes / 2 + ((size_t)1 << 20); at += 4096)
		heap[at / 8 + 1] = 4096 | 2;
}

static void account_write(struct account *a)
{
	for (unsigned t = 0; t < THREADS; t++)
		for (unsigned i = 0; i < SLOTS; i++)
			if (slots[t][i]) {
				a->block[a->count].addr = (uintptr_t)slots[t][i];
				a->block[a->count++].usable = malloc_usable_size(slots[t][i]);
			}
}

/* Maps the file whose path the test sends, as a recorded program does. */
static void file_map(int fd)
{
	char path[256] = "";
	int segment;

	if (read(fd, path, sizeof(path) - 1) <= 0)
		return;
	segment = open(path, O_RDWR | O_CLOEXEC);
	if (segment >= 0 && mmap(NULL, 4096, PROT_READ, MAP_SHARED, segment, 0) != MAP_FAILED)
		(void)!write(fd, "y", 1);
}

static int child(const char *what, int account_fd, int ready_fd)
{
	struct account *a =
		mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE, MAP_SHARED, account_fd, 0);
	unsigned threads = strcmp(what, "one") == 0 || strcmp(what, "split") == 0 ? 0 : THREADS;
	pthread_t thread[THREADS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (a == MAP_FAILED)
		return 1;
	pthread_barrier_init(&barrier, NULL, THREADS);
	if (strcmp(what, "brk") == 0)
		brk_take();
	if (strcmp(what, "split") == 0)
		heap_split();
	for (uintptr_t i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)i);
	for (unsigned i = 0; i < ENDING && i < threads; i++)
		pthread_join(thread[i], NULL);
	if (strcmp(what, "mapped") == 0) {
		a->below_bytes = chunk_underlay();
		other_heap_map();
	}
	fastbins_fill();
	account_write(a);
	if (write(ready_fd, "x", 1) != 1)
		return 1;
	file_map(ready_fd);
	for (;;)
		pause();
}

/* ---- the test ---- */

static struct account *account;
static int child_fd; /* of the other end of the child's `ready_fd` */

/* Whether each of its threads sleeps: one that was only woken from the barrier has yet to leave it.
 */
static bool child_rests(pid_t pid)
{
	char path[300], stat[512] = "";
	const struct dirent *e;
	bool rests = true;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	CHECK(d != NULL);
	while (d && (e = readdir(d))) {
		FILE *f;

		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, e->d_name);
		f = fopen(path, "re");
		if (f && fgets(stat, sizeof(stat), f))
			rests &= strstr(stat, ") S ") || strstr(stat, ") Z ");
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return rests;
}

static void child_rest_await(pid_t pid)
{
	while (!child_rests(pid))
		usleep(1000);
}

/* The program once more, in a folder that is called as the recorder's is. */
static void child_path(char *path, size_t cap)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	CHECK(n > 0);
	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	snprintf(path, cap, "%.*s/heaptop", (int)(slash - exe), exe);
	(void)mkdir(path, 0700);
	snprintf(path, cap, "%.*s/heaptop%s", (int)(slash - exe), exe, slash);
	unlink(path);
	CHECK_INT(link(exe, path), 0);
}

static pid_t child_start(const char *what)
{
	char path[PATH_MAX + 16];
	int ready[2], fd = memfd_create("account", 0);
	char args[2][16], byte;
	pid_t pid;

	CHECK(fd >= 0 && ftruncate(fd, sizeof(*account)) == 0 &&
		socketpair(AF_UNIX, SOCK_STREAM, 0, ready) == 0);
	account = mmap(NULL, sizeof(*account), PROT_READ, MAP_SHARED, fd, 0);
	CHECK(account != MAP_FAILED);
	snprintf(args[0], sizeof(args[0]), "%d", fd);
	snprintf(args[1], sizeof(args[1]), "%d", ready[1]);
	child_path(path, sizeof(path));
	pid = fork();
	if (pid == 0) {
		execl(path, "leak_heap_walk", what, args[0], args[1], NULL);
		_exit(1);
	}
	close(ready[1]);
	CHECK(read(ready[0], &byte, 1) == 1);
	child_fd = ready[0];
	close(fd);
	child_rest_await(pid);
	return pid;
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(account, sizeof(*account));
	close(child_fd);
}

/* Has the child map a segment's file. */
static inline void child_maps(pid_t pid, const char *path)
{
	char byte;

	CHECK(write(child_fd, path, strlen(path)) == (ssize_t)strlen(path));
	CHECK(read(child_fd, &byte, 1) == 1);
	child_rest_await(pid);
}

/* In main: what the process that was executed again does. */
static inline int account_main(int argc, char **argv)
{
	return argc == 4 ? child(argv[1], atoi(argv[2]), atoi(argv[3])) : -1;
}

#endif
