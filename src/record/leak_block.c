/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans as payloads (leak_block.h). Main thread. */
#include "src/record/leak_block.h"

#include <errno.h>
#include "src/record/state.h"

#define NAMES_MAX   1024u /* bytes of a word or line */
#define SITE_LEAST  11u /* numbers, of a byte or more, that a row of sites has */
#define ROUND_LEAST (3u + 2u * SNAP_LEAK_CLASSES) /* and one of rounds */

/* Numbers of a scan, in the order of a file. Each is a member and its width. */
#define NUMBERS(X)                                                                                 \
	X(copy_left, 1)                                                                            \
	X(snapshots, UINT32_MAX)                                                                   \
	X(let, 1)                                                                                  \
	X(at_exit, 1)                                                                              \
	X(before_exit, 1)                                                                          \
	X(suppressed.blocks, UINT64_MAX)                                                           \
	X(suppressed.bytes, UINT64_MAX)                                                            \
	X(moved.blocks, UINT64_MAX)                                                                \
	X(moved.bytes, UINT64_MAX)                                                                 \
	X(stop_ns, UINT64_MAX)                                                                     \
	X(scan_ns, UINT64_MAX)                                                                     \
	X(scanned_bytes, UINT64_MAX)                                                               \
	X(unread_bytes, UINT64_MAX)                                                                \
	X(devices, UINT32_MAX)                                                                     \
	X(unknown, 1)                                                                              \
	X(threads, UINT32_MAX)                                                                     \
	X(running, UINT32_MAX)                                                                     \
	X(busy, UINT32_MAX)                                                                        \
	X(at_ns, UINT64_MAX)

static void sum_put(struct bytes *b, struct snap_leak_sum sum)
{
	bytes_number(b, sum.blocks);
	bytes_number(b, sum.bytes);
}

static struct snap_leak_sum sum_read(struct bytes_cursor *c)
{
	struct snap_leak_sum sum = { .blocks = bytes_read(c) };

	sum.bytes = bytes_read(c);
	return sum;
}

/* NULL and "" differ. */
static void word_put(struct bytes *b, const char *text)
{
	bytes_number(b, text != NULL);
	if (text)
		bytes_add_text(b, text);
}

static const char *word_read(struct bytes_cursor *c, struct arena *arena)
{
	const char *text, *copy;
	size_t len;

	if (!bytes_read_below(c, 1))
		return NULL;
	text = bytes_read_text(c, NAMES_MAX, &len);
	copy = text ? arena_text(arena, text, len) : NULL;
	c->bad |= !copy;
	return copy;
}

static void site_put(struct bytes *b, const struct snap_leak_site *s)
{
	bytes_number(b, (unsigned)s->class);
	bytes_number(b, s->site);
	sum_put(b, s->sum);
	sum_put(b, s->indirect);
	bytes_number(b, s->suppressed);
	bytes_number(b, s->oldest_ns);
	bytes_number(b, s->seen);
	sum_put(b, s->before);
}

static void site_read(struct bytes_cursor *c, struct snap_leak_site *s)
{
	s->class = (enum snap_leak_class)bytes_read_below(c, SNAP_LEAK_CLASSES - 1);
	s->site = (uint32_t)bytes_read_below(c, STATE_SITES_MAX - 1);
	s->sum = sum_read(c);
	s->indirect = sum_read(c);
	s->suppressed = bytes_read_below(c, 1) != 0;
	s->oldest_ns = bytes_read(c);
	s->seen = (unsigned)bytes_read_below(c, UINT32_MAX);
	s->before = sum_read(c);
}

static void sites_put(struct bytes *b, const struct snap_leak_site *sites, size_t n)
{
	bytes_number(b, n);
	for (size_t i = 0; i < n; i++)
		site_put(b, &sites[i]);
}

/* An array whose count precedes it, of elements that take at least `least` bytes each. */
static void *array_read(
	struct bytes_cursor *c, struct arena *arena, size_t each, size_t least, size_t *n)
{
	void *items;

	*n = bytes_read_below(c, (size_t)(c->end - c->at) / least);
	items = arena_alloc(arena, (*n + 1) * each);
	c->bad |= !items;
	return items;
}

