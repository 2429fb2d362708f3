/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/leak: blocks by address, and the classes of memcheck, in invented memories. Long because each
 * class and each heuristic is a few lines on the same memory. */
#include <stdlib.h>

#include "src/leak/analysis/heuristics.h"
#include "src/leak/analysis/learned_offsets.h"
#include "tests/unit/leak_fixture.h"

TEST(finds_blocks)
{
	reset();
	block(0x100, 0x20); /* 1 */
	block(0x40, 0x10); /* 0 */
	block(0x200, 0); /* 2 */
	block(0x8000000, 0x100000000ull); /* 3: over 4 GB */
	CHECK_INT(leak_blocks_finish(&heap.blocks), 0);
	CHECK_INT(leak_blocks_find(&heap.blocks, HEAP + 0x3f), LEAK_NONE);
	CHECK_INT(leak_blocks_find(&heap.blocks, HEAP + 0x40), 0);
	CHECK_INT(leak_blocks_find(&heap.blocks, HEAP + 0x4f), 0);
	CHECK_INT(leak_blocks_find(&heap.blocks, HEAP + 0x50), LEAK_NONE);
	CHECK_INT(leak_blocks_find(&heap.blocks, HEAP + 0x11f), 1);
	CHECK_INT(leak_blocks_find(&heap.blocks, HEAP + 0x120), LEAK_NONE);
	CHECK_INT(leak_blocks_find(&heap.blocks, HEAP + 0x200), 2);
	CHECK_INT(leak_blocks_find(&heap.blocks, HEAP + 0x201), LEAK_NONE);
	CHECK_INT(leak_blocks_find(&heap.blocks, HEAP + 0x8000000 + 0xffffffff), 3);
	CHECK_INT(leak_blocks_find(&heap.blocks, HEAP + 0x8000000 + 0x100000000), LEAK_NONE);
	CHECK_INT(leak_blocks_find(&heap.blocks, 0), LEAK_NONE);
	CHECK_INT(leak_blocks_find(&heap.blocks, UINT64_MAX), LEAK_NONE);
	CHECK_INT(leak_blocks_from(&heap.blocks, HEAP + 0x41), 1);
	CHECK_INT(leak_blocks_from(&heap.blocks, UINT64_MAX), 4);
}

TEST(finds_as_a_search_does)
{
	uint64_t at = 0;

	reset();
	srandom(7);
	/* In ascending runs, as the live table is read: of three, the first, second, third. */
	for (int run = 0; run < 3; run++) {
		srandom(7);
		at = 0;
		for (int i = 0; i < 3000; i++) {
			uint64_t size = (uint64_t)random() % 200;

			if (i % 3 == run)
				block(at, size);
			at += (size / 16 + 1) * 16 + (random() % 100 == 0 ? 3000000 : 0);
		}
	}
	CHECK_INT(leak_blocks_finish(&heap.blocks), 0);
	CHECK_INT(heap.blocks.count, 3000);
	for (uint32_t i = 0; i < 3000; i++) {
		const struct leak_block *b = &heap.blocks.block[i];

		CHECK(i == 0 || b[-1].addr < b->addr);
		CHECK_INT(leak_blocks_find(&heap.blocks, b->addr), i);
		CHECK_INT(
			leak_blocks_find(&heap.blocks, b->addr + b->size), b->size ? LEAK_NONE : i);
		if (b->size > 0)
			CHECK_INT(leak_blocks_find(&heap.blocks, b->addr + b->size - 1), i);
	}
}

TEST(one_address_is_one_block)
{
	reset();
	block(0x40, 0x10);
	block(0x40, 0x20);
	block(0x40, 0x30);
	CHECK_INT(leak_blocks_finish(&heap.blocks), 0);
	CHECK_INT(heap.blocks.count, 1);
}

/* The index is by address: blocks that nobody has filled must not make it large. */
TEST(large_blocks_have_no_index)
{
	struct leak_blocks b = { 0 };

	for (uint64_t i = 0; i < 1000; i++) {
		const struct leak_block block = { .addr = (i + 1) << 22, .size = 3u << 20 };

		CHECK_INT(leak_blocks_add(&b, &block), 0);
	}
	CHECK_INT(leak_blocks_finish(&b), 0);
	for (uint32_t i = 0; i < b.clusters; i++)
		CHECK(b.cluster[i].index == NULL);
	CHECK_INT(leak_blocks_find(&b, UINT64_C(500) << 22), 499);
	CHECK_INT(leak_blocks_find(&b, (UINT64_C(500) << 22) - 1), LEAK_NONE);
	leak_blocks_free(&b);
}

