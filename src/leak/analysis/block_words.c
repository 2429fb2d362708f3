/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the words of all blocks (block_words.h) by several threads: the heap is cut into pieces,
 * and each thread takes the next free one.
 */
#include "src/leak/analysis/block_words.h"
#include "src/leak/analysis/glibc_heap.h"
#include "src/util/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define PAGE	    4096u
#define PIECE_BYTES (UINT64_C(4) << 20) /* read in some milliseconds, the longest wait */
#define PIECES_MAX  65536u /* with more memory, pieces are larger: most of it is not populated */

struct piece {
	uint64_t start, end;
	uint32_t begins; /* the first block that begins here */
	uint32_t first; /* the first block that has words here */
};

struct heap {
	struct leak_graph *graph;
	struct leak_space *space; /* the first reader's, until the others start */
	struct piece *piece;
	struct leak_part *part; /* by piece */
	size_t pieces;
	atomic_size_t next;
};

/* One reading thread. */
struct reader {
	struct heap *heap;
	struct leak_space space;
	struct leak_store *store;
	pthread_t thread;
};

/* ---- what a block has ---- */

/* A block of this size may have a mapping of its own. */
#define MAPPED_LEAST (UINT64_C(128) << 10)

/* As much as glibc's malloc gives for so many bytes: a chunk is a multiple of 16, of which its size
 * takes 8. Other allocators give as much. */
static uint64_t usable(struct leak_space *s, const struct leak_block *b)
{
	uint64_t most = ((b->size + 8 + 15) & ~UINT64_C(15)) - 8;

	if (b->addr % 16 != 0)
		return b->size;
	if (b->size >= MAPPED_LEAST && b->addr % PAGE == 16 &&
		leak_glibc_heap_has_own_mapping(s, b->addr, b->size))
		return ((b->size + 16 + PAGE - 1) & ~(uint64_t)(PAGE - 1)) - 16;
	return most < 24 ? 24 : most;
}

/* Where the words of a block end: at the next block at the latest. */
static uint64_t words_end(struct leak_space *s, const struct leak_graph *g, uint32_t i)
{
	const struct leak_block *b = &g->blocks->block[i];
	uint64_t end = b->addr + b->size, to;

	if (!g->tails)
		return end;
	to = b->addr + usable(s, b);
	if (i + 1 < g->blocks->count && b[1].addr < to)
		to = b[1].addr;
	return to > end ? to : end;
}

/* ---- reading a piece ---- */

struct walk {
	struct leak_space *space;
	struct leak_graph *graph;
	struct leak_part *part;
	uint32_t block; /* the next block that may have words here */
};

/* Notes the header of a block whose first words these are. */
static void head_visit(struct walk *w, const uint64_t *words, size_t count)
{
	const struct leak_block *b = &w->graph->blocks->block[w->block];
	uint64_t second = 0;

	if (count > 1)
		second = words[1];
	else if (b->size >= 2 * sizeof(*words))
		(void)leak_space_word(w->space, b->addr + sizeof(*words), &second);
	leak_graph_header(
		w->graph, w->block, words[0], second, leak_space_word_kind(w->space, words[0]));
}

static void block_visit(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct walk *w = ctx;
	const struct leak_blocks *b = w->graph->blocks;
	uint64_t end = addr + count * sizeof(*words);

	for (; w->block < b->count && b->block[w->block].addr < end; w->block++) {
		uint64_t start = (b->block[w->block].addr + 7) & ~UINT64_C(7);
		uint64_t to = words_end(w->space, w->graph, w->block) & ~UINT64_C(7);
		uint64_t from = start > addr ? start : addr;
		bool goes_on = to > end;

		to = goes_on ? end : to;
		if (from < to) {
			const uint64_t *at = words + (from - addr) / sizeof(*words);
			size_t n = (to - from) / sizeof(*words);

			if (from == b->block[w->block].addr)
				head_visit(w, at, n);
			leak_graph_scan(w->graph, w->part, w->block, at, n);
		}
		if (goes_on)
			return;
	}
}

