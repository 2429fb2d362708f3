/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program with pools of its own, which heaptop knows by a file of rules (inner_pool.rules):
 * their memory comes from mmap, or piece by piece from malloc. Threads share them. A failing
 * request leaves by longjmp. Usage: inner_pool [THREADS [ROUNDS]]
 */
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include "tests/targets/truth.h"

enum { ALLOC, ARRAY, RESIZE, FIXED, TEXT, OVER_MALLOC, JUMPED, AROUND };

#define POOL_BYTES (256ull << 20)
#define HEADER	   16

struct pool {
	char *at;
	size_t used;
};

static struct pool shared;
static __thread jmp_buf no_memory;

/* The functions of the rules. Not inlined; what they are called with matters. */
NOINLINE void *pool_alloc(struct pool *p, size_t size)
{
	size_t bytes = (size + HEADER + 15) & ~15ul, at;

	if (size > POOL_BYTES)
		longjmp(no_memory, 1);
	at = __atomic_fetch_add(&p->used, bytes, __ATOMIC_RELAXED);
	if (at + bytes > POOL_BYTES)
		return NULL;
	memcpy(p->at + at, &size, sizeof(size));
	return p->at + at + HEADER;
}

NOINLINE void pool_free(struct pool *p, void *block)
{
	if (block && p->at)
		memset((char *)block - HEADER, 0, HEADER);
	KEEP_FRAME();
}

NOINLINE void *pool_resize(struct pool *p, void *block, size_t size)
{
	void *q = pool_alloc(p, size); /* an allocation inside: not one of the program's */
	size_t old;

	if (q && block) {
		memcpy(&old, (char *)block - HEADER, sizeof(old));
		memcpy(q, block, old < size ? old : size);
		pool_free(p, block);
	}
	return q;
}

/* Returns 0, or an error with rubbish in the upper half of the register. */
NOINLINE long pool_array(struct pool *p, size_t count, size_t size, void **out)
{
	if (count > 1000)
		return 0x1234567800000000l + 12;
	*out = pool_alloc(p, count * size);
	return (long)0x1234567800000000l;
}

NOINLINE void *node_new(struct pool *p)
{
	return pool_alloc(p, 40);
}

NOINLINE char *pool_text(struct pool *p, const char *text)
{
	char *copy = pool_alloc(p, strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

/* As sqlite3_malloc: the size in front, all of it in a block of malloc, which is not a second one.
 */
NOINLINE void *over_malloc(size_t size)
{
	char *p = malloc(size + 8);

	if (!p)
		return NULL;
	memcpy(p, &size, sizeof(size));
	return p + 8;
}

NOINLINE void over_free(void *p)
{
	free((char *)p - 8);
	KEEP_FRAME();
}

static NOINLINE void *site_alloc(size_t n)
{
	return truth_got(ALLOC, pool_alloc(&shared, n), n);
}

static NOINLINE void site_resize(struct truth_block *b, size_t n)
{
	void *p = pool_resize(&shared, b->at, n);

	if (b->at) {
		truth_add(&truth_reallocs, 1);
		truth_gone(b->site, b->bytes);
	}
	*b = (struct truth_block){ truth_got(RESIZE, p, n), n, RESIZE };
}

static NOINLINE void *site_array(size_t n)
{
	void *p = NULL;

	if (pool_array(&shared, 5000, n, &p) != 0x1234567800000000l + 12)
		_exit(3);
	truth_add(&truth_failed, 1);
	pool_array(&shared, 3, n, &p);
	return truth_got(ARRAY, p, 3 * n);
}

static NOINLINE void *site_fixed(void)
{
	return truth_got(FIXED, node_new(&shared), 40);
}

static NOINLINE void *site_text(const char *text)
{
	return truth_got(TEXT, pool_text(&shared, text), strlen(text) + 1);
}

static NOINLINE void *site_over_malloc(size_t n)
{
	return truth_got(OVER_MALLOC, over_malloc(n), n);
}

static NOINLINE void *site_jumped(size_t n)
{
	if (setjmp(no_memory) == 0)
		pool_alloc(&shared, SIZE_MAX / 2);
	return truth_got(JUMPED, pool_alloc(&shared, n), n);
}

/* malloc itself is recorded as ever, around and after all that. */
static NOINLINE void *site_around(size_t n)
{
	return truth_got(AROUND, malloc(n), n);
}

static void give(unsigned site, void *p, size_t n)
{
	truth_gone(site, n);
	if (site == OVER_MALLOC)
		over_free(p);
	else if (site == AROUND)
		free(p);
	else
		pool_free(&shared, p);
}

static void round_of(size_t n, unsigned keep)
{
	struct truth_block moved = { site_alloc(n), n, ALLOC };
	void *p[] = { site_array(n), site_fixed(), site_text("a text"), site_over_malloc(n),
		site_jumped(n), site_around(n) };
	const unsigned site[] = { ARRAY, FIXED, TEXT, OVER_MALLOC, JUMPED, AROUND };
	const size_t bytes[] = { 3 * n, 40, 7, n, n, n };

	site_resize(&moved, 2 * n);
	for (unsigned i = 0; i < 6; i++)
		if (keep % 6 != i)
			give(site[i], p[i], bytes[i]);
	if (keep % 2)
		give(moved.site, moved.at, moved.bytes);
}

static unsigned rounds = 200;

static void *work(void *arg)
{
	for (unsigned i = 0; i < rounds; i++)
		round_of(1 + i % 100, i);
	return arg;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	pthread_t t[64];

	if (argc > 2)
		rounds = (unsigned)atoi(argv[2]);
	truth_name(ALLOC, "site_alloc", "pool_alloc");
	truth_name(ARRAY, "site_array", "pool_array");
	truth_name(RESIZE, "site_resize", "pool_resize");
	truth_name(FIXED, "site_fixed", "node_new");
	truth_name(TEXT, "site_text", "pool_text");
	truth_name(OVER_MALLOC, "site_over_malloc", "over_malloc");
	truth_name(JUMPED, "site_jumped", "pool_alloc");
	truth_name(AROUND, "site_around", "malloc");
	shared.at = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	work(NULL);
	for (unsigned i = 0; i < threads && i < 64; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (unsigned i = 0; i < threads && i < 64; i++)
		pthread_join(t[i], NULL);
	return 0;
}
