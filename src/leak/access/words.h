/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses and words of another process, as both those who read and those who analyze them name
 * them. Plain data. */
#ifndef SRC_LEAK_ACCESS_WORDS_H
#define SRC_LEAK_ACCESS_WORDS_H

#include <stdint.h>

/* The addresses from `start` up to, but not including, `end`. */
struct leak_range {
	uint64_t start, end;
};

/* What the first word of a block is. */
enum leak_word_kind {
	LEAK_WORD_NUMBER, /* no address of memory */
	LEAK_WORD_ADDRESS,
	LEAK_WORD_FILE /* one in a file's memory, where tables of functions are */
};

#endif
