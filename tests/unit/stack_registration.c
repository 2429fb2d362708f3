/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call sites of a segment whose contents are known, as the model gets them. */
#include "src/session/ancestors.h"
#include "src/session/stack_registration.h"
#include "tests/unit/segment_fixture.h"

#define FOREVER_NS ((uint64_t)120 * 1000000000)

static struct made made;
static struct read_segment *reader;
static struct model *model;
static struct sym *sym;
static struct stack_registration *registration;

static void begin(void)
{
	const struct sym_options o = { .use_debuginfod = false };

	made_open(&made, &fixture_identity);
	made_fill(&made);
	reader = made_read(&made);
	model = model_new();
	sym = sym_new(&o);
	if (!model || !sym)
		made_give_up("no memory");
	registration = stack_registration_new(reader, model, sym);
	CHECK(registration != NULL);
}

static void end(void)
{
	stack_registration_free(registration);
	sym_free(sym);
	model_free(model);
	read_close(reader);
	made_close(&made);
}

/* All that was counted there: there is one thread. */
static struct ht_counter *counter_of_site(uint32_t site)
{
	return counter_at(&made.s, stack_site(&made.s, site)->counters);
}

/* What the session does each tick. */
static void take_sites(void)
{
	struct read_site sites[MADE_SITES];
	ssize_t got = read_sites(reader, 0, sites, MADE_SITES);

	CHECK(got > 0);
	stack_registration_register(registration, sites, (uint32_t)got);
}

static struct snapshot *snapshot_of(const uint32_t *ids, size_t count)
{
	struct model_site sites[8] = { { 0 } };
	struct model_input in = { .now_ns = 1, .sites = sites, .nsites = count };

	for (size_t i = 0; i < count; i++)
		sites[i] = (struct model_site){ .id = ids[i], .allocs = 1 };
	return model_tick(model, &in);
}

TEST(stacks)
{
	static const uint32_t ids[] = { 1, 2, 3 };
	struct snapshot *s;

	begin();
	take_sites();
	s = snapshot_of(ids, 3);
	CHECK_INT(s->nsites, 3);
	for (uint32_t k = 0; k < 3; k++) {
		const struct stack *stack = s->sites[k].stack;

		CHECK_INT(stack->nframes, ids[k] + 1);
		CHECK_INT(stack->truncated, ids[k] + 1 == MADE_SITES);
		CHECK_STR(s->sites[k].alloc_function, ht_function_name(HT_FN_MALLOC + ids[k]));
		for (uint32_t i = 0; i < stack->nframes; i++) {
			uint64_t bias = i % 2 ? 0x7f0000000000ull : 0;

			CHECK_INT(snapshot_frame(stack, i)->pc, made_pc(ids[k], i));
			CHECK_INT(snapshot_frame(stack, i)->offset, made_pc(ids[k], i) - bias);
			CHECK_STR(snapshot_frame(stack, i)->module->path,
				i % 2 ? MADE_PATH_2 : MADE_PATH_1);
		}
	}
	snapshot_unref(s);
	end();
}

/* Beyond its limit a viewer shows the largest sites, and the sums of the others in one row. */
TEST(more_sites_than_shown)
{
	struct read_site sites[MADE_SITES], before[MADE_SITES];
	struct ancestors rest = { .is_full = true };
	uint32_t largest = 1;

	begin();
	CHECK_INT(read_sites(reader, 0, sites, MADE_SITES), MADE_SITES);
	memcpy(before, sites, sizeof(sites));
	for (uint32_t i = 2; i < MADE_SITES; i++)
		if (sites[i].live_bytes > sites[largest].live_bytes)
			largest = i;
	stack_registration_limit(registration, 1);
	CHECK(!stack_registration_is_full(registration));
	stack_registration_register(registration, sites, MADE_SITES);
	CHECK(stack_registration_is_full(registration));
	ancestors_fold(&rest, model, sites, MADE_SITES);
	stack_registration_register(registration, sites, 1);
	for (uint32_t i = 1; i < MADE_SITES; i++) {
		CHECK_INT(model_site_known(model, i), i == largest);
		CHECK_INT(sites[i].allocs, i == largest ? before[i].allocs : 0);
		if (i == largest)
			continue;
		before[0].allocs += before[i].allocs;
		before[0].frees += before[i].frees;
		before[0].live_bytes += before[i].live_bytes;
		before[0].alloc_bytes += before[i].alloc_bytes;
	}
	CHECK(model_site_known(model, 0));
	CHECK_INT(sites[0].allocs, before[0].allocs);
	CHECK_INT(sites[0].frees, before[0].frees);
	CHECK_INT(sites[0].live_bytes, before[0].live_bytes);
	CHECK_INT(sites[0].alloc_bytes, before[0].alloc_bytes);
	CHECK_INT(rest.folded, MADE_SITES - 2);
	CHECK(strstr(ancestors_notice(&rest), "too many call stacks") != NULL);
	end();
}

