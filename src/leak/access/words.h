/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses and words of another process, for its readers and for their analysis. Plain data. */
#ifndef SRC_LEAK_ACCESS_WORDS_H
#define SRC_LEAK_ACCESS_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define LEAK_BUFFER_BYTES (1u << 20) /* fits the second-level cache; larger reads gain nothing */

/* The addresses from `start` up to, but not including, `end`. */
struct leak_range {
	uint64_t start, end;
};

/* Takes `count` words that lie at `addr`. */
typedef void leak_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count);

/* What the first word of a block is. */
enum leak_word_kind {
	LEAK_WORD_NUMBER, /* no mapped address */
	LEAK_WORD_ADDRESS,
	LEAK_WORD_FILE /* an address in a file's mapping, where vtables are */
};

/* The address in a word. On aarch64 the processor ignores the top byte, in which programs keep tags
 * (TBI; MTE, HWASan). */
static inline uint64_t leak_word_address(uint64_t word)
{
#ifdef __aarch64__
	return word & (UINT64_MAX >> 8);
#else
	return word;
#endif
}

#endif
