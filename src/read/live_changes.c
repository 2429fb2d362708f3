/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tracks which pages of the live table change (read.h; shm/layout.h: HT_PAGE_WATCHED_SHIFT). Any
 * one thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "src/read/segment.h"

/* Only one viewer at a time can track: it holds a lock on the tags in the file. */
static int lock(struct read_segment *s, short kind)
{
	struct flock l = { .l_type = kind,
		.l_whence = SEEK_SET,
		.l_start = offsetof(struct ht_header, pieces),
		.l_len = sizeof(s->header->pieces) };

	return fcntl(s->write_fd, F_OFD_SETLK, &l) == 0 ? 0 : -errno;
}

static uint64_t state_offset(const struct read_segment *s, uint32_t slot)
{
	return s->header->region[HT_REGION_PIECES].offset + slot * sizeof(struct ht_piece) +
	       offsetof(struct ht_piece, state);
}

static int piece_watch(struct read_segment *s, uint32_t slot)
{
	uint8_t state[HT_PIECE_PAGES];
	uint64_t offset = state_offset(s, slot);
	int rc = read_at(s, offset, state, sizeof(state));

	for (uint32_t i = 0; i < HT_PIECE_PAGES; i++)
		if (!ht_page_is_watched(state[i]) && (state[i] & HT_PAGE_FIRST))
			state[i] = ht_page_watched(state[i]);
	return rc != 0 ? rc : read_header_put(s, offset, state, sizeof(state));
}

static int pieces_watch(struct read_live_changes *w)
{
	struct read_segment *s = w->segment;
	int rc = read_at(s, offsetof(struct ht_header, pieces), w->tags, sizeof(w->tags));

	for (uint32_t slot = 0; rc == 0 && slot < s->header->live_pieces_max; slot++)
		if (w->tags[slot] != 0)
			rc = piece_watch(s, slot);
	return rc;
}

struct read_live_changes *read_live_changes_new(struct read_segment *s)
{
	struct read_live_changes *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->segment = s;
	if (read_write_open(s) == 0 && lock(s, F_WRLCK) == 0) {
		if (pieces_watch(w) == 0)
			return w;
		lock(s, F_UNLCK);
	}
	free(w);
	return NULL;
}

void read_live_changes_free(struct read_live_changes *w)
{
	if (!w)
		return;
	lock(w->segment, F_UNLCK);
	free(w);
}

int read_live_changes_state(const struct read_live_changes *w, uint32_t slot, uint8_t *state)
{
	int rc = read_at(w->segment, state_offset(w->segment, slot), state, HT_PIECE_PAGES);

	/* A new piece has no watched pages: all are changed. */
	for (uint32_t i = 0; rc == 0 && i < HT_PIECE_PAGES; i++)
		if (ht_page_is_watched(state[i]))
			state[i] = 0;
	return rc;
}
