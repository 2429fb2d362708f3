/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checked reads and writes of an open segment (segment.h). All reads use pread: a hole costs no
 * memory, and a file that is cut short meanwhile is a short read, not a SIGBUS. Any one thread.
 */
#include "src/read/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int read_at(const struct read_segment *s, uint64_t offset, void *out, size_t bytes)
{
	char *p = out;

	while (bytes > 0) {
		ssize_t got = pread(s->fd, p, bytes, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -EIO;
		p += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return 0;
}

uint64_t read_capacity(const struct read_segment *s, enum ht_region_id region, size_t element)
{
	return s->header->region[region].bytes / element;
}

int read_used(const struct read_segment *s, size_t offset, enum ht_region_id region, size_t element,
	uint32_t *used)
{
	uint64_t capacity = read_capacity(s, region, element);
	int rc = read_at(s, offset, used, sizeof(*used));

	if (rc == 0 && *used > capacity)
		*used = (uint32_t)capacity;
	return rc;
}

int read_elements(const struct read_segment *s, enum ht_region_id region, uint64_t first,
	uint64_t count, size_t element, void *out)
{
	uint64_t capacity = read_capacity(s, region, element);

	if (first > capacity || count > capacity - first)
		return -EINVAL;
	return read_at(s, s->header->region[region].offset + first * element, out, count * element);
}

int read_header_refresh(struct read_segment *s, const struct ht_header **h)
{
	const size_t bytes = offsetof(struct ht_header, committed);

	/* Too large for the stack, whose limit may be small. */
	if (!s->refreshed)
		s->refreshed = malloc(sizeof(*s->refreshed)); /* only `bytes` of it are touched */
	if (!s->refreshed)
		return -ENOMEM;
	if (read_at(s, 0, s->refreshed, bytes) != 0)
		return -EIO;
	*h = s->refreshed;
	return s->refreshed->magic == HT_MAGIC && memcmp(s->refreshed->region, s->header->region,
							  sizeof(s->refreshed->region)) == 0
		       ? 0
		       : -EPROTO;
}

void read_freeze(struct read_segment *s)
{
	s->frozen = true;
}

bool read_is_frozen(const struct read_segment *s)
{
	return s->frozen;
}

int read_write_open(struct read_segment *s)
{
	char path[32];

	if (s->frozen)
		return -EROFS;
	if (s->write_fd < 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", s->fd);
		s->write_fd = open(path, O_RDWR | O_CLOEXEC);
	}
	return s->write_fd < 0 ? -errno : 0;
}

int read_header_put(struct read_segment *s, size_t at, const void *words, size_t bytes)
{
	ssize_t put;
	int rc = read_write_open(s);

	if (rc != 0)
		return rc;
	put = pwrite(s->write_fd, words, bytes, (off_t)at);
	if (put == (ssize_t)bytes)
		return 0;
	close(s->write_fd);
	s->write_fd = -1;
	return -EIO;
}
