/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of shared mappings (backing.h). Source: proc(5), lseek(2). */
#include "src/leak/access/mapped_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/leak/access/space.h"

#define PATH_BYTES (4096 + 32) /* of a path in its root */
#define WORD	   sizeof(uint64_t)

/* Opens the file if it is that of the mapping: to open a device could do something. */
static int file_open(const char *path, const struct leak_map *m, bool any_device)
{
	int there = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char self[32];
	struct stat st;

	if (there < 0)
		return -1;
	if (fstat(there, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == m->inode &&
		(any_device || st.st_dev == m->device)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", there);
		fd = open(self, O_RDONLY | O_CLOEXEC);
	}
	close(there);
	return fd;
}

/* Memory with a name, or a file without, that it still has open. */
static int descriptor_open(pid_t pid, const struct leak_map *m)
{
	char path[64];
	const struct dirent *entry;
	int fd = -1;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	fds = opendir(path);
	while (fds && fd < 0 && (entry = readdir(fds))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", (int)pid, entry->d_name);
		if (entry->d_name[0] != '.')
			fd = file_open(path, m, false);
	}
	if (fds)
		closedir(fds);
	return fd;
}

/* A file system of layers has another device than the mapping tells, so by its path any will do. */
static int mapping_open(const struct leak_space *s, const struct leak_map *m)
{
	char path[PATH_BYTES];
	int fd;

	if (s->lent) /* all that is its own is closed to us */
		return *m->path == '/' ? file_open(m->path, m, true) : -1;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)s->pid,
		m->start, m->end);
	fd = file_open(path, m, true);
	if (fd < 0 && *m->path == '/') {
		snprintf(path, sizeof(path), "/proc/%d/root%.4000s", (int)s->pid, m->path);
		fd = file_open(path, m, true);
	}
	return fd >= 0 ? fd : descriptor_open(s->pid, m);
}

/* A part of the file without a hole; false: there is no more of it. */
static bool part_stream(struct leak_space *s, const struct leak_map *m, uint64_t start,
	uint64_t end, leak_mapped_file_visit *visit, void *ctx)
{
	while (start < end && !leak_space_cancelled(s)) {
		uint64_t bytes = end - start < LEAK_BUFFER_BYTES ? end - start : LEAK_BUFFER_BYTES;
		ssize_t got = -1;

		if (s->backing.read_bytes + bytes <= LEAK_MAPPED_FILE_MAX)
			got = pread(s->backing.fd, s->buffer, bytes,
				(off_t)(start - m->start + m->offset));
		if (got < 0)
			s->absent_bytes += end - start;
		if (got < (ssize_t)WORD)
			return got < 0;
		got -= got % (ssize_t)WORD;
		s->backing.read_bytes += (uint64_t)got;
		leak_space_count(s, (uint64_t)got);
		visit(ctx, start, s->buffer, (size_t)got / WORD);
		start += (uint64_t)got;
	}
	return true;
}

void leak_mapped_file_stream(struct leak_space *s, const struct leak_map *m, uint64_t start,
	uint64_t end, leak_mapped_file_visit *visit, void *ctx)
{
	struct leak_mapped_file *b = &s->backing;
	uint64_t shift = m->start - m->offset; /* of an address over its place in the file */

	if (!b->is_open || b->start != m->start) {
		leak_mapped_file_close(b);
		b->fd = mapping_open(s, m);
		b->start = m->start;
		b->is_open = true;
	}
	if (b->fd < 0) {
		s->absent_bytes += end - start;
		return;
	}
	while (start < end && !leak_space_cancelled(s)) {
		off_t data = lseek(b->fd, (off_t)(start - shift), SEEK_DATA), hole;
		uint64_t to = end;

		if (data < 0 && errno == ENXIO)
			return; /* nothing but a hole, or the file ends */
		if (data >= 0)
			start = (uint64_t)data + shift;
		hole = lseek(b->fd, (off_t)(start - shift), SEEK_HOLE);
		if (hole >= 0 && (uint64_t)hole + shift < end)
			to = (uint64_t)hole + shift;
		if (start >= to || !part_stream(s, m, start, to, visit, ctx))
			return;
		start = to;
	}
}

void leak_mapped_file_close(struct leak_mapped_file *b)
{
	if (b->is_open && b->fd >= 0)
		close(b->fd);
	b->is_open = false;
}
