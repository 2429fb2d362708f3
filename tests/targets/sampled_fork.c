/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program in the middle of counting down blocks that forks: the children, and threads that they
 * start, go on allocating, and none of it may touch what was the parent's. Prints "ok".
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 20
#define THREADS	 4
#define BLOCKS	 20000

static void *allocate(void *arg)
{
	void *volatile p[8] = { 0 };

	for (unsigned i = 0; i < BLOCKS; i++) {
		free(p[i % 8]);
		p[i % 8] = malloc(16 + i % 500);
		if (i % 97 == 0)
			p[i % 8] = realloc(p[i % 8], 3000);
	}
	for (unsigned i = 0; i < 8; i++)
		free(p[i]);
	return arg;
}

static int child(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, allocate, NULL) != 0)
			return 1;
	allocate(NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

int main(void)
{
	int status;

	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid;

		allocate(NULL);
		pid = fork();
		if (pid == 0)
			exit(child());
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			return 1;
	}
	return write(1, "ok\n", 3) == 3 ? 0 : 1;
}
