/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An invented memory, its blocks, and their graph: what tests of the leak scan's analysis share.
 * One source file each, so everything is here. */
#ifndef TESTS_UNIT_LEAK_FIXTURE_H
#define TESTS_UNIT_LEAK_FIXTURE_H

#include <stdlib.h>

#include "src/leak/analysis/backlinks.h"
#include "src/leak/analysis/classes.h"
#include "tests/check.h"

#define HEAP   0x10000000ull
#define MAPPED 0x562200014030ull /* of other memory */
#define CODE   0x400000ull /* functions are there */

/* A memory of words from HEAP on, and blocks in it. */
#define WORDS 16384
static struct {
	uint64_t word[WORDS];
	struct leak_blocks blocks;
	struct leak_graph graph;
	uint64_t vtable[4]; /* addresses that are one */
	uint64_t mapped; /* one of other memory */
} heap;

static void memory_read(void *ctx, struct leak_word *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t index = (words[i].addr - HEAP) / 8;

		words[i].ok = words[i].addr >= HEAP && index < WORDS;
		words[i].value = words[i].ok ? heap.word[index] : 0;
	}
}

static bool memory_is_vtable(void *ctx, uint64_t addr)
{
	for (int i = 0; i < 4; i++)
		if (heap.vtable[i] == addr)
			return true;
	return false;
}

static bool memory_is_function(void *ctx, uint64_t addr)
{
	return addr - CODE < 0x1000;
}

static enum leak_word_kind first_kind(uint64_t word)
{
	if (memory_is_vtable(NULL, word))
		return LEAK_WORD_FILE;
	return word == heap.mapped ? LEAK_WORD_ADDRESS : LEAK_WORD_NUMBER;
}

static void reset(void)
{
	leak_graph_free(&heap.graph);
	leak_blocks_free(&heap.blocks);
	memset(&heap, 0, sizeof(heap));
}

static void block(uint64_t offset, uint64_t size)
{
	struct leak_block b = { HEAP + offset, size, 1, 0 };

	CHECK_INT(leak_blocks_add(&heap.blocks, &b), 0);
}

static void store(uint64_t offset, uint64_t value)
{
	heap.word[offset / 8] = value;
}

static void ready(void)
{
	CHECK_INT(leak_blocks_finish(&heap.blocks), 0);
	CHECK_INT(leak_graph_start(&heap.graph, &heap.blocks), 0);
}

static void root_at(uint64_t at, uint64_t word)
{
	leak_graph_root(&heap.graph, at, &word, 1, false);
}

static void root(uint64_t word)
{
	root_at(0x1000, word);
}

#define PARTS 5

/* The words of [from, to): what a thread reads when they are its part. */
static void part_scan(struct leak_part *part, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < heap.blocks.count; i++) {
		uint64_t start = (heap.blocks.block[i].addr - HEAP) / 8;
		uint64_t end = start + heap.blocks.block[i].size / 8;
		const uint64_t *words = &heap.word[start];

		if (start >= from && start < to && end > start)
			leak_graph_header(&heap.graph, i, words[0], end > start + 1 ? words[1] : 0,
				first_kind(words[0]));
		start = start > from ? start : from;
		end = end < to ? end : to;
		if (start < end)
			leak_graph_scan(
				&heap.graph, part, i, &heap.word[start], (size_t)(end - start));
	}
}

/* In parts of one thread or two that are cut anywhere, also inside blocks. */
static void finish(void)
{
	static const struct leak_memory m = { NULL, memory_read, memory_is_vtable,
		memory_is_function };
	static unsigned round;
	struct leak_store store[2] = { { 0 } };
	struct leak_part part[PARTS];
	uint64_t end = 0, from = 0;

	if (heap.blocks.count > 0)
		end = (heap.blocks.lowest + heap.blocks.span - HEAP) / 8 + 1;
	round++;
	for (unsigned i = 0; i < PARTS; i++) {
		uint64_t to = i + 1 < PARTS ? end * (i + 1) / PARTS + round % 7 : end;

		to = to < end ? to : end;
		leak_graph_part(&part[i], &store[(round * (i + 3) >> 1) % 2],
			leak_blocks_from(&heap.blocks, HEAP + from * 8));
		part_scan(&part[i], from, to);
		from = to;
	}
	leak_graph_join(&heap.graph, part, PARTS, store, 2);
	leak_graph_explain(&heap.graph, &m);
	leak_backlinks_explain(&heap.graph, &m);
	CHECK_INT(leak_classes_assign(&heap.graph), 0);
}

static unsigned class_of(uint32_t i)
{
	return heap.graph.class[i];
}

#endif
