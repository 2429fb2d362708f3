/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The open segment and checked access to its parts: internal to this folder. */
#ifndef SRC_READ_SEGMENT_H
#define SRC_READ_SEGMENT_H

#include <sys/types.h>
#include "shm/segment.h"
#include "src/read/read.h"

struct read_segment {
	int fd;
	int write_fd; /* for the words that viewers write; -1 until the first write */
	char *words; /* the file's header, mapped by read_word_raise; NULL until the first call */
	bool frozen; /* it is a copy, into which nothing is written */
	char *path;
	struct ht_header *header; /* as of the opening, checked: sizes and offsets are valid */
	uint64_t *cursors; /* of the rings, by thread slot */
	bool events_asked; /* by this reader: the cursors are at events that it asked for */
	bool events_held; /* the program waits for this reader: tails are published */
	uint32_t threads; /* slots in use at the last read_totals */
	struct ht_header *refreshed; /* buffer of read_header_refresh; NULL until the first call */
	struct ht_node *nodes; /* copies of nodes [0, node_count) */
	uint32_t node_count;
};

struct read_live_changes {
	struct read_segment *segment;
	uint64_t tags[HT_PIECES_MAX]; /* of the pieces when it was made */
};
/*
 * Reads state[] of an existing piece, with 0 for unchanged pages. The others may have been written;
 * in first[], so may the two entries after the page. `state`: HT_PIECE_PAGES. 0 or -EIO.
 */
int read_live_changes_state(const struct read_live_changes *w, uint32_t slot, uint8_t *state);

/* Exactly `bytes` at `offset` of the file. 0 or -EIO. */
int read_at(const struct read_segment *s, uint64_t offset, void *out, size_t bytes);
/* Elements [first, first + count) of a region. 0, -EINVAL when out of range, -EIO. */
int read_elements(const struct read_segment *s, enum ht_region_id region, uint64_t first,
	uint64_t count, size_t element, void *out);
/* Adds the lifetimes of `frees` blocks to `out`; bucket 0 gets the blocks that are in no bucket of
 * `longer`. */
void read_lifetimes_add(uint64_t *out, uint64_t frees, const uint64_t *longer);
/* The number of freed blocks of a site, and their bytes. 0, -EINVAL or -EIO. */
int read_site_freed(struct read_segment *s, uint32_t site, uint64_t *frees, uint64_t *bytes);
/* The totals of mapped memory, from the header. */
void read_mapped_fill(struct read_mapped_totals *out, const struct ht_header *h);
/* Number of elements in a region. */
uint64_t read_capacity(const struct read_segment *s, enum ht_region_id region, size_t element);
/* Elements of a region in use: the header's word at `offset`, limited to the capacity. 0 or -EIO.
 */
int read_used(const struct read_segment *s, size_t offset, enum ht_region_id region, size_t element,
	uint32_t *used);

/*
 * Rereads the header without the long tables at its end, and checks that its layout words have not
 * changed. 0 and *h, valid until the next call; -EIO, -ENOMEM, or -EPROTO if they have.
 */
int read_header_refresh(struct read_segment *s, const struct ht_header **h);
/* Opens `write_fd`, if it is not open. 0 or -errno. */
int read_write_open(struct read_segment *s);
/* Writes aligned words of the header, of a site, of a thread's slot, or of ht_before: those that
 * viewers may write. 0 or -errno. */
int read_header_put(struct read_segment *s, size_t at, const void *words, size_t bytes);
/*
 * Raises an aligned word of the header (of 4 or 8 bytes) to `to`, unless it is that or more,
 * whatever the program and other viewers do to it meanwhile. 0 and *before, what it was; or -errno,
 * -EIO if the file was cut short. The header stays mapped until read_close: each mapping that goes
 * costs the other threads of heaptop an interrupt.
 */
int read_word_raise(struct read_segment *s, size_t at, size_t bytes, uint64_t to, uint64_t *before);

#endif
