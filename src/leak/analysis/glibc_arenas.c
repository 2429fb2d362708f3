/* SPDX-License-Identifier: GPL-3.0-or-later */
/* glibc's arenas (glibc_arenas.h). */
#include "src/leak/analysis/glibc_arenas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/analysis/glibc_heap.h"
#include "src/util/array.h"

#define WORD sizeof(uint64_t)
/* malloc_state, in words. */
#define FASTBINS    2u
#define TOP	    12u
#define BINS	    14u /* two words each, the first bin's number is 1 */
#define BIN_COUNT   127u
#define NEXT	    270u
#define SYSTEM_MEM  273u
#define STATE_WORDS 275u
/* A busy program's bins are used by and by, those of large sizes hardly. */
#define BINS_EMPTY_LEAST 8u

#define DATA_MOST   (UINT64_C(16) << 20) /* a libc's writable data are some KB */
#define ARENAS_MOST 65536u
#define BINS_MOST   64u /* of a thread's cache */

/* A copy of writable data. */
struct data {
	uint64_t start;
	const uint64_t *word;
	size_t count;
};

/* ---- one arena ---- */

/* A bin is a circle: its two words are its own address, or both a chunk's. */
static bool is_bin(const struct data *d, size_t at, unsigned bin, unsigned *empty)
{
	uint64_t self = d->start + (at + BINS + 2 * bin - 2) * WORD;
	const uint64_t *word = d->word + at + BINS + 2 * (size_t)bin;

	if (word[0] == self && word[1] == self) {
		++*empty;
		return true;
	}
	return word[0] != self && word[1] != self && word[0] != 0 && word[1] != 0 &&
	       word[0] % 16 == 0 && word[1] % 16 == 0;
}

static bool is_arena(const struct data *d, size_t at)
{
	unsigned empty = 0;

	if (at + STATE_WORDS > d->count)
		return false;
	for (unsigned i = 0; i < BIN_COUNT; i++)
		if (!is_bin(d, at, i, &empty))
			return false;
	return empty >= BINS_EMPTY_LEAST;
}

static struct leak_glibc_arena arena_of(const struct data *d, size_t at)
{
	const uint64_t *word = d->word + at;
	struct leak_glibc_arena a = {
		.at = d->start + at * WORD, .top = word[TOP], .system_bytes = word[SYSTEM_MEM]
	};

	memcpy(a.fastbin, word + FASTBINS, sizeof(a.fastbin));
	return a;
}

