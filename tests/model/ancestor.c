/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks that a full tree has no room for: threads that meet the same one, or ones with the same
 * ancestor, must agree on its site; and whoever finds that site named by a node must find it whole.
 */
#include "shm/stack.h"
#include "shm/stack_ancestor.h"
#include "tests/model/model.h"

#define FRAMES 3

static struct segment segment;
static uint32_t site[MODEL_THREADS_MAX];

/* Innermost first: the stack that is in the tree. */
static const uint64_t known[FRAMES] = { 0x333, 0x222, 0x111 };
static const uint32_t modules[FRAMES] = { 1, 1, 1 };

/* The site of the stack that has the `kept` outermost frames of the known one, and another. */
static uint32_t intern(uint32_t kept)
{
	uint64_t pcs[FRAMES] = { 0x999, 0x999, 0x999 };
	struct stack_trace t = {
		.function = HT_FN_MALLOC, .count = FRAMES, .pcs = pcs, .modules = modules
	};

	for (uint32_t i = 1; i <= kept; i++)
		pcs[FRAMES - i] = known[FRAMES - i];
	return stack_intern(&segment, &t);
}

/* Whoever has a site finds its fields. */
static void intern_by(uint32_t thread, uint32_t kept)
{
	const struct ht_site *s;

	site[thread] = intern(kept);
	s = stack_site(&segment, site[thread]);
	model_require(site[thread] != 0, "a stack without room is counted somewhere");
	model_require(s->flags == HT_SITE_ANCESTOR, "a site is whole");
	model_require(s->node <= kept, "a site is that of an ancestor");
}

static void outer_by_0(void)
{
	intern_by(0, 1);
}

static void inner_by_0(void)
{
	intern_by(0, 2);
}

static void inner_by_1(void)
{
	intern_by(1, 2);
}

static void inner_by_2(void)
{
	intern_by(2, 2);
}

static void begin(void)
{
	for (uint32_t i = 0; i < MODEL_THREADS_MAX; i++)
		site[i] = 0;
}

/* One stack is in the tree. */
static void setup_full(void)
{
	struct stack_trace t = {
		.function = HT_FN_MALLOC, .count = FRAMES, .pcs = known, .modules = modules
	};

	model_segment(&segment, 1, 1);
	stack_intern(&segment, &t);
	segment.header->sites = (uint32_t)stack_ancestor_limit(&segment);
}

/* Less than 3/4 of the ancestors' sites are left: they are for nodes at half the depth of a stack,
 * here the outermost. */
static void setup_half(void)
{
	uint64_t all;

	setup_full();
	all = segment_capacity(&segment, HT_REGION_SITES, sizeof(struct ht_site));
	segment.header->sites += (uint32_t)(all / STACK_ANCESTOR_PART / 4 + 1);
}

/* With the next site taken, fewer than 3/4 are left: threads may disagree on where to look. */
static void setup_edge(void)
{
	setup_half();
	segment.header->sites -= 1;
}

/* The last sites are for the root: one for each thread that may lose a race for it. */
static void setup_last(void)
{
	uint64_t all;

	setup_full();
	all = segment_capacity(&segment, HT_REGION_SITES, sizeof(struct ht_site));
	segment.header->sites = (uint32_t)all - 2;
}

/* The choice stays. */
static void again(uint32_t kept, uint32_t want)
{
	uint32_t sites = segment.header->sites;

	model_require(intern(kept) == want, "the same stack has the same site");
	model_require(segment.header->sites == sites, "no site is lost");
}

static void end_same(void)
{
	model_require(site[0] == site[1], "threads agree on the site of a stack without room");
	model_require(stack_site(&segment, site[0])->node == 2, "it is the nearest ancestor's");
	again(2, site[0]);
}

static void end_three_same(void)
{
	model_require(site[1] == site[2], "threads agree on the site of a stack without room");
	end_same();
}

static void end_nested(void)
{
	model_require(site[0] != site[1], "each node has its own site while there are some");
	again(1, site[0]);
	again(2, site[1]);
}

static void end_common(void)
{
	model_require(site[0] == site[1], "threads agree on the site of an ancestor");
	model_require(stack_site(&segment, site[0])->node == 1, "it is the one allowed");
	again(1, site[0]);
	again(2, site[1]);
}

static void end_edge(void)
{
	model_require(site[0] == site[1], "threads agree on a node's choice");
	again(2, site[0]);
}

static void end_root(void)
{
	model_require(site[0] == site[1], "threads agree on the root's site");
	model_require(stack_site(&segment, site[0])->node == 0, "the last sites are for the root");
	again(2, site[0]);
}

static const struct model_scenario scenarios[] = {
	{ .name = "two threads meet the same stack without room",
		.setup = setup_full,
		.begin = begin,
		.thread = { inner_by_0, inner_by_1 },
		.end = end_same,
		.deviations = 4 },
	{ .name = "three threads meet the same stack without room",
		.setup = setup_full,
		.begin = begin,
		.thread = { inner_by_0, inner_by_1, inner_by_2 },
		.end = end_three_same,
		.deviations = 2 },
	{ .name = "two threads meet stacks without room, one beyond the other",
		.setup = setup_full,
		.begin = begin,
		.thread = { outer_by_0, inner_by_1 },
		.end = end_nested,
		.deviations = 3 },
	{ .name = "two threads meet stacks that share an ancestor further out",
		.setup = setup_half,
		.begin = begin,
		.thread = { outer_by_0, inner_by_1 },
		.end = end_common,
		.deviations = 4 },
	{ .name = "two threads note a choice at the same node",
		.setup = setup_half,
		.begin = begin,
		.thread = { inner_by_0, inner_by_1 },
		.end = end_common,
		.deviations = 4 },
	{ .name = "two threads see different reserves",
		.setup = setup_edge,
		.begin = begin,
		.thread = { inner_by_0, inner_by_1 },
		.end = end_edge,
		.deviations = 4 },
	{ .name = "two threads want the root's site",
		.setup = setup_last,
		.begin = begin,
		.thread = { inner_by_0, inner_by_1 },
		.end = end_root,
		.deviations = 3 },
};

int main(void)
{
	return model_run(scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
