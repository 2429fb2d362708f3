/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names on their way from the symboliser to the frames that wait for them: this program's own. */
#include <link.h>
#include <stdlib.h>
#include <unistd.h>
#include "src/session/name_requests.h"
#include "tests/check.h"

#define FOREVER_NS ((uint64_t)120 * 1000000000)
#define OWN	   1u /* module id of this program */
#define NOWHERE	   2u /* of a file that is not there */

__attribute__((noinline)) void naming_first(void);
__attribute__((noinline)) void naming_second(void);

static char own_path[512];
static uint64_t own_bias;
static const struct snap_module own = { .path = own_path, .name = "own" };
static const struct snap_module nowhere = { .path = "/no/such", .name = "such" };

static struct model *model;
static struct sym *sym;
static struct name_requests *naming;

void naming_first(void)
{
	__asm__ volatile("");
}

void naming_second(void)
{
	__asm__ volatile("" : : : "memory");
}

static int first_object(struct dl_phdr_info *i, size_t size, void *data)
{
	own_bias = i->dlpi_addr;
	return 1;
}

static void begin(void)
{
	const struct sym_options o = { .use_debuginfod = false };
	const struct sym_module self = { .id = OWN, .path = own_path },
				none = { .id = NOWHERE, .path = "/no/such" };

	model = model_new();
	sym = sym_new(&o);
	naming = name_requests_new(model, sym);
	CHECK(model && sym && naming);
	CHECK_INT(sym_module_add(sym, &self), 0);
	CHECK_INT(sym_module_add(sym, &none), 0);
}

static void end(void)
{
	name_requests_free(naming);
	sym_free(sym);
	model_free(model);
}

/* A return address one byte into a function is "called from" its first byte. */
static uint64_t inside(void (*f)(void))
{
	return (uint64_t)(uintptr_t)f + 1;
}

/* Asks for the names of a frame. */
static int want(uint32_t id, uint32_t index, uint32_t module_id)
{
	struct stack_place *places[8];

	CHECK(model_site_places(model, id, places, 8) > index);
	return name_requests_want(naming, places[index], module_id);
}

/* Registers a site of one frame and asks for its name. */
static void site(uint32_t id, void (*f)(void))
{
	struct frame frame = { .pc = inside(f), .offset = inside(f) - own_bias, .module = &own };

	CHECK_INT(model_site_add(model, id, "malloc", &frame, 1, false), 0);
	CHECK_INT(want(id, 0, OWN), 0);
}

/* The stack of a site, as a snapshot shows it. */
static const struct stack *stack_of(uint32_t id)
{
	struct model_site s = { .id = id, .allocs = 1 };
	struct model_input in = { .now_ns = 1, .sites = &s, .nsites = 1 };
	struct snapshot *snap = model_tick(model, &in);
	const struct stack *stack = snap && snap->nsites == 1 ? snap->sites[0].stack : NULL;

	CHECK(stack != NULL);
	snapshot_unref(snap);
	return stack;
}

static const char *name_of(uint32_t id)
{
	const struct stack *s = stack_of(id);

	return s ? snapshot_frame(s, s->nframes - 1)->function : NULL;
}

static void all_in(void)
{
	CHECK_INT(sym_drain(sym, FOREVER_NS), 0);
	CHECK(name_requests_collect(naming, true));
}

TEST(a_name_comes_in)
{
	const struct stack *s;

	begin();
	site(7, naming_first);
	CHECK(!stack_of(7)->resolved);
	all_in();
	s = stack_of(7);
	CHECK(s->resolved);
	CHECK_STR(name_of(7), "naming_first");
	CHECK_INT(snapshot_frame(s, s->nframes - 1)->pc, inside(naming_first));
	CHECK(snapshot_frame(s, s->nframes - 1)->module == &own);
	CHECK(snapshot_frame(s, 0)->file && strstr(snapshot_frame(s, 0)->file, "name_requests.c"));
	CHECK(!name_requests_collect(naming, true));
	end();
}

TEST(asked_once)
{
	begin();
	for (uint32_t id = 1; id <= 5; id++)
		site(id, naming_first);
	CHECK_INT(sym_pending(sym), 1);
	site(6, naming_second);
	CHECK_INT(sym_pending(sym), 2);
	all_in();
	for (uint32_t id = 1; id <= 5; id++)
		CHECK_STR(name_of(id), "naming_first");
	CHECK_STR(name_of(6), "naming_second");
	end();
}

TEST(known_at_once)
{
	begin();
	site(1, naming_first);
	all_in();
	site(2, naming_first);
	CHECK_INT(sym_pending(sym), 0);
	CHECK(stack_of(2)->resolved);
	CHECK_STR(name_of(2), "naming_first");
	end();
}

