/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A storm of short-lived children: each makes BLOCKS blocks of 100 bytes and frees every other one.
 *
 *   forking CHILDREN AT_ONCE
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 100

__attribute__((noinline)) static void forking_allocate(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		void *volatile p = malloc(100);

		if (i % 2)
			free(p);
	}
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 10, most = argc > 2 ? atoi(argv[2]) : 1,
	    running = 0;

	for (int i = 0; i < children; i++) {
		if (running == most) {
			wait(NULL);
			running--;
		}
		if (fork() == 0) {
			forking_allocate();
			_exit(0);
		}
		running++;
	}
	while (wait(NULL) > 0)
		;
	puts("done");
	return 3;
}
