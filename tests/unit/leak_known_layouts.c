/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/leak/shapes: structures inside blocks that prove themselves, and what only resembles them. */
#include "src/leak/analysis/known_layouts.h"

#include "tests/unit/leak_fixture.h"

/* Classes of block `i`, and the rule that makes it reachable. */
static void check_by(uint32_t i, unsigned class, unsigned rule)
{
	CHECK_INT(class_of(i), class);
	CHECK_INT(class == LEAK_REACHABLE ? heap.graph.heuristic[i] : rule, rule);
}

/* ---- instances of GLib's types ---- */

#define INSTANCE 0x000 /* 0: private data, then the instance */
#define CLASS	 0x100 /* 1 */
#define TYPE	 0x200 /* 2: its node */
#define DATA	 0x300 /* 3: of the type */
#define PRIVATE	 0x28

static void instance_make(void)
{
	reset();
	block(INSTANCE, 0x60);
	block(CLASS, 0x40);
	block(TYPE, 0x50);
	block(DATA, 0x50);
	ready();
	store(INSTANCE + PRIVATE, HEAP + CLASS);
	store(CLASS, HEAP + TYPE);
	store(TYPE + 0x20, HEAP + DATA);
	store(TYPE + 0x38, HEAP + TYPE);
	store(DATA + 0x30, HEAP + CLASS);
	root_at(0x1008, HEAP + TYPE);
}

TEST(instance)
{
	instance_make();
	root(HEAP + INSTANCE + PRIVATE);
	finish();
	check_by(0, LEAK_REACHABLE, LEAK_BY_GOBJECT);
	check_by(1, LEAK_REACHABLE, LEAK_BY_NONE);
}

TEST(no_instance)
{
	instance_make(); /* lost */
	finish();
	check_by(0, LEAK_DEFINITE, 0);
	instance_make(); /* behind its start */
	root(HEAP + INSTANCE + PRIVATE + 8);
	finish();
	check_by(0, LEAK_POSSIBLE, 0);
	instance_make(); /* of a class whose type does not know it */
	store(DATA + 0x30, HEAP + CLASS + 8);
	root(HEAP + INSTANCE + PRIVATE);
	finish();
	check_by(0, LEAK_POSSIBLE, 0);
	instance_make(); /* of what is no type */
	store(TYPE + 0x38, HEAP + DATA);
	root(HEAP + INSTANCE + PRIVATE);
	finish();
	check_by(0, LEAK_POSSIBLE, 0);
	instance_make(); /* of no class */
	store(INSTANCE + PRIVATE, HEAP + CLASS + 8);
	root(HEAP + INSTANCE + PRIVATE);
	finish();
	check_by(0, LEAK_POSSIBLE, 0);
}

TEST(instance_only_if_the_rule_counts)
{
	instance_make();
	heap.graph.heuristics = ~(1u << LEAK_BY_GOBJECT);
	root(HEAP + INSTANCE + PRIVATE);
	finish();
	check_by(0, LEAK_POSSIBLE, 0);
	instance_make();
	heap.graph.heuristics = 1u << LEAK_BY_GOBJECT;
	root(HEAP + INSTANCE + PRIVATE);
	finish();
	check_by(0, LEAK_REACHABLE, LEAK_BY_GOBJECT);
}

/* ---- closures ---- */

static void closure_make(uint64_t first, uint64_t count, uint64_t marshal, uint64_t pointer)
{
	reset();
	block(0, 0x40);
	ready();
	store(0, first);
	store(0x18, CODE + 0x10); /* what calls it with a va_list */
	store(0x20, count);
	store(0x28, marshal);
	root(HEAP + pointer);
	finish();
}

TEST(closure)
{
	closure_make(0, 1, CODE + 0x20, 0x20);
	check_by(0, LEAK_REACHABLE, LEAK_BY_GOBJECT);
	closure_make(CODE, 1, CODE + 0x20, 0x20);
	check_by(0, LEAK_REACHABLE, LEAK_BY_GOBJECT);
	closure_make(0x11, 1, CODE + 0x20, 0x20); /* it begins with no function */
	check_by(0, LEAK_POSSIBLE, 0);
	closure_make(0, 0, CODE + 0x20, 0x20); /* nobody uses it */
	check_by(0, LEAK_POSSIBLE, 0);
	closure_make(0, 1, 0, 0x20);
	check_by(0, LEAK_POSSIBLE, 0);
	closure_make(0, 1, CODE + 0x20, 0x28);
	check_by(0, LEAK_POSSIBLE, 0);
}

/* ---- slots ---- */

#define SLAB_WORDS 64u
#define FIRST_SLOT 5u

/* A slab of slots of these words; places count from the first of them. */
static void slab_make(const unsigned *words, unsigned count)
{
	unsigned place = 0;

	reset();
	block(0, SLAB_WORDS * 8);
	ready();
	for (unsigned i = 0; i < count; i++) {
		store((FIRST_SLOT + place) * 8, place << 16 | words[i]);
		place += words[i];
	}
}

static void check_slot(unsigned place, unsigned class)
{
	root(HEAP + (FIRST_SLOT + place + 1) * 8);
	finish();
	check_by(0, class, LEAK_BY_SLAB);
}

