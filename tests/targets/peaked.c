/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program whose peak is known: 100 blocks of 1000 bytes of `base` and 50 of 10000 of `spike`.
 * What comes before and after is lower. Then as the first argument says: "wait" to be killed;
 * "fork" a child, or "exec" this program as "child", which has a peak of its own, 30 blocks of 7000
 * bytes of `inherited`; "threads", four of which go up and down at random.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *blocks[4][100];

__attribute__((noinline)) static void base(void)
{
	for (int i = 0; i < 100; i++)
		blocks[0][i] = malloc(1000);
}

__attribute__((noinline)) static void spike(int count)
{
	for (int i = 0; i < count; i++)
		blocks[1][i] = malloc(10000);
}

__attribute__((noinline)) static void later(void)
{
	for (int i = 0; i < 100; i++)
		blocks[2][i] = malloc(3000);
}

__attribute__((noinline)) static void inherited(void)
{
	for (int i = 0; i < 30; i++)
		blocks[3][i] = malloc(7000);
}

static void forget(int which)
{
	for (int i = 0; i < 100; i++) {
		free(blocks[which][i]);
		blocks[which][i] = NULL;
	}
}

__attribute__((noinline)) static void *climb(void *arg)
{
	uint64_t random = (uintptr_t)arg + 1;
	void *own[500] = { NULL };

	for (int i = 0; i < 40000; i++) {
		void **at;

		random = random * 6364136223846793005u + 1442695040888963407u;
		at = &own[(random >> 33) % 500];
		free(*at);
		*at = random >> 63 ? malloc((random >> 40) % 20000) : NULL;
	}
	for (int i = 0; i < 500; i++)
		free(own[i]);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[4];

	for (uintptr_t i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, climb, (void *)i) != 0)
			_exit(1);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

static void child(void)
{
	inherited();
	forget(3);
	later();
	_exit(0);
}

static int wait_for_death(void)
{
	char c;

	if (write(1, "ready\n", 6) != 6)
		return 1;
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int status = 0;

	if (strcmp(how, "child") == 0)
		child();
	spike(20);
	forget(1);
	base();
	spike(50);
	forget(1);
	later();
	if (strcmp(how, "wait") == 0)
		return wait_for_death();
	if (strcmp(how, "threads") == 0)
		threads();
	if (strcmp(how, "exec") == 0)
		execl("/proc/self/exe", argv[0], "child", (char *)NULL);
	if (strcmp(how, "fork") != 0)
		return 0;
	if (fork() == 0)
		child();
	wait(&status);
	return status;
}
