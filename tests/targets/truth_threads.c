/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: threads that allocate from eight sites and pass blocks to each other through a
 * table, so that most blocks are freed or moved by another thread than their maker's. Each block
 * says itself how large it is and where it comes from. Usage: truth_threads [THREADS [OPERATIONS]]
 */
#include <pthread.h>
#include "tests/targets/truth.h"

#define TABLE 512u

struct block {
	uint32_t bytes, site;
};

static struct block *table[TABLE];
static unsigned operations = 200000;

static void *tagged(unsigned site, void *at, size_t bytes)
{
	struct block *b = truth_got(site, at, bytes);

	if (!b)
		abort();
	b->bytes = (uint32_t)bytes;
	b->site = site;
	return b;
}

#define SITE(number, call)                                                                         \
	static NOINLINE void *site_##number(size_t n)                                              \
	{                                                                                          \
		return tagged(number, call, n);                                                    \
	}
SITE(0, malloc(n))
SITE(1, calloc(1, n))
SITE(2, realloc(NULL, n))
SITE(3, aligned_alloc(32, n))
SITE(4, malloc(n))
SITE(5, malloc(n))
SITE(6, calloc(n, 1))

static void *(*const makers[])(size_t) = { site_0, site_1, site_2, site_3, site_4, site_5, site_6 };

static NOINLINE void *site_7(struct block *old, size_t n)
{
	unsigned site = old->site;
	size_t bytes = old->bytes;
	void *p = realloc(old, n);

	truth_gone(site, bytes);
	truth_add(&truth_reallocs, 1);
	return tagged(7, p, n);
}

static void block_drop(struct block *b)
{
	if (b)
		truth_gone(b->site, b->bytes);
	free(b);
}

static void *work(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (unsigned i = 0; i < operations; i++) {
		struct block **slot = &table[truth_dice(&seed, TABLE)];
		struct block *mine = __atomic_exchange_n(slot, NULL, __ATOMIC_ACQ_REL);
		size_t n = 16 + truth_dice(&seed, 2000);

		if (mine && truth_dice(&seed, 3) == 0) {
			mine = site_7(mine, n);
		} else {
			block_drop(mine);
			mine = makers[truth_dice(&seed, 7)](n);
		}
		block_drop(__atomic_exchange_n(slot, mine, __ATOMIC_ACQ_REL));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const name[][2] = { { "site_0", "malloc" }, { "site_1", "calloc" },
		{ "site_2", "realloc" }, { "site_3", "aligned_alloc" }, { "site_4", "malloc" },
		{ "site_5", "malloc" }, { "site_6", "calloc" }, { "site_7", "realloc" } };
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 8;
	pthread_t thread[64];

	if (argc > 2)
		operations = (unsigned)atoi(argv[2]);
	if (threads > 64)
		return 2;
	for (unsigned i = 0; i < 8; i++)
		truth_name(i, name[i][0], name[i][1]);
	for (uintptr_t i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)(i + 1));
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < TABLE / 2; i++)
		block_drop(table[i]);
	return 0;
}
