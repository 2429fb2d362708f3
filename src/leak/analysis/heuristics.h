/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where inside a block programs keep their only pointer to it: memcheck's heuristics, as its manual
 * tells them, and strings of redis. Pure functions; any thread.
 */
#ifndef SRC_LEAK_ANALYSIS_HEURISTICS_H
#define SRC_LEAK_ANALYSIS_HEURISTICS_H

#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/leak/access/words.h"

enum leak_heuristic {
	LEAK_BY_NONE,
	LEAK_BY_STDSTRING,
	LEAK_BY_LENGTH64,
	LEAK_BY_NEWARRAY,
	LEAK_BY_INHERITANCE,
	LEAK_BY_HEADER, /* not memcheck's: learn.h */
	LEAK_BY_SDS, /* nor this one: strings of redis */
	LEAK_BY_BACKLINK, /* nor this one: backlinks.h */
	LEAK_BY_LOADER, /* nor this one: loader.h; it is of blocks, not of pointers */
	LEAK_BY_GOBJECT, /* nor these: shapes.h */
	LEAK_BY_SLAB,
	LEAK_BY_MARKED,
	LEAK_HEURISTICS
};
/* Bits of memcheck's own. */
#define LEAK_BY_MEMCHECK                                                                           \
	(1u << LEAK_BY_STDSTRING | 1u << LEAK_BY_LENGTH64 | 1u << LEAK_BY_NEWARRAY |               \
		1u << LEAK_BY_INHERITANCE)
/* As in memcheck, where it has them: "stdstring", ... Static. */
const char *leak_heuristics_name(enum leak_heuristic heuristic);

/*
 * What the beginning of a block says of pointers inside it, as bits; 0: nothing. `first`, `second`:
 * its first two words, 0 where it has none; `kind`: what the first is, as an address.
 */
uint8_t leak_heuristics_header(
	uint64_t size, uint64_t first, uint64_t second, enum leak_word_kind kind);
/* Which of `rules` (bit i: enum leak_heuristic i) explains a pointer `offset` bytes into a block
 * that begins so. Each rule judges for itself: the answer of one that counts never depends on one
 * that does not. */
enum leak_heuristic leak_heuristics_judge(
	unsigned rules, uint8_t head, uint64_t size, uint64_t offset);
/* Otherwise, whether it may be LEAK_BY_INHERITANCE: it is if there are tables of functions where
 * the word points that begins the block, and where the one points to which the pointer goes. */
bool leak_heuristics_may_be_base(uint8_t head, uint64_t size, uint64_t offset);

#endif
