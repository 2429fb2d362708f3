/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks that programs reach by pointers inside alone, built as the libraries build them that do
 * so: instances of GLib's types with private data before them, its closures, slabs of perl's
 * operators, a ring of slabs, trees of tsearch; beside each one that is lost, and one to which a
 * pointer goes that is none of these. Functions are named for the class of their blocks, by the
 * rule that finds it: memcheck, which has no such rules, calls what is reachable here possible.
 */
#include <search.h>
#include <stdint.h>

#include "tests/targets/leaks.h"

MAKER(reachable_type)
MAKER(reachable_instance)
MAKER(reachable_behind_instance)
MAKER(definite_instance)
MAKER(possible_instance)
MAKER(possible_untyped)
MAKER(reachable_closure)
MAKER(definite_closure)
MAKER(possible_closure)
MAKER(reachable_operators)
MAKER(definite_operators)
MAKER(possible_operators)
MAKER(reachable_ring)
MAKER(definite_ring)
MAKER(indirect_ring)
MAKER(reachable_key)
MAKER(definite_node)
MAKER(possible_node)

#define INSTANCE_WORDS 12u
#define PRIVATE_WORDS  5u
#define TREE_KEYS      40u

static void *volatile held[12];
static void *tree;

static void function(void)
{
}

/* ---- GLib's types ---- */

/* A class, whose type leads back to it. */
static uint64_t *class_make(void)
{
	uint64_t *class = reachable_type(96), *node = reachable_type(80);
	uint64_t *data = reachable_type(72);

	class[0] = (uint64_t)(uintptr_t)node;
	node[4] = (uint64_t)(uintptr_t)data;
	node[7] = (uint64_t)(uintptr_t)node;
	data[6] = (uint64_t)(uintptr_t) class;
	return class;
}

static uint64_t *instance_make(uint64_t *block, const uint64_t *class)
{
	block[PRIVATE_WORDS] = (uint64_t)(uintptr_t) class;
	return block + PRIVATE_WORDS;
}

__attribute__((noinline)) static void instances(void)
{
	static uint64_t *volatile class;
	uint64_t *p;

	class = class_make();
	p = instance_make(reachable_instance(INSTANCE_WORDS * 8), class);
	p[3] = (uint64_t)(uintptr_t)reachable_behind_instance(40);
	held[0] = p;
	instance_make(definite_instance(INSTANCE_WORDS * 8), class);
	held[1] = instance_make(possible_instance(INSTANCE_WORDS * 8), class) + 1;
	held[2] = instance_make(possible_untyped(INSTANCE_WORDS * 8), p);
}

static uint64_t *closure_make(uint64_t *block)
{
	block[3] = block[5] = (uint64_t)(uintptr_t)function;
	block[4] = 1;
	return block + 4;
}

__attribute__((noinline)) static void closures(void)
{
	held[3] = closure_make(reachable_closure(64));
	closure_make(definite_closure(64));
	held[4] = closure_make(possible_closure(64)) + 3;
}

/* ---- perl's operators ---- */

/* A slab of 128 words, five of them its head, with slots of 8 words. */
static uint64_t *operators_make(uint64_t *block)
{
	for (unsigned place = 0; place < 128; place += 8)
		block[5 + place] = (uint64_t)place << 16 | 8;
	return block;
}

__attribute__((noinline)) static void operators(void)
{
	const size_t bytes = (5 + 128) * 8;

	held[5] = operators_make(reachable_operators(bytes)) + 5 + 64 + 1;
	operators_make(definite_operators(bytes));
	held[6] = operators_make(possible_operators(bytes)) + 5 + 64 + 2;
}

/* ---- slabs in a ring ---- */

struct slab {
	uint64_t room[60];
	struct slab_info {
		void *chunks;
		uint64_t used;
		struct slab_info *next, *previous;
	} info;
};

static struct slab_info *ring_make(struct slab *one, struct slab *other)
{
	one->info.next = one->info.previous = &other->info;
	other->info.next = other->info.previous = &one->info;
	return &one->info;
}

__attribute__((noinline)) static void rings(void)
{
	struct slab *one = definite_ring(sizeof(*one));

	held[7] = ring_make(reachable_ring(sizeof(*one)), reachable_ring(sizeof(*one)));
	one->room[0] = (uint64_t)(uintptr_t)indirect_ring(sizeof(*one));
	ring_make((void *)(uintptr_t)one->room[0], indirect_ring(sizeof(*one)));
}

/* ---- trees ---- */

static int order(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Of tsearch, which allocates nodes itself: all of them, and so all keys, are reachable. */
__attribute__((noinline)) static void trees(void)
{
	for (unsigned i = 0; i < TREE_KEYS; i++) {
		char *key = reachable_key(16);

		snprintf(key, 16, "%u", i * 7919 % 10007);
		if (!tsearch(key, &tree, order))
			abort();
	}
	definite_node(24);
	held[8] = (char *)possible_node(24) + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	instances();
	closures();
	operators();
	rings();
	trees();
	account_write();
	clear_stack();
	if (argc > 1)
		wait_for_end();
	return 0;
}
