/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of frames and reports (output_file.h). */
#include "src/run/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/run/failure.h"

static int failed(const struct options *o, const char *why)
{
	failure_print_reason(o->output ? o->output : "output", why);
	return -1;
}

static bool same_file(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino && S_ISREG(a.st_mode);
}

/* Whether -o names an input file: opening it would empty it. */
static bool is_input(const struct options *o)
{
	bool is = o->file && same_file(o->output, o->file);

	for (unsigned side = 0; side < 2; side++)
		for (unsigned i = 0; !is && i < o->diff[side].count; i++)
			is = same_file(o->output, o->diff[side].file[i]);
	for (unsigned i = 0; !is && i < o->nsuppressions; i++)
		is = same_file(o->output, o->suppressions[i]);
	return is;
}

int output_file_open(const struct options *o, int stream)
{
	int fd;

	if (!o->output)
		return stream;
	if (is_input(o))
		return failed(o, "is an input file, so -o cannot write to it");
	fd = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	return fd < 0 ? failed(o, strerror(errno)) : fd;
}

int output_file_put(int fd, struct strbuf *text, const struct options *o)
{
	int rc = strbuf_write(text, fd);

	strbuf_free(text);
	if (rc != 0)
		failed(o, strerror(-rc));
	return rc;
}