TEST(no_blocks_at_all)
{
	uint64_t word = 0;

	reset();
	ready();
	leak_graph_root(&heap.graph, 0x1000, &word, 1, false);
	finish();
}

/* A tree: root -> 0 -> 1; 2 lost, with 3 and 4 below; 5 by its middle, 6 from there. */
TEST(classes)
{
	reset();
	for (unsigned i = 0; i < 7; i++)
		block(i * 0x40, 0x40);
	ready();
	store(0 * 0x40 + 8, HEAP + 1 * 0x40);
	store(2 * 0x40, HEAP + 3 * 0x40 + 4); /* inside counts as well here */
	store(3 * 0x40, HEAP + 4 * 0x40);
	store(5 * 0x40, HEAP + 6 * 0x40);
	root(HEAP);
	root(HEAP + 5 * 0x40 + 0x11);
	finish();
	CHECK_INT(class_of(0), LEAK_REACHABLE);
	CHECK_INT(class_of(1), LEAK_REACHABLE);
	CHECK_INT(class_of(2), LEAK_DEFINITE);
	CHECK_INT(class_of(3), LEAK_INDIRECT);
	CHECK_INT(class_of(4), LEAK_INDIRECT);
	CHECK_INT(heap.graph.leader[3], 2);
	CHECK_INT(heap.graph.leader[4], 2);
	CHECK_INT(class_of(5), LEAK_POSSIBLE);
	CHECK_INT(class_of(6), LEAK_POSSIBLE);
}

/* A start pointer from what is only possible is no better than that; another way is. */
TEST(the_best_way_counts)
{
	reset();
	for (unsigned i = 0; i < 4; i++)
		block(i * 0x40, 0x40);
	ready();
	store(0, HEAP + 0x40);
	store(0x40, HEAP + 0x80);
	store(0xc0, HEAP + 0x40);
	root(HEAP + 8 + 2);
	root(HEAP + 0xc0);
	finish();
	CHECK_INT(class_of(0), LEAK_POSSIBLE);
	CHECK_INT(class_of(1), LEAK_REACHABLE);
	CHECK_INT(class_of(2), LEAK_REACHABLE);
}

TEST(a_cycle_has_one_leader)
{
	reset();
	for (unsigned i = 0; i < 3; i++)
		block(i * 0x40, 0x40);
	ready();
	store(0, HEAP + 0x40);
	store(0x40, HEAP + 0x80);
	store(0x80, HEAP);
	finish();
	CHECK_INT(class_of(0), LEAK_DEFINITE);
	CHECK_INT(class_of(1), LEAK_INDIRECT);
	CHECK_INT(class_of(2), LEAK_INDIRECT);
}

/* Later blocks point to earlier ones: each takes the clique of the one before. */
TEST(cliques_merge)
{
	enum { N = 2000 };

	reset();
	for (unsigned i = 0; i < N; i++)
		block(i * 0x10, 0x10);
	ready();
	for (unsigned i = 1; i < N; i++)
		store(i * 0x10, HEAP + (i - 1) * 0x10);
	finish();
	CHECK_INT(class_of(N - 1), LEAK_DEFINITE);
	for (unsigned i = 0; i < N - 1; i++) {
		CHECK_INT(class_of(i), LEAK_INDIRECT);
		CHECK_INT(heap.graph.leader[i], N - 1);
	}
}

/* 0 takes 5; 3 takes 0: 5 is 3's then, though it is above it. */
TEST(members_above_their_leader_go_along)
{
	reset();
	for (unsigned i = 0; i < 6; i++)
		block(i * 0x40, 0x40);
	ready();
	store(0, HEAP + 5 * 0x40);
	store(3 * 0x40, HEAP);
	finish();
	CHECK_INT(class_of(5), LEAK_INDIRECT);
	CHECK_INT(heap.graph.leader[5], 3);
}

