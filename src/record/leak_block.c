/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans as payloads (leak_block.h). Main thread. */
#include "src/record/leak_block.h"

#include <errno.h>
#include "src/record/leak_words.h"
#include "src/record/state.h"

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

static void site_put(struct bytes *b, const struct snap_leak_site *s)
{
	bytes_number(b, (unsigned)s->class);
	bytes_number(b, s->site);
	leak_sum_put(b, s->sum);
	leak_sum_put(b, s->indirect);
	bytes_number(b, s->suppressed);
	bytes_number(b, s->oldest_ns);
	bytes_number(b, s->seen);
	leak_sum_put(b, s->before);
}

static void site_read(struct bytes_cursor *c, struct snap_leak_site *s)
{
	s->class = (enum snap_leak_class)bytes_read_below(c, SNAP_LEAK_CLASSES - 1);
	s->site = (uint32_t)bytes_read_below(c, STATE_SITES_MAX - 1);
	s->sum = leak_sum_read(c);
	s->indirect = leak_sum_read(c);
	s->suppressed = bytes_read_below(c, 1) != 0;
	s->oldest_ns = bytes_read(c);
	s->seen = (unsigned)bytes_read_below(c, UINT32_MAX);
	s->before = leak_sum_read(c);
}

static void sites_put(struct bytes *b, const struct snap_leak_site *sites, size_t n)
{
	bytes_number(b, n);
	for (size_t i = 0; i < n; i++)
		site_put(b, &sites[i]);
}

static const struct snap_leak_site *sites_read(
	struct bytes_cursor *c, struct arena *arena, size_t *n)
{
	struct snap_leak_site *sites = leak_array_read(c, arena, sizeof(*sites), SITE_LEAST, n);

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
			leak_sum_put(b, l->rounds[i].sum[k]);
	}
}

static const struct snap_leak_round *rounds_read(
	struct bytes_cursor *c, struct arena *arena, size_t *n)
{
	struct snap_leak_round *rounds = leak_array_read(c, arena, sizeof(*rounds), ROUND_LEAST, n);

	for (size_t i = 0; i < *n && !c->bad; i++) {
		rounds[i].number = (unsigned)bytes_read_below(c, UINT32_MAX);
		rounds[i].ns = bytes_read(c);
		rounds[i].stop_ns = bytes_read(c);
		for (unsigned k = 0; k < SNAP_LEAK_CLASSES; k++)
			rounds[i].sum[k] = leak_sum_read(c);
	}
	return rounds;
}

void leak_block_put(struct bytes *b, const struct snap_leaks *l)
{
	leak_word_put(b, l->failed);
	leak_word_put(b, l->how);
	leak_word_put(b, l->no_copy);
	leak_word_put(b, l->refused);
#define PUT(member, most) bytes_number(b, l->member);
	NUMBERS(PUT)
#undef PUT
	for (unsigned i = 0; i < SNAP_LEAK_CLASSES; i++)
		leak_sum_put(b, l->sum[i]);
	bytes_number(b, SNAP_LEAK_HEURISTICS);
	for (unsigned i = 0; i < SNAP_LEAK_HEURISTICS; i++) {
		leak_word_put(b, l->heuristic_name[i]);
		leak_sum_put(b, l->heuristic[i]);
		leak_sum_put(b, l->behind[i]);
	}
	sites_put(b, l->sites, l->nsites);
	sites_put(b, l->gone, l->ngone);
	rounds_put(b, l);
}

static void leaks_read(struct bytes_cursor *c, struct arena *arena, struct snap_leaks *l)
{
	l->failed = leak_word_read(c, arena);
	l->how = leak_word_read(c, arena);
	c->bad |= !l->failed && !l->how;
	l->no_copy = leak_word_read(c, arena);
	l->refused = leak_word_read(c, arena);
#define READ(member, most) l->member = (__typeof__(l->member))bytes_read_below(c, most);
	NUMBERS(READ)
#undef READ
	for (unsigned i = 0; i < SNAP_LEAK_CLASSES; i++)
		l->sum[i] = leak_sum_read(c);
	if (bytes_read(c) != SNAP_LEAK_HEURISTICS)
		c->bad = true;
	for (unsigned i = 0; i < SNAP_LEAK_HEURISTICS; i++) {
		l->heuristic_name[i] = leak_word_read(c, arena);
		if (!l->heuristic_name[i])
			l->heuristic_name[i] = "";
		l->heuristic[i] = leak_sum_read(c);
		l->behind[i] = leak_sum_read(c);
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