/* The same offset in two modules is two addresses. */
TEST(modules_are_told_apart)
{
	uint64_t offset = inside(naming_first) - own_bias;
	struct frame frames[2] = { { .pc = 1, .offset = offset, .module = &own },
		{ .pc = 2, .offset = offset, .module = &nowhere } };
	const struct stack *s;

	begin();
	CHECK_INT(model_site_add(model, 3, "malloc", frames, 2, false), 0);
	CHECK_INT(want(3, 0, OWN), 0);
	CHECK_INT(want(3, 1, NOWHERE), 0);
	CHECK_INT(sym_pending(sym), 2);
	all_in();
	s = stack_of(3);
	CHECK(s->resolved);
	CHECK_STR(snapshot_frame(s, 0)->function, "naming_first");
	CHECK(snapshot_frame(s, s->nframes - 1)->function == NULL);
	end();
}

/* Registers sites of one frame each, twice in the same stack, and asks for their names. */
static void sites_nowhere(uint32_t count)
{
	for (uint32_t id = 0; id < count; id++) {
		struct frame frame = { .pc = id, .offset = id * 16, .module = &nowhere };
		struct frame frames[2] = { frame, frame };

		CHECK_INT(model_site_add(model, id, "malloc", frames, 2, false), 0);
		CHECK_INT(want(id, 0, NOWHERE), 0);
		CHECK_INT(want(id, 1, NOWHERE), 0);
	}
}

/* Answers that come one by one do not make every stack be visited each time. */
TEST(stacks_are_visited_now_and_then)
{
	const uint32_t count = 4000;
	unsigned visits = 0, unresolved = 0;

	begin();
	sites_nowhere(count);
	while (sym_pending(sym) > 0)
		visits += name_requests_collect(naming, false);
	CHECK(visits > 0 && visits < 60);
	for (uint32_t id = 0; id < count; id++)
		unresolved += !stack_of(id)->resolved;
	CHECK_INT(unresolved, 0);
	end();
}

/* An address that is twice in a stack is one question. */
TEST(many_addresses)
{
	const uint32_t count = 3000;

	begin();
	sites_nowhere(count);
	CHECK_INT(sym_pending(sym), count);
	all_in();
	for (uint32_t id = 0; id < count; id += 100)
		CHECK(stack_of(id)->resolved);
	end();
}

/* Asks for what was held, and waits for it. The answer may be there before the call that asks ends.
 */
static void release(void)
{
	bool settled = name_requests_collect(naming, false);

	CHECK_INT(sym_drain(sym, FOREVER_NS), 0);
	settled |= name_requests_collect(naming, true);
	CHECK(settled);
}

/* The files of some modules come later, and their names are asked for then. */
TEST(held_until_the_file_is_there)
{
	struct frame frame = { .pc = 9, .offset = 9, .module = &nowhere };
	uint32_t below = OWN;

	begin();
	name_requests_hold(naming, &below);
	site(1, naming_first);
	site(2, naming_first);
	CHECK_INT(model_site_add(model, 3, "malloc", &frame, 1, false), 0);
	CHECK_INT(want(3, 0, NOWHERE), 0);
	CHECK(!name_requests_collect(naming, true));
	CHECK_INT(sym_pending(sym), 0);
	below = OWN + 1;
	release();
	CHECK_STR(name_of(1), "naming_first");
	CHECK_STR(name_of(2), "naming_first");
	CHECK(!stack_of(3)->resolved);
	below = NOWHERE + 1;
	release();
	CHECK(stack_of(3)->resolved);
	end();
}

/* The symboliser does not know this module. */
TEST(unknown_module)
{
	struct frame frame = { .pc = 5, .offset = 5, .module = &nowhere };

	begin();
	CHECK_INT(model_site_add(model, 2, "malloc", &frame, 1, false), 0);
	CHECK(want(2, 0, 99) < 0);
	CHECK_INT(sym_pending(sym), 0);
	CHECK_INT(want(2, 0, NOWHERE), 0); /* it was not taken for asked */
	CHECK_INT(sym_pending(sym), 1);
	site(1, naming_first); /* and it did no harm */
	all_in();
	CHECK_STR(name_of(1), "naming_first");
	end();
	name_requests_free(NULL);
}

int main(void)
{
	ssize_t n = readlink("/proc/self/exe", own_path, sizeof(own_path) - 1);

	own_path[n > 0 ? n : 0] = '\0';
	dl_iterate_phdr(first_object, NULL);
	RUN(a_name_comes_in);
	RUN(asked_once);
	RUN(known_at_once);
	RUN(modules_are_told_apart);
	RUN(many_addresses);
	RUN(held_until_the_file_is_there);
	RUN(stacks_are_visited_now_and_then);
	RUN(unknown_module);
	return check_end();
}
