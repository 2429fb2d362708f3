/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/leak: dominators and retained sizes, compared with brute force: delete a node, search again.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "src/leak/analysis/cycles.h"
#include "src/leak/analysis/holders.h"
#include "tests/unit/leak_fixture.h"

#define NODES_MAX 200
#define EDGES_MAX 1000

static const atomic_bool never, at_once = true;

/* ---- dominators ---- */

static struct {
	uint32_t nodes, edges;
	uint32_t from[EDGES_MAX], to[EDGES_MAX];
} random_graph;

static uint32_t random_next(void *ctx, uint32_t node, uint32_t *cursor)
{
	for (uint32_t e = *cursor; e < random_graph.edges; e++)
		if (random_graph.from[e] == node) {
			*cursor = e + 1;
			return random_graph.to[e];
		}
	*cursor = random_graph.edges;
	return LEAK_NO_NODE;
}

static void reached_find(const struct leak_flow *f, uint32_t without, bool reached[NODES_MAX * 2])
{
	uint32_t todo[NODES_MAX * 2], n = 0;

	memset(reached, 0, NODES_MAX * 2);
	if (without == 0)
		return;
	reached[0] = true;
	todo[n++] = 0;
	while (n > 0) {
		uint32_t from = todo[--n], cursor = 0, to;

		while ((to = f->next(f->ctx, from, &cursor)) != LEAK_NO_NODE)
			if (!reached[to] && to != without) {
				reached[to] = true;
				todo[n++] = to;
			}
	}
}

/* Whether the tree says of each pair what deleting one of them does. */
static void check_dominators(const struct leak_flow *f, const struct leak_dominators *d)
{
	bool all[NODES_MAX * 2], left[NODES_MAX * 2];
	uint32_t count = 0;

	reached_find(f, LEAK_NO_NODE, all);
	for (uint32_t v = 0; v < f->nodes; v++) {
		CHECK_INT(all[v], d->number[v] != LEAK_NO_NODE);
		count += all[v];
	}
	CHECK_INT(count, d->count);
	for (uint32_t v = 1; v < f->nodes; v++) {
		if (!all[v])
			continue;
		reached_find(f, v, left);
		for (uint32_t u = 1; u < f->nodes; u++) {
			uint32_t i = all[u] ? d->number[u] : 0;

			while (i != 0 && i != d->number[v])
				i = d->dominator[i];
			if (all[u])
				CHECK_INT(i == d->number[v], !left[u]);
		}
	}
}

TEST(dominators_of_random_graphs)
{
	const struct leak_flow f = { .next = random_next, .stop = &never };
	struct leak_flow one;
	struct leak_dominators d;

	srandom(11);
	for (int round = 0; round < 300; round++) {
		random_graph.nodes = 1 + (uint32_t)random() % (round < 250 ? 20 : 100);
		random_graph.edges =
			(uint32_t)random() %
			(3 * random_graph.nodes < EDGES_MAX ? 3 * random_graph.nodes : EDGES_MAX);
		for (uint32_t e = 0; e < random_graph.edges; e++) {
			random_graph.from[e] = (uint32_t)random() % random_graph.nodes;
			random_graph.to[e] = (uint32_t)random() % random_graph.nodes;
		}
		one = f;
		one.nodes = random_graph.nodes;
		CHECK_INT(leak_dominators_find(&d, &one), 0);
		check_dominators(&one, &d);
		leak_dominators_free(&d);
	}
}

#define CHAIN 3000000u

static uint32_t chain_next(void *ctx, uint32_t node, uint32_t *cursor)
{
	return node + 1 < CHAIN && (*cursor)++ == 0 ? node + 1 : LEAK_NO_NODE;
}

/* A ladder: each node leads to the next two. And back, which makes it irreducible. */
static uint32_t ladder_next(void *ctx, uint32_t node, uint32_t *cursor)
{
	uint32_t to[3] = { node + 1, node + 2, node / 2 + 1 };

	while (*cursor < 3)
		if (to[(*cursor)++] < CHAIN)
			return to[*cursor - 1];
	return LEAK_NO_NODE;
}

TEST(dominators_of_long_chains)
{
	struct leak_flow f = { CHAIN, chain_next, NULL, &never };
	struct leak_dominators d;

	CHECK_INT(leak_dominators_find(&d, &f), 0);
	CHECK_INT(d.count, CHAIN);
	for (uint32_t i = 1; i < CHAIN; i += 1000)
		CHECK_INT(d.dominator[i], i - 1);
	leak_dominators_free(&d);
	f.next = ladder_next;
	CHECK_INT(leak_dominators_find(&d, &f), 0);
	CHECK_INT(d.count, CHAIN);
	CHECK_INT(d.dominator[d.number[2]], 0);
	CHECK_INT(d.dominator[d.number[CHAIN - 1]], 0);
	leak_dominators_free(&d);
	f.stop = &at_once;
	CHECK_INT(leak_dominators_find(&d, &f), -ECANCELED);
	CHECK(d.node == NULL);
}

/* ---- retained sizes ---- */