/* malloc(1000) owns the first word of the next chunk, to which glibc's bins point. */
TEST(chunk_headers_are_no_pointers)
{
	uint64_t word = HEAP + 1000 - 8;

	reset();
	block(0, 1000);
	block(1008, 992); /* does not: 1000 + 8 bytes would still be the chunk's */
	ready();
	leak_graph_root(&heap.graph, 0x1000, &word, 1, true);
	word = HEAP + 1008 + 976;
	leak_graph_root(&heap.graph, 0x1000, &word, 1, true);
	finish();
	CHECK_INT(class_of(0), LEAK_DEFINITE);
	CHECK_INT(class_of(1), LEAK_POSSIBLE);
	reset();
	block(0, 1000);
	ready();
	root(HEAP + 1000 - 8); /* in the program's own words it is one */
	finish();
	CHECK_INT(class_of(0), LEAK_POSSIBLE);
}

TEST(blocks_of_no_bytes)
{
	reset();
	block(0x40, 0);
	block(0x80, 0);
	ready();
	root(HEAP + 0x40);
	finish();
	CHECK_INT(class_of(0), LEAK_REACHABLE);
	CHECK_INT(class_of(1), LEAK_DEFINITE);
}

TEST(known_blocks_are_reachable)
{
	reset();
	block(0x40, 0x40);
	block(0x80, 0x40);
	ready();
	store(0x40, HEAP + 0x80);
	leak_graph_root_block(&heap.graph, 0);
	finish();
	CHECK_INT(class_of(0), LEAK_REACHABLE);
	CHECK_INT(class_of(1), LEAK_REACHABLE);
}

/* ---- heuristics ---- */

static unsigned by_root(uint64_t size, uint64_t offset)
{
	block(0, size);
	ready();
	root(HEAP + offset);
	finish();
	return heap.graph.heuristic[0];
}

TEST(std_string)
{
	reset();
	store(0, 5);
	store(8, 15);
	CHECK_INT(by_root(24 + 15 + 1, 24), LEAK_BY_STDSTRING);
	CHECK_INT(class_of(0), LEAK_REACHABLE);
	reset();
	store(0, 16); /* longer than its room */
	store(8, 15);
	CHECK_INT(by_root(24 + 15 + 1, 24), LEAK_BY_NONE);
	CHECK_INT(class_of(0), LEAK_POSSIBLE);
	reset();
	store(8, UINT64_MAX);
	CHECK_INT(by_root(24, 16), LEAK_BY_NONE);
}

TEST(length_before)
{
	reset();
	store(0, 100 - 8);
	CHECK_INT(by_root(100, 8), LEAK_BY_LENGTH64);
	reset();
	store(0, 10);
	CHECK_INT(by_root(8 + 10 * 3, 8), LEAK_BY_NEWARRAY);
	reset();
	store(0, 11);
	CHECK_INT(by_root(8 + 10 * 3, 8), LEAK_BY_NONE);
	reset();
	store(0, 10);
	CHECK_INT(by_root(8 + 10 * 3, 16), LEAK_BY_NONE);
	reset();
	CHECK_INT(by_root(8 + 10 * 3, 8), LEAK_BY_NONE); /* of nothing */
}

/* Those of 1 to 7 that explain a pointer when they alone count. */
static unsigned rules_alone(uint8_t head, uint64_t size, uint64_t offset)
{
	unsigned found = 0;

	for (unsigned r = 1; r < 8; r++)
		if (leak_heuristics_judge(1u << r, head, size, offset))
			found |= 1u << r;
	return found;
}

static void check_rules(uint8_t head, uint64_t size, uint64_t offset)
{
	unsigned alone = rules_alone(head, size, offset);

	for (unsigned rules = 0; rules < 256; rules += 2) {
		unsigned by = leak_heuristics_judge(rules, head, size, offset);

		if ((by != 0) != ((alone & rules) != 0) || (by != 0 && !(rules >> by & 1)))
			CHECK_INT(by, -1);
	}
}

/* A rule that counts finds alone what it finds among others, whatever else explains it. */
TEST(each_rule_for_itself)
{
	static const uint64_t sizes[] = { 9, 12, 16, 40, 96, 808, 2048 };

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (uint64_t offset = 1; offset < sizes[s] && offset < 80; offset++)
			for (unsigned head = 0; head < 256; head++)
				check_rules((uint8_t)head, sizes[s], offset);
	reset();
	store(0, 4);
	CHECK_INT(by_root(12, 8), LEAK_BY_LENGTH64); /* its second word is not whole */
	reset();
	store(0, 2);
	CHECK_INT(by_root(12, 8), LEAK_BY_NEWARRAY);
}