static void *pieces_read(void *ctx)
{
	struct reader *r = ctx;
	struct heap *h = r->heap;
	size_t i;

	while ((i = atomic_fetch_add(&h->next, 1)) < h->pieces &&
		!leak_space_cancelled(&r->space)) {
		const struct piece *p = &h->piece[i];
		struct walk w = { &r->space, h->graph, &h->part[i], p->first };

		leak_graph_part(&h->part[i], r->store, p->begins);
		leak_space_stream(&r->space, p->start, p->end, block_visit, &w);
	}
	return NULL;
}

/* ---- pieces ---- */

static uint64_t piece_bytes(const struct leak_blocks *b)
{
	uint64_t bytes = 0, piece = PIECE_BYTES;

	for (uint32_t i = 0; i < b->clusters; i++)
		bytes += b->cluster[i].end - b->cluster[i].start;
	while (bytes / piece > PIECES_MAX)
		piece *= 2;
	return piece;
}

/* Cuts one cluster into pieces; without `out`, only counts them. */
static size_t cluster_cut(
	const struct heap *h, const struct leak_cluster *c, uint64_t bytes, struct piece *out)
{
	const struct leak_blocks *b = h->graph->blocks;
	uint64_t last = words_end(h->space, h->graph, c->first + c->count - 1);
	size_t n = 0;

	last = last > c->end ? last : c->end;
	for (uint64_t at = c->start, end; at < last; at = end, n++) {
		uint32_t begins;

		end = (at & ~(uint64_t)(PAGE - 1)) + bytes;
		end = end < last && end > at ? end : last;
		if (!out)
			continue;
		begins = leak_blocks_from(b, at);
		/* The block before may reach in. */
		out[n] = (struct piece){ at, end, begins, begins > c->first ? begins - 1 : begins };
	}
	return n;
}

static bool heap_cut(struct heap *h)
{
	const struct leak_blocks *b = h->graph->blocks;
	uint64_t bytes = piece_bytes(b);
	size_t n = 0;

	for (uint32_t i = 0; i < b->clusters; i++)
		n += cluster_cut(h, &b->cluster[i], bytes, NULL);
	h->piece = calloc(n + 1, sizeof(*h->piece));
	h->part = calloc(n + 1, sizeof(*h->part));
	if (!h->piece || !h->part)
		return false;
	for (uint32_t i = 0; i < b->clusters; i++)
		h->pieces += cluster_cut(h, &b->cluster[i], bytes, h->piece + h->pieces);
	return true;
}

/* ---- readers ---- */

/* Returns how many were started. */
static unsigned readers_start(
	struct heap *h, struct reader *r, const struct leak_space *s, unsigned most)
{
	struct leak_space none = { 0 };
	unsigned n = 0;

	for (; n < most && n + 1 < h->pieces; n++) {
		r[n].heap = h;
		leak_graph_store(r[n].store, h->graph->blocks->count / most);
		if (leak_space_share(&r[n].space, s) != 0)
			break;
		if (thread_start(&r[n].thread, THREAD_STACK_BYTES, pieces_read, &r[n]) != 0) {
			leak_space_join(&r[n].space, &none);
			break;
		}
	}
	return n;
}

void leak_block_words_scan(struct leak_space *s, struct leak_graph *g, unsigned readers)
{
	struct heap h = { .graph = g, .space = s };
	struct leak_store store[LEAK_READERS_MAX] = { 0 };
	struct reader r[LEAK_READERS_MAX];
	unsigned others = 0;

	if (!heap_cut(&h)) {
		g->failed = true;
		goto out;
	}
	for (unsigned i = 0; i < LEAK_READERS_MAX; i++)
		r[i].store = &store[i];
	readers = readers < LEAK_READERS_MAX ? readers : LEAK_READERS_MAX;
	others = readers_start(&h, r + 1, s, readers - 1);
	r[0].heap = &h;
	r[0].space = *s;
	leak_graph_store(r[0].store, g->blocks->count / (others + 1));
	pieces_read(&r[0]);
	*s = r[0].space;
	for (unsigned i = 1; i <= others; i++) {
		pthread_join(r[i].thread, NULL);
		leak_space_join(&r[i].space, s);
	}
out:
	leak_graph_join(g, h.part, h.pieces, store, LEAK_READERS_MAX);
	free(h.piece);
	free(h.part);
}

unsigned leak_block_words_readers(const struct leak_space *s, bool runs)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	if (s->lent)
		return 1;
	return n > 1 && runs ? (unsigned)n - 1 : (unsigned)n;
}
