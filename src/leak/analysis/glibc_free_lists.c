/* SPDX-License-Identifier: GPL-3.0-or-later */
/* glibc's singly linked lists of free chunks (glibc_free_lists.h). */
#include "src/leak/analysis/glibc_free_lists.h"

#include <errno.h>
#include <stdlib.h>

#include "src/util/array.h"

#define WORD	    sizeof(uint64_t)
#define FLAGS	    7u
#define LEAST	    32u /* size of the smallest chunk */
#define USER	    16u /* a chunk's memory begins there, and the list's pointer in a free one */
#define MANGLE	    12u /* bits that a pointer's own address is shifted by */
#define CACHE_BINS  64u
#define CACHE_WORDS (CACHE_BINS * sizeof(uint16_t) / WORD + CACHE_BINS)
#define LIST_MOST   (UINT64_C(1) << 28) /* longer: it is a circle */
/* A thread that was stopped inside malloc may have one chunk more, or less, than it says. */
#define COUNT_OFF 1u

static int chunk_add(struct leak_glibc_free_lists *f, uint64_t chunk)
{
	uint64_t *grown = array_grow(f->chunk, f->count, &f->capacity, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	f->chunk = grown;
	f->chunk[f->count++] = chunk;
	return 0;
}

struct list {
	uint64_t first; /* memory of its first chunk; 0: it is empty */
	uint64_t offset; /* of a chunk's memory from where the list points to */
	uint64_t size; /* of its chunks */
	uint64_t most; /* chunks */
};

/* Adds a list's chunks, whose pointers are mangled or not. The number of chunks, or -errno;
 * -EINVAL: it is none. */
static int64_t list_add(struct leak_glibc_free_lists *f, const struct list *l, bool mangled)
{
	uint64_t at = l->first, words[2] = { 0, 0 }, n = 0;
	size_t was = f->count;
	int rc = 0;

	for (; at != 0 && rc == 0; n++) {
		if (n == l->most || at % 16 != 0 ||
			leak_space_read(f->space, at - WORD, words, 2 * WORD,
				leak_space_has_shared(f->space)) != 2 * WORD ||
			(words[0] & ~(uint64_t)FLAGS) != l->size)
			rc = -EINVAL;
		else
			rc = chunk_add(f, at - USER);
		at = mangled ? at >> MANGLE ^ words[1] : words[1];
		at += at != 0 ? l->offset : 0;
	}
	if (rc != 0)
		f->count = was;
	return rc != 0 ? rc : (int64_t)n;
}

/* A list of one chunk may be read both ways only if it is at address 0. */
static int64_t list_add_either(struct leak_glibc_free_lists *f, const struct list *l)
{
	int64_t n = list_add(f, l, true);

	return n == -EINVAL ? list_add(f, l, false) : n;
}

int leak_glibc_free_lists_fastbins(
	struct leak_glibc_free_lists *f, const struct leak_glibc_arena *a)
{
	int64_t n = 0;

	for (unsigned i = 0; i < LEAK_GLIBC_FASTBINS && n != -ENOMEM; i++) {
		const struct list l = { a->fastbin[i] ? a->fastbin[i] + USER : 0, USER,
			LEAST + 16 * i, LIST_MOST };

		n = list_add_either(f, &l);
		f->whole &= n >= 0;
	}
	return n == -ENOMEM ? (int)n : 0;
}

/* ---- threads' caches ---- */

static int cache_note(struct leak_glibc_free_lists *f, uint64_t chunk)
{
	uint64_t *grown = array_grow(f->cache, f->caches, &f->cache_capacity, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	f->cache = grown;
	f->cache[f->caches++] = chunk;
	return 0;
}

static uint16_t count_of(const uint64_t *words, unsigned bin)
{
	return (uint16_t)(words[bin / 4] >> bin % 4 * 16);
}

/* Adds the lists of what may be a cache. The number of chunks; -EINVAL: it is none. */
static int64_t cache_add(struct leak_glibc_free_lists *f, const uint64_t *words)
{
	int64_t n = 0, all = 0;
	unsigned off = 0;

	for (unsigned i = 0; i < CACHE_BINS && n >= 0; i++) {
		uint16_t count = count_of(words, i);
		const struct list l = { words[CACHE_WORDS - CACHE_BINS + i], 0, LEAST + 16 * i,
			count + COUNT_OFF };

		n = list_add_either(f, &l);
		off += n >= 0 && n != count;
		if (n >= 0 && (n > count + (int64_t)COUNT_OFF || n + (int64_t)COUNT_OFF < count))
			n = -EINVAL;
		all += n;
	}
	return n < 0 ? n : off > COUNT_OFF ? -EINVAL : all;
}

int leak_glibc_free_lists_cache(struct leak_glibc_free_lists *f, uint64_t chunk, bool first)
{
	uint64_t words[CACHE_WORDS];
	size_t was = f->count;
	int64_t n;

	if (leak_space_read(f->space, chunk + USER, words, sizeof(words),
		    leak_space_has_shared(f->space)) != sizeof(words))
		return 0;
	n = cache_add(f, words);
	if (n > 0 || (n == 0 && first))
		return cache_note(f, chunk);
	f->count = was;
	return n == -ENOMEM ? (int)n : 0;
}

/* ---- looking up ---- */

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void leak_glibc_free_lists_finish(struct leak_glibc_free_lists *f)
{
	if (f->count > 1)
		qsort(f->chunk, f->count, sizeof(*f->chunk), by_address);
}

bool leak_glibc_free_lists_has(const struct leak_glibc_free_lists *f, uint64_t chunk)
{
	return f->count > 0 &&
	       bsearch(&chunk, f->chunk, f->count, sizeof(*f->chunk), by_address) != NULL;
}

void leak_glibc_free_lists_free(struct leak_glibc_free_lists *f)
{
	free(f->chunk);
	free(f->cache);
	*f = (struct leak_glibc_free_lists){ 0 };
}
