/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A segment in an anonymous file, random numbers, and child processes, for the tests of shm/. */
#ifndef TESTS_UNIT_SHM_FIXTURE_H
#define TESTS_UNIT_SHM_FIXTURE_H

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "shm/segment.h"
#include "tests/check.h"

#define FIXTURE_CREATED_NS 5000000000ull

static const struct segment_identity fixture_identity = { .pid = 4711,
	.ppid = 4710,
	.uid = 1000,
	.exec_gen = 3,
	.depth = 64,
	.start_ticks = 123456789,
	.created_realtime_ns = 1700000000000000000ull,
	.created_ns = FIXTURE_CREATED_NS,
	.family = 0xfeedf00dull,
	.boot_id = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } };

struct fixture {
	struct segment s;
	int fd;
};

/* Without a segment no test of the program means anything: says so and ends. */
static inline void fixture_open(struct fixture *f, enum segment_size size)
{
	int rc;

	f->fd = memfd_create("segment", MFD_CLOEXEC);
	rc = f->fd < 0 ? -errno : segment_create(&f->s, f->fd, size, &fixture_identity);
	if (rc != 0) {
		printf("not ok - fixture: no segment: %s\n", strerror(-rc));
		exit(1);
	}
}

static inline void fixture_close(struct fixture *f)
{
	segment_unmap(&f->s);
	close(f->fd);
}

/* xorshift64*; source: Vigna, "An experimental exploration of Marsaglia's xorshift generators". */
static inline uint64_t fixture_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

/* Runs `body` in a child, where its CHECKs count; a signal that kills it is a failure as well. */
static inline void fixture_in_child(void (*body)(void))
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		check_failed_here = 0;
		body();
		fflush(NULL);
		_exit(check_failed_here ? 1 : 0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_INT(WIFSIGNALED(status) ? WTERMSIG(status) : 0, 0);
	CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

#endif
