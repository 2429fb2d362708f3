/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocates, moves and frees without end in THREADS threads, and keeps an account of its blocks in
 * the file $ACCOUNT, mapped shared, so that it is there when the program is killed at any
 * instruction. With a second argument it first says "waits" and waits for a byte. Says "ready" on
 * stdout; ends, with status 5, when a signal asks it to. Each block has a size of 7 more than a
 * multiple of 16, by which others' can be told apart.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS_MAX 16u
#define SLOTS	    256u

enum slot_state { SLOT_EMPTY, SLOT_FULL, SLOT_CHANGING };

/* Read by the test: 24 bytes each. */
struct slot {
	uint64_t address, size, state;
};

static struct slot (*account)[SLOTS];
static volatile sig_atomic_t over;

static void stop(int signal)
{
	over = signal;
}

static unsigned dice(unsigned *seed, unsigned sides)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % sides;
}

static size_t some_size(unsigned *seed)
{
	return 16 * (1 + dice(seed, dice(seed, 8) ? 30 : 600)) + 7;
}

/* No other order than the program's own is needed: whoever reads comes after the end. */
static void note(struct slot *s, enum slot_state state)
{
	__asm__ volatile("" ::: "memory");
	*(volatile uint64_t *)&s->state = state;
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void change(struct slot *s, unsigned *seed)
{
	void *old = (void *)(uintptr_t)s->address, *now = NULL;
	size_t size = some_size(seed);

	note(s, SLOT_CHANGING);
	if (!old)
		now = malloc(size);
	else if (dice(seed, 3) == 0)
		now = realloc(old, size);
	else
		free(old);
	s->address = (uintptr_t)now;
	s->size = size;
	note(s, now ? SLOT_FULL : SLOT_EMPTY);
}

static void *thread_main(void *number)
{
	unsigned seed = (unsigned)(uintptr_t)number * 7919u + (unsigned)getpid();
	struct slot *mine = account[(uintptr_t)number];

	while (!over)
		change(&mine[dice(&seed, SLOTS)], &seed);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	const size_t bytes = sizeof(*account) * THREADS_MAX;
	int fd = open(getenv("ACCOUNT"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	pthread_t thread[THREADS_MAX];
	char byte;

	if (fd < 0 || threads > THREADS_MAX || ftruncate(fd, (off_t)bytes) != 0)
		return 2;
	account = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (account == MAP_FAILED)
		return 2;
	signal(SIGTERM, stop);
	if (argc > 2 && (write(1, "waits\n", 6) != 6 || read(0, &byte, 1) != 1))
		return 2;
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, thread_main, (void *)(uintptr_t)i) != 0)
			return 2;
	if (write(1, "ready\n", 6) != 6)
		return 2;
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 5;
}