#define BLOCKS 100u

static bool name_of(void *names, uint64_t at, char *out, size_t cap)
{
	snprintf(out, cap, "root %u", (unsigned)(at / 64));
	return true;
}

static struct leak_root_context context(void)
{
	static const struct leak_space none;

	return (struct leak_root_context){ .graph = &heap.graph, .space = &none, .name = name_of };
}

/* Some blocks, pointers to starts and into blocks, from roots and blocks, to random ones. */
static void random_heap(void)
{
	reset();
	for (uint32_t i = 0; i < BLOCKS; i++)
		block(i * 0x100, 8 * (1 + (uint64_t)random() % 31));
	ready();
	leak_graph_keep(&heap.graph);
	for (uint32_t i = 0; i < BLOCKS; i++)
		for (uint64_t w = 0; w < heap.blocks.block[i].size / 8 && w < 3; w++)
			store(i * 0x100 + 8 * w, HEAP + (uint64_t)random() % BLOCKS * 0x100 +
							 (random() % 5 == 0 ? 8 : 0));
	for (unsigned k = (unsigned)random() % 12; k > 0; k--)
		root_at(0x1000 + 8 * (uint64_t)random() % 512,
			HEAP + (uint64_t)random() % BLOCKS * 0x100 + (random() % 4 == 0 ? 8 : 0));
	if (random() % 2)
		leak_graph_root_block(&heap.graph, (uint32_t)random() % BLOCKS);
	finish();
}

static uint64_t bytes_reached(const struct leak_flow *f, uint32_t roots, uint32_t without)
{
	bool reached[NODES_MAX * 2];
	uint64_t bytes = 0;

	reached_find(f, without, reached);
	for (uint32_t i = 0; i < heap.blocks.count; i++)
		bytes += reached[roots + i] ? heap.blocks.block[i].size : 0;
	return bytes;
}

TEST(retained_sizes_of_random_heaps)
{
	struct leak_root_context found = context();
	struct leak_holders h;
	uint64_t shared = 0;

	srandom(5);
	for (int round = 0; round < 50; round++) {
		struct leak_flow f = { .next = leak_holders_next, .ctx = &h };
		uint64_t all;

		random_heap();
		CHECK_INT(leak_holders_make(&h, &found, &never), 0);
		f.nodes = h.roots + heap.blocks.count;
		all = bytes_reached(&f, h.roots, LEAK_NO_NODE);
		CHECK_INT(h.bytes[0], all);
		for (uint32_t v = 1; v < f.nodes; v++) {
			uint32_t i = h.tree.number[v];

			if (i == LEAK_NO_NODE)
				continue;
			CHECK_INT(h.bytes[i], all - bytes_reached(&f, h.roots, v));
			shared += h.tree.dominator[i] == 0 && v >= h.roots;
		}
		/* Every block is there: each has a class, and so a root. */
		for (uint32_t i = 0; i < heap.blocks.count; i++)
			CHECK(leak_holders_number(&h, i) != LEAK_NO_NODE);
		leak_holders_free(&h);
	}
	CHECK(shared > 0); /* by several roots */
	reset();
}

TEST(a_root_is_all_words_of_its_name)
{
	struct leak_root_context found = context();
	struct leak_holders h;

	reset();
	for (unsigned i = 0; i < 5; i++)
		block(i * 0x40, 0x40);
	ready();
	leak_graph_keep(&heap.graph);
	root(HEAP);
	root_at(0x1008, HEAP + 0x40);
	store(0, HEAP + 0x80); /* two words of one root hold it: no single block does */
	store(0x40, HEAP + 0x80);
	root_at(0x2000, HEAP + 0xc0);
	root_at(0x2100, HEAP + 0xc0); /* by two roots */
	store(0x100, HEAP + 0x80); /* lost: it holds nothing that others reach */
	finish();
	CHECK_INT(class_of(4), LEAK_DEFINITE);
	CHECK_INT(leak_holders_make(&h, &found, &never), 0);
	CHECK_INT(h.roots, LEAK_HOLDERS_NAMED + 3);
	CHECK_STR(h.name[LEAK_HOLDERS_NAMED], "root 64");
	CHECK_INT(h.bytes[h.tree.number[LEAK_HOLDERS_NAMED]], 0xc0);
	CHECK_INT(h.blocks[h.tree.number[LEAK_HOLDERS_NAMED]], 3);
	CHECK_INT(h.bytes[h.tree.number[LEAK_HOLDERS_NAMED + 1]], 0);
	CHECK_INT(h.bytes[h.tree.number[LEAK_HOLDERS_LOST]], 0x40);
	CHECK_INT(h.tree.dominator[leak_holders_number(&h, 3)], 0);
	CHECK_INT(h.bytes[leak_holders_number(&h, 0)], 0x40);
	leak_holders_free(&h);
	CHECK_INT(leak_holders_make(&h, &found, &at_once), -ECANCELED);
	heap.graph.root_words_state = LEAK_ROOT_WORDS_LOST;
	CHECK_INT(leak_holders_make(&h, &found, &never), -E2BIG);
	reset();
}

