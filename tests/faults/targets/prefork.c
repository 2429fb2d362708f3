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

/* `done`: written to once its blocks are there. -1: nobody waits for that. */
static void work(int done)
{
	void *volatile held[100];
	char byte;

	for (unsigned i = 0; i < 100; i++)
		held[i] = malloc(1000 + i);
	if (done >= 0 && write(done, "", 1) != 1)
		_exit(2);
	while (read(0, &byte, 1) > 0)
		;
	for (unsigned i = 0; i < 100; i++)
		free(held[i]);
	for (unsigned i = 0; i < INHERITED; i++)
		free(inherited[i]);
}

int main(int argc, char **argv)
{
	int workers = argc > 1 ? atoi(argv[1]) : 3, status, bad = 0, done[2];
	char byte;

	if (pipe(done) != 0)
		return 2;
	for (unsigned i = 0; i < INHERITED; i++)
		inherited[i] = malloc(10);
	for (int i = 0; i < workers; i++)
		if (fork() == 0) {
			work(done[1]);
			_exit(0);
		}
	for (int i = 0; i < workers; i++)
		if (read(done[0], &byte, 1) != 1)
			return 2;
	if (write(1, "ready\n", 6) != 6)
		return 2;
	work(-1);
	while (wait(&status) > 0)
		bad += status != 0;
	return bad ? 1 : 0;
}
