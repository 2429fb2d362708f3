/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Zeros and copies (contents.h). Blocks are read by ascending address through one window; only to
 * compare equal hashes is a block read again.
 */
#include "src/leak/analysis/contents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE	     4096u
#define WINDOW_BYTES (256u << 10)
#define PIECE_BYTES  (64u << 10) /* a longer block is hashed and compared in pieces */
#define STOP_EVERY   1024u /* blocks */
#define SLOTS_LEAST  1024u

/* A block that was not like any before it. */
struct slot {
	uint32_t hash; /* its high half; the low one gives the place */
	uint32_t block; /* + 1; 0: free */
};

struct finder {
	struct leak_contents *out;
	const struct leak_blocks *blocks;
	const struct leak_contents_memory *memory;
	uint32_t *index; /* per site id: its place in out->site, + 1 */
	struct slot *slot;
	uint32_t mask, used, most;
	unsigned char *window; /* the bytes from `at` on that could be read */
	uint64_t at;
	size_t bytes;
	unsigned char *piece, *other; /* of the block, and of the one that it may equal */
};

/* ---- reading ---- */

static void window_read(struct finder *f, uint64_t addr)
{
	ssize_t got;

	f->at = addr & ~(uint64_t)(PAGE - 1);
	got = f->memory->read(f->memory->ctx, f->at, f->window, WINDOW_BYTES);
	f->bytes = got > 0 ? (size_t)got : 0;
}

/* Copies bytes by way of the window. False: they cannot be read. */
static bool bytes_read(struct finder *f, uint64_t addr, unsigned char *out, size_t bytes)
{
	while (bytes > 0) {
		size_t n;

		if (addr < f->at || addr - f->at >= f->bytes)
			window_read(f, addr);
		if (addr - f->at >= f->bytes)
			return false;
		n = f->bytes - (size_t)(addr - f->at);
		n = n < bytes ? n : bytes;
		memcpy(out, f->window + (addr - f->at), n);
		out += n;
		addr += n;
		bytes -= n;
	}
	return true;
}

static size_t piece_of(uint64_t size, uint64_t from)
{
	return size - from < PIECE_BYTES ? (size_t)(size - from) : PIECE_BYTES;
}

/* ---- one block ---- */

struct digest {
	uint64_t hash;
	uint64_t tail; /* bytes of zeros at the end */
};

/* Eight bytes at a time, each mixed in by a multiplication whose high half is folded back. */
static uint64_t hash_more(uint64_t h, const unsigned char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, p + i, bytes - i < sizeof(word) ? bytes - i : sizeof(word));
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	return h;
}

static size_t zeros_at_end(const unsigned char *p, size_t bytes)
{
	size_t n = bytes;

	while (n >= sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, p + n - sizeof(word), sizeof(word));
		if (word != 0)
			break;
		n -= sizeof(word);
	}
	while (n > 0 && p[n - 1] == 0)
		n--;
	return bytes - n;
}

static bool block_digest(struct finder *f, const struct leak_block *b, struct digest *out)
{
	*out = (struct digest){ .hash = b->size * UINT64_C(0xd6e8feb86659fd93) };
	for (uint64_t from = 0; from < b->size; from += PIECE_BYTES) {
		size_t n = piece_of(b->size, from), zeros;

		if (!bytes_read(f, b->addr + from, f->piece, n))
			return false;
		zeros = zeros_at_end(f->piece, n);
		out->tail = zeros == n ? out->tail + n : zeros;
		out->hash = hash_more(out->hash, f->piece, n);
	}
	return true;
}

/* Both are read again, but for a short block: `piece` still has that. */
static bool is_equal(struct finder *f, const struct leak_block *a, const struct leak_block *b)
{
	const struct leak_contents_memory *m = f->memory;

	for (uint64_t from = 0; a->size == b->size && from < a->size; from += PIECE_BYTES) {
		size_t n = piece_of(a->size, from);

		if (a->size > PIECE_BYTES &&
			m->read(m->ctx, a->addr + from, f->piece, n) != (ssize_t)n)
			return false;
		if (m->read(m->ctx, b->addr + from, f->other, n) != (ssize_t)n ||
			memcmp(f->piece, f->other, n) != 0)
			return false;
	}
	return a->size == b->size;
}

