/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stack tree's protocol, with lines of two slots so that the index soon goes on to its second
 * level: the same stack by several threads, different ones with common frames, one found along the
 * last, full tables, and a site that another thread made.
 */
#include "shm/stack.h"
#include "shm/stack_ancestor.h"
#include "tests/model/model.h"

static struct segment segment;
static uint32_t *given;
static uint32_t site[MODEL_THREADS_MAX];

static const uint64_t pcs[3][2] = { { 0x111, 0x999 }, { 0x222, 0x999 }, { 0x333, 0x888 } };
static const uint32_t modules[2] = { 1, 2 };

static struct stack_trace trace(uint32_t which)
{
	return (struct stack_trace){
		.function = HT_FN_MALLOC, .count = 2, .pcs = pcs[which], .modules = modules
	};
}

static void intern(uint32_t thread, uint32_t which)
{
	struct stack_trace t = trace(which);

	site[thread] = stack_intern(&segment, &t);
}

static void intern_and_compare(uint32_t thread, uint32_t which)
{
	struct stack_trace t = trace(which);

	intern(thread, which);
	model_require(site[thread] != 0, "a stack gets a site");
	model_require(stack_compare(&segment, site[thread], &t) == STACK_SAME,
		"a site is that of its stack");
}

static void same_by_0(void)
{
	intern_and_compare(0, 0);
}

static void same_by_1(void)
{
	intern_and_compare(1, 0);
}

static void same_by_2(void)
{
	intern_and_compare(2, 0);
}

static void other_by_1(void)
{
	intern_and_compare(1, 1);
}

static void third_by_2(void)
{
	intern_and_compare(2, 2);
}

static void begin(void)
{
	for (uint32_t i = 0; i < MODEL_THREADS_MAX; i++)
		site[i] = 0;
}

static void setup(void)
{
	model_segment(&segment, 1, 1);
	given = model_shared(sizeof(*given));
}

static void known(uint64_t inner, uint64_t outer)
{
	const uint64_t frames[] = { inner, outer };
	struct stack_trace t = { .function = HT_FN_CALLOC, .count = 2, .pcs = frames };

	t.modules = modules;
	stack_intern(&segment, &t);
}

/* So many stacks are there already that differ in their inner frame. */
static void known_many(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		known(0x777 + i, 0x999);
}

/* Others are not the first children of their frames. */
static void setup_known(void)
{
	setup();
	known_many(1);
}

/* Other children are in the index, */
static void setup_index(void)
{
	setup();
	known_many(HT_NODE_CHILDREN);
}

/* and in its second level, as the first is full. */
static void setup_levels(void)
{
	setup();
	known_many(HT_NODE_CHILDREN + HT_INDEX_SLOTS);
}

/* Interning again changes nothing: no stack has two sites, no node is lost from the index. */
static void again(uint32_t which, uint32_t want)
{
	struct stack_trace t = trace(which);
	uint32_t nodes = segment.header->nodes, got = stack_intern(&segment, &t);

	model_require(got == want, "a stack has one site");
	model_require(segment.header->nodes == nodes, "no node is lost");
	model_require(
		stack_compare(&segment, got, &t) == STACK_SAME, "a site is that of its stack");
	model_require(stack_node(&segment, stack_site(&segment, got)->node)->site == got,
		"a leaf and its site name each other");
	model_require(got < segment.header->sites, "sites are counted");
}

static void end_same(void)
{
	again(0, site[0]);
	again(0, site[1]);
}

static void end_three_same(void)
{
	end_same();
	again(0, site[2]);
}

static void end_two_same(void)
{
	again(0, site[0]);
	again(1, site[1]);
	again(0, site[2]);
}

static void end_different(void)
{
	again(0, site[0]);
	again(1, site[1]);
	model_require(site[0] != site[1], "different stacks have different sites");
}

static void end_three(void)
{
	end_different();
	again(2, site[2]);
	model_require(
		site[2] != site[0] && site[2] != site[1], "different stacks have different sites");
}

/* ---- along the last stack ---- */

