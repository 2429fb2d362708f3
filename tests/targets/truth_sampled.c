/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program for sampling: blocks of very different sizes, thousands of each, in phases that its
 * standard input asks for, one letter each. When a phase is done it writes a dot, so that a test
 *can switch how it is recorded in between. One thread; ends with its input.
 *
 *	s small blocks, m medium ones (calloc), l large ones, r blocks that grow by realloc: some of
 *	each stay alive; t small blocks freed at once; x small blocks at a site of their own, which
 *	stay; f frees all that stayed
 */
#include <stdbool.h>
#include "tests/targets/truth.h"

#define KEPT_MAX 20000u
#define SMALL	 40000u
#define MEDIUM	 3000u
#define LARGE	 20u
#define GROWING	 300u
#define OWN	 1000u

enum { SITE_SMALL, SITE_MEDIUM, SITE_LARGE, SITE_GROWING, SITE_BRIEF, SITE_OWN };

static struct truth_block kept[KEPT_MAX];
static unsigned count, seed = 4711;

static NOINLINE void *site_small(size_t n)
{
	return truth_got(SITE_SMALL, malloc(n), n);
}

static NOINLINE void *site_medium(size_t n)
{
	return truth_got(SITE_MEDIUM, calloc(1, n), n);
}

static NOINLINE void *site_large(size_t n)
{
	return truth_got(SITE_LARGE, malloc(n), n);
}

/* One realloc is the old block's end and a new one's begin. */
static NOINLINE void *site_growing(void *p, size_t n)
{
	return truth_got(SITE_GROWING, realloc(p, n), n);
}

static NOINLINE void *site_brief(size_t n)
{
	return truth_got(SITE_BRIEF, malloc(n), n);
}

static NOINLINE void *site_own(size_t n)
{
	return truth_got(SITE_OWN, malloc(n), n);
}

static void keep_or_free(struct truth_block b, bool keep)
{
	if (keep && count < KEPT_MAX)
		kept[count++] = b;
	else
		truth_block_free(&b);
}

static void small(void)
{
	for (unsigned i = 0; i < SMALL; i++) {
		size_t n = 16 + truth_dice(&seed, 300);

		keep_or_free((struct truth_block){ site_small(n), n, SITE_SMALL }, i % 10 == 0);
	}
}

static void medium(void)
{
	for (unsigned i = 0; i < MEDIUM; i++) {
		size_t n = 2000 + truth_dice(&seed, 6000);

		keep_or_free((struct truth_block){ site_medium(n), n, SITE_MEDIUM }, i % 4 == 0);
	}
}

static void large(void)
{
	for (unsigned i = 0; i < LARGE; i++) {
		size_t n = 200000 + truth_dice(&seed, 1000000);

		keep_or_free((struct truth_block){ site_large(n), n, SITE_LARGE }, i % 2 == 0);
	}
}

static void growing(void)
{
	for (unsigned i = 0; i < GROWING; i++) {
		unsigned steps = 1 + truth_dice(&seed, 12);
		size_t n = 12;
		void *p = NULL;

		for (unsigned step = 0; step < steps; step++) {
			if (p) {
				truth_gone(SITE_GROWING, n);
				truth_reallocs++;
			}
			n *= 2;
			p = site_growing(p, n);
		}
		keep_or_free((struct truth_block){ p, n, SITE_GROWING }, i % 3 == 0);
	}
}

static void brief(void)
{
	for (unsigned i = 0; i < SMALL; i++) {
		struct truth_block b = { site_brief(100), 100, SITE_BRIEF };

		truth_block_free(&b);
	}
}

static void own(void)
{
	for (unsigned i = 0; i < OWN; i++)
		keep_or_free((struct truth_block){ site_own(100), 100, SITE_OWN }, true);
}

static void free_all(void)
{
	while (count > 0)
		truth_block_free(&kept[--count]);
}

static const struct {
	char letter;
	void (*run)(void);
} phases[] = { { 's', small }, { 'm', medium }, { 'l', large }, { 'r', growing }, { 't', brief },
	{ 'x', own }, { 'f', free_all } };

int main(void)
{
	char letter;

	truth_strict = 1;
	truth_name(SITE_SMALL, "site_small", "malloc");
	truth_name(SITE_MEDIUM, "site_medium", "calloc");
	truth_name(SITE_LARGE, "site_large", "malloc");
	truth_name(SITE_GROWING, "site_growing", "realloc");
	truth_name(SITE_BRIEF, "site_brief", "malloc");
	truth_name(SITE_OWN, "site_own", "malloc");
	while (read(0, &letter, 1) == 1) {
		for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
			if (phases[i].letter == letter)
				phases[i].run();
		truth_text(1, ".");
	}
	return 0;
}
