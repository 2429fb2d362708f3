/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memcheck's heuristics, and one more (heuristics.h). */
#include "src/leak/heuristics.h"

#define WORD	       sizeof(uint64_t)
#define STRING_HEAD    (3 * WORD) /* length, capacity, reference count */
#define NEAR_BYTES     64u
#define NEAR_PARTS     16u
#define FIRST_PAGE_END 4096u /* nothing is mapped below it */

/* A std::string of the old ABI: a pointer to the characters, after what is told of them. */
static bool is_string(const struct leak_question *q)
{
	uint64_t offset = q->pointer - q->block->addr, capacity = q->second.value;

	return offset == STRING_HEAD && q->first.ok && q->second.ok &&
	       q->block->size > STRING_HEAD && capacity == q->block->size - STRING_HEAD - 1 &&
	       q->first.value <= capacity;
}

/* A block whose first word is the size of the rest. */
static bool is_length64(const struct leak_question *q)
{
	return q->pointer - q->block->addr == WORD && q->first.ok && q->first.value > 0 &&
	       q->first.value == q->block->size - WORD;
}

/* The same, and the pointer is a little further on: into a large block, where few numbers that only
 * look like pointers would go. */
static bool is_near_length64(const struct leak_question *q)
{
	return q->pointer - q->block->addr <= NEAR_BYTES &&
	       q->block->size >= NEAR_PARTS * NEAR_BYTES && q->first.ok &&
	       q->first.value == q->block->size - WORD;
}

/* The number of `bytes` bytes at byte `at` of the first two words. */
static uint64_t head_number(const struct leak_question *q, unsigned at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = bytes; i-- > 0;) {
		const struct leak_word *w = at + i < WORD ? &q->first : &q->second;

		value = value << 8 | (w->value >> (at + i) % WORD * 8 & 0xff);
	}
	return value;
}

/*
 * A string of redis (sds.h): length and room as numbers of 1, 2 or 4 bytes, then a byte of which
 * the low 3 bits say which; there the pointer goes, to the characters, and behind these is a zero.
 * The room is what malloc_usable_size says, and that may be more than was asked for.
 */
static bool is_sds(const struct leak_question *q)
{
	uint64_t head = q->pointer - q->block->addr, length, room;
	unsigned bytes = (unsigned)(head - 1) / 2;

	if (head == 1) /* short ones have all that in the byte, and just the room they need */
		return q->first.ok && head_number(q, 0, 1) == (q->block->size - 2) << 3;
	if ((head != 3 && head != 5 && head != 9) || !q->first.ok || !q->second.ok)
		return false;
	length = head_number(q, 0, bytes);
	room = head_number(q, bytes, bytes);
	return head_number(q, 2 * bytes, 1) == (head == 3	   ? 1
						       : head == 5 ? 2
								   : 3) &&
	       length <= room && length + head < q->block->size &&
	       room < q->block->size + q->block->size / 4 + NEAR_BYTES;
}

/* new T[n] where T has a destructor: n comes first. */
static bool is_array(const struct leak_question *q)
{
	return q->pointer - q->block->addr == WORD && q->first.ok && q->first.value > 0 &&
	       (q->block->size - WORD) % q->first.value == 0;
}

static bool is_vtable(const struct leak_word *w, const struct leak_memory *m)
{
	return w->ok && w->value % WORD == 0 && w->value >= FIRST_PAGE_END &&
	       m->is_vtable(m->ctx, w->value);
}

/* A pointer to a base that is not the first one: there and at the start are tables of functions. */
static bool is_base(const struct leak_question *q, const struct leak_memory *m)
{
	return q->pointer % WORD == 0 && is_vtable(&q->at, m) && is_vtable(&q->first, m);
}

bool leak_heuristics_want(struct leak_question *q)
{
	uint64_t start = q->block->addr, size = q->block->size;

	if (size < WORD)
		return false;
	q->first.addr = start;
	q->second.addr = size < 2 * WORD ? start : start + WORD;
	/* Only aligned words that are wholly in the block. */
	q->at.addr =
		q->pointer % WORD == 0 && q->pointer - start <= size - WORD ? q->pointer : start;
	return true;
}

enum leak_heuristic leak_heuristics_judge(
	const struct leak_question *q, const struct leak_memory *m)
{
	if (is_sds(q))
		return LEAK_BY_SDS;
	if (q->block->size < 2 * WORD)
		return LEAK_BY_NONE;
	if (is_string(q))
		return LEAK_BY_STDSTRING;
	if (is_length64(q))
		return LEAK_BY_LENGTH64;
	if (is_array(q))
		return LEAK_BY_NEWARRAY;
	if (is_near_length64(q))
		return LEAK_BY_HEADER;
	if (q->at.addr == q->pointer && is_base(q, m))
		return LEAK_BY_INHERITANCE;
	return LEAK_BY_NONE;
}
