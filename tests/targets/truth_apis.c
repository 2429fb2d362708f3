/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: one thread, every function of the C allocation interface, with good, odd and
 * failing arguments. It asks for nothing else, so the report's totals and peak must be its own to
 * the byte.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include "tests/targets/truth.h"

enum {
	MALLOC,
	CALLOC,
	REALLOC_NEW,
	REALLOC_MOVE,
	REALLOCARRAY,
	POSIX_MEMALIGN,
	ALIGNED_ALLOC,
	MEMALIGN,
	VALLOC,
	PVALLOC,
	ZERO,
	TEMPORARY,
	STRDUP,
	HUGE_FAILS
};

#define HUGE_BYTES ((size_t)PTRDIFF_MAX - 4096)

static NOINLINE void *site_malloc(size_t n)
{
	return truth_got(MALLOC, malloc(n), n);
}

static NOINLINE void *site_calloc(size_t count, size_t n)
{
	return truth_got(CALLOC, calloc(count, n), count * n);
}

static NOINLINE void *site_realloc_new(size_t n)
{
	return truth_got(REALLOC_NEW, realloc(NULL, n), n);
}

/* The old block leaves first: that is the order in which heaptop must account it, too. */
static NOINLINE void site_realloc_move(struct truth_block *b, size_t n)
{
	void *p;

	truth_gone(b->site, b->bytes);
	p = realloc(b->at, n);
	truth_add(&truth_reallocs, 1);
	*b = (struct truth_block){ truth_got(REALLOC_MOVE, p, n), n, REALLOC_MOVE };
}

static NOINLINE void *site_reallocarray(size_t count, size_t n)
{
	return truth_got(REALLOCARRAY, reallocarray(NULL, count, n), count * n);
}

static NOINLINE void *site_posix_memalign(size_t align, size_t n)
{
	void *p = NULL;

	if (posix_memalign(&p, align, n))
		p = NULL;
	return truth_got(POSIX_MEMALIGN, p, n);
}

static NOINLINE void *site_aligned_alloc(size_t align, size_t n)
{
	return truth_got(ALIGNED_ALLOC, aligned_alloc(align, n), n);
}

static NOINLINE void *site_memalign(size_t align, size_t n)
{
	return truth_got(MEMALIGN, memalign(align, n), n);
}

static NOINLINE void *site_valloc(size_t n)
{
	return truth_got(VALLOC, valloc(n), n);
}

static NOINLINE void *site_pvalloc(size_t n)
{
	return truth_got(PVALLOC, pvalloc(n), n);
}

static NOINLINE void *site_zero(void)
{
	return truth_got(ZERO, malloc(0), 0);
}

static NOINLINE void site_temporary(size_t n)
{
	void *p = truth_got(TEMPORARY, malloc(n), n);

	truth_gone(TEMPORARY, n);
	free(p);
}

static NOINLINE void *site_strdup(const char *text)
{
	return truth_got(STRDUP, strdup(text), strlen(text) + 1);
}

static void expect_null(void *p)
{
	if (truth_got(HUGE_FAILS, p, 0)) {
		truth_text(2, "an impossible allocation succeeded\n");
		_exit(3);
	}
}

/* Sizes that no allocator has, and products that overflow: no block, and none may be counted. */
static NOINLINE void site_huge_fails(void)
{
	volatile size_t huge = HUGE_BYTES, half = SIZE_MAX / 2 + 2, most = SIZE_MAX;
	void *p = NULL;

	expect_null(malloc(huge));
	expect_null(malloc(most));
	expect_null(calloc(half, 2));
	expect_null(calloc(huge, 1));
	expect_null(reallocarray(NULL, half, 2));
	expect_null(realloc(NULL, huge));
	expect_null(memalign(64, huge));
	expect_null(aligned_alloc(64, huge));
	expect_null(valloc(huge));
	expect_null(pvalloc(huge));
	if (posix_memalign(&p, 64, huge) != ENOMEM)
		_exit(3);
	expect_null(p);
}

/* A realloc that fails leaves the old block where it was, still accounted to its own site. */
static NOINLINE void realloc_fails(struct truth_block *b)
{
	volatile size_t huge = HUGE_BYTES, half = SIZE_MAX / 2 + 2;

	expect_null(realloc(b->at, huge));
	expect_null(reallocarray(b->at, half, 2));
	memset(b->at, 1, b->bytes);
}