static int arena_add(struct leak_glibc_arenas *out, const struct leak_glibc_arena *a)
{
	struct leak_glibc_arena *grown =
		array_grow(out->arena, out->count, &out->capacity, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	out->arena = grown;
	out->arena[out->count++] = *a;
	return 0;
}

uint64_t leak_glibc_arenas_first_chunk(uint64_t arena)
{
	return (arena + STATE_WORDS * WORD + 15) & ~UINT64_C(15);
}

/* ---- the other arenas ---- */

/* Whether an arena may lie there that is not a main one: in its first heap. */
static bool is_in_heap(struct leak_space *s, uint64_t at)
{
	uint64_t heap = at & ~(LEAK_GLIBC_HEAP_BYTES - 1), owner;

	return at != heap && at % 16 == 0 && leak_space_word(s, heap, &owner) && owner == at;
}

/* Adds the arenas after a main one, until the list comes back to it, or to nothing that is one. */
static int others_add(struct leak_space *s, struct leak_glibc_arenas *out, uint64_t main)
{
	uint64_t words[STATE_WORDS], at;
	int rc = 0;

	if (!leak_space_word(s, main + NEXT * WORD, &at))
		return 0;
	for (unsigned i = 0; i < ARENAS_MOST && at != main && rc == 0; i++) {
		const struct data d = { at, words, STATE_WORDS };
		struct leak_glibc_arena a;

		if (!is_in_heap(s, at) ||
			leak_space_read(s, at, words, sizeof(words), leak_space_has_shared(s)) !=
				sizeof(words) ||
			!is_arena(&d, 0))
			break;
		a = arena_of(&d, 0);
		a.heap_bytes = at % LEAK_GLIBC_HEAP_BYTES;
		rc = arena_add(out, &a);
		at = words[NEXT];
	}
	return rc;
}

/* ---- parameters ---- */

static uint32_t low(uint64_t word)
{
	return (uint32_t)word;
}

static uint32_t high(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

/* n_mmaps, n_mmaps_max, max_n_mmaps and no_dyn_threshold of malloc_par, four ints, end before
 * mmapped_mem: since 2.35 after another one, with padding at the end. *mappings: the first. */
static bool are_counts(const uint64_t *base, bool padded, uint64_t *mappings)
{
	uint32_t count = padded ? high(base[-5]) : low(base[-4]);
	uint32_t most = padded ? high(base[-4]) : low(base[-3]);
	uint32_t fixed = padded ? low(base[-3]) : high(base[-3]);

	*mappings = count;
	return count <= most && fixed <= 1 && (count == 0) == (base[-2] == 0) &&
	       (!padded || high(base[-3]) == 0);
}

/* Whether sbrk_base of malloc_par may be here: what is around it belongs together. */
static bool is_parameters(const uint64_t *base, uint64_t *mappings)
{
	uint64_t mapped = base[-2], mapped_most = base[-1], bins = base[1], bytes = base[2];

	return mapped <= mapped_most && mapped % PROC_PAGE_BYTES == 0 &&
	       mapped_most % PROC_PAGE_BYTES == 0 && *base % 16 == 0 && bins >= 1 &&
	       bins <= BINS_MOST && bytes <= bins * 16 + 8 && bytes + 16 > bins * 16 + 8 &&
	       base[3] <= UINT16_MAX &&
	       (are_counts(base, true, mappings) || are_counts(base, false, mappings));
}

/* The same libc's parameters: its own heap begins at or before its top. */
static void parameters_find(const struct data *d, struct leak_glibc_arena *a)
{
	for (size_t i = 5; i + 3 < d->count; i++) {
		const uint64_t *base = d->word + i;

		if (*base > a->top || (*base == 0 && a->system_bytes != 0) ||
			!is_parameters(base, &a->mappings))
			continue;
		a->has_parameters = true;
		a->brk_start = *base;
		a->mapped_bytes = base[-2];
		return;
	}
}

/* ---- main arenas ---- */

/* The main arenas in one mapping's data. */
static int data_search(struct leak_space *s, const struct data *d, struct leak_glibc_arenas *out)
{
	int rc = 0;

	for (size_t i = 0; i + STATE_WORDS <= d->count && rc == 0; i++) {
		struct leak_glibc_arena a;

		/* Bins look the same from other bins on; the list of arenas does not. */
		if (!is_arena(d, i) || (d->word[i + NEXT] != d->start + i * WORD &&
					       !is_in_heap(s, d->word[i + NEXT])))
			continue;
		a = arena_of(d, i);
		parameters_find(d, &a);
		rc = arena_add(out, &a);
		if (rc == 0)
			rc = others_add(s, out, a.at);
		i += STATE_WORDS - 1;
	}
	return rc;
}

/* A file's data, and the .bss that follows it, up to `end`. */
static int map_search(
	struct leak_space *s, uint64_t start, uint64_t end, struct leak_glibc_arenas *out)
{
	uint64_t bytes = end - start < DATA_MOST ? end - start : DATA_MOST;
	uint64_t *words = malloc(bytes);
	ssize_t got;
	int rc = 0;

	if (!words)
		return -ENOMEM;
	got = leak_space_read(s, start, words, bytes, leak_space_has_shared(s));
	if (got > 0) {
		const struct data d = { start, words, (size_t)got / WORD };

		rc = data_search(s, &d, out);
	}
	free(words);
	return rc;
}

static bool is_libc(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "libc-2.", 7) == 0;
}

static bool is_data(const struct leak_map *m)
{
	return m->inode != 0 && !m->shared && m->readable && m->writable && !leak_map_is_device(m);
}

/* Where the data end that begin in mapping `i`. */
static uint64_t data_end(const struct leak_space *s, size_t i)
{
	const struct leak_map *m = &s->map[i], *next = i + 1 < s->maps ? m + 1 : NULL;
	bool has_bss = next && next->start == m->end && next->inode == 0 && !*next->path &&
		       next->readable && next->writable && !next->shared;

	return has_bss ? next->end : m->end;
}

/* `libc`: in files of that name, or in all others: the program may contain it. */
static int maps_search(struct leak_space *s, bool libc, struct leak_glibc_arenas *out)
{
	int rc = 0;

	for (size_t i = 0; i < s->maps && rc == 0; i++)
		if (is_data(&s->map[i]) && is_libc(s->map[i].path) == libc)
			rc = map_search(s, s->map[i].start, data_end(s, i), out);
	return rc;
}

int leak_glibc_arenas_find(struct leak_space *s, struct leak_glibc_arenas *out)
{
	int rc;

	*out = (struct leak_glibc_arenas){ 0 };
	rc = maps_search(s, true, out);
	if (rc == 0 && out->count == 0)
		rc = maps_search(s, false, out);
	if (rc != 0)
		leak_glibc_arenas_free(out);
	return rc;
}

void leak_glibc_arenas_free(struct leak_glibc_arenas *a)
{
	free(a->arena);
	*a = (struct leak_glibc_arenas){ 0 };
}
