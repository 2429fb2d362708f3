/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The checker itself: which loads of values that are still to be stored it has seen, of the
 * patterns that ARM's manual and the literature call load buffering, and which it must not see.
 */
#include <stdio.h>

#include "shm/atomic.h"
#include "tests/model/model.h"

static uint64_t *x, *y;
static uint64_t a, b; /* what the threads have loaded */
static bool both; /* an execution had both loads see the other thread's store */

static void setup(void)
{
	x = model_shared(sizeof(*x));
	y = model_shared(sizeof(*y));
}

static void end(void)
{
	both |= a != 0 && b != 0;
}

static void load_x(void)
{
	a = ht_load_relaxed_64(x);
	ht_store_relaxed_64(y, 1);
}

static void load_y(void)
{
	b = ht_load_relaxed_64(y);
	ht_store_relaxed_64(x, 1);
}

static void load_x_release(void)
{
	a = ht_load_relaxed_64(x);
	ht_store_release_64(y, 1);
}

static void load_y_acquire(void)
{
	b = ht_load_acquire_64(y);
	ht_store_relaxed_64(x, 1);
}

static void load_x_fence(void)
{
	a = ht_load_relaxed_64(x);
	ht_fence_acquire();
	ht_store_relaxed_64(y, 1);
}

static void load_y_fence(void)
{
	b = ht_load_relaxed_64(y);
	ht_fence_acquire();
	ht_store_relaxed_64(x, 1);
}

static void copy_x(void)
{
	a = ht_load_relaxed_64(x);
	ht_store_relaxed_64(y, a);
}

static void copy_y(void)
{
	b = ht_load_relaxed_64(y);
	ht_store_relaxed_64(x, b);
}

/* y is never 0, but it is another with each x. */
static void add_x(void)
{
	a = ht_load_relaxed_64(x);
	ht_store_relaxed_64(y, a + 1);
}

static void if_y(void)
{
	b = ht_load_relaxed_64(y);
	if (b == 2)
		ht_store_relaxed_64(x, 1);
}

static void after_y(void)
{
	b = ht_load_relaxed_64(y);
	if (b != 0)
		ht_store_relaxed_64(x, 1);
}

/* The first load of a word does not wait for what the next one has seen. */
static void load_x_twice(void)
{
	a = ht_load_relaxed_64(x);
	a = ht_load_relaxed_64(x) < a ? 0 : a;
	model_require(ht_load_relaxed_64(x) >= a, "a word's values are seen in their order");
	ht_store_relaxed_64(y, 1);
}

static const struct {
	const char *name;
	void (*thread[2])(void);
	bool both;
} patterns[] = {
	{ "both loads wait", { load_x, load_y }, true },
	{ "one waits, the other is ordered before its store", { load_x_fence, load_y }, true },
	{ "a store behind a load that decides nothing of it", { load_x, after_y }, true },
	{ "release and acquire", { load_x_release, load_y_acquire }, false },
	{ "both are ordered", { load_x_fence, load_y_fence }, false },
	{ "no value comes from nowhere", { copy_x, copy_y }, false },
	{ "no value decides itself", { copy_x, if_y }, false },
	{ "a store that is another with each guess", { add_x, after_y }, false },
	{ "a word that is loaded again", { load_x_twice, load_y }, true },
};

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		struct model_scenario sc = { .name = patterns[i].name,
			.setup = setup,
			.thread = { patterns[i].thread[0], patterns[i].thread[1] },
			.end = end,
			.deviations = 6 };

		both = false;
		failed |= model_run(&sc, 1);
		printf("%s - %s: %s\n", both == patterns[i].both ? "ok" : "not ok", sc.name,
			both ? "both are seen" : "both are never seen");
		failed |= both != patterns[i].both;
	}
	return failed;
}
