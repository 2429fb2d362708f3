/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tells heaptop what it is asked to, through heaptop.h. Lines on standard input: "mark NAME",
 * "scan", "snapshot", "name NAME" of its thread; "keep" is a block of 1000 bytes, "lose" one of 700
 * that nothing points to, "mean" one of 300 to which nothing points either, with one of 50 that
 * only it points to, and which it means to leave; "pause N" is N blocks of 100 bytes, half of them
 * freed at once, that are not recorded; "unpause" frees the others. It answers each line when that
 * is done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/heaptop.h"

#define PAUSED_MAX 1000

static void *volatile kept, *volatile last;
static void *paused[PAUSED_MAX];
static int npaused;

__attribute__((noinline)) void told_keep(void)
{
	kept = malloc(1000);
}

__attribute__((noinline)) void told_lose(void)
{
	last = malloc(700);
	last = NULL;
}

__attribute__((noinline)) void told_mean(void)
{
	void **p = malloc(300);

	memset(p, 0, 300);
	p[0] = malloc(50);
	heaptop_leak_intended((char *)p + 100);
	last = p;
	last = NULL;
}

__attribute__((noinline)) void told_pause(int n)
{
	heaptop_pause();
	for (int i = 0; i < n; i++) {
		paused[npaused] = realloc(malloc(10), 100);
		heaptop_pause();
		heaptop_resume();
		if (i % 2)
			free(paused[npaused]);
		else
			npaused++;
	}
	heaptop_resume();
}

static void unpause(void)
{
	while (npaused > 0)
		free(paused[--npaused]);
}

/* What calls that are over left below us. */
__attribute__((noinline)) static void scrub(void)
{
	volatile char below[8192];

	memset((char *)below, 0, sizeof(below));
}

static void serve(const char *line)
{
	if (strncmp(line, "mark ", 5) == 0)
		heaptop_mark(line + 5);
	else if (strncmp(line, "name ", 5) == 0)
		heaptop_thread_name(line + 5);
	else if (strcmp(line, "scan") == 0)
		heaptop_scan();
	else if (strcmp(line, "snapshot") == 0)
		heaptop_snapshot();
	else if (strcmp(line, "keep") == 0)
		told_keep();
	else if (strcmp(line, "lose") == 0)
		told_lose();
	else if (strcmp(line, "mean") == 0)
		told_mean();
	else if (strncmp(line, "pause ", 6) == 0)
		told_pause(atoi(line + 6));
	else if (strcmp(line, "unpause") == 0)
		unpause();
	scrub();
}

int main(void)
{
	char line[256];

	printf("%d\n", heaptop_is_on());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		serve(line);
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
