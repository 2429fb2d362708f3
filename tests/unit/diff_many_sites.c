/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A diff of so many call sites that comparing the stacks of all rows, or of all sites with equal
 * figures (src/diff/figures.h) takes minutes: only those of the largest changes are compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
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

#define EQUAL_SITES  8000u
#define EQUAL_GROUP  40u /* sites with equal figures */
#define DEEP	     120u /* frames of a stack, */
#define DEEP_COMMON  90u /* of which the outer ones are the same in all */
#define POOL	     1000u
#define MOST_SECONDS 20.0 /* it takes one; with all comparisons a minute */

struct deep {
	struct snapshot s;
	struct snap_site sites[EQUAL_SITES];
	struct stack stacks[EQUAL_SITES];
	const struct frame *frames[EQUAL_SITES][DEEP];
	struct frame inner[POOL], outer[DEEP_COMMON];
	char inner_name[POOL][NAME], outer_name[DEEP_COMMON][NAME];
};

/* Side 1 lacks every other one of the inner frames. */
static struct deep *deep_new(unsigned side)
{
	struct deep *d = calloc(1, sizeof(*d));

	if (!d)
		abort();
	for (unsigned i = 0; i < POOL; i++) {
		snprintf(d->inner_name[i], NAME, "inner_%u", i);
		d->inner[i] = (struct frame){ .module = &app, .function = d->inner_name[i] };
	}
	for (unsigned i = 0; i < DEEP_COMMON; i++) {
		snprintf(d->outer_name[i], NAME, "outer_%u", i);
		d->outer[i] = (struct frame){ .module = &app, .function = d->outer_name[i] };
	}
	for (unsigned i = 0; i < EQUAL_SITES; i++) {
		uint32_t n = 0;

		for (unsigned f = 0; f < DEEP - DEEP_COMMON; f += 1 + side)
			d->frames[i][n++] = &d->inner[(i / POOL * 37 + i * (f + 1)) % POOL];
		for (unsigned f = 0; f < DEEP_COMMON; f++)
			d->frames[i][n++] = &d->outer[f];
		d->stacks[i] = (struct stack){ .shared = d->frames[i], .nframes = n };
		d->sites[i] = (struct snap_site){ .id = i,
			.alloc_function = "malloc",
			.stack = &d->stacks[i],
			.live_bytes = 1000 + i / EQUAL_GROUP,
			.allocs = 1,
			.alloc_bytes = 1000 + i / EQUAL_GROUP };
	}
	d->s.sites = d->sites;
	d->s.nsites = EQUAL_SITES;
	return d;
}

TEST(deep_stacks_with_equal_figures)
{
	struct deep *a = deep_new(0), *b = deep_new(1);
	const struct snapshot *of_a = &a->s, *of_b = &b->s;
	struct diff *d;
	size_t largest = 0;

	d = diff_make(&of_a, 1, &of_b, 1, VALUE_LIVE);
	CHECK((double)clock() / CLOCKS_PER_SEC < MOST_SECONDS);
	for (size_t i = 0; d && i < d->nrows; i++)
		largest += d->rows[i].match == DIFF_BY_PART &&
			   d->rows[i].b->live_bytes == 1000 + (EQUAL_SITES - 1) / EQUAL_GROUP;
	CHECK_INT(largest, EQUAL_GROUP);
	diff_free(d);
	free(a);
	free(b);
}

int main(void)
{
	RUN(deep_stacks_with_equal_figures);
	RUN(the_largest_changes_are_compared);
	return check_end();
}
