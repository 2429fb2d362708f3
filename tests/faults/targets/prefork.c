/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server that forks its workers: they allocate, and wait for the end of the input as their parent
 * does. Usage: prefork [WORKERS]; says "ready"
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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
}

int main(int argc, char **argv)
{
	int workers = argc > 1 ? atoi(argv[1]) : 3, status, bad = 0;

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
