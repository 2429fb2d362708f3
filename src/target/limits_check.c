/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptors and memory needed at the start (limits_check.h). Main thread. */
#include "src/target/limits_check.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/target/target.h"
#include "src/util/error_hint.h"
#include "src/util/units.h"

/* On top of those open at the start: a leak scan and the watching around it need 9. */
#define FILES_LEAST 12
/* A small program's report takes some 3 MB. */
#define MEMORY_LEAST (8ull << 20)

/* The number of further files that can be open, up to `most`. */
static int files_try(int most)
{
	int fd[FILES_LEAST], n = 0;

	while (n < most && (fd[n] = eventfd(0, EFD_CLOEXEC)) >= 0)
		n++;
	for (int i = 0; i < n; i++)
		close(fd[i]);
	return n;
}

static int files_check(char *message)
{
	char what[64];
	int n, error;

	errno = 0;
	n = files_try(FILES_LEAST);
	error = errno;
	if (n == FILES_LEAST)
		return 0;
	snprintf(what, sizeof(what), "cannot open %d more files, only %d", FILES_LEAST, n);
	error_hint_line(message, TARGET_MESSAGE_MAX, what, error);
	return -error;
}

static int memory_check(char *message)
{
	void *p = mmap(
		NULL, MEMORY_LEAST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char what[64], bytes[UNITS_MAX];
	int error = errno;

	if (p != MAP_FAILED)
		munmap(p, MEMORY_LEAST);
	if (p != MAP_FAILED || error != ENOMEM)
		return 0;
	snprintf(what, sizeof(what), "cannot have %s of memory", units_bytes(bytes, MEMORY_LEAST));
	error_hint_line(message, TARGET_MESSAGE_MAX, what, error);
	return -error;
}

int limits_check(char *message)
{
	int rc = files_check(message);

	return rc != 0 ? rc : memory_check(message);
}
