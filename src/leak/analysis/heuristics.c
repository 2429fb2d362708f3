/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memcheck's heuristics, and two more (heuristics.h). */
#include "src/leak/analysis/heuristics.h"

#define WORD	       sizeof(uint64_t)
#define STRING_HEAD    (3 * WORD) /* length, capacity, reference count */
#define NEAR_BYTES     64u
#define NEAR_PARTS     16u
#define FIRST_PAGE_END 4096u /* nothing is mapped below it */

/* Bits of a header. */
#define IS_STRING  1u /* a std::string of the old ABI */
#define HAS_LENGTH 2u /* the first word is the size of the rest */
#define IS_ARRAY   4u /* the first word divides the rest into that many parts */
#define HAS_TABLE  8u /* perhaps a vtable pointer */
/* A redis string, in its four forms. */
#define SDS_FORMS 4u
#define IS_SDS	  16u

/* The headers of redis' strings, in bytes: a pointer goes right behind one. */
static const uint8_t sds_heads[SDS_FORMS] = { 1, 3, 5, 9 };

const char *leak_heuristics_name(enum leak_heuristic heuristic)
{
	static const char *const names[] = { "", "stdstring", "length64", "newarray",
		"multipleinheritance", "header", "sds", "backlink", "loader", "gobject", "slab",
		"marked" };

	return heuristic < LEAK_HEURISTICS ? names[heuristic] : "?";
}

/* A string's length and capacity come before its characters. */
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
 * A redis string (sds.h): length and capacity as numbers of 1, 2 or 4 bytes, then a byte whose low
 * 3 bits give that size. Pointers go behind that byte, to the characters; a zero follows these. The
 * capacity is what malloc_usable_size returns, which may exceed the requested size.
 */
static bool is_sds(uint64_t size, uint64_t length, uint64_t capacity, unsigned form)
{
	return length <= capacity && length + sds_heads[form] < size &&
	       capacity < size + size / 4 + NEAR_BYTES;
}

static unsigned sds_forms(uint64_t size, uint64_t first, uint64_t second)
{
	unsigned found = 0;

	if ((first & 0xff) == (size - 2) << 3) /* short: one byte for all, and no spare capacity */
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
	/* An address is neither a length nor text, whatever its low bytes are: of blocks that begin
	 * with a pointer, a few in a thousand would pass for a string. */
	if (kind == LEAK_WORD_NUMBER)
		head = sds_forms(size, first, second);
	if (is_string(size, first, second))
		head |= IS_STRING;
	if (first > 0 && first == size - WORD)
		head |= HAS_LENGTH; /* IS_ARRAY as well, of parts of one byte */
	if (is_array(size, first))
		head |= IS_ARRAY;
	if (kind == LEAK_WORD_FILE && first % WORD == 0 && first >= FIRST_PAGE_END)
		head |= HAS_TABLE;
	return (uint8_t)head;
}

/* memcheck's order, then ours. What a disabled rule would explain is left to the next one. */
static const struct explanation {
	enum leak_heuristic by;
	unsigned head; /* the header's bit that it needs */
	uint64_t from, to; /* offsets of the pointer */
	uint64_t size; /* least size of the block */
} explanations[] = {
	{ LEAK_BY_STDSTRING, IS_STRING, STRING_HEAD, STRING_HEAD, 0 },
	{ LEAK_BY_LENGTH64, HAS_LENGTH, WORD, WORD, 0 },
	{ LEAK_BY_NEWARRAY, IS_ARRAY, WORD, WORD, 0 },
	{ LEAK_BY_SDS, IS_SDS, 1, 1, 0 },
	{ LEAK_BY_SDS, IS_SDS << 1, 3, 3, 0 },
	{ LEAK_BY_SDS, IS_SDS << 2, 5, 5, 0 },
	{ LEAK_BY_SDS, IS_SDS << 3, 9, 9, 0 },
	/* A length, and the pointer is a little further on, in a large block, where few numbers
	   that only look like pointers would go. */
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

/* A pointer to a base class that is not the first one. */
bool leak_heuristics_may_be_base(uint8_t head, uint64_t size, uint64_t offset)
{
	return head & HAS_TABLE && offset % WORD == 0 && offset <= size - WORD;
}
