/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks as names come in: frames replaced by one or several, the title found again, all in place.
 */
#include <errno.h>
#include <stdlib.h>
#include "src/model/model.h"
#include "tests/check.h"

static const struct snap_module app = { .path = "/app", .name = "app", .build_id = "" };
static const struct snap_module nowhere = { .path = "", .name = "", .build_id = "" };

static const struct frame raw[] = { { .pc = 1, .module = &app }, { .pc = 2, .module = &app },
	{ .pc = 3, .module = &app } };

/* A snapshot to look at site `id` through, as everyone does. */
static const struct stack *stack_of(struct model *m, uint32_t id)
{
	struct model_site site = { .id = id };
	struct model_input in = { .sites = &site, .nsites = 1 };
	struct snapshot *s = model_tick(m, &in);
	const struct stack *stack = s->nsites ? s->sites[0].stack : NULL;

	snapshot_unref(s);
	return stack;
}

TEST(add)
{
	struct model *m = model_new();

	CHECK(!model_site_known(m, 5));
	CHECK_INT(model_site_add(m, 5, "malloc", raw, 3, true), 0);
	CHECK(model_site_known(m, 5));
	CHECK(!model_site_known(m, 4) && !model_site_known(m, 6) &&
		!model_site_known(m, UINT32_MAX));
	CHECK_INT(model_site_add(m, 5, "calloc", raw, 1, false), -EEXIST);
	CHECK_INT(model_site_add(m, UINT32_MAX, "malloc", raw, 3, false), -EINVAL);
	CHECK_INT(stack_of(m, 5)->nframes, 3);
	CHECK(stack_of(m, 5)->truncated && !stack_of(m, 5)->resolved);
	model_free(m);
}

/* A parent's sites have ids above those of any segment, and few: they need no index of millions. */
TEST(inherited)
{
	const uint32_t id = SNAP_INHERITED_FIRST;
	const struct snap_site own = { .id = 3 }, parents = { .id = id + 3 };
	const struct snapshot s = {
		.sites = &own, .nsites = 1, .inherited = &parents, .ninherited = 1
	};
	struct model *m = model_new();

	CHECK_INT(model_site_add(m, 3, "malloc", raw, 1, 0), 0);
	CHECK(!model_site_known(m, id + 3));
	CHECK_INT(model_site_add(m, id + 3, "mmap", raw, 2, 0), 0);
	CHECK(model_site_known(m, id + 3) && !model_site_known(m, id));
	CHECK_INT(stack_of(m, 3)->nframes, 1);
	CHECK_INT(stack_of(m, id + 3)->nframes, 2);
	CHECK_INT(model_site_add(m, id + SNAP_INHERITED_MAX, "mmap", raw, 1, 0), -EINVAL);
	model_free(m);
	CHECK(snapshot_site(&s, 3) == &own && snapshot_site(&s, id + 3) == &parents);
	CHECK(!snapshot_site(&s, id));
}

TEST(frames_are_copied)
{
	struct frame mine[] = { { .pc = 9, .module = NULL, .function = "f" } };
	struct model *m = model_new();

	CHECK_INT(model_site_add(m, 0, "malloc", mine, 1, false), 0);
	mine[0].pc = 0;
	CHECK_INT(snapshot_frame(stack_of(m, 0), 0)->pc, 9);
	CHECK(snapshot_frame(stack_of(m, 0), 0)->module != NULL);
	CHECK_STR(snapshot_frame(stack_of(m, 0), 0)->module->path, "");
	CHECK(stack_of(m, 0)->resolved); /* it brought its name */
	model_free(m);
}

/* The catch-all site has no stack, but what prints it may rely on one frame. */
TEST(no_frames)
{
	struct model *m = model_new();

	CHECK_INT(model_site_add(m, 0, "?", NULL, 0, false), 0);
	CHECK_INT(stack_of(m, 0)->nframes, 1);
	CHECK(stack_of(m, 0)->resolved);
	CHECK_STR(snapshot_frame(stack_of(m, 0), 0)->function, "(stack not recorded)");
	model_free(m);
}

/* Resolves a frame of a site, and lets all stacks follow. */
static int resolve(
	struct model *m, uint32_t id, uint32_t index, const struct frame *frames, uint32_t n)
{
	struct stack_place *places[8];
	int rc;

	CHECK(model_site_places(m, id, places, 8) > index);
	rc = model_place_resolve(m, places[index], frames, n);
	return rc ? rc : model_names_settle(m);
}

