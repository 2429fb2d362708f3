/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A directory of the test's own for segments, and looking into one that is there. */
#ifndef TESTS_UNIT_LAUNCH_FIXTURE_H
#define TESTS_UNIT_LAUNCH_FIXTURE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "shm/segment.h"
#include "tests/check.h"

static char launch_dir[64];

/* Segments are made and looked for there from now on. */
static inline void launch_dir_make(void)
{
	snprintf(launch_dir, sizeof(launch_dir), "%s/launch.XXXXXX", check_memory());
	if (!mkdtemp(launch_dir) || setenv("HEAPTOP_DIR", launch_dir, 1) != 0) {
		printf("not ok - fixture: no directory\n");
		exit(1);
	}
}

/* How many files are in it; removes them all with `remove`. */
static inline unsigned launch_dir_files(bool remove)
{
	DIR *d = opendir(launch_dir);
	struct dirent *e;
	unsigned count = 0;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		count++;
		if (remove)
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
	return count;
}

static inline void launch_dir_drop(void)
{
	launch_dir_files(true);
	rmdir(launch_dir);
}

/* Maps the segment at `path` for the test to look at or change. */
static inline bool launch_map(struct segment *s, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), rc = fd < 0 ? -errno : segment_map(s, fd);

	if (fd >= 0)
		close(fd);
	CHECK_INT(rc, 0);
	return rc == 0;
}

#endif
