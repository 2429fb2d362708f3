/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A value for each of the numbers below 2^22, most of which may be missing. A number takes 256
 * bytes or less, however far apart the numbers of a file are. Any thread, on data of its own.
 */
#ifndef SRC_RECORD_NUMBER_TABLE_H
#define SRC_RECORD_NUMBER_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define NUMBER_TABLE_MAX (1u << 22) /* numbers are below */

#define NUMBER_TABLE_LEAF_BITS 6u
#define NUMBER_TABLE_PART_BITS 8u
#define NUMBER_TABLE_LEAF      (1u << NUMBER_TABLE_LEAF_BITS)
#define NUMBER_TABLE_PART      (1u << NUMBER_TABLE_PART_BITS)

struct number_table_leaf {
	uint32_t value[NUMBER_TABLE_LEAF];
};
struct number_table_part {
	struct number_table_leaf *leaf[NUMBER_TABLE_PART]; /* owned; NULL: no number of it */
};

/* All zeros: empty. */
struct number_table {
	struct number_table_part **part; /* owned, as are they; NULL: no number of it */
	size_t parts, room;
};

/* The place of a number's value, which is 0 at first. NULL: no memory. */
uint32_t *number_table_reach(struct number_table *t, uint32_t number);
/* Calls `each` for all values that are not 0, in the order of their numbers. */
void number_table_each(const struct number_table *t,
	void (*each)(void *ctx, uint32_t number, uint32_t value), void *ctx);
void number_table_free(struct number_table *t);

/* The value of a number; 0: none. */
static inline uint32_t number_table_get(const struct number_table *t, uint32_t number)
{
	uint32_t index = number >> (NUMBER_TABLE_LEAF_BITS + NUMBER_TABLE_PART_BITS);
	const struct number_table_part *part = index < t->parts ? t->part[index] : NULL;
	const struct number_table_leaf *leaf =
		part ? part->leaf[number >> NUMBER_TABLE_LEAF_BITS & (NUMBER_TABLE_PART - 1)]
		     : NULL;

	return leaf ? leaf->value[number & (NUMBER_TABLE_LEAF - 1)] : 0;
}

#endif