TEST(resolve_in_any_order_with_inlines)
{
	static const struct frame two[] = { { .module = &app, .function = "in", .inlined = true },
		{ .pc = 2, .module = &app, .function = "out" } };
	static const struct frame f1[] = { { .pc = 1, .module = &app, .function = "first" } };
	static const struct frame three[] = { { .module = &app, .function = "x", .inlined = true },
		{ .module = &app, .function = "y", .inlined = true },
		{ .pc = 3, .module = &app, .function = "z" } };
	static const char *const want[] = { "first", "in", "out", "x", "y", "z" };
	struct model *m = model_new();
	const struct stack *stack;

	model_site_add(m, 1, "malloc", raw, 3, false);
	stack = stack_of(m, 1);
	CHECK_INT(resolve(m, 1, 1, two, 2), 0);
	CHECK_INT(resolve(m, 1, 2, three, 3), 0);
	CHECK(!stack->resolved);
	CHECK_INT(resolve(m, 1, 0, f1, 1), 0);
	CHECK(stack->resolved);
	CHECK(stack == stack_of(m, 1)); /* old snapshots see the names too */
	CHECK_INT(stack->nframes, 6);
	for (unsigned i = 0; i < 6 && i < stack->nframes; i++)
		CHECK_STR(snapshot_frame(stack, i)->function, want[i]);
	model_free(m);
}

/* A stack that still waits for names follows a place that is resolved anew, also to as many frames
 * in all as before. */
TEST(resolved_again)
{
	static const struct frame two[] = { { .module = &app, .function = "in", .inlined = true },
		{ .pc = 2, .module = &app, .function = "out" } };
	static const struct frame other[] = {
		{ .module = &app, .function = "new", .inlined = true },
		{ .pc = 2, .module = &app, .function = "out" }
	};
	static const struct frame one[] = { { .pc = 2, .module = &app, .function = "out" } };
	static const struct frame last[] = { { .module = &app, .function = "x", .inlined = true },
		{ .pc = 3, .module = &app, .function = "z" } };
	struct model *m = model_new();
	const struct stack *stack;

	model_site_add(m, 1, "malloc", raw, 3, false);
	stack = stack_of(m, 1);
	CHECK_INT(resolve(m, 1, 1, two, 2), 0);
	CHECK_STR(snapshot_frame(stack, 1)->function, "in");
	CHECK_INT(resolve(m, 1, 1, other, 2), 0);
	CHECK_INT(stack->nframes, 4);
	CHECK_STR(snapshot_frame(stack, 1)->function, "new");
	CHECK_INT(resolve(m, 1, 1, one, 1), 0);
	CHECK_INT(stack->nframes, 3);
	CHECK_INT(resolve(m, 1, 2, last, 2), 0);
	CHECK_INT(stack->nframes, 4);
	CHECK_STR(snapshot_frame(stack, 1)->function, "out");
	CHECK_STR(snapshot_frame(stack, 2)->function, "x");
	CHECK(!stack->resolved);
	model_free(m);
}

/* Stacks through the same address have one frame there, with inlined ones, too. */
TEST(frames_are_shared)
{
	static const struct frame other[] = { { .pc = 7, .module = &app },
		{ .pc = 2, .module = &app }, { .pc = 2, .module = &nowhere },
		{ .pc = 2, .module = &app, .function = "named" } };
	static const struct frame two[] = { { .module = &app, .function = "in", .inlined = true },
		{ .pc = 2, .module = &app, .function = "out" } };
	struct model *m = model_new();
	const struct stack *a, *b;

	model_site_add(m, 1, "malloc", raw, 3, false);
	model_site_add(m, 2, "malloc", other, 4, false);
	a = stack_of(m, 1);
	b = stack_of(m, 2);
	CHECK(snapshot_frame(a, 1) == snapshot_frame(b, 1));
	CHECK(snapshot_frame(a, 1) != snapshot_frame(b, 2));
	CHECK(snapshot_frame(a, 1) != snapshot_frame(b, 3));
	CHECK_INT(resolve(m, 1, 1, two, 2), 0);
	CHECK_INT(b->nframes, 5);
	CHECK(snapshot_frame(a, 1) == snapshot_frame(b, 1));
	CHECK(snapshot_frame(a, 2) == snapshot_frame(b, 2));
	CHECK_STR(snapshot_frame(b, 1)->function, "in");
	CHECK_STR(snapshot_frame(b, 2)->function, "out");
	CHECK(snapshot_frame(b, 3)->function == NULL);
	CHECK_STR(snapshot_frame(b, 4)->function, "named");
	model_free(m);
}

