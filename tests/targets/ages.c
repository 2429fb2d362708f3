/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks of two ages: 1,000 of `elder`, and 1,000 of `younger` once a line has come on stdin. Says
 * "ready" after each, and then waits to be killed.
 */
#include <stdlib.h>
#include <unistd.h>

#define BLOCKS 1000

static void *blocks[2][BLOCKS];

__attribute__((noinline)) static void elder(void)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[0][i] = malloc(32);
}

__attribute__((noinline)) static void younger(void)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[1][i] = malloc(32);
}

static void say_ready(void)
{
	if (write(1, "ready\n", 6) != 6)
		_exit(1);
}

int main(void)
{
	char line[8];

	elder();
	say_ready();
	if (read(0, line, sizeof(line)) <= 0)
		return 1;
	younger();
	say_ready();
	while (read(0, line, sizeof(line)) > 0)
		;
	return blocks[0][0] == blocks[1][0];
}
