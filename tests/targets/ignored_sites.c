// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Call sites of two functions, one of which a viewer ignores: left_out*. It allocates from both,
 * waits until the viewer has said so of all of them in the segment, then allocates from stacks that
 * are known and from new ones. Prints by how many sites that made the segment grow, and the live
 * bytes of left_out. "fork": a child does the second. "again": waits for the end of its input, and
 * until the viewer has taken its word back, and then prints how many sites new stacks make.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/layout.h"

#define KNOWN	 30u /* stacks of the first phase, */
#define STACKS	 60u /* of the second, known and new, */
#define LAST	 90u /* and of the third */
#define EACH	 8u
#define LEFT_OUT 2u /* functions that are ignored, each at one site of a stack */
#define SETTLED	 64u /* events after which a thread has read what viewers ask for */

#define NOINLINE __attribute__((noinline))
#define KEEP()	 __asm__ volatile("" ::: "memory")

static char *left[2][LAST][EACH], *kept[2][LAST];
static unsigned long live;

static NOINLINE void *left_out(size_t bytes)
{
	void *p = malloc(bytes);

	live += bytes;
	KEEP();
	return p;
}

static NOINLINE void *left_out_longer(void *p, size_t was, size_t bytes)
{
	p = realloc(p, bytes);
	live += bytes - was;
	KEEP();
	return p;
}

static NOINLINE void *keep(size_t bytes)
{
	void *p = malloc(bytes);

	KEEP();
	return p;
}

/* At another depth of the stack for each `stack`. */
static NOINLINE void allocate(unsigned frames, unsigned phase, unsigned stack)
{
	if (frames > 0) {
		allocate(frames - 1, phase, stack);
	} else {
		for (unsigned i = 0; i < EACH; i++)
			left[phase][stack][i] = left_out(10 + stack);
		left[phase][stack][0] = left_out_longer(left[phase][stack][0], 10 + stack, 500);
		kept[phase][stack] = keep(1000);
	}
	KEEP();
}

static NOINLINE void release(unsigned phase, unsigned stack)
{
	free(left[phase][stack][1]);
	live -= 10 + stack;
}

static void *all_release(void *arg)
{
	for (unsigned stack = 0; stack < KNOWN; stack++) {
		if (!arg)
			release(0, stack);
		release(1, stack);
	}
	return arg;
}

/* Opens the segment of this process. */
static int segment_open(void)
{
	char line[4096], path[4096];
	FILE *maps = fopen("/proc/self/maps", "r");
	uint32_t pid = 0;
	int fd = -1;

	while (maps && pid != (uint32_t)getpid() && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "/heaptop-") ||
			sscanf(line, "%*s %*s %*s %*s %*s %4095s", path) != 1)
			continue;
		if (fd >= 0)
			close(fd);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (pread(fd, &pid, sizeof(pid), offsetof(struct ht_header, pid)) != sizeof(pid))
			pid = 0;
	}
	if (maps)
		fclose(maps);
	return fd;
}

static uint32_t word(size_t offset)
{
	static int fd = -1, owner;
	uint32_t out = 0;

	if (owner != getpid())
		fd = segment_open();
	owner = getpid();
	if (pread(fd, &out, sizeof(out), (off_t)offset) != sizeof(out))
		abort();
	return out;
}

#define WORD(name) word(offsetof(struct ht_header, name))

/* How many sites are marked. */
static unsigned marked(void)
{
	size_t at = offsetof(struct ht_header, region[HT_REGION_SITES].offset);
	size_t sites = (size_t)(word(at) | (uint64_t)word(at + 4) << 32);
	unsigned n = 0;

	for (uint32_t i = 0, count = WORD(sites); i < count; i++)
		n += word(sites + i * sizeof(struct ht_site) + offsetof(struct ht_site, ignored)) !=
		     0;
	return n;
}

/* Waits until a viewer has said something else than `before`, and has marked so many sites. */
static void round_await(uint32_t before, unsigned sites)
{
	const struct timespec pause = { 0, 5000000 };

	while (WORD(ignore_round) == before || marked() < sites)
		nanosleep(&pause, NULL);
	for (unsigned i = 0; i < SETTLED; i++)
		free(keep(1));
}

static uint32_t phase(unsigned number, unsigned stacks)
{
	uint32_t sites = WORD(sites);

	for (unsigned stack = 0; stack < stacks; stack++)
		allocate(stack, number > 0, stack);
	return WORD(sites) - sites;
}

static void again(void)
{
	uint32_t round = WORD(ignore_round);

	fflush(stdout);
	while (getchar() != EOF)
		;
	round_await(round, 0);
	printf("again %u\n", phase(2, LAST));
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	bool child = false;
	pthread_t thread;
	int status;

	phase(0, KNOWN);
	round_await(0, LEFT_OUT * KNOWN);
	if (!strcmp(how, "fork")) {
		if (fork() > 0)
			return wait(&status) < 0 || status != 0;
		child = true;
		live = 0; /* the parent's blocks are not the child's */
	}
	printf("sites %u\n", phase(1, STACKS));
	pthread_create(&thread, NULL, all_release, child ? &child : NULL);
	pthread_join(thread, NULL);
	printf("live %lu\n", live);
	if (!strcmp(how, "again"))
		again();
	fflush(stdout);
	_exit(0); /* all are live */
}
