/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers for distinct byte strings: the first one that is added gets 0, the next different one 1.
 * Any thread, one owner. A failed allocation is remembered (`failed`), so that a caller checks
 * once, at the end; until then all numbers are valid indices of what was added before.
 */
#ifndef SRC_UTIL_NUMBERING_H
#define SRC_UTIL_NUMBERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "src/util/strbuf.h"

struct numbering {
	uint32_t count;
	bool failed;
	/* Private to numbering.c. */
	struct strbuf bytes; /* all keys, one after the other */
	struct numbering_key *key;
	size_t capacity;
	uint32_t *slot; /* number + 1 by hash; 0: free */
	uint32_t slots; /* a power of two, or 0 */
};

/* An empty numbering is all zeros. numbering_free frees the content, not `n`. */
void numbering_free(struct numbering *n);
/* The number of the key, which is copied. *is_new, if not NULL: it had none before. 0 and not new
 * when out of memory. */
uint32_t numbering_add(struct numbering *n, const void *key, size_t len, bool *is_new);
/* Whether the key has a number, which *number gets. */
bool numbering_find(const struct numbering *n, const void *key, size_t len, uint32_t *number);
/* The key of a number; NUL-terminated if its caller added it so. Valid until the next new key. */
const char *numbering_key(const struct numbering *n, uint32_t number, size_t *len);

#endif
