/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that hold recordings, for the tests of src/record: in a folder of the test's own. */
#ifndef TESTS_UNIT_RECORD_FILE_FIXTURE_H
#define TESTS_UNIT_RECORD_FILE_FIXTURE_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/record/recording.h"
#include "tests/unit/record_fixture.h"

/* In memory: thousands of small files are written. */
static char folder[64];
static char path[80], other[80];
static char message[RECORDING_MESSAGE_MAX];

static inline struct recording_writer *create(uint64_t limit)
{
	struct recording_writer *w = recording_create(path,
		&(struct recording_options){ .limit_bytes = limit, .version = "0.1" }, message);

	CHECK(w != NULL);
	if (!w)
		fprintf(stderr, "%s\n", message);
	return w;
}

static inline struct recording *reopen(const char *file)
{
	struct recording *r = recording_open(file, message);

	if (!r)
		fprintf(stderr, "%s\n", message);
	CHECK(r != NULL);
	return r;
}

static inline void add(struct recording_writer *w, struct program *p)
{
	struct snapshot *s = program_snapshot(p);

	CHECK_INT(recording_add(w, s), 0);
	snapshot_unref(s);
}

static inline void end(struct recording_writer *w, struct program *p)
{
	struct snapshot *s = program_snapshot(p);

	CHECK_INT(recording_end(w, s), 0);
	snapshot_unref(s);
}

static inline size_t file_size(const char *file)
{
	struct stat st = { 0 };

	stat(file, &st);
	return (size_t)st.st_size;
}

static inline char *file_load(const char *file, size_t *len)
{
	int fd = open(file, O_RDONLY);
	char *data = malloc(file_size(file) + 1);

	*len = (size_t)read(fd, data, file_size(file));
	close(fd);
	return data;
}

static inline void file_save(const char *file, const char *data, size_t len)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(write(fd, data, len) == (ssize_t)len);
	close(fd);
}

static inline struct snapshot *past(
	struct recording *r, size_t stream, struct snapshot *base, uint64_t ns)
{
	return history_snapshot(recording_history(r, stream), base,
		&(struct moment){ .kind = SNAP_PAST, .ns = ns });
}

static inline void folder_make(void)
{
	snprintf(folder, sizeof(folder), "%.40s/record.XXXXXX", check_memory());
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
}

static inline void folder_remove(void)
{
	unlink(path);
	unlink(other);
	rmdir(folder);
}

#endif