TEST(second_base)
{
	reset();
	heap.vtable[0] = 0x400000;
	heap.vtable[1] = 0x400100;
	store(0, 0x400000);
	store(0x10, 0x400100);
	CHECK_INT(by_root(0x40, 0x10), LEAK_BY_INHERITANCE);
	reset();
	heap.vtable[0] = 0x400000;
	store(0, 0x400000);
	store(0x10, 0x400100);
	CHECK_INT(by_root(0x40, 0x10), LEAK_BY_NONE);
	reset();
	heap.vtable[0] = 0x400000;
	store(0, 0x400000);
	store(0x10, 0x400000);
	CHECK_INT(by_root(0x40, 0x11), LEAK_BY_NONE); /* not aligned */
}

/* A pointer in a block is explained like a root's; one to the start does without. */
TEST(heuristics_between_blocks)
{
	reset();
	block(0, 0x40);
	block(0x40, 8 + 30);
	ready();
	store(0, HEAP + 0x48);
	store(0x40, 30);
	root(HEAP);
	finish();
	CHECK_INT(class_of(1), LEAK_REACHABLE);
	CHECK_INT(heap.graph.heuristic[1], LEAK_BY_LENGTH64);
	reset();
	block(0, 0x40);
	block(0x40, 8 + 30);
	ready();
	store(0, HEAP + 0x48);
	store(8, HEAP + 0x40);
	store(0x40, 30);
	root(HEAP);
	finish();
	CHECK_INT(class_of(1), LEAK_REACHABLE);
	CHECK_INT(heap.graph.heuristic[1], LEAK_BY_NONE);
}

/* A block is counted for a rule only if there is no way without, and for one of ours only if there
 * is none by memcheck's; what a rule's block leads to goes with it. */
TEST(ways_by_rules)
{
	reset();
	block(0, 8 + 31); /* by its length */
	block(0x40, 0x40); /* behind it */
	block(0x80, 0x40); /* behind that, and of the loader */
	block(0xc0, 0x40); /* of the loader */
	block(0x100, 0x40); /* behind that, and a root leads to it */
	ready();
	store(0, 31);
	store(8, HEAP + 0x40);
	store(0x48, HEAP + 0x80);
	store(0xc8, HEAP + 0x100);
	root(HEAP + 8);
	root(HEAP + 0x100);
	leak_graph_root_rule(&heap.graph, 2, LEAK_BY_LOADER);
	leak_graph_root_rule(&heap.graph, 3, LEAK_BY_LOADER);
	finish();
	for (uint32_t i = 0; i < 5; i++)
		CHECK_INT(class_of(i), LEAK_REACHABLE);
	CHECK_INT(heap.graph.heuristic[0], LEAK_BY_LENGTH64);
	CHECK_INT(heap.graph.heuristic[1], LEAK_INDIRECTLY | LEAK_BY_LENGTH64);
	CHECK_INT(heap.graph.heuristic[2], LEAK_INDIRECTLY | LEAK_BY_LENGTH64);
	CHECK_INT(heap.graph.heuristic[3], LEAK_BY_LOADER);
	CHECK_INT(heap.graph.heuristic[4], LEAK_BY_NONE);
}

/* Whichever part an edge was in. */
TEST(heuristics_of_many_edges)
{
	enum { N = 20 };

	reset();
	for (unsigned i = 0; i < 2 * N; i++)
		block(i * 0x100, i < N ? 0x40 : 8 + 30);
	ready();
	for (unsigned i = 0; i < N; i++) {
		store(i * 0x100, HEAP + (N + i) * 0x100 + 8);
		store((N + i) * 0x100, i % 3 == 0 ? 30 : 77);
		root(HEAP + i * 0x100);
	}
	finish();
	for (unsigned i = 0; i < N; i++)
		CHECK_INT(class_of(N + i), i % 3 == 0 ? LEAK_REACHABLE : LEAK_POSSIBLE);
}

/* ---- against the definition ---- */

/* By repeated passes over all pairs, as slow as it is plain. */
static void by_definition(
	unsigned n, uint8_t edge[][64], const uint8_t *start, const uint8_t *inside, unsigned *want)
{
	bool changed = true;

	for (unsigned i = 0; i < n; i++)
		want[i] = start[i] ? LEAK_REACHABLE : inside[i] ? LEAK_POSSIBLE : LEAK_DEFINITE;
	while (changed) {
		changed = false;
		for (unsigned a = 0; a < n; a++)
			for (unsigned b = 0; b < n; b++) {
				unsigned now = want[a] == LEAK_DEFINITE ? LEAK_DEFINITE
					       : want[a] == LEAK_REACHABLE && edge[a][b] == 1
						       ? LEAK_REACHABLE
						       : LEAK_POSSIBLE;

				if (edge[a][b] && now > want[b]) {
					want[b] = now;
					changed = true;
				}
			}
	}
}