/* ---- cycles ---- */

/* Whether `from` leads to `to` among lost blocks. */
static bool leads_to(uint32_t from, uint32_t to)
{
	const struct leak_graph *g = &heap.graph;
	bool seen[BLOCKS] = { false };
	uint32_t todo[BLOCKS], n = 0;

	seen[from] = true;
	todo[n++] = from;
	while (n > 0) {
		uint32_t i = todo[--n];

		for (uint64_t e = g->first[i]; e < g->first[i + 1]; e++) {
			uint32_t next = g->edge[e] >> LEAK_TO_BITS;

			if (seen[next] || class_of(next) > LEAK_INDIRECT)
				continue;
			seen[next] = true;
			todo[n++] = next;
		}
	}
	return seen[to];
}

/* Blocks in cycles that nothing lost outside leads to. */
static void cycles_count(uint64_t *blocks, uint64_t *cycles)
{
	*blocks = *cycles = 0;
	for (uint32_t i = 0; i < heap.blocks.count; i++) {
		uint32_t members = 0, lowest = LEAK_NONE;
		bool is_head = class_of(i) <= LEAK_INDIRECT;

		for (uint32_t k = 0; is_head && k < heap.blocks.count; k++) {
			bool back = class_of(k) <= LEAK_INDIRECT && leads_to(k, i);

			is_head = !back || leads_to(i, k);
			members += back;
			lowest = back && lowest == LEAK_NONE ? k : lowest;
		}
		if (is_head && members > 1) {
			++*blocks;
			*cycles += lowest == i;
		}
	}
}

TEST(cycles_of_random_heaps)
{
	uint64_t all = 0;

	srandom(23);
	for (int round = 0; round < 60; round++) {
		uint64_t blocks, cycles, found = 0, times = 0;
		struct leak_cycle *kind;
		int n;

		random_heap();
		n = leak_cycles_find(&heap.graph, &kind, NULL, NULL);
		CHECK(n >= 0);
		for (int k = 0; k < n; k++) {
			found += kind[k].blocks;
			times += kind[k].times;
			CHECK_INT(kind[k].sites, 1); /* all blocks are of one */
		}
		cycles_count(&blocks, &cycles);
		CHECK_INT(found, blocks);
		CHECK_INT(times, cycles);
		all += cycles;
		free(kind);
	}
	CHECK(all > 0);
	reset();
}

static void block_of(uint64_t offset, uint32_t site)
{
	struct leak_block b = { HEAP + offset, 0x40, site, 0 };

	CHECK_INT(leak_blocks_add(&heap.blocks, &b), 0);
}

static void leader_note(void *ctx, uint32_t block, struct leak_cycle *of)
{
	unsigned *leaders = ctx;

	CHECK_INT(heap.graph.class[block], LEAK_DEFINITE);
	of->retained_blocks++;
	++*leaders;
}

/* Three pairs of sites 2 and 3, a ring of three of site 4, and what a leak leads to is none. */
TEST(cycles_are_counted_by_their_sites)
{
	struct leak_cycle *kind;
	unsigned leaders = 0;

	reset();
	for (uint32_t i = 0; i < 6; i++)
		block_of(i * 0x40, 2 + i % 2);
	for (uint32_t i = 6; i < 9; i++)
		block_of(i * 0x40, 4);
	for (uint32_t i = 9; i < 12; i++)
		block_of(i * 0x40, 5);
	ready();
	for (uint32_t i = 0; i < 6; i++)
		store(i * 0x40, HEAP + (i ^ 1) * 0x40);
	for (uint32_t i = 6; i < 9; i++)
		store(i * 0x40, HEAP + (i == 8 ? 6 : i + 1) * 0x40);
	store(9 * 0x40, HEAP + 10 * 0x40);
	store(10 * 0x40, HEAP + 11 * 0x40);
	store(11 * 0x40, HEAP + 10 * 0x40);
	finish();
	CHECK_INT(leak_cycles_find(&heap.graph, &kind, leader_note, &leaders), 2);
	CHECK_INT(leaders, 4); /* one of each */
	CHECK_INT(kind[0].retained_blocks, 3);
	CHECK_INT(kind[1].retained_blocks, 1);
	CHECK_INT(kind[0].times, 3);
	CHECK_INT(kind[0].sites, 2);
	CHECK_INT(kind[0].site[0], 2);
	CHECK_INT(kind[0].site[1], 3);
	CHECK_INT(kind[0].bytes, 6 * 0x40);
	CHECK_INT(kind[1].times, 1);
	CHECK_INT(kind[1].blocks, 3);
	CHECK_INT(kind[1].site[0], 4);
	free(kind);
	reset();
}

int main(void)
{
	RUN(cycles_of_random_heaps);
	RUN(cycles_are_counted_by_their_sites);
	RUN(dominators_of_random_graphs);
	RUN(dominators_of_long_chains);
	RUN(retained_sizes_of_random_heaps);
	RUN(a_root_is_all_words_of_its_name);
	return check_end();
}
