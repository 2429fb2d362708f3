/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening, checking, identifying and removing a segment (read.h). Each other file of this folder
 * reads one part of it: totals.c, sites.c, stacks.c, blocks.c and so on. Main thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/read/segment.h"
#include "src/util/error_hint.h"

static int refuse(char *message, const char *path, const char *why)
{
	snprintf(message, READ_MESSAGE_MAX, "%.120s: %s", path, why);
	return -1;
}

static int refuse_error(char *message, const char *path, int error)
{
	char what[128];

	snprintf(what, sizeof(what), "%.120s", path);
	error_hint_line(message, READ_MESSAGE_MAX, what, error);
	return -1;
}

#define OWN_DESCRIPTORS "/proc/self/fd/" /* memory of ours, which has the account of a core */

static int file_open(const char *path)
{
	bool own = strncmp(path, OWN_DESCRIPTORS, strlen(OWN_DESCRIPTORS)) == 0;

	return open(path, O_RDONLY | (own ? 0 : O_NOFOLLOW) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Checks owner, type and mode of the file. */
static int file_check(int fd, const char *path, uint64_t *bytes, char *message)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return refuse(message, path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse(message, path, "not a regular file");
	if (st.st_uid != geteuid() && geteuid() != 0)
		return refuse(message, path, "belongs to another user");
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return refuse(message, path, "other users may write it (fix: chmod 600)");
	*bytes = (uint64_t)st.st_size;
	return 0;
}

/* Checks the header; on failure writes the reason to `message`. */
static int header_check(const struct ht_header *h, const char *path, uint64_t bytes, char *message)
{
	char why[128];

	if (h->magic != HT_MAGIC)
		return refuse(message, path, "not a heaptop segment, recording or JSON report");
	if (h->version != HT_VERSION || h->signature != HT_SIGNATURE) {
		snprintf(why, sizeof(why),
			"segment format %u.%08x, but this heaptop reads %u.%08x (use the heaptop "
			"that wrote it)",
			h->version, h->signature, HT_VERSION, HT_SIGNATURE);
		return refuse(message, path, why);
	}
	if (h->segment_bytes > bytes) {
		snprintf(why, sizeof(why), "truncated: %llu of %llu bytes",
			(unsigned long long)bytes, (unsigned long long)h->segment_bytes);
		return refuse(message, path, why);
	}
	if (!segment_check(h, bytes))
		return refuse(
			message, path, "damaged segment: the sizes in its header are inconsistent");
	return 0;
}

static int segment_load(struct read_segment *s, const char *path, char *message)
{
	uint64_t bytes;

	if (file_check(s->fd, path, &bytes, message) != 0)
		return -1;
	if (bytes < sizeof(*s->header) || read_at(s, 0, s->header, sizeof(*s->header)) != 0)
		return refuse(message, path, "not a heaptop segment, recording or JSON report");
	return header_check(s->header, path, bytes, message);
}

/* Takes over the descriptor; one below 0: the opening failed with `error`. */
static struct read_segment *reader_new(int fd, int error, const char *path, char *message)
{
	struct read_segment *s = calloc(1, sizeof(*s));

	if (!s || !(s->header = malloc(sizeof(*s->header))) || !(s->path = strdup(path))) {
		refuse_error(message, path, ENOMEM);
		goto fail;
	}
	if (fd < 0) {
		if (error == ELOOP)
			refuse(message, path, "is a symbolic link");
		else
			refuse_error(message, path, error);
		goto fail;
	}
	s->fd = fd;
	s->write_fd = -1;
	if (segment_load(s, path, message) != 0)
		goto fail;
	s->cursors = calloc(
		read_capacity(s, HT_REGION_THREADS, sizeof(struct ht_thread)), sizeof(*s->cursors));
	if (s->cursors)
		return s;
	refuse_error(message, path, ENOMEM);
fail:
	if (s)
		s->fd = s->write_fd = -1;
	read_close(s);
	if (fd >= 0)
		close(fd);
	return NULL;
}

struct read_segment *read_open(const char *path, char *message)
{
	int fd = file_open(path);

	return reader_new(fd, errno, path, message);
}

/* Both share the lock of read_viewer_lock. */
struct read_segment *read_open_again(const struct read_segment *s, char *message)
{
	int fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
	struct read_segment *again = reader_new(fd, errno, s->path, message);

	if (again)
		again->frozen = s->frozen;
	return again;
}

void read_close(struct read_segment *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	if (s->write_fd >= 0)
		close(s->write_fd);
	if (s->words)
		munmap(s->words, HT_HEADER_BYTES);
	free(s->refreshed);
	free(s->nodes);
	free(s->cursors);
	free(s->header);
	free(s->path);
	free(s);
}

const char *read_path(const struct read_segment *s)
{
	return s->path;
}

/* Copies a fixed-size text field, which may lack its NUL. */
static void text_copy(char *out, const char *in, size_t cap)
{
	memcpy(out, in, cap);
	out[cap - 1] = '\0';
}

static void identity_fill(const struct ht_header *h, struct read_identity *out)
{
	out->version = h->version;
	out->state = h->state;
	out->pid = (int32_t)h->pid;
	out->ppid = (int32_t)h->ppid;
	out->uid = h->uid;
	out->start_ticks = h->start_ticks;
	out->exec_gen = h->exec_gen;
	out->depth = h->depth;
	out->created_realtime_ns = h->created_realtime_ns;
	out->created_ns = h->created_ns;
	out->family = h->family;
	out->pid_namespace = h->pid_namespace;
	out->forked = h->forked != 0;
	text_copy(out->parent, h->parent, sizeof(out->parent));
	memcpy(out->boot_id, h->boot_id, sizeof(out->boot_id));
	text_copy(out->exe, h->exe, sizeof(out->exe));
	text_copy(out->why, h->why, sizeof(out->why));
	text_copy(out->command, h->command, sizeof(out->command));
	out->command_bytes =
		h->command_bytes < HT_COMMAND_MAX ? h->command_bytes : HT_COMMAND_MAX - 1;
}

bool read_is_forked(const struct read_segment *s)
{
	return s->header->forked != 0;
}

int read_identity(struct read_segment *s, struct read_identity *out)
{
	const struct ht_header *h;
	int rc = read_header_refresh(s, &h);

	if (rc == 0)
		identity_fill(h, out);
	return rc;
}

int read_identity_of_file(const char *path, struct read_identity *out, char *message)
{
	struct read_segment *s = read_open(path, message);

	if (!s)
		return -EPROTO;
	identity_fill(s->header, out);
	read_close(s);
	return 0;
}

static int owner_read(int fd, const char *path, struct read_identity *out)
{
	const size_t bytes = offsetof(struct ht_header, region);
	struct ht_header *h = calloc(1, sizeof(*h));
	char message[READ_MESSAGE_MAX];
	uint64_t size;
	int rc = h ? -EPROTO : -ENOMEM;

	if (h && file_check(fd, path, &size, message) == 0 &&
		pread(fd, h, bytes, 0) == (ssize_t)bytes && h->magic == HT_MAGIC &&
		h->version == HT_VERSION) {
		identity_fill(h, out);
		rc = 0;
	}
	free(h);
	return rc;
}

int read_owner_of_file(const char *path, struct read_identity *out)
{
	int fd = file_open(path), rc;

	if (fd < 0)
		return -errno;
	rc = owner_read(fd, path, out);
	close(fd);
	return rc;
}

int read_viewer_lock(struct read_segment *s)
{
	return flock(s->fd, LOCK_SH | LOCK_NB) == 0 ? 0 : -errno;
}

/*
 * Processes of a launch keep the first page of its first segment mapped, for the word that says
 * whether a viewer is there. That keeps the removed file and would keep all of its memory, so the
 * rest is punched out; not if the process that writes the segment may still exist.
 */
static void memory_release(struct read_segment *s)
{
	struct read_identity id;
	struct stat st;

	if (read_identity(s, &id) != 0 || kill((pid_t)id.pid, 0) == 0 || errno != ESRCH ||
		fstat(s->fd, &st) != 0 || st.st_size <= HT_HEADER_BYTES || read_write_open(s) != 0)
		return;
	(void)fallocate(s->write_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, HT_HEADER_BYTES,
		st.st_size - HT_HEADER_BYTES);
}

/* Unlinks the file that `fd` has open, unless a viewer holds it. */
static bool file_remove(int fd, const char *path)
{
	struct stat mine, there;

	/* The name may belong to another file by now. */
	return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &mine) == 0 &&
	       lstat(path, &there) == 0 && mine.st_ino == there.st_ino &&
	       mine.st_dev == there.st_dev && unlink(path) == 0;
}

bool read_remove_if_unused(struct read_segment *s)
{
	if (!file_remove(s->fd, s->path))
		return false;
	memory_release(s);
	return true;
}

bool read_remove_file(const char *path)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *s = read_open(path, message);
	int fd = s ? -1 : file_open(path);
	bool removed = s ? read_remove_if_unused(s) : fd >= 0 && file_remove(fd, path);

	if (fd >= 0)
		close(fd);
	read_close(s);
	return removed;
}

uint64_t read_memory_bytes(const struct read_segment *s)
{
	struct stat st;

	return fstat(s->fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}
