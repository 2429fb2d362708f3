/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program's notes through heaptop.h: marks, names, requests, and intended leaks. Any thread of
 * the program, also in signal handlers; no locks.
 */
#ifndef SHM_NOTE_H
#define SHM_NOTE_H

#include "shm/commit.h"

/* What a note says; `text` may be NULL. */
struct note {
	enum ht_note_kind kind;
	const char *text; /* cut at HT_NOTE_TEXT - 1 bytes */
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t live_bytes;
	uint32_t tid;
};

/* Writes a note over the oldest one. Without memory for it nothing happens. */
void note_write(const struct segment *s, const struct note *n);
/* The block that contains `addr` at `tick` is no leak. Counts what finds no room. */
void note_intend(const struct segment *s, uint64_t addr, uint64_t tick);

/* Where element `index` of the intended leaks is. */
static inline uint64_t note_intended_at(const struct ht_header *h, uint32_t index)
{
	return h->region[HT_REGION_NOTES].offset + HT_NOTES * sizeof(struct ht_note) +
	       index * sizeof(struct ht_intended);
}

/* The number of elements that there is room for. */
static inline uint32_t note_intended_most(const struct ht_header *h)
{
	return (uint32_t)((h->region[HT_REGION_NOTES].bytes - HT_NOTES * sizeof(struct ht_note)) /
			  sizeof(struct ht_intended));
}

#endif