/* What found no room is summed up, and said. */
TEST(ancestors)
{
	const struct read_site own = { .allocs = 3, .live_bytes = 9 }, ancestor = {
		.flags = HT_SITE_ANCESTOR, .allocs = 1200, .live_bytes = 5000
	};
	struct snap_totals totals = { 0 };
	struct ancestors a = { 0 };

	ancestors_begin(&a);
	ancestors_add(&a, &own);
	CHECK(ancestors_notice(&a) == NULL);
	ancestors_add(&a, &ancestor);
	ancestors_add(&a, &ancestor);
	ancestors_fill(&a, &totals);
	CHECK_INT(totals.ancestor_allocs, 2400);
	CHECK_INT(totals.ancestor_live_bytes, 10000);
	CHECK_STR(ancestors_notice(&a),
		"no room for more than 1 call stacks: 2,400 allocations and 9.8k live bytes are "
		"counted at callers");
}

TEST(modules)
{
	static const uint32_t id = 1;
	const struct snap_module *program, *library;
	struct snapshot *s;

	begin();
	take_sites();
	s = snapshot_of(&id, 1);
	program = snapshot_frame(s->sites[0].stack, 0)->module;
	library = snapshot_frame(s->sites[0].stack, 1)->module;
	CHECK_STR(program->name, "made");
	CHECK_STR(program->build_id, "");
	CHECK_STR(library->name, "libmade.so.1");
	CHECK_STR(library->build_id, "deadbe0f");
	snapshot_unref(s);
	end();
}

/* Each site once, and only those that have allocated. */
TEST(registered_once)
{
	uint64_t allocs;

	begin();
	allocs = counter_of_site(2)->allocs;
	counter_of_site(2)->allocs = 0;
	take_sites();
	CHECK(!model_site_known(model, 0));
	CHECK(model_site_known(model, 1));
	CHECK(!model_site_known(model, 2));
	CHECK(model_site_known(model, 3));
	counter_of_site(2)->allocs = allocs;
	take_sites();
	take_sites();
	CHECK(model_site_known(model, 2));
	end();
}

/* The catch-all has no stack, and says so. */
TEST(catch_all)
{
	static const uint32_t id = 0;
	struct snapshot *s;

	begin();
	counter_at(&made.s, 0)->allocs = 1;
	take_sites();
	s = snapshot_of(&id, 1);
	CHECK_INT(s->nsites, 1);
	if (s->nsites == 1) {
		CHECK_STR(s->sites[0].alloc_function, "several");
		CHECK_INT(s->sites[0].stack->nframes, 1);
		CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->function, "(stack not recorded)");
		CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->module->path, "");
	}
	snapshot_unref(s);
	end();
}

/* A stack that cannot be read yet is asked for again. */
TEST(unreadable_yet)
{
	struct ht_node *leaf;
	uint64_t pc;

	begin();
	leaf = stack_node(&made.s, stack_site(&made.s, 1)->node);
	pc = leaf->pc;
	leaf->pc = 0;
	take_sites();
	CHECK(!model_site_known(model, 1));
	CHECK(model_site_known(model, 3));
	leaf->pc = pc;
	take_sites();
	CHECK(model_site_known(model, 1));
	end();
}

/* A site's number was out, but not its node yet, when it was copied; then it counted. */
TEST(site_copied_early)
{
	static const uint32_t id = 3;
	struct read_site sites[MADE_SITES];
	struct snapshot *s;

	begin();
	CHECK_INT(read_sites(reader, 0, sites, MADE_SITES), MADE_SITES);
	sites[id].node = sites[id].flags = 0;
	stack_registration_register(registration, sites, MADE_SITES);
	s = snapshot_of(&id, 1);
	CHECK_INT(s->nsites, 1);
	CHECK_INT(s->sites[0].stack->nframes, id + 1);
	CHECK(s->sites[0].stack->truncated);
	CHECK_STR(s->sites[0].alloc_function, ht_function_name(HT_FN_MALLOC + id));
	snapshot_unref(s);
	end();
}

/* What is counted is listed, whatever can be read of its stack. */
TEST(unreadable_counted)
{
	struct read_site sites[MADE_SITES];
	struct ancestors rest = { 0 };
	uint64_t allocs = 0, listed = 0;

	begin();
	stack_node(&made.s, stack_site(&made.s, 2)->node)->parent = UINT32_MAX;
	CHECK_INT(read_sites(reader, 0, sites, MADE_SITES), MADE_SITES);
	for (uint32_t i = 0; i < MADE_SITES; i++)
		allocs += sites[i].allocs;
	stack_registration_register(registration, sites, MADE_SITES);
	CHECK(!model_site_known(model, 2));
	ancestors_fold(&rest, model, sites, MADE_SITES);
	stack_registration_register(registration, sites, 1);
	for (uint32_t i = 0; i < MADE_SITES; i++)
		listed += model_site_known(model, i) ? sites[i].allocs : 0;
	CHECK_INT(listed, allocs);
	CHECK_INT(rest.folded, 1);
	CHECK_STR(ancestors_notice(&rest),
		"not all call stacks can be read: 1 of them are one row, \"(stack not recorded)\"");
	end();
}

