/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titled FILE: a server's way. A forked child writes what it is over its arguments, makes FILE, and
 * allocates until FILE is gone; the parent waits for it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Padded by blanks, as many programs do. */
static void title_set(int argc, char *argv[], const char *title)
{
	char *end = argv[argc - 1] + strlen(argv[argc - 1]);
	size_t room = (size_t)(end - argv[0]), n = strlen(title);

	memset(argv[0], ' ', room);
	memcpy(argv[0], title, n < room ? n : room);
}

static void child(int argc, char *argv[])
{
	char *file = strdup(argv[1]);
	const struct timespec nap = { .tv_nsec = 2000000 };

	title_set(argc, argv, "titled: worker");
	if (!file || close(open(file, O_CREAT | O_WRONLY, 0600)) != 0)
		_exit(1);
	while (access(file, F_OK) == 0) {
		*(void *volatile *)&(void *){ NULL } = malloc(10);
		nanosleep(&nap, NULL);
	}
	exit(0);
}

int main(int argc, char *argv[])
{
	int status = 1;

	if (argc < 2)
		return 1;
	if (fork() == 0)
		child(argc, argv);
	wait(&status);
	return status != 0;
}