/* Whether the block equals one that came before; if not, it is remembered. */
static bool is_copy(struct finder *f, uint32_t i, uint64_t hash)
{
	const struct leak_block *block = f->blocks->block;
	uint32_t high = (uint32_t)(hash >> 32), at = (uint32_t)hash & f->mask;

	for (; f->slot[at].block != 0; at = (at + 1) & f->mask)
		if (f->slot[at].hash == high &&
			is_equal(f, &block[i], &block[f->slot[at].block - 1]))
			return true;
	if (f->used == f->most) {
		f->out->is_whole = false;
		return false;
	}
	f->used++;
	f->slot[at] = (struct slot){ high, i + 1 };
	return false;
}

/* ---- sums ---- */

static void sum_add(struct leak_contents_sum *s, uint64_t bytes)
{
	s->blocks++;
	s->bytes += bytes;
}

static void block_count(struct leak_site_contents *s, uint64_t size, uint64_t tail, bool copy)
{
	sum_add(&s->read, size);
	if (tail == size)
		sum_add(&s->zero, size);
	else if (tail >= LEAK_CONTENTS_TAIL || tail * 2 >= size)
		sum_add(&s->tail, tail);
	if (copy)
		sum_add(&s->copies, size);
}

static void block_add(struct finder *f, uint32_t i)
{
	const struct leak_block *b = &f->blocks->block[i];
	struct digest d;
	bool copy;

	if (b->size == 0 || b->birth == LEAK_BIRTH_UNSURE)
		return;
	if (!block_digest(f, b, &d)) {
		f->out->is_whole = false;
		return;
	}
	/* Zeros are equal, too, but said as such. */
	copy = d.tail < b->size && is_copy(f, i, d.hash);
	block_count(&f->out->all, b->size, d.tail, copy);
	block_count(&f->out->site[f->index[b->site] - 1], b->size, d.tail, copy);
}

/* ---- all of them ---- */

/* The sites that have blocks, by id. */
static bool sites_make(struct finder *f)
{
	uint32_t sites = 0;

	for (uint32_t i = 0; i < f->blocks->count; i++)
		if (f->blocks->block[i].site >= sites)
			sites = f->blocks->block[i].site + 1;
	f->index = calloc(sites + (size_t)1, sizeof(*f->index));
	f->out->site = calloc(sites + (size_t)1, sizeof(*f->out->site));
	if (!f->index || !f->out->site)
		return false;
	for (uint32_t i = 0; i < f->blocks->count; i++)
		f->index[f->blocks->block[i].site] = 1;
	for (uint32_t id = 0; id < sites; id++)
		if (f->index[id]) {
			f->out->site[f->out->sites].site = id;
			f->index[id] = (uint32_t)++f->out->sites;
		}
	return true;
}

static bool memory_make(struct finder *f)
{
	uint32_t slots = SLOTS_LEAST;

	f->most = f->blocks->count < LEAK_CONTENTS_MOST ? f->blocks->count : LEAK_CONTENTS_MOST;
	while (slots / 4 * 3 < f->most)
		slots *= 2;
	f->mask = slots - 1;
	f->slot = calloc(slots, sizeof(*f->slot));
	f->window = malloc(WINDOW_BYTES);
	f->piece = malloc(PIECE_BYTES);
	f->other = malloc(PIECE_BYTES);
	return f->slot && f->window && f->piece && f->other && sites_make(f);
}

int leak_contents_find(struct leak_contents *c, const struct leak_blocks *blocks,
	const struct leak_contents_memory *memory)
{
	struct finder f = { .out = c, .blocks = blocks, .memory = memory };
	int rc = 0;

	*c = (struct leak_contents){ .is_whole = true };
	if (!memory_make(&f))
		rc = -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < blocks->count; i++) {
		if (i % STOP_EVERY == 0 && memory->is_stopped(memory->ctx))
			rc = -ECANCELED;
		else
			block_add(&f, i);
	}
	free(f.index);
	free(f.slot);
	free(f.window);
	free(f.piece);
	free(f.other);
	if (rc != 0)
		leak_contents_free(c);
	return rc;
}

void leak_contents_free(struct leak_contents *c)
{
	free(c->site);
	*c = (struct leak_contents){ 0 };
}