static const struct snap_leak_site *sites_read(
	struct bytes_cursor *c, struct arena *arena, size_t *n)
{
	struct snap_leak_site *sites = array_read(c, arena, sizeof(*sites), SITE_LEAST, n);

	for (size_t i = 0; i < *n && !c->bad; i++)
		site_read(c, &sites[i]);
	return sites;
}

static void rounds_put(struct bytes *b, const struct snap_leaks *l)
{
	bytes_number(b, l->nrounds);
	for (size_t i = 0; i < l->nrounds; i++) {
		bytes_number(b, l->rounds[i].number);
		bytes_number(b, l->rounds[i].ns);
		bytes_number(b, l->rounds[i].stop_ns);
		for (unsigned k = 0; k < SNAP_LEAK_CLASSES; k++)
			sum_put(b, l->rounds[i].sum[k]);
	}
}

static const struct snap_leak_round *rounds_read(
	struct bytes_cursor *c, struct arena *arena, size_t *n)
{
	struct snap_leak_round *rounds = array_read(c, arena, sizeof(*rounds), ROUND_LEAST, n);

	for (size_t i = 0; i < *n && !c->bad; i++) {
		rounds[i].number = (unsigned)bytes_read_below(c, UINT32_MAX);
		rounds[i].ns = bytes_read(c);
		rounds[i].stop_ns = bytes_read(c);
		for (unsigned k = 0; k < SNAP_LEAK_CLASSES; k++)
			rounds[i].sum[k] = sum_read(c);
	}
	return rounds;
}

void leak_block_put(struct bytes *b, const struct snap_leaks *l)
{
	word_put(b, l->failed);
	word_put(b, l->how);
	word_put(b, l->no_copy);
	word_put(b, l->refused);
#define PUT(member, most) bytes_number(b, l->member);
	NUMBERS(PUT)
#undef PUT
	for (unsigned i = 0; i < SNAP_LEAK_CLASSES; i++)
		sum_put(b, l->sum[i]);
	bytes_number(b, SNAP_LEAK_HEURISTICS);
	for (unsigned i = 0; i < SNAP_LEAK_HEURISTICS; i++) {
		word_put(b, l->heuristic_name[i]);
		sum_put(b, l->heuristic[i]);
		sum_put(b, l->behind[i]);
	}
	sites_put(b, l->sites, l->nsites);
	sites_put(b, l->gone, l->ngone);
	rounds_put(b, l);
}

static void leaks_read(struct bytes_cursor *c, struct arena *arena, struct snap_leaks *l)
{
	l->failed = word_read(c, arena);
	l->how = word_read(c, arena);
	c->bad |= !l->failed && !l->how;
	l->no_copy = word_read(c, arena);
	l->refused = word_read(c, arena);
#define READ(member, most) l->member = (__typeof__(l->member))bytes_read_below(c, most);
	NUMBERS(READ)
#undef READ
	for (unsigned i = 0; i < SNAP_LEAK_CLASSES; i++)
		l->sum[i] = sum_read(c);
	if (bytes_read(c) != SNAP_LEAK_HEURISTICS)
		c->bad = true;
	for (unsigned i = 0; i < SNAP_LEAK_HEURISTICS; i++) {
		l->heuristic_name[i] = word_read(c, arena);
		if (!l->heuristic_name[i])
			l->heuristic_name[i] = "";
		l->heuristic[i] = sum_read(c);
		l->behind[i] = sum_read(c);
	}
	l->sites = sites_read(c, arena, &l->nsites);
	l->gone = sites_read(c, arena, &l->ngone);
	l->rounds = rounds_read(c, arena, &l->nrounds);
}

struct snap_leaks *leak_block_read(const struct bytes *raw, struct arena *arena)
{
	struct bytes_cursor c = bytes_begin(raw);
	struct snap_leaks *l = arena_alloc(arena, sizeof(*l));

	if (!l) {
		errno = ENOMEM;
		return NULL;
	}
	leaks_read(&c, arena, l);
	errno = EBADMSG;
	return c.bad || c.at != c.end ? NULL : l;
}
