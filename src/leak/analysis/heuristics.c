/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memcheck's heuristics, and two more (heuristics.h). */
#include "src/leak/analysis/heuristics.h"

#define WORD	       sizeof(uint64_t)
#define STRING_HEAD    (3 * WORD) /* length, capacity, reference count */
#define NEAR_BYTES     64u
#define NEAR_PARTS     16u
#define FIRST_PAGE_END 4096u /* nothing is mapped below it */

/* Bits of a head. */
#define IS_STRING  1u /* a std::string of the old ABI */
#define HAS_LENGTH 2u /* the first word is the size of the rest */
#define IS_ARRAY   4u /* the rest has so many parts as the first word says */
#define HAS_TABLE  8u /* perhaps */
/* A string of redis, in its four forms. */
#define SDS_FORMS 4u
#define IS_SDS	  16u

/* The heads of redis' strings, in bytes: a pointer goes behind one. */
static const uint8_t sds_heads[SDS_FORMS] = { 1, 3, 5, 9 };

const char *leak_heuristics_name(enum leak_heuristic heuristic)
{
	static const char *const names[] = { "", "stdstring", "length64", "newarray",
		"multipleinheritance", "header", "sds", "backlink", "loader", "gobject", "slab",
		"marked" };

	return heuristic < LEAK_HEURISTICS ? names[heuristic] : "?";
}

/* What is told of a string comes before its characters: length, and capacity. */
static bool is_string(uint64_t size, uint64_t first, uint64_t second)
{
	return size > STRING_HEAD && second == size - STRING_HEAD - 1 && first <= second;
}

/* new T[n] where T has a destructor: n comes first. */
static bool is_array(uint64_t size, uint64_t first)
{
	return first > 0 && first <= size - WORD && (size - WORD) % first == 0;
}

/*
 * A string of redis (sds.h): length and capacity as numbers of 1, 2 or 4 bytes, then a byte of
 * which the low 3 bits say which; there the pointer goes, to the characters, and behind these is a
 * zero. The capacity is what malloc_usable_size says, and that may be more than was asked for.
 */
static bool is_sds(uint64_t size, uint64_t length, uint64_t capacity, unsigned form)
{
	return length <= capacity && length + sds_heads[form] < size &&
	       capacity < size + size / 4 + NEAR_BYTES;
}

static unsigned sds_forms(uint64_t size, uint64_t first, uint64_t second)
{
	unsigned found = 0;

	if ((first & 0xff) == (size - 2)
				      << 3) /* short: all in one byte, and no capacity to spare */
		found |= IS_SDS;
	if ((first >> 16 & 0xff) == 1 && is_sds(size, first & 0xff, first >> 8 & 0xff, 1))
		found |= IS_SDS << 1;
	if ((first >> 32 & 0xff) == 2 && is_sds(size, first & 0xffff, first >> 16 & 0xffff, 2))
		found |= IS_SDS << 2;
	if ((second & 0xff) == 3 && is_sds(size, first & UINT32_MAX, first >> 32, 3))
		found |= IS_SDS << 3;
	return found;
}

uint8_t leak_heuristics_header(
	uint64_t size, uint64_t first, uint64_t second, enum leak_word_kind kind)
{
	unsigned head = 0;

	if (size < WORD)
		return 0;
	/* An address is no length and no text, whatever its low bytes are: some in a thousand
	 * blocks that begin with a pointer would pass for a string. */
	if (kind == LEAK_WORD_NUMBER)
		head = sds_forms(size, first, second);
	if (is_string(size, first, second))
		head |= IS_STRING;
	if (first > 0 && first == size - WORD)
		head |= HAS_LENGTH; /* and IS_ARRAY, of as many parts of a byte each */
	if (is_array(size, first))
		head |= IS_ARRAY;
	if (kind == LEAK_WORD_FILE && first % WORD == 0 && first >= FIRST_PAGE_END)
		head |= HAS_TABLE;
	return (uint8_t)head;
}

/* In memcheck's order, then ours: what a rule that does not count would explain is left to the next
 * one. */
static const struct explanation {
	enum leak_heuristic by;
	unsigned head; /* the bit of the head that it needs */
	uint64_t from, to; /* offsets of the pointer */
	uint64_t size; /* of the block, at least */
} explanations[] = {
	{ LEAK_BY_STDSTRING, IS_STRING, STRING_HEAD, STRING_HEAD, 0 },
	{ LEAK_BY_LENGTH64, HAS_LENGTH, WORD, WORD, 0 },
	{ LEAK_BY_NEWARRAY, IS_ARRAY, WORD, WORD, 0 },
	{ LEAK_BY_SDS, IS_SDS, 1, 1, 0 },
	{ LEAK_BY_SDS, IS_SDS << 1, 3, 3, 0 },
	{ LEAK_BY_SDS, IS_SDS << 2, 5, 5, 0 },
	{ LEAK_BY_SDS, IS_SDS << 3, 9, 9, 0 },
	/* The length, and the pointer is a little further on: into a large block, where few numbers
	 * that only look like pointers would go. */
	{ LEAK_BY_HEADER, HAS_LENGTH, 1, NEAR_BYTES, NEAR_PARTS *NEAR_BYTES },
};
#define EXPLANATIONS (sizeof(explanations) / sizeof(explanations[0]))

enum leak_heuristic leak_heuristics_judge(
	unsigned rules, uint8_t head, uint64_t size, uint64_t offset)
{
	for (size_t i = 0; head != 0 && i < EXPLANATIONS; i++) {
		const struct explanation *e = &explanations[i];

		if (rules >> e->by & 1 && head & e->head && offset >= e->from && offset <= e->to &&
			size >= e->size)
			return e->by;
	}
	return LEAK_BY_NONE;
}

/* A pointer to a base that is not the first one. */
bool leak_heuristics_may_be_base(uint8_t head, uint64_t size, uint64_t offset)
{
	return head & HAS_TABLE && offset % WORD == 0 && offset <= size - WORD;
}
