/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A snapshot that the user saves (snapshot_file.h). */
#include "src/run/snapshot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/run/output_file.h"

#define NAME_BYTES  64
#define NUMBERS_MAX 10000 /* files of one process; more are a mistake */

/* Returns the descriptor of a new file, or -errno. */
static int file_create(char path[NAME_BYTES], uint64_t pid)
{
	int fd = -1;

	errno = EEXIST;
	for (int n = 1; fd < 0 && n < NUMBERS_MAX && errno == EEXIST; n++) {
		snprintf(path, NAME_BYTES, "heaptop-snapshot-%d-%d.txt", (int)pid, n);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	}
	return fd < 0 ? -errno : fd;
}

static int text_put(
	int fd, const struct snapshot *s, const struct export_options *e, const struct options *o)
{
	struct strbuf text = STRBUF_INIT;

	export_text(&text, s, e);
	return output_file_put(fd, &text, o) == 0 ? 0 : -EIO;
}

int snapshot_file_save(const struct snapshot *s, const struct export_options *e,
	const struct options *o, char *msg, size_t cap)
{
	char path[NAME_BYTES];
	int fd = file_create(path, s->pid), rc = fd < 0 ? fd : text_put(fd, s, e, o);

	if (fd >= 0)
		close(fd);
	if (rc == 0)
		snprintf(msg, cap, "saved %s", path);
	else
		snprintf(msg, cap, "%s: not saved: %s", path, strerror(-rc));
	return rc;
}