/* Leaders: no unreached block leads to one, except in a cycle, of which it is the lowest. */
static void check_cliques(unsigned n, uint8_t reach[][64], const unsigned *want)
{
	for (unsigned i = 0; i < n; i++) {
		if (want[i] != LEAK_DEFINITE) {
			CHECK_INT(class_of(i), want[i]);
			continue;
		}
		CHECK(class_of(i) == LEAK_DEFINITE || class_of(i) == LEAK_INDIRECT);
		if (class_of(i) == LEAK_INDIRECT) {
			CHECK(reach[heap.graph.leader[i]][i]);
			CHECK_INT(class_of(heap.graph.leader[i]), LEAK_DEFINITE);
		}
	}
}

TEST(random_graphs)
{
	srandom(1);
	for (int round = 0; round < 300; round++) {
		unsigned n = 1 + (unsigned)random() % 64, want[64];
		uint8_t edge[64][64] = { { 0 } }, start[64] = { 0 }, inside[64] = { 0 };
		uint8_t reach[64][64];

		reset();
		for (unsigned i = 0; i < n; i++)
			block(i * 0x200, 0x200);
		ready();
		for (unsigned e = (unsigned)random() % (2 * n); e-- > 0;) {
			unsigned a = (unsigned)random() % n, b = (unsigned)random() % n;

			edge[a][b] = 1 + (random() & 1);
			store(a * 0x200 + b * 8, HEAP + b * 0x200 + (edge[a][b] == 2 ? 3 : 0));
		}
		start[random() % n] = random() & 1;
		inside[random() % n] = random() & 1;
		for (unsigned i = 0; i < n; i++) {
			if (start[i])
				root(HEAP + i * 0x200);
			if (inside[i])
				root(HEAP + i * 0x200 + 1);
		}
		finish();
		memcpy(reach, edge, sizeof(reach));
		for (unsigned k = 0; k < n; k++)
			for (unsigned a = 0; a < n; a++)
				for (unsigned b = 0; b < n; b++)
					reach[a][b] |= reach[a][k] && reach[k][b];
		by_definition(n, edge, start, inside, want);
		check_cliques(n, reach, want);
	}
}

/* No recursion: a list of a million. */
TEST(a_long_list)
{
	enum { N = 1000000 };
	struct leak_store store = { 0 };
	struct leak_part part;

	reset();
	for (unsigned i = 0; i < N; i++)
		block(i * 0x10ull, 0x10);
	ready();
	leak_graph_part(&part, &store, 0);
	for (uint32_t i = 0; i < N; i++) {
		uint64_t next = i + 1 < N ? HEAP + (i + 1) * 0x10ull : 0;

		leak_graph_scan(&heap.graph, &part, i, &next, 1);
	}
	leak_graph_join(&heap.graph, &part, 1, &store, 1);
	CHECK_INT(leak_classes_assign(&heap.graph), 0);
	CHECK_INT(class_of(0), LEAK_DEFINITE);
	CHECK_INT(class_of(N - 1), LEAK_INDIRECT);
	CHECK_INT(heap.graph.leader[N - 1], 0);
}

/* A single string unlike any other: length and capacity of 2 bytes, then the type byte. */
TEST(strings_of_redis)
{
	static const struct {
		uint64_t head, offset;
		unsigned class;
	} cases[] = {
		{ 0x0200300040ull, 5, LEAK_POSSIBLE }, /* longer than its room */
		{ 0x0200400030ull, 5, LEAK_REACHABLE },
		{ 0x0300400030ull, 5, LEAK_POSSIBLE }, /* of another kind */
		{ 0x0200600060ull, 5, LEAK_POSSIBLE }, /* longer than the block */
		{ 0x0200600030ull, 5, LEAK_REACHABLE }, /* what malloc could spare */
		{ 0x0202000030ull, 5, LEAK_POSSIBLE }, { 0x0200400030ull, 6, LEAK_POSSIBLE },
		{ 0x014030ull, 3, LEAK_REACHABLE }, { 0x28ull << 3, 1, LEAK_POSSIBLE },
		{ 0x5500014030ull, 3, LEAK_REACHABLE },
		{ MAPPED, 3, LEAK_POSSIBLE }, /* an address */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		reset();
		block(0, 0x60);
		store(0, cases[i].head);
		heap.mapped = MAPPED;
		ready();
		root(HEAP + cases[i].offset);
		finish();
		CHECK_INT(class_of(0), cases[i].class);
		CHECK_INT(heap.graph.heuristic[0],
			cases[i].class == LEAK_REACHABLE ? LEAK_BY_SDS : LEAK_BY_NONE);
	}
}