/* First stack 0, then another, which has `shared` outermost frames in common; as if guesses had
 * held so far, so that it is guessed. */
static void along(uint32_t thread, uint32_t other, uint32_t shared)
{
	union {
		struct stack_path path;
		unsigned char bytes[sizeof(struct stack_path) + 2 * sizeof(struct stack_step)];
	} kept = { .path = { .room = 2 } };

	for (uint32_t turn = 0; turn < 2; turn++) {
		struct stack_trace t = trace(turn ? other : 0);

		t.path = &kept.path;
		t.kept = turn ? shared : 0;
		site[thread] = stack_intern(&segment, &t);
		model_require(stack_compare(&segment, site[thread], &t) == STACK_SAME,
			"a site is that of its stack");
		kept.path.guessed = true;
	}
}

static void along_by_0(void)
{
	along(0, 1, 1);
}

static void along_by_1(void)
{
	along(1, 2, 0);
}

static void end_along(void)
{
	again(1, site[0]);
	again(1, site[1]);
}

static void end_along_both(void)
{
	again(1, site[0]);
	again(2, site[1]);
}

/* ---- handed over ---- */

static void intern_and_give(void)
{
	intern(0, 0);
	ht_store_release_32(given, site[0]);
}

static void compare_given(void)
{
	struct stack_trace t = trace(0), other = trace(1);
	uint32_t got = ht_load_acquire_32(given);

	if (got == 0)
		return;
	model_require(stack_compare(&segment, got, &t) == STACK_SAME,
		"a site is that of its stack for other threads");
	model_require(stack_compare(&segment, got, &other) == STACK_DIFFERS,
		"a site is no other stack's");
}

static void end_given(void)
{
	again(0, site[0]);
}

/* ---- copied early ---- */

/* Whether a node of stack 0 is what a parent of another one must be; `pc`: the other one's. */
static bool may_be_outer(uint64_t pc, uint32_t parent)
{
	uint64_t outer = ht_load_acquire_64(&stack_node(&segment, parent)->pc);

	if (pc == pcs[0][1])
		return parent == 0;
	return outer == 0 || outer == pcs[0][pc == pcs[0][0]]; /* 0: it is read again */
}

/* A viewer copies all of the table, published or not: what has a pc is whole. */
static void copy_nodes(void)
{
	for (uint32_t i = 1; i < 1 + 2 * 3; i++) {
		const struct ht_node *n = stack_node(&segment, i);
		uint64_t pc = ht_load_acquire_64(&n->pc);

		model_require(pc == 0 || may_be_outer(pc, ht_load_relaxed_32(&n->parent)),
			"a node with a pc has its parent");
	}
}

/* ---- full ---- */

static void setup_last_site(void)
{
	setup();
	segment.header->sites = (uint32_t)stack_ancestor_limit(&segment) - 1;
}

static void try_0(void)
{
	intern(0, 0);
}

static void try_1(void)
{
	intern(1, 1);
}

static void try_third(void)
{
	intern(2, 2);
}

static bool has_own(uint32_t thread)
{
	return (stack_site(&segment, site[thread])->flags & HT_SITE_ANCESTOR) == 0;
}

static void end_last_site(void)
{
	model_require(has_own(0) + has_own(1) == 1, "one gets the last site");
	model_require(site[0] != 0 && site[1] != 0, "the other is counted at an ancestor");
	model_require(segment.header->sites_refused == 1, "the refusal is counted");
	again(has_own(0) ? 0 : 1, site[has_own(0) ? 0 : 1]);
}

/* Three nodes are left: enough for one of the stacks alone. */
static void setup_last_nodes(void)
{
	setup();
	segment.header->nodes =
		(uint32_t)(segment.header->region[HT_REGION_NODES].bytes / sizeof(struct ht_node)) -
		3;
}

static void end_last_nodes(void)
{
	model_require(!has_own(0) || !has_own(1), "what is full is full");
	model_require(!has_own(0) + (uint64_t)!has_own(1) == segment.header->nodes_refused,
		"refusals are counted");
	if (has_own(0) || has_own(1))
		again(has_own(0) ? 0 : 1, site[has_own(0) ? 0 : 1]);
}

