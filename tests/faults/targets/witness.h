/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a program can see of itself, and heaptop must not change: signals caught, ignored and
 * blocked, threads, descriptors and what kind of file each is. witness_print writes it to stdout, a
 * line each; the row's script compares the output with that of a plain run. By system calls into
 * static memory: it neither allocates nor opens what it does not close before it looks. One thread
 * at a time.
 */
#ifndef TESTS_FAULTS_TARGETS_WITNESS_H
#define TESTS_FAULTS_TARGETS_WITNESS_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WITNESS_FDS 1024 /* descriptors checked */
#define NOINLINE    __attribute__((noinline))
/* Ends a function after a call that must stay a call, with this frame under it. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

/* Writes the lines of /proc/self/status that begin with one of the names. */
static inline void witness_status(void)
{
	static const char *const names[] = { "SigBlk:", "SigIgn:", "SigCgt:", "Threads:" };
	static char text[8192];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	close(fd);
	text[got > 0 ? got : 0] = '\0';
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *line = strstr(text, names[i]);

		if (line)
			printf("%.*s\n", (int)strcspn(line, "\n"), line);
	}
}

/* A descriptor's number and the kind of its file; for a regular one, its path. */
static inline void witness_files(void)
{
	static char path[64], to[4096];

	for (int fd = 0; fd < WITNESS_FDS; fd++) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, to, sizeof(to) - 1);
		if (length < 0)
			continue;
		to[length] = '\0';
		to[strcspn(to, "[")] = '\0'; /* of a pipe or socket: its number */
		printf("fd %d %s\n", fd, to);
	}
}

/* Waits until no more threads than these are left: one that was joined is still there for a moment.
 */
static inline void witness_threads(unsigned most)
{
	struct stat st;

	for (unsigned i = 0; i < 10000; i++) {
		if (stat("/proc/self/task", &st) == 0 && st.st_nlink <= 2 + most)
			return;
		usleep(1000);
	}
}

static inline void witness_print(const char *when)
{
	printf("-- %s\n", when);
	witness_status();
	witness_files();
	fflush(stdout);
}

/* A block that the compiler cannot do without. */
static inline void *witness_malloc(size_t bytes)
{
	void *p = malloc(bytes);

	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

/* Ends the program with a line when what must hold does not. */
static inline void witness_need(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	_exit(3);
}

#endif