TEST(a_large_block_that_begins_with_its_length)
{
	static const struct {
		uint64_t size, length, offset;
		unsigned class;
	} cases[] = { { 1032, 1024, 12, LEAK_REACHABLE }, { 1032, 1025, 12, LEAK_POSSIBLE },
		{ 1032, 1024, 72, LEAK_POSSIBLE }, { 520, 512, 12, LEAK_POSSIBLE } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		reset();
		block(0, cases[i].size);
		store(0, cases[i].length);
		ready();
		root(HEAP + cases[i].offset);
		finish();
		CHECK_INT(class_of(0), cases[i].class);
	}
}

/* ---- places learned ---- */

/* Blocks 1.. of `size`, each pointed to by block 0, at `offset`; then one at another place. */
static void pointed_to(unsigned count, uint64_t size, uint64_t offset)
{
	reset();
	block(0, 0x200);
	for (unsigned i = 1; i <= count + 1; i++) {
		block(0x200 * i, size);
		store(8 * i, HEAP + 0x200 * i + offset + (i > count ? 2 : 0));
	}
	ready();
	root(HEAP);
	finish();
}

TEST(places_that_several_blocks_have_are_learned)
{
	pointed_to(3, 100, 3);
	CHECK_INT(class_of(1), LEAK_POSSIBLE);
	CHECK_INT(leak_learned_offsets_find(&heap.graph), 1);
	CHECK_INT(leak_classes_assign(&heap.graph), 0);
	for (uint32_t i = 1; i <= 3; i++) {
		CHECK_INT(class_of(i), LEAK_REACHABLE);
		CHECK_INT(heap.graph.heuristic[i], LEAK_BY_HEADER);
	}
	CHECK_INT(class_of(4), LEAK_POSSIBLE);
	/* Two may be chance, and so may be seven far from the start. */
	pointed_to(2, 100, 3);
	CHECK_INT(leak_learned_offsets_find(&heap.graph), 0);
	pointed_to(7, 200, 100);
	CHECK_INT(leak_learned_offsets_find(&heap.graph), 0);
	pointed_to(8, 200, 100);
	CHECK_INT(leak_learned_offsets_find(&heap.graph), 1);
	CHECK_INT(leak_classes_assign(&heap.graph), 0);
	CHECK_INT(class_of(8), LEAK_REACHABLE);
	CHECK_INT(class_of(9), LEAK_POSSIBLE);
}

/* However often one block is pointed to at a place, it is one. */
TEST(a_place_is_counted_once_in_a_block)
{
	reset();
	block(0, 0x100);
	block(0x200, 100);
	for (unsigned i = 0; i < 8; i++)
		store(8 * i, HEAP + 0x203);
	ready();
	root(HEAP);
	finish();
	CHECK_INT(leak_learned_offsets_find(&heap.graph), 0);
	CHECK_INT(class_of(1), LEAK_POSSIBLE);
}

/* What is learned of roots, and what hangs on it. */
TEST(places_of_roots_are_learned_too)
{
	reset();
	for (unsigned i = 0; i < 4; i++)
		block(0x200 * i, 64);
	block(0xa00, 64);
	store(0, HEAP + 0xa00);
	ready();
	for (unsigned i = 0; i < 4; i++)
		root(HEAP + 0x200 * i + 16);
	finish();
	CHECK_INT(class_of(4), LEAK_POSSIBLE);
	CHECK_INT(leak_learned_offsets_find(&heap.graph), 1);
	CHECK_INT(leak_classes_assign(&heap.graph), 0);
	CHECK_INT(class_of(0), LEAK_REACHABLE);
	CHECK_INT(class_of(4), LEAK_REACHABLE);
	CHECK_INT(heap.graph.heuristic[4], LEAK_INDIRECTLY | LEAK_BY_HEADER);
}

