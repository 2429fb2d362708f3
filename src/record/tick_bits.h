/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the encoder and the decoder of ticks share (tick.h): masks, columns, predictions. Only
 * tick_encode.c and tick_decode.c include it. */
#ifndef SRC_RECORD_TICK_BITS_H
#define SRC_RECORD_TICK_BITS_H

#include "src/record/tick.h"

#define FLAG_NOTICE 1u
#define FLAG_WRONG  2u

/* Bits of a thread's mask: one per number, and these. */
#define THREAD_NAME (1u << STATE_THREAD_NUMBERS)
#define THREAD_GONE (2u << STATE_THREAD_NUMBERS)
#define THREAD_BITS (4u << STATE_THREAD_NUMBERS)

/* Bits of a site's mask; the seven most frequent ones fit a byte. */
#define SITE_BIT(number) ((number) < STATE_AT_PEAK_BYTES ? 1u << (number) : 2u << (number))
#define SITE_AT_PEAK_NOW (1u << STATE_AT_PEAK_BYTES) /* at_peak_* become the live figures */
#define MORE_BIT(number) (2u << (STATE_SITE_NUMBERS + (number)))
#define SITE_BITS	 (2u << (STATE_SITE_NUMBERS + STATE_SITE_MORE))

enum {
	COLUMN_GAPS,
	COLUMN_MASKS,
	COLUMN_NUMBERS,
	COLUMN_MORE = COLUMN_NUMBERS + STATE_SITE_NUMBERS
};

/* The average size of a site's blocks; 0: it has none. */
static inline uint64_t site_block_size(const uint64_t *n)
{
	return n[STATE_ALLOCS] ? n[STATE_ALLOC_BYTES] / n[STATE_ALLOCS] : 0;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