TEST(slots)
{
	static const unsigned whole[] = { 8, 12, 2, 37 }, torn[] = { 8, 12, 1, 38 },
			      part[] = { 8, 12 };

	for (unsigned i = 0, place = 0; i < 4; place += whole[i++]) {
		slab_make(whole, 4);
		check_slot(place, LEAK_REACHABLE);
	}
	slab_make(torn, 4); /* a head and nothing in it: neither it nor the one before is sure */
	check_slot(8, LEAK_POSSIBLE);
	slab_make(torn, 4);
	check_slot(20, LEAK_POSSIBLE);
	slab_make(part, 2); /* nothing comes behind */
	check_slot(8, LEAK_POSSIBLE);
	slab_make(whole, 4); /* between slots */
	check_slot(4, LEAK_POSSIBLE);
	slab_make(whole, 4);
	store((FIRST_SLOT + 8) * 8, 9u << 16 | 12); /* one that says it is elsewhere */
	check_slot(8, LEAK_POSSIBLE);
	slab_make(whole, 4);
	store((FIRST_SLOT + 8) * 8, 8u << 16 | 60000); /* one that is longer than the slab */
	check_slot(8, LEAK_POSSIBLE);
	slab_make(whole, 4); /* lost */
	finish();
	check_by(0, LEAK_DEFINITE, 0);
}

/* ---- marked pointers ---- */

#define NODE(i) ((i)*0x40)

/* Nodes {key, left, right}: 0 is the root; its left one is 1, and that one's left one 2. */
static void tree_make(uint64_t mark)
{
	reset();
	for (unsigned i = 0; i < 3; i++)
		block(NODE(i), 24);
	block(NODE(3), 32);
	ready();
	root(HEAP + NODE(0));
	store(NODE(0) + 8, (HEAP + NODE(1)) | mark);
	store(NODE(1) + 8, (HEAP + NODE(2)) | mark);
	store(NODE(2) + 8, mark);
}

TEST(marked_pointers)
{
	for (uint64_t mark = 1; mark <= 3; mark++) {
		tree_make(mark);
		finish();
		check_by(1, LEAK_REACHABLE, LEAK_BY_MARKED);
		check_by(2, LEAK_REACHABLE, LEAK_BY_MARKED);
	}
	tree_make(4);
	finish();
	check_by(1, LEAK_POSSIBLE, 0);
	tree_make(1); /* what it leads to is no node, so it is none either */
	store(NODE(2) + 8, 0x12345);
	finish();
	check_by(1, LEAK_REACHABLE, LEAK_BY_MARKED);
	check_by(2, LEAK_POSSIBLE, 0);
	tree_make(1); /* a block of another size */
	store(NODE(0) + 8, (HEAP + NODE(3)) | 1);
	finish();
	check_by(3, LEAK_POSSIBLE, 0);
	tree_make(1); /* from a root: nothing says what it is */
	root_at(0x1008, HEAP + NODE(3) + 1);
	finish();
	check_by(3, LEAK_POSSIBLE, 0);
	tree_make(1); /* lost, with what hangs on it */
	store(NODE(0) + 8, 1);
	finish();
	check_by(1, LEAK_DEFINITE, 0);
	check_by(2, LEAK_INDIRECT, 0);
}

/* ---- members of lists whose links come later ---- */

/* Members in slabs: {data, ..., next, previous}, `before` bytes behind the start of each. */
static void ring_make(uint64_t before)
{
	reset();
	block(0x000, 0x100);
	block(0x100, 0x100);
	ready();
	root(HEAP + 0x80);
	store(0x80 + before, HEAP + 0x190);
	store(0x88 + before, HEAP + 0x190);
	store(0x190 + before, HEAP + 0x80);
	store(0x198 + before, HEAP + 0x80);
}

TEST(links_further_on)
{
	for (uint64_t before = 8; before <= 16; before += 8) {
		ring_make(before);
		finish();
		check_by(0, LEAK_REACHABLE, LEAK_BY_BACKLINK);
		check_by(1, LEAK_REACHABLE, LEAK_BY_BACKLINK);
		ring_make(before); /* alone */
		store(0x80 + before, HEAP + 0x80);
		store(0x88 + before, HEAP + 0x80);
		finish();
		check_by(0, LEAK_REACHABLE, LEAK_BY_BACKLINK);
		check_by(1, LEAK_DEFINITE, 0);
		ring_make(before); /* the other one does not lead back */
		store(0x190 + before, HEAP + 0x88);
		store(0x198 + before, HEAP + 0x88);
		finish();
		check_by(0, LEAK_POSSIBLE, 0);
		ring_make(before); /* lost together */
		root(HEAP + 0x88);
		heap.graph.root[0] = 0;
		finish();
		check_by(0, LEAK_DEFINITE, 0);
		check_by(1, LEAK_INDIRECT, 0);
	}
	ring_make(24); /* too far */
	finish();
	check_by(0, LEAK_POSSIBLE, 0);
}

int main(void)
{
	RUN(instance);
	RUN(no_instance);
	RUN(instance_only_if_the_rule_counts);
	RUN(closure);
	RUN(slots);
	RUN(marked_pointers);
	RUN(links_further_on);
	reset();
	return check_end();
}
