/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves one instant of a process (save.h). */
#include "src/leak/save.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/leak/core_write.h"
#include "src/proc/proc.h"
#include "src/util/array.h"
#include "src/util/oom_score.h"
#include "src/util/thread.h"

#define AUXV_MOST 4096u

struct saving {
	struct leak_access access;
	struct leak_saved *out;
	int fd;
	struct leak_core core;
	char *maps, *account;
	struct core_account_part *part;
	size_t part_capacity;
	char auxv[AUXV_MOST];
	char command[64];
	int rc;
};

/* ---- what is taken while the process stands still ---- */

static int bytes_add(struct saving *s, int fd, uint64_t offset, uint64_t bytes)
{
	char *more = realloc(s->account, s->core.account_bytes + bytes);
	uint64_t done = 0;

	if (!more)
		return -ENOMEM;
	s->account = more;
	while (done < bytes) {
		ssize_t got = pread(fd, more + s->core.account_bytes + done, bytes - done,
			(off_t)(offset + done));

		if (got <= 0)
			return -EIO;
		done += (uint64_t)got;
	}
	s->core.account_bytes += bytes;
	return 0;
}

static int part_add(struct saving *s, int fd, uint64_t offset, uint64_t bytes)
{
	void *p = array_grow(s->part, s->core.parts, &s->part_capacity, sizeof(*s->part));

	if (!p)
		return -ENOMEM;
	s->part = p;
	s->part[s->core.parts++] = (struct core_account_part){ offset, bytes };
	return bytes_add(s, fd, offset, bytes);
}

/* The parts of the segment that hold something: its holes stay holes. */
static int parts_take(struct saving *s, int fd, uint64_t end)
{
	uint64_t at = 0;
	int rc = 0;

	while (rc == 0 && at < end) {
		off_t data = lseek(fd, (off_t)at, SEEK_DATA), hole;

		if (data < 0)
			return errno == ENXIO ? 0 : -errno;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole <= data)
			return -EIO;
		rc = part_add(s, fd, (uint64_t)data, (uint64_t)(hole - data));
		at = (uint64_t)hole;
	}
	return rc;
}

static int account_take(struct saving *s)
{
	int fd = open(read_path(s->access.segment), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int rc;

	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) == 0 ? 0 : -errno;
	s->core.segment_bytes = rc == 0 ? (uint64_t)st.st_size : 0;
	if (rc == 0)
		rc = parts_take(s, fd, s->core.segment_bytes);
	close(fd);
	return rc;
}

static int texts_take(struct saving *s)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)s->access.space.pid);
	s->maps = proc_file_read_all(path, &s->core.maps_bytes);
	if (!s->maps)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)s->access.pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, s->auxv, sizeof(s->auxv));
	s->core.auxv_bytes = got > 0 ? (size_t)got : 0;
	if (fd >= 0)
		close(fd);
	return 0;
}

/* ---- all of it ---- */

static int identity_take(struct saving *s)
{
	struct read_identity id;
	int rc = read_identity(s->access.segment, &id);
	const char *slash = rc == 0 ? strrchr(id.exe, '/') : NULL;

	if (rc != 0)
		return rc;
	s->core.pid = id.pid;
	snprintf(s->command, sizeof(s->command), "%.60s", slash ? slash + 1 : id.exe);
	return 0;
}

static int instant_write(struct saving *s)
{
	struct leak_core *c = &s->core;

	c->command = s->command;
	c->stop = &s->access.stop;
	c->maps = s->maps;
	c->auxv = s->auxv;
	c->part = s->part;
	c->account = s->account;
	return leak_core_write(s->fd, c, &s->access.space, &s->out->bytes);
}

static int instant_take(struct saving *s)
{
	int rc = leak_access_take(&s->access);

	if (rc == 0)
		rc = leak_access_open(&s->access);
	if (rc == 0)
		rc = texts_take(s);
	if (rc == 0)
		rc = account_take(s);
	if (rc == 0)
		rc = leak_access_detach(&s->access);
	return rc == 0 ? instant_write(s) : rc;
}

/* The thread that stops the process must end (stop.h). */
static void *save_run(void *ctx)
{
	struct saving *s = ctx;

	leak_access_prepare(&s->access);
	s->access.has_table = true; /* account_take copies it */
	s->rc = identity_take(s);
	if (s->rc == 0)
		s->rc = instant_take(s);
	s->out->unread_bytes = s->access.space.unread_bytes + s->access.space.absent_bytes;
	s->rc = leak_access_release(&s->access, s->rc);
	return NULL;
}

static int save_in_thread(struct saving *s)
{
	pthread_t thread;
	int rc = thread_start(&thread, THREAD_STACK_BYTES, save_run, s);

	if (rc != 0)
		return rc;
	pthread_join(thread, NULL);
	leak_access_reset(&s->access);
	leak_access_close(&s->access);
	return s->rc;
}

int leak_save(
	struct read_segment *segment, pid_t pid, int fd, struct leak_saved *out, char *message)
{
	struct saving *s = calloc(1, sizeof(*s));
	int rc = -ENOMEM;

	*out = (struct leak_saved){ 0 };
	*message = '\0';
	oom_score_raise();
	if (s) {
		s->out = out;
		s->fd = fd;
		s->access = (struct leak_access){ .segment = segment,
			.pid = pid,
			.copying = LEAK_COPY_ALWAYS,
			.message = message,
			.report = &out->access,
			.space = { .pagemap = -1 } };
		rc = save_in_thread(s);
		free(s->maps);
		free(s->account);
		free(s->part);
	}
	free(s);
	oom_score_restore();
	if (rc != 0 && !*message)
		snprintf(message, TRACE_MESSAGE_MAX, "process %d cannot be saved: %s", (int)pid,
			strerror(-rc));
	return rc;
}
