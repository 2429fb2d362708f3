/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of shared mappings (mapped_file.h). Source: proc(5), lseek(2). */
#include "src/leak/access/mapped_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES (4096 + 32) /* of a path in its root */
#define WORD	   sizeof(uint64_t)

/* Opens the file if it is the mapping's: opening a device could have effects. */
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

/* Memory without a file that a descriptor could be of: MAP_ANONYMOUS, and System V's. */
static bool is_anonymous(const struct leak_map *m)
{
	return strncmp(m->path, "/dev/zero", strlen("/dev/zero")) == 0 ||
	       strncmp(m->path, "/SYSV", strlen("/SYSV")) == 0;
}

/* Named memory (memfd), or an unlinked file, that the process still has open. */
static int descriptor_open(struct leak_mapped_file *f, const struct leak_mapped_file_reader *r,
	const struct leak_map *m)
{
	char path[64];
	const struct dirent *entry;
	int fd = -1;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)r->pid);
	fds = is_anonymous(m) ? NULL : opendir(path);
	while (fds && fd < 0 && f->looked < LEAK_DESCRIPTORS_MAX &&
		!leak_progress_is_cancelled(r->progress) && (entry = readdir(fds))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", (int)r->pid, entry->d_name);
		if (entry->d_name[0] == '.')
			continue;
		fd = file_open(path, m, false);
		f->looked++;
	}
	if (fds)
		closedir(fds);
	return fd;
}

/* A layered file system reports another device than the mapping, so a path matches any device. */
static int mapping_open(struct leak_mapped_file *f, const struct leak_mapped_file_reader *r,
	const struct leak_map *m)
{
	char path[PATH_BYTES];
	pid_t pid = r->pid;
	int fd;

	if (pid == 0)
		return *m->path == '/' ? file_open(m->path, m, true) : -1;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->start,
		m->end);
	fd = file_open(path, m, true);
	if (fd < 0 && *m->path == '/') {
		snprintf(path, sizeof(path), "/proc/%d/root%.4000s", (int)pid, m->path);
		fd = file_open(path, m, true);
	}
	return fd >= 0 ? fd : descriptor_open(f, r, m);
}

/* Reads a part of the file without a hole; *absent counts what cannot be read. False: the file
 * ends there. */
static bool part_stream(struct leak_mapped_file *f, const struct leak_mapped_file_reader *r,
	const struct leak_map *m, uint64_t start, uint64_t end, uint64_t *absent)
{
	while (start < end && !leak_progress_is_cancelled(r->progress)) {
		uint64_t bytes = end - start < LEAK_BUFFER_BYTES ? end - start : LEAK_BUFFER_BYTES;
		ssize_t got = -1;

		if (f->read_bytes + bytes <= LEAK_MAPPED_FILE_MAX)
			got = pread(f->fd, r->buffer, bytes, (off_t)(start - m->start + m->offset));
		if (got < 0)
			*absent += end - start;
		if (got < (ssize_t)WORD)
			return got < 0;
		got -= got % (ssize_t)WORD;
		f->read_bytes += (uint64_t)got;
		r->visit(r->ctx, start, r->buffer, (size_t)got / WORD);
		start += (uint64_t)got;
	}
	return true;
}

uint64_t leak_mapped_file_stream(struct leak_mapped_file *f,
	const struct leak_mapped_file_reader *r, const struct leak_map *m, uint64_t start,
	uint64_t end)
{
	uint64_t shift = m->start - m->offset; /* an address minus its place in the file */
	uint64_t absent = 0;

	if (!f->is_open || f->start != m->start) {
		leak_mapped_file_close(f);
		f->fd = mapping_open(f, r, m);
		f->start = m->start;
		f->is_open = true;
	}
	if (f->fd < 0)
		return end - start;
	while (start < end && !leak_progress_is_cancelled(r->progress)) {
		off_t data = lseek(f->fd, (off_t)(start - shift), SEEK_DATA), hole;
		uint64_t to = end;

		if (data < 0 && errno == ENXIO)
			break; /* the rest is a hole, or the file ends */
		if (data >= 0)
			start = (uint64_t)data + shift;
		hole = lseek(f->fd, (off_t)(start - shift), SEEK_HOLE);
		if (hole >= 0 && (uint64_t)hole + shift < end)
			to = (uint64_t)hole + shift;
		if (start >= to || !part_stream(f, r, m, start, to, &absent))
			break;
		start = to;
	}
	return absent;
}

void leak_mapped_file_close(struct leak_mapped_file *f)
{
	if (f->is_open && f->fd >= 0)
		close(f->fd);
	f->is_open = false;
}
