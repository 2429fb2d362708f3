/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A copy of the live table of one moment, to be read later: the bytes go to a file of our own,
 * which looks like the segment to the rest of this folder. Copying takes about a twentieth of the
 * time of reading. Any one thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/read/segment.h"

struct read_live_copy {
	struct read_segment segment; /* reads the copy */
	char *map;
	uint64_t bytes;
};

/* Copies the data of [start, end), not the holes: the file is mostly holes. */
static int range_copy(
	struct read_live_copy *f, const struct read_segment *s, uint64_t start, uint64_t end)
{
	uint64_t at = start;

	while (at < end) {
		off_t data = lseek(s->fd, (off_t)at, SEEK_DATA), hole;
		int rc;

		if (data < 0 || (uint64_t)data >= end)
			return data < 0 && errno != ENXIO ? -errno : 0;
		hole = lseek(s->fd, data, SEEK_HOLE);
		if (hole <= data)
			return -EIO;
		at = (uint64_t)hole < end ? (uint64_t)hole : end;
		rc = read_at(s, (uint64_t)data, f->map + data, at - (uint64_t)data);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int region_copy(
	struct read_live_copy *f, const struct read_segment *s, enum ht_region_id region)
{
	const struct ht_region *r = &s->header->region[region];

	return range_copy(f, s, r->offset, r->offset + r->bytes);
}

/* Copies everything but the pieces. */
static int unpaged_copy(struct read_live_copy *f, const struct read_segment *s)
{
	int rc = read_at(s, 0, f->map, sizeof(struct ht_header));

	if (rc == 0)
		rc = region_copy(f, s, HT_REGION_OWNERS);
	return rc != 0 ? rc : region_copy(f, s, HT_REGION_LIVE);
}

int read_live_copy_take(struct read_live_copy *f, const struct read_segment *s)
{
	int rc = unpaged_copy(f, s);

	return rc != 0 ? rc : region_copy(f, s, HT_REGION_PIECES);
}

/* Copies entries [from, from + count) of a table at `offset` in the file. */
static int entries_copy(struct read_live_copy *f, const struct read_segment *s, uint64_t offset,
	uint32_t from, uint32_t count)
{
	offset += from * sizeof(uint64_t);
	return read_at(s, offset, f->map + offset, count * sizeof(uint64_t));
}

#define ENTRIES_AFTER 2u /* entries after a page that change with it: read_live_changes_state */

/* Copies the changed pages of the piece at `offset`, adjacent ones together. */
static int piece_copy(struct read_live_copy *f, const struct read_segment *s, uint64_t offset,
	const uint8_t *state)
{
	uint64_t first = offset + offsetof(struct ht_piece, first);
	uint64_t second = offset + offsetof(struct ht_piece, second);
	int rc = 0;

	for (uint32_t i = 0, end; rc == 0 && i < HT_PIECE_PAGES; i = end) {
		uint8_t is = ht_page_state(state[i]);

		for (end = i + 1; end < HT_PIECE_PAGES && ht_page_state(state[end]) == is; end++)
			;
		if (is & HT_PAGE_FIRST)
			rc = entries_copy(f, s, first, i * HT_PAGE_ENTRIES,
				(end - i) * HT_PAGE_ENTRIES + ENTRIES_AFTER);
		if (rc == 0 && (is & HT_PAGE_SECOND))
			rc = entries_copy(
				f, s, second, i * HT_PAGE_ENTRIES, (end - i) * HT_PAGE_ENTRIES);
	}
	return rc;
}

int read_live_copy_update(
	struct read_live_copy *f, const struct read_segment *s, const struct read_live_changes *w)
{
	uint64_t at = s->header->region[HT_REGION_PIECES].offset;
	const struct ht_header *h = (const void *)f->map;
	uint8_t state[HT_PIECE_PAGES];
	int rc = unpaged_copy(f, s);

	for (uint32_t i = 0; rc == 0 && i < s->header->live_pieces_max;
		i++, at += sizeof(struct ht_piece)) {
		uint64_t there = at + offsetof(struct ht_piece, state);

		if (h->pieces[i] == 0)
			continue;
		rc = read_live_changes_state(w, i, state);
		if (rc == 0)
			rc = read_at(s, there, f->map + there, sizeof(state));
		if (rc == 0)
			rc = piece_copy(f, s, at, state);
	}
	return rc;
}

struct read_live_copy *read_live_copy_new(const struct read_segment *s)
{
	struct read_live_copy *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->bytes = s->header->segment_bytes;
	f->segment.header = s->header;
	f->segment.write_fd = -1;
	f->segment.fd = memfd_create("heaptop-frozen", MFD_CLOEXEC);
	f->map = MAP_FAILED;
	if (f->segment.fd >= 0 && ftruncate(f->segment.fd, (off_t)f->bytes) == 0)
		f->map = mmap(NULL, f->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			f->segment.fd, 0);
	/* This first copy allocates the pages, so that later ones are fast. */
	if (f->map != MAP_FAILED && read_live_copy_take(f, s) == 0)
		return f;
	read_live_copy_free(f);
	return NULL;
}

struct read_segment *read_live_copy_segment(struct read_live_copy *f)
{
	return &f->segment;
}

void read_live_copy_free(struct read_live_copy *f)
{
	if (!f)
		return;
	if (f->map != MAP_FAILED)
		munmap(f->map, f->bytes);
	if (f->segment.fd >= 0)
		close(f->segment.fd);
	free(f->segment.refreshed);
	free(f);
}