/* ---- what points back ---- */

#define LIST_HEAD  UINT64_C(0x7000) /* a root: {next, previous} */
#define MEMBER(i)  (UINT64_C(0x200) * (i))
#define LINK_OF(i) (HEAP + MEMBER(i) + 24)

/* Blocks 0.., each with a link at its fourth word. */
static void members(unsigned count)
{
	reset();
	for (unsigned i = 0; i < count; i++)
		block(MEMBER(i), 120);
}

static void link_store(unsigned i, uint64_t first, uint64_t second)
{
	store(MEMBER(i) + 24, first);
	store(MEMBER(i) + 32, second);
}

static void check_all(unsigned count, uint8_t class, uint8_t heuristic)
{
	for (uint32_t i = 0; i < count; i++) {
		CHECK_INT(class_of(i), class);
		if (class == LEAK_REACHABLE)
			CHECK_INT(heap.graph.heuristic[i], heuristic);
	}
}

TEST(a_link_that_leads_back_is_as_good_as_a_start)
{
	/* {next, previous}, {previous, next}, and previous that goes to the next before it. */
	members(2);
	link_store(0, LINK_OF(1), LIST_HEAD);
	link_store(1, LIST_HEAD, LINK_OF(0));
	ready();
	root_at(LIST_HEAD, LINK_OF(0));
	finish();
	check_all(2, LEAK_REACHABLE, LEAK_BY_BACKLINK);

	members(2);
	link_store(0, LIST_HEAD, LINK_OF(1));
	link_store(1, LINK_OF(0), LIST_HEAD);
	ready();
	root_at(LIST_HEAD + 8, LINK_OF(0));
	finish();
	check_all(2, LEAK_REACHABLE, LEAK_BY_BACKLINK);

	members(2);
	link_store(0, LINK_OF(1), LIST_HEAD);
	link_store(1, 0, LINK_OF(0));
	ready();
	root_at(LIST_HEAD, LINK_OF(0));
	finish();
	check_all(2, LEAK_REACHABLE, LEAK_BY_BACKLINK);
}

TEST(a_link_that_leads_elsewhere_is_a_number)
{
	static const uint64_t back[] = { 0, LIST_HEAD + 8, LIST_HEAD - 8, LIST_HEAD + 1,
		HEAP + 16 };

	for (size_t i = 0; i < sizeof(back) / sizeof(back[0]); i++) {
		members(1);
		link_store(0, 0, back[i]);
		ready();
		root_at(LIST_HEAD, LINK_OF(0));
		finish();
		check_all(1, LEAK_POSSIBLE, 0);
	}
	/* It leads back to a block that has a pointer to the link, but elsewhere. */
	members(2);
	link_store(1, 0, HEAP + 40);
	store(48, LINK_OF(1));
	ready();
	root(HEAP);
	finish();
	CHECK_INT(class_of(1), LEAK_POSSIBLE);
	/* And there. */
	members(2);
	link_store(1, 0, HEAP + 48);
	store(48, LINK_OF(1));
	ready();
	root(HEAP);
	finish();
	CHECK_INT(class_of(1), LEAK_REACHABLE);
	/* A link that is cut off by the end of its block is none. */
	members(0);
	block(0, 32);
	link_store(0, 0, LIST_HEAD);
	ready();
	root_at(LIST_HEAD, LINK_OF(0));
	finish();
	check_all(1, LEAK_POSSIBLE, 0);
}

