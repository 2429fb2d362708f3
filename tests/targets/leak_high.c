/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lost blocks of functions that are high in the stacks of others, too: main loses 5 of 10 bytes by
 * one line and 2 of 1000 by another, outer loses 4 of 30, and inner, which it calls, 3 of 77.
 * "wait": it says "ready" then, and waits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAVE __attribute__((noinline))

static void *volatile lost;

LEAVE static void inner(void)
{
	for (volatile int i = 0; i < 3; i++)
		lost = malloc(77);
	lost = NULL;
}

LEAVE static void outer(void)
{
	for (volatile int i = 0; i < 4; i++)
		lost = malloc(30);
	inner();
	lost = NULL;
}

/* What is left of it on the stack. */
LEAVE static void forget(void)
{
	volatile char over[16384];

	for (size_t i = 0; i < sizeof(over); i++)
		over[i] = 0;
}

int main(int argc, char **argv)
{
	for (volatile int i = 0; i < 5; i++)
		lost = malloc(10);
	for (volatile int i = 0; i < 2; i++)
		lost = malloc(1000);
	lost = NULL;
	outer();
	forget();
	if (argc > 1 && strcmp(argv[1], "wait") == 0) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	return 0;
}
