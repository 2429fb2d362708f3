/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of a new recording (new_file.h). Main thread. */
#include "src/record/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/util/error_hint.h"

#define WHAT_MAX	    256u
#define SEGMENT_MAGIC	    "heaptop1" /* HT_MAGIC of shm/layout.h, as it lies in memory */
#define SEGMENT_MAGIC_BYTES 8

static bool is_segment(int fd)
{
	char magic[SEGMENT_MAGIC_BYTES];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       memcmp(magic, SEGMENT_MAGIC, sizeof(magic)) == 0;
}

int new_file_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	struct stat st;
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		rc = -errno;
	else if (!S_ISREG(st.st_mode))
		rc = -EINVAL;
	else if (is_segment(fd))
		rc = -EEXIST;
	else if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		rc = -errno;
	else if (ftruncate(fd, 0) != 0)
		rc = -errno;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

void new_file_failed(const char *path, int rc, char *message, size_t room)
{
	char what[WHAT_MAX];

	snprintf(what, sizeof(what), "cannot record to %s", path);
	if (rc == -EINVAL)
		snprintf(message, room, "%s: not a regular file", what);
	else if (rc == -EWOULDBLOCK)
		snprintf(message, room, "%s: another heaptop records to it", what);
	else if (rc == -EEXIST)
		snprintf(message, room, "%s: it is the segment of a program", what);
	else
		error_hint_line(message, room, what, rc);
}