/* The word there describes its own block: it points to its start, or where its length says. */
TEST(what_points_to_the_start_of_its_block)
{
	static const struct {
		uint64_t length, first, second;
		uint8_t class;
	} cases[] = {
		{ 0, HEAP, 0, LEAK_REACHABLE },
		{ 0, 1, HEAP, LEAK_REACHABLE },
		{ 992, HEAP + 8, 0, LEAK_REACHABLE },
		{ 991, HEAP + 8, 0, LEAK_POSSIBLE },
		{ 0, HEAP + 8, HEAP + 900, LEAK_POSSIBLE },
		{ 0, 0, 0, LEAK_POSSIBLE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		reset();
		block(0, 1000);
		store(0, cases[i].length);
		store(904, cases[i].first);
		store(912, cases[i].second);
		ready();
		root(HEAP + 904);
		finish();
		CHECK_INT(class_of(0), cases[i].class);
	}
}

TEST(a_list_without_a_root_is_lost)
{
	members(2);
	link_store(0, LINK_OF(1), LINK_OF(1));
	link_store(1, LINK_OF(0), LINK_OF(0));
	ready();
	finish();
	CHECK_INT(class_of(0), LEAK_DEFINITE);
	CHECK_INT(class_of(1), LEAK_INDIRECT);
}

TEST(without_the_rule_members_of_lists_are_possible)
{
	members(1);
	link_store(0, LIST_HEAD, LIST_HEAD);
	ready();
	heap.graph.heuristics = ~(1u << LEAK_BY_BACKLINK);
	root_at(LIST_HEAD, LINK_OF(0));
	finish();
	check_all(1, LEAK_POSSIBLE, 0);
}

/* If very many blocks have pointers to one offset, only some are checked, and it is learned. */
TEST(a_place_of_links_is_learned)
{
	enum { COUNT = 3000 };

	reset();
	for (uint64_t i = 0; i < COUNT; i++) {
		block(32 * i, 32);
		store(32 * i + 8, i + 1 < COUNT ? HEAP + 32 * i + 40 : LIST_HEAD);
		store(32 * i + 16, i > 0 ? HEAP + 32 * i - 24 : LIST_HEAD);
	}
	ready();
	root_at(LIST_HEAD, HEAP + 8);
	finish();
	check_all(200, LEAK_REACHABLE, LEAK_BY_BACKLINK);
	CHECK_INT(class_of(COUNT - 1), LEAK_POSSIBLE);
	CHECK_INT(leak_learned_offsets_find(&heap.graph), 1);
	CHECK_INT(leak_classes_assign(&heap.graph), 0);
	check_all(200, LEAK_REACHABLE, LEAK_BY_BACKLINK);
	CHECK_INT(class_of(COUNT - 1), LEAK_REACHABLE);
	CHECK_INT(heap.graph.heuristic[COUNT - 1], LEAK_BY_HEADER);
}

/* Blocks that are reachable without the rule are not among the few that are checked. */
TEST(a_link_is_found_among_many_pointers_inside)
{
	reset();
	block(0, 0x7000);
	block(0x7000, 0x800);
	block(0x7800, 0x20);
	for (uint64_t at = 0; at < 0x7000; at += 8)
		store(at, HEAP + (at < 0x800 ? 0x7000 + at : 0x7010));
	store(0, HEAP + 0x7000);
	store(0x7000 - 8, HEAP + 0x7808);
	store(0x7808, HEAP + 0x7000 - 16);
	ready();
	root(HEAP);
	for (unsigned i = 0; i < 1000; i++)
		root(HEAP + 0x7018);
	finish();
	CHECK(heap.graph.interiors > 4096);
	CHECK_INT(class_of(2), LEAK_REACHABLE);
	CHECK_INT(heap.graph.heuristic[2], LEAK_BY_BACKLINK);
}

int main(void)
{
	RUN(finds_blocks);
	RUN(finds_as_a_search_does);
	RUN(one_address_is_one_block);
	RUN(large_blocks_have_no_index);
	RUN(no_blocks_at_all);
	RUN(classes);
	RUN(the_best_way_counts);
	RUN(a_cycle_has_one_leader);
	RUN(cliques_merge);
	RUN(members_above_their_leader_go_along);
	RUN(chunk_headers_are_no_pointers);
	RUN(blocks_of_no_bytes);
	RUN(known_blocks_are_reachable);
	RUN(std_string);
	RUN(length_before);
	RUN(each_rule_for_itself);
	RUN(second_base);
	RUN(heuristics_between_blocks);
	RUN(ways_by_rules);
	RUN(heuristics_of_many_edges);
	RUN(random_graphs);
	RUN(a_long_list);
	reset();
	RUN(strings_of_redis);
	RUN(a_large_block_that_begins_with_its_length);
	RUN(places_that_several_blocks_have_are_learned);
	RUN(a_place_is_counted_once_in_a_block);
	RUN(places_of_roots_are_learned_too);
	RUN(a_link_that_leads_back_is_as_good_as_a_start);
	RUN(a_link_that_leads_elsewhere_is_a_number);
	RUN(what_points_to_the_start_of_its_block);
	RUN(a_list_without_a_root_is_lost);
	RUN(without_the_rule_members_of_lists_are_possible);
	RUN(a_place_of_links_is_learned);
	RUN(a_link_is_found_among_many_pointers_inside);
	return check_end();
}
