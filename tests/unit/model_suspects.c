/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suspects by age: which call sites, in which order, and when. */
#include "src/model/suspects.h"
#include "tests/check.h"

static const struct stack stack;
static struct snap_site site[40];
static const struct snapshot snapshot = { .sites = site, .nsites = 40 };

static void make(void)
{
	for (uint32_t i = 0; i < 40; i++)
		site[i] = (struct snap_site){ .id = i, .stack = &stack, .allocs = 9, .frees = 1 };
}

static void keep(unsigned i, uint64_t bytes)
{
	site[i].frees = 0;
	site[i].live_blocks = 9;
	site[i].live_bytes = bytes;
}

TEST(what_was_never_freed_most_bytes_first)
{
	uint32_t index[SUSPECTS_MAX];

	make();
	CHECK_INT(suspects_find(&snapshot, index), 0);
	keep(3, 10);
	keep(7, 30);
	keep(20, 20);
	keep(30, 30);
	keep(31, 0);
	keep(32, 99);
	site[32].allocs = 1;
	keep(33, 99);
	site[33].stack = NULL;
	CHECK_INT(suspects_find(&snapshot, index), 4);
	CHECK(index[0] == 7 && index[1] == 30 && index[2] == 20 && index[3] == 3);
}

TEST(the_largest_of_many)
{
	uint32_t index[SUSPECTS_MAX + 1];

	make();
	index[SUSPECTS_MAX] = 12345;
	for (unsigned i = 0; i < 40; i++)
		keep(i, 1 + i * 7 % 40);
	CHECK_INT(suspects_find(&snapshot, index), SUSPECTS_MAX);
	for (unsigned i = 0; i < SUSPECTS_MAX; i++)
		CHECK_INT(site[index[i]].live_bytes, 40 - i);
	CHECK_INT(index[SUSPECTS_MAX], 12345);
}

TEST(only_where_a_scan_was_not_allowed)
{
	struct snap_leaks l = { .failed = NULL };

	CHECK(!suspects_wanted(NULL) && !suspects_wanted(&l));
	l.refused = "EPERM"; /* and the program's library helped */
	CHECK(!suspects_wanted(&l));
	l.failed = "why";
	CHECK(suspects_wanted(&l));
	l.refused = NULL;
	CHECK(!suspects_wanted(&l));
}

int main(void)
{
	RUN(what_was_never_freed_most_bytes_first);
	RUN(the_largest_of_many);
	RUN(only_where_a_scan_was_not_allowed);
	return check_end();
}
