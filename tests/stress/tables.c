/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stack tree and the module table with eight threads that all want the same entries at once:
 * each stack and each module must end with one index, whoever came first.
 */
#include "tests/stress/stress.h"

#include "shm/module.h"
#include "shm/stack.h"

#define STACKS 3000u
#define DEPTH  12u

static uint32_t sites[STRESS_THREADS][STACKS];

/* Stack `i`: neighbours share their outer frames, so that threads meet on the same chains. */
static void frames(uint32_t i, uint64_t *pcs, uint32_t *modules)
{
	for (uint32_t d = 0; d < DEPTH; d++) {
		pcs[d] = 0x400000 + (((uint64_t)i >> (DEPTH - 1 - d)) << 8 | d);
		modules[d] = d % 3 + 1;
	}
}

static struct stack_trace trace(uint32_t i, uint64_t *pcs, uint32_t *modules)
{
	frames(i, pcs, modules);
	return (struct stack_trace){ .function = HT_FN_MALLOC + i % 3,
		.count = DEPTH - i % 4,
		.pcs = pcs,
		.modules = modules,
		.truncated = i % 7 == 0 };
}

static void intern(struct stress_thread *t)
{
	uint64_t pcs[DEPTH];
	uint32_t modules[DEPTH];

	for (uint32_t n = 0; n < STACKS; n++) {
		/* two go up and down together, so that each meets others at both ends */
		uint32_t i = t->number % 2 ? n : STACKS - 1 - n;
		struct stack_trace trc = trace(i, pcs, modules);

		sites[t->number][i] = stack_intern(t->s, &trc);
		t->bad += stack_compare(t->s, sites[t->number][i], &trc) != STACK_SAME;
	}
}

static void check_walk(const struct segment *s, uint32_t i)
{
	uint64_t pcs[DEPTH];
	uint32_t modules[DEPTH];
	struct stack_trace t = trace(i, pcs, modules);
	const struct ht_node *n = stack_node(s, stack_site(s, sites[0][i])->node);

	CHECK_INT(n->pc & HT_LEAF_FUNCTION, t.function);
	for (uint32_t d = 0; d < t.count; d++) {
		n = stack_node(s, n->parent);
		CHECK(n->pc == pcs[d] && n->module == modules[d]);
	}
	CHECK_INT(n->parent, 0);
}

TEST(one_site_for_each_stack)
{
	static bool taken[32768];

	for (uint32_t round = 0; round < STRESS_ROUNDS(40); round++) {
		uint32_t differ = 0, twice = 0;
		struct fixture f;

		fixture_open(&f, SEGMENT_SMALL);
		CHECK_INT(stress_run(&f.s, intern), 0);
		memset(taken, 0, sizeof(taken));
		for (uint32_t i = 0; i < STACKS; i++) {
			for (uint32_t t = 1; t < STRESS_THREADS; t++)
				differ += sites[t][i] != sites[0][i];
			twice += sites[0][i] == 0 || taken[sites[0][i]];
			taken[sites[0][i]] = true;
			check_walk(&f.s, i);
		}
		CHECK_INT(differ, 0);
		CHECK_INT(twice, 0);
		CHECK_INT(f.s.header->nodes_refused + f.s.header->sites_refused, 0);
		fixture_close(&f);
	}
}

#define MODULES 300u
static uint32_t modules_of[STRESS_THREADS][MODULES];

static void intern_modules(struct stress_thread *t)
{
	for (uint32_t i = 0; i < MODULES; i++) {
		char path[32];
		struct module_info m = { .start = i * 4096ull,
			.end = i * 4096ull + 4096,
			.path = path,
			.build_id = (const uint8_t *)path,
			.build_id_bytes = 8 };

		snprintf(path, sizeof(path), "/usr/lib/lib%05u.so", i);
		modules_of[t->number][i] = module_intern(t->s, &m);
	}
}

TEST(one_index_for_each_module)
{
	struct fixture f;
	uint32_t bad = 0;

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(stress_run(&f.s, intern_modules), 0);
	CHECK_INT(f.s.header->modules, MODULES + 1);
	for (uint32_t i = 0; i < MODULES; i++) {
		const struct ht_module *m = module_at(&f.s, modules_of[0][i]);
		char path[32];

		for (uint32_t t = 1; t < STRESS_THREADS; t++)
			bad += modules_of[t][i] != modules_of[0][i];
		snprintf(path, sizeof(path), "/usr/lib/lib%05u.so", i);
		bad += m->start != i * 4096ull || !(m->flags & HT_MODULE_READY);
		bad += strcmp(segment_at(
				      &f.s, f.s.header->region[HT_REGION_STRINGS].offset + m->path),
			       path) != 0;
	}
	CHECK_INT(bad, 0);
	fixture_close(&f);
}

int main(void)
{
	RUN(one_site_for_each_stack);
	RUN(one_index_for_each_module);
	return check_end();
}
