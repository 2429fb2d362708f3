// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Known fragmentation. Many blocks of a kind that goes, with one in between that stays for each
 * page, from a function of its own; large blocks, a thread with an arena, memory of its own mmap.
 * Then it says "ready" and what it holds, and takes orders, a line each: "trim" calls malloc_trim
 * and says what RSS was before and after.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PAGES 25000 /* 100 MB */
#define EACH  31 /* blocks of 112 bytes that go, and one of 48 that stays, take a page of 4096 */
#define LARGE (8 << 20)

static char *goes[PAGES][EACH], *stays[PAGES], *in_arena[20000];

__attribute__((noinline)) char *keep_token(void)
{
	char *p = malloc(48);

	memset(p, 1, 48);
	return p;
}

__attribute__((noinline)) char *pass_by(void)
{
	char *p = malloc(112);

	memset(p, 2, 112);
	return p;
}

static void *other_thread(void *unused)
{
	for (int i = 0; i < 20000; i++)
		in_arena[i] = memset(malloc(200), 3, 200);
	for (int i = 0; i < 20000; i++)
		if (i % 10)
			free(in_arena[i]);
	return unused;
}

static long rss_kb(void)
{
	long kb = -1;
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmRSS: %ld", &kb);
	fclose(f);
	return kb;
}

static void order(const char *line)
{
	long before = rss_kb();

	if (strcmp(line, "trim\n") == 0)
		malloc_trim(0);
	printf("rss %ld %ld\n", before, rss_kb());
	fflush(stdout);
}

int main(void)
{
	char *large = malloc(LARGE), *half = malloc(LARGE), line[64];
	char *own = mmap(NULL, 6 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* what is written, and no more, is in memory */
	memset(large, 4, LARGE);
	memset(half, 5, LARGE / 2);
	memset(own, 6, 6 << 20);
	for (int i = 0; i < PAGES; i++) {
		stays[i] = keep_token();
		for (int k = 0; k < EACH; k++)
			goes[i][k] = pass_by();
	}
	for (int i = 0; i < PAGES; i++)
		for (int k = 0; k < EACH; k++)
			free(goes[i][k]);
	/* The first half of the tokens goes, too: whole free pages, which trim gives back. */
	for (int i = 0; i < PAGES / 2; i++)
		free(stays[i]);
	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_join(thread, NULL);
	setvbuf(stdin, NULL, _IONBF, 0); /* no block of libc's comes after this */
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		order(line);
	return 0;
}