/* glibc: realloc(p, 0) is a free. */
static NOINLINE void realloc_to_zero(struct truth_block *b)
{
	truth_gone(b->site, b->bytes);
	if (realloc(b->at, 0))
		_exit(3);
	b->at = NULL;
}

static void *block_make(unsigned kind, size_t n)
{
	switch (kind) {
	case MALLOC:
		return site_malloc(n);
	case CALLOC:
		return site_calloc(n, 3);
	case REALLOC_NEW:
		return site_realloc_new(n);
	case REALLOCARRAY:
		return site_reallocarray(n, 5);
	case POSIX_MEMALIGN:
		return site_posix_memalign(256, n);
	case ALIGNED_ALLOC:
		return site_aligned_alloc(64, n * 64);
	case MEMALIGN:
		return site_memalign(4096, n);
	case VALLOC:
		return site_valloc(n);
	case PVALLOC:
		return site_pvalloc(n);
	default:
		return site_zero();
	}
}

static size_t bytes_of(unsigned kind, size_t n)
{
	switch (kind) {
	case CALLOC:
		return n * 3;
	case REALLOCARRAY:
		return n * 5;
	case ALIGNED_ALLOC:
		return n * 64;
	case ZERO:
		return 0;
	default:
		return n;
	}
}

static struct truth_block block_of(unsigned kind, size_t n)
{
	struct truth_block b = { block_make(kind, n), bytes_of(kind, n), kind };

	return b;
}

/* Random birth, death and growth over a table; about a quarter of it stays. */
static void churn(void)
{
	static const unsigned kinds[] = { MALLOC, CALLOC, REALLOC_NEW, REALLOCARRAY, POSIX_MEMALIGN,
		ALIGNED_ALLOC, MEMALIGN, VALLOC, PVALLOC, ZERO };
	static struct truth_block table[256];
	unsigned seed = 42;

	for (int i = 0; i < 20000; i++) {
		struct truth_block *b = &table[truth_dice(&seed, 256)];
		unsigned what = truth_dice(&seed, 8);

		if (!b->at)
			*b = block_of(kinds[truth_dice(&seed, 10)], 1 + truth_dice(&seed, 3000));
		else if (what < 3)
			site_realloc_move(b, 1 + truth_dice(&seed, 6000));
		else if (what == 3 && i % 16 == 0)
			realloc_to_zero(b);
		else if (what == 4 && b->bytes && i % 16 == 0)
			realloc_fails(b);
		else
			truth_block_free(b);
	}
	for (int i = 0; i < 192; i++)
		truth_block_free(&table[i]);
}

/* Larger than the allocator's mmap threshold, and grown there: mremap moves it. */
static void large(void)
{
	struct truth_block b = block_of(MALLOC, 200000);

	site_realloc_move(&b, 40000000);
	site_realloc_move(&b, 300000);
	site_realloc_move(&b, 700000);
}

static void names(void)
{
	static const char *const name[][2] = { [MALLOC] = { "site_malloc", "malloc" },
		[CALLOC] = { "site_calloc", "calloc" },
		[REALLOC_NEW] = { "site_realloc_new", "realloc" },
		[REALLOC_MOVE] = { "site_realloc_move", "realloc" },
		[REALLOCARRAY] = { "site_reallocarray", "reallocarray" },
		[POSIX_MEMALIGN] = { "site_posix_memalign", "posix_memalign" },
		[ALIGNED_ALLOC] = { "site_aligned_alloc", "aligned_alloc" },
		[MEMALIGN] = { "site_memalign", "memalign" },
		[VALLOC] = { "site_valloc", "valloc" },
		[PVALLOC] = { "site_pvalloc", "pvalloc" },
		[ZERO] = { "site_zero", "malloc" },
		[TEMPORARY] = { "site_temporary", "malloc" },
		[STRDUP] = { "site_strdup", "malloc" },
		[HUGE_FAILS] = { "site_huge_fails", "malloc" } };

	for (unsigned i = 0; i < sizeof(name) / sizeof(*name); i++)
		truth_name(i, name[i][0], name[i][1]);
}

int main(void)
{
	static struct truth_block kept[16];

	truth_strict = 1;
	names();
	free(NULL);
	for (int i = 0; i < 100; i++)
		site_temporary(10 + (size_t)i);
	site_huge_fails();
	churn();
	large();
	for (unsigned i = 0; i < 16; i++)
		kept[i] = (struct truth_block){ site_strdup("sixteen live strings"), 21, STRDUP };
	truth_block_free(&kept[3]);
	return 0;
}
