/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server that forks its workers: they allocate, wait for the end of the input as their parent
 * does, and free all, what they had from it, too. Usage: prefork [WORKERS]; says "ready"
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define INHERITED 30u
static void *inherited[INHERITED];

static void work(void)
{
	void *volatile held[100];
	char byte;

	for (unsigned i = 0; i < 100; i++)
		held[i] = malloc(1000 + i);
	while (read(0, &byte, 1) > 0)
		;
	for (unsigned i = 0; i < 100; i++)
		free(held[i]);
	for (unsigned i = 0; i < INHERITED; i++)
		free(inherited[i]);
}

int main(int argc, char **argv)
{
	int workers = argc > 1 ? atoi(argv[1]) : 3, status, bad = 0;

	for (unsigned i = 0; i < INHERITED; i++)
		inherited[i] = malloc(10);
	for (int i = 0; i < workers; i++)
		if (fork() == 0) {
			work();
			_exit(0);
		}
	if (write(1, "ready\n", 6) != 6)
		return 2;
	work();
	while (wait(&status) > 0)
		bad += status != 0;
	return bad ? 1 : 0;
}