/* New stacks have the names of their addresses at once, others when they are settled. */
TEST(new_stacks_are_settled)
{
	static const struct frame other[] = { { .pc = 7, .module = &app },
		{ .pc = 2, .module = &app }, { .pc = 3, .module = &app } };
	static const struct frame two[] = { { .module = &app, .function = "in", .inlined = true },
		{ .pc = 2, .module = &app, .function = "out" } };
	static const struct frame one[] = {
		{ .pc = 3, .module = &app, .function = "last", .hidden = true }
	};
	struct stack_place *places[8], *first;
	struct model *m = model_new();
	const struct stack *a, *b, *c;

	model_site_add(m, 1, "malloc", raw, 3, false);
	model_site_add(m, 2, "malloc", other, 3, false);
	a = stack_of(m, 1);
	b = stack_of(m, 2);
	CHECK_INT(model_site_places(m, 3, places, 8), 0);
	CHECK_INT(model_site_places(m, 1, &first, 1), 1);
	CHECK_INT(model_site_places(m, 2, places, 8), 3);
	CHECK(first != places[0] && !model_place_is_asked(places[1]));
	CHECK_INT(model_place_frame(places[1])->pc, 2);
	model_place_ask(places[1]);
	CHECK(model_place_is_asked(places[1]) && !model_place_is_asked(places[2]));
	CHECK_INT(model_place_resolve(m, places[1], two, 2), 0);
	CHECK_INT(model_place_resolve(m, places[2], one, 1), 0);
	CHECK(model_place_is_asked(places[2]));
	CHECK_INT(b->nframes, 3);
	model_site_add(m, 3, "malloc", other, 3, false);
	c = stack_of(m, 3);
	CHECK_INT(c->nframes, 4);
	CHECK_INT(model_names_settle(m), 0);
	CHECK_INT(a->nframes, 4);
	CHECK_INT(b->nframes, 4);
	for (uint32_t i = 0; i < 4; i++) {
		CHECK(snapshot_frame(b, i) == snapshot_frame(c, i));
		CHECK(i == 0 || snapshot_frame(a, i) == snapshot_frame(b, i));
	}
	CHECK(!a->resolved && !b->resolved && !c->resolved);
	CHECK_INT(model_site_places(m, 2, places, 8), 3); /* not those inlined */
	CHECK_INT(model_place_frame(places[2])->pc, 3);
	CHECK_INT(resolve(m, 2, 0, one, 1), 0);
	CHECK(!a->resolved && b->resolved && c->resolved);
	CHECK_INT(b->title, 1);
	model_free(m);
}

TEST(resolve_refuses)
{
	struct stack_place *place;
	struct model *m = model_new();

	model_site_add(m, 1, "malloc", raw, 3, false);
	CHECK_INT(model_site_places(m, 1, &place, 1), 1);
	CHECK_INT(model_place_resolve(m, place, raw, 0), -EINVAL);
	CHECK(!model_place_is_asked(place));
	CHECK_INT(model_names_settle(m), 0);
	CHECK_INT(stack_of(m, 1)->nframes, 3);
	model_free(m);
}

TEST(title)
{
	static const struct frame frames[] = {
		{ .module = &app, .function = "operator new", .hidden = true },
		{ .module = &nowhere }, /* no name and no object: names nothing */
		{ .pc = 3, .module = &app }, { .pc = 4, .module = &app, .function = "main" },
		{ .pc = 5, .module = &app }, /* keeps the stack waiting */
	};
	static const struct frame hidden[] = {
		{ .module = &app, .function = "std::x", .hidden = true }
	};
	static const struct frame grown[] = { { .module = &app, .function = "g", .inlined = true },
		{ .module = &app, .function = "std::y", .hidden = true } };
	struct model *m = model_new();
	const struct stack *stack;

	model_site_add(m, 0, "malloc", frames, 5, false);
	stack = stack_of(m, 0);
	CHECK_INT(stack->title, 2);
	resolve(m, 0, 2, hidden, 1);
	CHECK_INT(stack->title, 3);
	resolve(m, 0, 1, grown, 2);
	CHECK_INT(stack->title, 1);
	resolve(m, 0, 1, hidden, 1);
	CHECK_INT(stack->title, 3);
	resolve(m, 0, 3, hidden, 1);
	CHECK_INT(stack->title, 4);
	resolve(m, 0, 4, hidden, 1);
	CHECK_INT(stack->title, 0); /* nothing but hidden ones */
	CHECK(stack->resolved);
	model_free(m);
}

/* Stacks stay where they are while thousands are added, and the deepest stack is no exception. */
TEST(addresses_are_fixed)
{
	struct model *m = model_new();
	static struct frame deep[1024];
	const struct stack *first;

	for (unsigned i = 0; i < 1024; i++)
		deep[i] = (struct frame){ .pc = i, .module = &app };
	model_site_add(m, 0, "malloc", deep, 1024, false);
	first = stack_of(m, 0);
	for (uint32_t id = 1; id < 5000; id++)
		CHECK_INT(model_site_add(m, id * 7, "malloc", raw, 3, false), 0);
	CHECK(stack_of(m, 0) == first);
	CHECK_INT(first->nframes, 1024);
	CHECK_INT(snapshot_frame(first, 1023)->pc, 1023);
	CHECK(stack_of(m, 7 * 4999) != NULL && stack_of(m, 7 * 4999 - 1) == NULL);
	model_free(m);
}

int main(void)
{
	RUN(add);
	RUN(inherited);
	RUN(frames_are_copied);
	RUN(no_frames);
	RUN(resolve_in_any_order_with_inlines);
	RUN(resolved_again);
	RUN(frames_are_shared);
	RUN(new_stacks_are_settled);
	RUN(resolve_refuses);
	RUN(title);
	RUN(addresses_are_fixed);
	return check_end();
}
