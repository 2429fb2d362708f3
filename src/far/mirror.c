/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The desk's copy of a segment (mirror.h). */
#include "src/far/mirror.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/directories.h"
#include "src/far/lines.h"

#define PAGE	   4096u
#define PAGE_LINES (PAGE / FAR_LINE_BYTES)
#define LOOK_PAGES 4096u /* written between looks at the size */

struct far_mirror {
	int fd;
	uint64_t bytes;
	char path[PATH_MAX];
	struct bytes lines; /* of this tick: frames, each with its length before it */
	uint32_t written; /* pages */
	uint64_t page; /* the one in `word`; UINT64_MAX: none */
	uint64_t word[PAGE / 8];
};

static int file_make(void *ctx, const char *directory)
{
	struct far_mirror *m = ctx;
	int rc;

	if (snprintf(m->path, sizeof(m->path), "%s/heaptop.far-%d-XXXXXX", directory,
		    (int)getpid()) >= (int)sizeof(m->path))
		return -ENAMETOOLONG;
	m->fd = mkostemp(m->path, O_CLOEXEC);
	if (m->fd < 0)
		return -errno;
	rc = ftruncate(m->fd, (off_t)m->bytes) == 0 ? 0 : -errno;
	if (rc != 0) {
		unlink(m->path);
		close(m->fd);
		m->fd = -1;
	}
	return rc;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

struct far_mirror *far_mirror_new(uint64_t bytes)
{
	struct far_mirror *m = calloc(1, sizeof(*m));
	int rc = !m ? -ENOMEM : bytes > FAR_MIRROR_FILE ? -EFBIG : 0;

	if (rc == 0) {
		m->fd = -1;
		m->bytes = bytes;
		m->page = UINT64_MAX;
		rc = directories_try(variable, file_make, m);
	}
	if (rc == 0)
		return m;
	free(m);
	errno = -rc;
	return NULL;
}

const char *far_mirror_path(const struct far_mirror *m)
{
	return m->path;
}

void far_mirror_unlink(struct far_mirror *m)
{
	struct stat mine, there;

	if (fstat(m->fd, &mine) == 0 && lstat(m->path, &there) == 0 &&
		mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
		unlink(m->path);
}

void far_mirror_free(struct far_mirror *m)
{
	if (!m)
		return;
	far_mirror_unlink(m);
	close(m->fd);
	bytes_free(&m->lines);
	free(m);
}

int far_mirror_add(struct far_mirror *m, const uint8_t *data, size_t len)
{
	if (m->lines.len + len > FAR_MIRROR_MOST)
		return -EFBIG;
	bytes_number(&m->lines, len);
	bytes_add(&m->lines, data, len);
	return m->lines.failed ? -ENOMEM : 0;
}

/* ---- applying ---- */

static bool is_full(const struct far_mirror *m)
{
	struct stat st;

	return fstat(m->fd, &st) == 0 && (uint64_t)st.st_blocks * 512 > FAR_MIRROR_MOST;
}

static int page_put(struct far_mirror *m)
{
	uint64_t at = m->page * PAGE;
	ssize_t bytes = m->bytes - at < PAGE ? (ssize_t)(m->bytes - at) : (ssize_t)PAGE;

	if (m->page == UINT64_MAX)
		return 0;
	/* A frame may change a page with three bytes. */
	if (++m->written % LOOK_PAGES == 0 && is_full(m))
		return -EFBIG;
	errno = ENOSPC;
	return pwrite(m->fd, m->word, (size_t)bytes, (off_t)at) == bytes ? 0 : -errno;
}

static int page_get(struct far_mirror *m, uint64_t page)
{
	int rc = page_put(m);
	ssize_t n = pread(m->fd, m->word, PAGE, (off_t)(page * PAGE));

	m->page = page;
	if (n < 0)
		return -errno;
	memset((char *)m->word + n, 0, PAGE - (size_t)n);
	return rc;
}

static int line_apply(struct far_mirror *m, const struct far_line *l)
{
	uint64_t *word;
	int rc = 0;

	if ((l->number + 1) * FAR_LINE_BYTES > m->bytes)
		return -EPROTO;
	if (l->number / PAGE_LINES != m->page)
		rc = page_get(m, l->number / PAGE_LINES);
	word = m->word + l->number % PAGE_LINES * FAR_LINE_WORDS;
	for (unsigned i = 0; i < FAR_LINE_WORDS; i++)
		word[i] += l->change[i];
	return rc;
}

static int frame_apply(struct far_mirror *m, struct bytes_cursor *frame)
{
	struct far_line line;
	uint64_t next = 0;
	int rc, applied = 0;

	while (applied == 0 && (rc = far_lines_get(frame, &next, &line)) == 1)
		applied = line_apply(m, &line);
	return applied ? applied : rc;
}

int far_mirror_commit(struct far_mirror *m)
{
	struct bytes_cursor all = bytes_begin(&m->lines);
	int rc = 0;

	m->page = UINT64_MAX;
	while (rc == 0 && all.at < all.end) {
		struct bytes_cursor frame = bytes_read_cursor(&all);

		rc = frame.bad ? -EPROTO : frame_apply(m, &frame);
		if (rc == 0 && is_full(m))
			rc = -EFBIG;
	}
	if (rc == 0)
		rc = page_put(m);
	m->lines.len = 0;
	return rc;
}