/* A module's number is out before its fields are: its path is waited for. */
TEST(module_written_later)
{
	static const uint32_t id = 1;
	struct ht_module *m;
	struct snapshot *s;

	begin();
	m = module_at(&made.s, 1);
	m->flags &= ~HT_MODULE_READY;
	take_sites();
	CHECK(!model_site_known(model, 1));
	m->flags |= HT_MODULE_READY;
	take_sites();
	s = snapshot_of(&id, 1);
	CHECK_INT(s->nsites, 1);
	CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->module->path, MADE_PATH_1);
	snapshot_unref(s);
	end();
}

/* But not for ever: a program that was killed then still has its sites shown. */
TEST(module_never_written)
{
	static const uint32_t ids[] = { 1, 2, 3 };
	struct snapshot *s;

	begin();
	module_at(&made.s, 1)->flags &= ~HT_MODULE_READY;
	take_sites();
	take_sites();
	s = snapshot_of(ids, 3);
	CHECK_INT(s->nsites, 3);
	CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->module->path, "");
	CHECK_STR(snapshot_frame(s->sites[0].stack, 1)->module->path, MADE_PATH_2);
	snapshot_unref(s);
	end();
}

/* Paths come from the program, and go to a terminal. */
TEST(paths_are_cleaned)
{
	static const uint32_t id = 1;
	struct ht_module *m;
	struct snapshot *s;
	char *path;

	begin();
	m = module_at(&made.s, 1);
	path = segment_at(&made.s, made.s.header->region[HT_REGION_STRINGS].offset + m->path);
	memcpy(path, "\033[2J\x07/\xff", 7);
	take_sites();
	s = snapshot_of(&id, 1);
	CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->module->path, "?[2J?/?n/made");
	CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->module->name, "made");
	snapshot_unref(s);
	end();
}

/* Numbers of modules that are none, near and absurd: frames in no module. */
TEST(absurd_modules)
{
	static const uint32_t wrong[] = { MADE_MODULES, 1u << 20, 0x7fffffff, UINT32_MAX };
	static const uint32_t id = 1;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct snapshot *s;
		uint32_t leaf;

		begin();
		leaf = stack_site(&made.s, 1)->node;
		stack_node(&made.s, stack_node(&made.s, leaf)->parent)->module = wrong[i];
		take_sites();
		take_sites(); /* a number that may come to be one is waited for once */
		s = snapshot_of(&id, 1);
		CHECK_INT(s->nsites, 1);
		if (s->nsites == 1) {
			CHECK_STR(snapshot_frame(s->sites[0].stack, 0)->module->path, "");
			CHECK_INT(snapshot_frame(s->sites[0].stack, 0)->offset, made_pc(1, 0));
			CHECK_STR(snapshot_frame(s->sites[0].stack, 1)->module->path, MADE_PATH_2);
		}
		snapshot_unref(s);
		end();
	}
}

/* Nobody knows these addresses: that is an answer too. */
TEST(names)
{
	static const uint32_t ids[] = { 1, 2, 3 };
	struct snapshot *s;

	begin();
	take_sites();
	CHECK_INT(sym_drain(sym, FOREVER_NS), 0);
	CHECK(stack_registration_collect(registration, true));
	CHECK(!stack_registration_collect(registration, true));
	s = snapshot_of(ids, 3);
	for (size_t i = 0; i < s->nsites; i++) {
		CHECK(s->sites[i].stack->resolved);
		CHECK(snapshot_frame(s->sites[i].stack, 0)->function == NULL);
	}
	snapshot_unref(s);
	end();
}

TEST(nothing)
{
	struct read_site none = { 0 };

	begin();
	stack_registration_register(registration, &none, 0);
	stack_registration_register(registration, &none, 1);
	CHECK(!model_site_known(model, 0));
	end();
	stack_registration_free(NULL);
}

int main(void)
{
	RUN(stacks);
	RUN(more_sites_than_shown);
	RUN(ancestors);
	RUN(modules);
	RUN(registered_once);
	RUN(catch_all);
	RUN(unreadable_yet);
	RUN(site_copied_early);
	RUN(unreadable_counted);
	RUN(module_written_later);
	RUN(module_never_written);
	RUN(paths_are_cleaned);
	RUN(absurd_modules);
	RUN(names);
	RUN(nothing);
	return check_end();
}
