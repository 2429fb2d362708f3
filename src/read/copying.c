/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A segment as bytes (copying.h). */
#include "src/read/copying.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "src/read/segment.h"

#define LINE 64u

static const enum ht_region_id parts[] = { HT_REGION_THREADS, HT_REGION_BEFORE, HT_REGION_SITES,
	HT_REGION_COUNTERS, HT_REGION_OWNERS, HT_REGION_HISTS, HT_REGION_VARIANCES,
	HT_REGION_AT_PEAK, HT_REGION_MAPPED, HT_REGION_MAPPINGS, HT_REGION_NOTES,
	HT_REGION_WRONG_FREES, HT_REGION_PATCHED, HT_REGION_NODES, HT_REGION_MODULES,
	HT_REGION_STRINGS };
static_assert(sizeof(parts) / sizeof(*parts) <= READ_PARTS_MOST, "read_parts");

unsigned read_parts(const struct read_segment *s, struct read_part out[READ_PARTS_MOST])
{
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const struct ht_region *r = &s->header->region[parts[i]];
		uint64_t start = r->offset / LINE * LINE, end = r->offset + r->bytes;

		if (r->bytes == 0)
			continue;
		end = (end + LINE - 1) / LINE * LINE;
		if (end > s->header->segment_bytes)
			end = s->header->segment_bytes / LINE * LINE;
		out[n++] = (struct read_part){ start, end - start };
	}
	return n;
}

uint64_t read_file_bytes(const struct read_segment *s)
{
	return s->header->segment_bytes;
}

/* A file system that knows no holes says that all is data. */
int read_data_next(const struct read_segment *s, uint64_t *from, uint64_t end, uint64_t *to)
{
	off_t data = lseek(s->fd, (off_t)*from, SEEK_DATA), hole;

	if (data < 0)
		return errno == ENXIO ? 0 : -errno;
	if ((uint64_t)data >= end)
		return 0;
	hole = lseek(s->fd, data, SEEK_HOLE);
	if (hole < 0)
		return -errno;
	*from = (uint64_t)data;
	*to = (uint64_t)hole < end ? (uint64_t)hole : end;
	return 1;
}

int read_bytes(const struct read_segment *s, uint64_t offset, void *out, size_t bytes)
{
	return read_at(s, offset, out, bytes);
}

int read_copy_header(const struct read_segment *s, struct ht_header *out)
{
	int rc = read_at(s, 0, out, sizeof(*out));

	if (rc != 0)
		return rc;
	out->live_levels = 0;
	memset(out->pieces, 0, sizeof(out->pieces));
	return 0;
}

static int count_read(const struct read_segment *s, size_t at, uint32_t *out)
{
	return read_at(s, at, out, sizeof(*out));
}

int read_copy_header_finish(const struct read_segment *s, struct ht_header *out)
{
	static const size_t at[] = { offsetof(struct ht_header, nodes),
		offsetof(struct ht_header, counters), offsetof(struct ht_header, hists),
		offsetof(struct ht_header, modules), offsetof(struct ht_header, strings_bytes),
		offsetof(struct ht_header, patched) };
	int rc = 0;

	for (unsigned i = 0; i < sizeof(at) / sizeof(*at) && rc == 0; i++)
		rc = count_read(s, at[i], (uint32_t *)(void *)((char *)out + at[i]));
	return rc;
}