/* One of the index's four slots is left. */
static void setup_last_slots(void)
{
	setup();
	segment.header->index_log2 = segment.header->index_levels = 1;
	known_many(HT_NODE_CHILDREN);
	for (uint64_t outer = 1; outer <= HT_NODE_CHILDREN - 1 + 3; outer++)
		known(0x777, outer << 12);
}

static void end_last_slots(void)
{
	uint32_t nodes = segment.header->nodes;

	model_require(!has_own(0) || !has_own(2), "what is full is full");
	model_require(!has_own(0) + (uint64_t)!has_own(2) == segment.header->nodes_refused,
		"refusals are counted");
	for (uint32_t i = 0; i < 2; i++) {
		struct stack_trace t = trace(2 * i);

		if (has_own(2 * i))
			again(2 * i, site[2 * i]);
		else
			model_require(stack_intern(&segment, &t) == site[2 * i],
				"what is full stays full");
	}
	model_require(segment.header->nodes == nodes, "refusals use up no nodes");
}

static const struct model_scenario scenarios[] = {
	{ .name = "two threads meet the same stack",
		.setup = setup,
		.begin = begin,
		.thread = { same_by_0, same_by_1 },
		.end = end_same,
		.deviations = 4 },
	{ .name = "two threads meet stacks with a common frame",
		.setup = setup_known,
		.begin = begin,
		.thread = { same_by_0, other_by_1 },
		.end = end_different,
		.deviations = 4 },
	{ .name = "three threads meet the same stack",
		.setup = setup,
		.begin = begin,
		.thread = { same_by_0, same_by_1, same_by_2 },
		.end = end_three_same,
		.deviations = 3 },
	{ .name = "two threads meet the same stack, where its frames have other children",
		.setup = setup_index,
		.begin = begin,
		.thread = { same_by_0, same_by_1 },
		.end = end_same,
		.deviations = 4 },
	{ .name = "two threads meet the same stack in the second level",
		.setup = setup_levels,
		.begin = begin,
		.thread = { same_by_0, same_by_1 },
		.end = end_same,
		.deviations = 4 },
	{ .name = "two threads meet the same stack, a third another",
		.setup = setup_index,
		.begin = begin,
		.thread = { same_by_0, other_by_1, same_by_2 },
		.end = end_two_same,
		.deviations = 2 },
	{ .name = "three threads meet three stacks",
		.setup = setup_index,
		.begin = begin,
		.thread = { same_by_0, other_by_1, third_by_2 },
		.end = end_three,
		.deviations = 2 },
	{ .name = "two threads meet a stack, one of them along its last",
		.setup = setup,
		.begin = begin,
		.thread = { along_by_0, other_by_1 },
		.end = end_along,
		.deviations = 3 },
	{ .name = "two threads have different stacks after the same one",
		.setup = setup,
		.begin = begin,
		.thread = { along_by_0, along_by_1 },
		.end = end_along_both,
		.deviations = 3 },
	{ .name = "a site is handed to another thread",
		.setup = setup,
		.begin = begin,
		.thread = { intern_and_give, compare_given },
		.end = end_given,
		.deviations = 5 },
	{ .name = "two threads meet the same stack, a viewer copies the nodes",
		.setup = setup,
		.begin = begin,
		.thread = { same_by_0, same_by_1, copy_nodes },
		.end = end_same,
		.deviations = 2 },
	{ .name = "two threads want the last site",
		.setup = setup_last_site,
		.begin = begin,
		.thread = { try_0, try_1 },
		.end = end_last_site,
		.deviations = 3 },
	{ .name = "two threads want the last nodes",
		.setup = setup_last_nodes,
		.begin = begin,
		.thread = { try_0, try_1 },
		.end = end_last_nodes,
		.deviations = 4 },
	{ .name = "two threads want the last slots of the index",
		.setup = setup_last_slots,
		.begin = begin,
		.thread = { try_0, try_third },
		.end = end_last_slots,
		.deviations = 4 },
};

int main(void)
{
	return model_run(scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
