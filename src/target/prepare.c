/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preparing a segment (prepare.h). The name is random and made with O_EXCL, so nobody can have been
 * there first. Main thread, before the program is started.
 */
#include "src/target/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "shm/segment.h"
#include "src/proc/proc.h"
#include "src/util/clock.h"

struct prepared {
	struct segment segment;
	char path[256];
	uint64_t family;
	int fd;
};

static const char *directory(void)
{
	const char *dir = getenv("HEAPTOP_DIR");

	return dir && *dir ? dir : "/dev/shm";
}

static int fail(char *message, const char *what, int error)
{
	snprintf(message, TARGET_MESSAGE_MAX, "no shared memory for the recording: %.100s: %s%s",
		what, strerror(error),
		error == ENOSPC ? " (free some, or name another place in HEAPTOP_DIR)" : "");
	return -error;
}

static void identity(struct segment_identity *id, unsigned depth, uint64_t family)
{
	memset(id, 0, sizeof(*id));
	id->uid = geteuid();
	id->depth = depth;
	id->family = family;
	id->pid_namespace = proc_pid_namespace();
	id->created_realtime_ns = clock_realtime_ns();
	id->created_ns = clock_monotonic_ns();
	proc_boot_id(id->boot_id);
}

/* New processes of the launch leave their segments to us while they find this lock, on the first
 * byte (preload/attach.c): it goes with us, even when we are killed. */
static void presence_tell(int fd)
{
	struct flock first = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };

	/* Where there are no locks, they find that, too, and leave them to us. */
	(void)fcntl(fd, F_OFD_SETLK, &first);
}

static int create(struct prepared *p, unsigned depth)
{
	struct segment_identity id;
	int rc;

	p->fd = open(p->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (p->fd < 0)
		return -errno;
	identity(&id, depth, p->family);
	rc = segment_create(&p->segment, p->fd, SEGMENT_FULL, &id);
	if (rc != 0 && ftruncate(p->fd, 0) == 0)
		rc = segment_create(&p->segment, p->fd, SEGMENT_SMALL, &id);
	if (rc == 0) {
		presence_tell(p->fd);
		return 0;
	}
	close(p->fd);
	unlink(p->path);
	return rc;
}

struct prepared *prepare_segment(unsigned depth, char *message)
{
	struct prepared *p = calloc(1, sizeof(*p));
	uint64_t name[2];
	int rc = -ENOMEM, len;

	if (!p)
		goto fail;
	if (getrandom(name, sizeof(name), 0) != sizeof(name)) {
		rc = -errno;
		goto fail;
	}
	p->family = name[1] | 1; /* never 0 */
	len = snprintf(p->path, sizeof(p->path), "%s/heaptop-%016llx", directory(),
		(unsigned long long)name[0]);
	rc = (size_t)len < sizeof(p->path) ? create(p, depth) : -ENAMETOOLONG;
	if (rc == 0)
		return p;
fail:
	fail(message, directory(), -rc);
	free(p);
	return NULL;
}

const char *prepare_path(const struct prepared *p)
{
	return p->path;
}

uint64_t prepare_family(const struct prepared *p)
{
	return p->family;
}

int prepare_bind(struct prepared *p, pid_t pid)
{
	uint64_t ticks;
	int rc = proc_start_ticks(pid, &ticks);

	if (rc != 0)
		return rc;
	p->segment.header->start_ticks = ticks;
	p->segment.header->ppid = (uint32_t)getpid();
	p->segment.header->pid = (uint32_t)pid;
	return 0;
}

static int header_put(const char *path, size_t at, const void *word, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (pwrite(fd, word, bytes, (off_t)at) != (ssize_t)bytes)
		rc = -EIO;
	close(fd);
	return rc;
}

int prepare_disown(const char *path)
{
	const uint64_t none = 0;

	return header_put(path, offsetof(struct ht_header, family), &none, sizeof(none));
}

int prepare_unasked(const char *path)
{
	const uint32_t done = 1;

	return header_put(path, offsetof(struct ht_header, leak_done), &done, sizeof(done));
}

void prepare_end(struct prepared *p, bool remove)
{
	if (!p)
		return;
	segment_unmap(&p->segment);
	close(p->fd);
	if (remove)
		unlink(p->path);
	free(p);
}
