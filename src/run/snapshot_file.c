/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A snapshot that the user saves (snapshot_file.h). */
#include "src/run/snapshot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/export/formats.h"
#include "src/model/moment.h"
#include "src/record/recording.h"

#define NAME_BYTES  64
#define NUMBERS_MAX 10000 /* files of one process; more are a mistake */

#define RECORDING "heaptop" /* format and suffix */

struct saving {
	const struct snapshot *rows;
	const struct export_options *e;
	int fd;
	const char *path; /* of the file that is open */
};

const char *const *snapshot_file_formats(void)
{
	static const char *names[EXPORT_FORMATS + 2];
	size_t n = 0;

	if (names[0])
		return names;
	for (size_t i = 0; i < EXPORT_FORMATS; i++)
		if (i != EXPORT_JUNIT) /* a verdict, which the screen has none of */
			names[n++] = export_formats[i].name;
	names[n] = RECORDING;
	return names;
}

/* NULL: there is no such format. */
static const struct export_format *format_find(const char *name)
{
	for (size_t i = 0; i < EXPORT_FORMATS; i++)
		if (i != EXPORT_JUNIT && strcmp(export_formats[i].name, name) == 0)
			return &export_formats[i];
	return NULL;
}

/* All call sites, with the leak scan that belongs to the rows. */
static struct snapshot whole(const struct saving *s)
{
	struct snapshot all = s->e->whole ? *s->e->whole : *s->rows;

	all.leaks = s->rows->leaks;
	return all;
}

/* Text is what the screen shows; other formats are for programs, and have everything. */
static int export_put(const struct saving *s, const struct export_format *format)
{
	struct export_options e = *s->e;
	struct strbuf text = STRBUF_INIT;
	struct snapshot all = whole(s);
	int rc;

	if (format == &export_formats[EXPORT_TEXT]) {
		format->write(&text, s->rows, &e);
	} else {
		e.filter = NULL;
		e.group = GROUP_STACK;
		e.sites = all.nsites;
		format->write(&text, &all, &e);
	}
	rc = strbuf_write(&text, s->fd);
	strbuf_free(&text);
	return rc;
}

static int tick_put(const struct saving *s, const struct snapshot *all)
{
	struct recording_options options = { .version = HEAPTOP_VERSION };
	char message[RECORDING_MESSAGE_MAX];
	struct recording_writer *w = recording_create(s->path, &options, message);
	int rc, closed;

	if (!w)
		return -EIO;
	rc = recording_add(w, all);
	if (rc == 0)
		rc = recording_end(w, all);
	closed = recording_close(w);
	return rc ? rc : closed;
}

/* A recording of one tick. It replaces the empty file. */
static int recording_put(const struct saving *s)
{
	struct snapshot all = whole(s);
	struct snap_site *sites = NULL;
	char notice[MOMENT_NOTICE_MAX];
	int rc;

	if (all.moment == SNAP_PEAK) {
		sites = malloc((all.nsites + 1) * sizeof(*sites));
		if (!sites)
			return -ENOMEM;
		moment_alone(&all, sites, notice);
	}
	rc = tick_put(s, &all);
	free(sites);
	return rc;
}

/* Returns the descriptor of a new file, or -errno. */
static int file_create(char path[NAME_BYTES], uint64_t pid, const char *suffix)
{
	int fd = -1;

	errno = EEXIST;
	for (int n = 1; fd < 0 && n < NUMBERS_MAX && errno == EEXIST; n++) {
		snprintf(path, NAME_BYTES, "heaptop-snapshot-%d-%d.%s", (int)pid, n, suffix);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	}
	return fd < 0 ? -errno : fd;
}

/* -r reads it. */
static bool can_be_reopened(const struct export_format *as)
{
	return !as || as == &export_formats[EXPORT_JSON];
}

/* The name first: a narrow screen cuts the folder off. */
static void saved_line(
	const struct saving *s, const struct export_format *as, char *msg, size_t cap)
{
	char folder[PATH_MAX];

	snprintf(msg, cap, "saved %s%s in %s", s->path,
		can_be_reopened(as) ? " (heaptop -r opens it)" : "",
		getcwd(folder, sizeof(folder)) ? folder : "the current directory");
}

int snapshot_file_save(const struct snapshot *s, const struct export_options *e, const char *format,
	char *msg, size_t cap)
{
	const char *name = format ? format : export_formats[EXPORT_TEXT].name;
	const struct export_format *as = format_find(name);
	struct saving saving = { .rows = s, .e = e };
	char path[NAME_BYTES];
	int rc;

	if (!as && strcmp(name, RECORDING) != 0) {
		snprintf(msg, cap, "not exported: there is no format \"%.40s\"", name);
		return -EINVAL;
	}
	saving.path = path;
	saving.fd = file_create(path, (uint64_t)s->pid, as ? as->suffix : RECORDING);
	rc = saving.fd < 0 ? saving.fd : as ? export_put(&saving, as) : recording_put(&saving);
	if (saving.fd >= 0 && close(saving.fd) != 0 && rc == 0)
		rc = -errno;
	if (saving.fd >= 0 && rc != 0)
		unlink(path); /* no part of it */
	if (rc == 0)
		saved_line(&saving, as, msg, cap);
	else
		snprintf(msg, cap, "%s: not saved: %s", path, strerror(-rc));
	return rc;
}
