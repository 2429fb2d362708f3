/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A diff of so many call sites that comparing the stacks of all rows (src/diff/figures.h) takes
 * minutes: only those of the largest changes are compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include "src/diff/diff.h"
#include "tests/check.h"

#define GROUPS	64u /* of sites that have their two inner frames in common */
#define OF_EACH 250u
#define SITES	(GROUPS * OF_EACH)
#define FRAMES	6u
#define NAME	24

struct side {
	struct snapshot s;
	struct snap_site sites[SITES + 2];
	struct stack stacks[SITES + 2];
	struct frame frames[SITES + 2][FRAMES];
	char names[SITES + 2][FRAMES][NAME];
};

static const struct snap_module app = { .path = "/app", .name = "app", .build_id = "" };

/* The site whose frames' names are filled in. */
static void site_add(struct side *d, uint64_t bytes)
{
	size_t n = d->s.nsites++;

	for (unsigned f = 0; f < FRAMES; f++)
		d->frames[n][f] = (struct frame){
			.module = &app, .function = d->names[n][f], .file = "app.c"
		};
	d->stacks[n] = (struct stack){ .frames = d->frames[n], .nframes = FRAMES };
	d->sites[n] = (struct snap_site){ .id = (uint32_t)n,
		.alloc_function = "malloc",
		.stack = &d->stacks[n],
		.live_bytes = bytes,
		.live_blocks = bytes / 10,
		.allocs = bytes / 10,
		.alloc_bytes = bytes };
}

/* Half of the groups allocate more on side A, half on side B; no two figures are equal. */
static void groups_add(struct side *d, unsigned side)
{
	for (unsigned g = 0; g < GROUPS; g++)
		for (unsigned i = 0; i < OF_EACH; i++) {
			char(*name)[NAME] = d->names[d->s.nsites];
			uint64_t more = g % 2 == side ? 3000 + side : 0;

			for (unsigned f = 0; f < 2; f++)
				snprintf(name[f], NAME, "inner_%u_%u", g, f);
			for (unsigned f = 2; f < FRAMES; f++)
				snprintf(name[f], NAME, "%u_%u_%u_%u", side, g, i, f);
			site_add(d, 100000 + 7 * d->s.nsites + more);
		}
}

static void check_add(struct side *d, const char *third, uint64_t bytes)
{
	static const char *const names[FRAMES] = { "n", "m", NULL, "p", "q", "r" };

	for (unsigned f = 0; f < FRAMES; f++)
		snprintf(d->names[d->s.nsites][f], NAME, "%s", names[f] ? names[f] : third);
	site_add(d, bytes);
}

/* As of A's two stacks B's compiler made one (diff_make.c). */
TEST(the_largest_changes_are_compared)
{
	struct side *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	const struct snapshot *of_a = &a->s, *of_b = &b->s;
	struct diff *d;
	size_t found = 0;

	if (!a || !b)
		abort();
	a->s.sites = a->sites;
	b->s.sites = b->sites;
	groups_add(a, 0);
	groups_add(b, 1);
	check_add(a, "check", 30000000);
	check_add(a, "next", 50000000);
	check_add(b, "check", 80000000);
	d = diff_make(&of_a, 1, &of_b, 1, VALUE_LIVE);
	CHECK(d != NULL);
	for (size_t i = 0; d && i < d->nrows; i++)
		found += d->rows[i].change[VALUE_LIVE].a == 80000000 &&
			 d->rows[i].change[VALUE_LIVE].b == 80000000 && d->rows[i].sites_a == 2;
	CHECK_INT(found, 1);
	CHECK_INT(d ? d->nrows : 0, GROUPS + 1);
	diff_free(d);
	free(a);
	free(b);
}

int main(void)
{
	RUN(the_largest_changes_are_compared);
	return check_end();
}
