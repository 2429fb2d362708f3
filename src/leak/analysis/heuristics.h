/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where inside a block programs keep their only pointer to it: memcheck's heuristics, as its manual
 * describes them, and redis' strings. Pure functions; any thread.
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
	LEAK_BY_HEADER, /* not memcheck's: learned_offsets.h */
	LEAK_BY_SDS, /* not memcheck's: redis' strings */
	LEAK_BY_BACKLINK, /* not memcheck's: backlinks.h */
	LEAK_BY_LOADER, /* not memcheck's: loader_blocks.h; applies to blocks, not pointers */
	LEAK_BY_GOBJECT, /* not memcheck's, like the next two: known_layouts.h */
	LEAK_BY_SLAB,
	LEAK_BY_MARKED,
	LEAK_HEURISTICS
};
/* The bits of memcheck's own heuristics. */
#define LEAK_BY_MEMCHECK                                                                           \
	(1u << LEAK_BY_STDSTRING | 1u << LEAK_BY_LENGTH64 | 1u << LEAK_BY_NEWARRAY |               \
		1u << LEAK_BY_INHERITANCE)
/* memcheck's name, where it has one: "stdstring", ... Static. */
const char *leak_heuristics_name(enum leak_heuristic heuristic);

/*
 * What the beginning of a block says about interior pointers, as bits; 0: nothing. `first`,
 * `second`: its first two words, 0 where it has none; `kind`: of the first.
 */
uint8_t leak_heuristics_header(
	uint64_t size, uint64_t first, uint64_t second, enum leak_word_kind kind);
/* Which of `rules` (bit i: enum leak_heuristic i) explains a pointer `offset` bytes into a block
 * with this header. Each rule judges for itself: an enabled one never depends on a disabled one. */
enum leak_heuristic leak_heuristics_judge(
	unsigned rules, uint8_t head, uint64_t size, uint64_t offset);
/* Otherwise, whether LEAK_BY_INHERITANCE may explain it: it does if vtables lie where the block's
 * first word and the pointer's target word point. */
bool leak_heuristics_may_be_base(uint8_t head, uint64_t size, uint64_t offset);

#endif
