/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Good segments, and changes to them, for fuzzing what reads segments. An input is a byte that
 * picks one of two segments (small: its blocks are in the overflow; full: in pieces), and a list of
 * changes of 12 bytes each: where (a 32-bit number) and what (64 bits). The uppermost bits of
 * where say how much changes: 8 bytes, or one half of them; the next, whether it is a word of the
 * header, any of them, or one that is in use, anywhere. So no input is refused for its form, and
 * every field of the header can be reached by one change.
 */
#ifndef TESTS_FUZZ_SEGMENT_CHANGES_H
#define TESTS_FUZZ_SEGMENT_CHANGES_H

#include "tests/unit/segment_fixture.h"

#define CHANGES_MAX  64u
#define CHANGE	     12u
#define HEADER_WORDS (offsetof(struct ht_header, committed) / sizeof(uint64_t) + 16)

/* One that is changed, and what it was before. */
struct spoilt {
	struct made made;
	uint64_t *used; /* offsets of words that are not zero */
	size_t used_count;
	struct {
		uint64_t where, old;
	} undo[CHANGES_MAX];
	size_t changes;
};

static struct spoilt spoilt[2];

static inline void spoilt_drop(void)
{
	for (size_t i = 0; i < 2; i++) {
		made_close(&spoilt[i].made);
		free(spoilt[i].used);
	}
}

/* The places in use, of a file of which most is holes. */
static inline void spoilt_learn(struct spoilt *s)
{
	uint64_t words[512];
	off_t end, at = 0;

	s->used = calloc(1 << 17, sizeof(*s->used));
	while ((at = lseek(s->made.fd, at, SEEK_DATA)) >= 0) {
		end = lseek(s->made.fd, at, SEEK_HOLE);
		for (; at < end; at += (off_t)sizeof(words)) {
			if (pread(s->made.fd, words, sizeof(words), at) != sizeof(words))
				return;
			for (size_t i = 0; i < 512 && s->used_count < 1 << 17; i++)
				if (words[i] != 0)
					s->used[s->used_count++] = (uint64_t)at + i * 8;
		}
	}
}

static inline void spoilt_prepare(void)
{
	if (spoilt[0].used)
		return;
	for (size_t i = 0; i < 2; i++) {
		made_open_as(&spoilt[i].made, i ? SEGMENT_FULL : SEGMENT_SMALL, &fixture_identity);
		made_fill(&spoilt[i].made);
		spoilt_learn(&spoilt[i]);
	}
	atexit(spoilt_drop);
}

static inline void spoilt_change(struct spoilt *s, const uint8_t *change)
{
	uint32_t pick;
	uint64_t word, value, mask;

	memcpy(&pick, change, sizeof(pick));
	memcpy(&value, change + sizeof(pick), sizeof(value));
	mask = pick >> 30 == 1 ? UINT32_MAX : pick >> 30 == 2 ? ~(uint64_t)UINT32_MAX : UINT64_MAX;
	s->undo[s->changes].where = pick & 1u << 29
					    ? (pick & ((1u << 29) - 1)) % HEADER_WORDS * 8
					    : s->used[(pick & ((1u << 29) - 1)) % s->used_count];
	if (pread(s->made.fd, &word, 8, (off_t)s->undo[s->changes].where) != 8)
		abort();
	s->undo[s->changes].old = word;
	word = (word & ~mask) | (value & mask);
	if (pwrite(s->made.fd, &word, 8, (off_t)s->undo[s->changes].where) != 8)
		abort();
	s->changes++;
}

/* Makes the changes; the path of what they were made to. */
static inline const char *spoilt_make(const uint8_t *data, size_t bytes)
{
	struct spoilt *s = &spoilt[bytes > 0 && data[0] & 1];

	spoilt_prepare();
	for (size_t at = 1; at + CHANGE <= bytes && s->changes < CHANGES_MAX; at += CHANGE)
		spoilt_change(s, data + at);
	return s->made.path;
}

/* Takes them back, latest first; and what a viewer may have written there itself. */
static inline void spoilt_mend(void)
{
	for (size_t i = 0; i < 2; i++) {
		struct spoilt *s = &spoilt[i];

		while (s->changes-- > 0)
			if (pwrite(s->made.fd, &s->undo[s->changes].old, 8,
				    (off_t)s->undo[s->changes].where) != 8)
				abort();
		s->changes = 0;
	}
}

#endif
