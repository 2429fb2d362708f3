/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program, strict: what the allocation functions do at their edges. Usage: api_edges WHAT
 *   realloc   requests that fail and leave the block; to nothing, which frees it
 *   limit     the same where memory ends, by RLIMIT_AS
 *   overflow  sizes and products that nobody can have
 *   sizes     none at all, and more than 4 GB
 */
#include <errno.h>
#include <malloc.h>
#include <sys/resource.h>
#include "tests/targets/truth.h"

enum { BLOCK, GROWN, ZERO, LARGE, FAILS };

#define HUGE_BYTES ((size_t)PTRDIFF_MAX - 4096)

static NOINLINE struct truth_block site_block(size_t n)
{
	return (struct truth_block){ truth_got(BLOCK, malloc(n), n), n, BLOCK };
}

static NOINLINE struct truth_block site_zero(void)
{
	return (struct truth_block){ truth_got(ZERO, malloc(0), 0), 0, ZERO };
}

static NOINLINE struct truth_block site_large(size_t n)
{
	return (struct truth_block){ truth_got(LARGE, malloc(n), n), n, LARGE };
}

static void need(int holds, const char *what)
{
	if (holds)
		return;
	truth_text(2, what);
	truth_text(2, "\n");
	_exit(3);
}

/* Moves a block; false: it stays as it is. */
static NOINLINE int site_grown(struct truth_block *b, size_t n)
{
	void *p = realloc(b->at, n);

	if (!p) {
		need(errno == ENOMEM, "errno of a failed realloc");
		truth_add(&truth_failed, 1);
		return 0;
	}
	truth_gone(b->site, b->bytes);
	truth_add(&truth_reallocs, 1);
	*b = (struct truth_block){ truth_got(GROWN, p, n), n, GROWN };
	return 1;
}

static int is_filled(const struct truth_block *b, int byte)
{
	const unsigned char *p = b->at;

	for (size_t i = 0; i < b->bytes; i++)
		if (p[i] != byte)
			return 0;
	return 1;
}

static void try_realloc(void)
{
	volatile size_t nothing = 0, huge = HUGE_BYTES;
	struct truth_block b, empty;

	for (int i = 1; i < 100; i++) {
		b = site_block((size_t)i * 10);
		memset(b.at, i, b.bytes);
		need(!site_grown(&b, huge) && is_filled(&b, i), "a block that could not grow");
		need(site_grown(&b, b.bytes / 2 + 1) && is_filled(&b, i), "a block that shrank");
		need(!site_grown(&b, huge) && is_filled(&b, i), "again");
		if (i % 3 == 0)
			continue; /* stays alive */
		truth_gone(b.site, b.bytes);
		need(!realloc(b.at, nothing), "glibc frees what becomes nothing");
	}
	empty = site_zero();
	need(site_grown(&empty, 100), "a block of nothing grew");
}

static size_t address_space(void)
{
	unsigned long pages = 0;
	char text[64] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 || sscanf(text, "%lu", &pages) != 1)
		need(0, "no /proc/self/statm");
	close(fd);
	return pages * 4096;
}

static void try_limit(void)
{
	struct truth_block held[512], grown = site_block(100000);
	struct rlimit limit = { address_space() + (64u << 20), RLIM_INFINITY };
	unsigned n = 0;

	need(setrlimit(RLIMIT_AS, &limit) == 0, "no limit");
	while (n < 512 && (held[n] = site_block(1u << 20)).at)
		n++;
	need(n > 10 && n < 512 && errno == ENOMEM, "the end of memory");
	memset(grown.at, 'g', grown.bytes);
	need(!site_grown(&grown, 64u << 20) && is_filled(&grown, 'g'), "a block at the end");
	while (n > 5)
		truth_block_free(&held[--n]);
	need(site_grown(&grown, 1u << 20), "room again");
}

/* Each of these must refuse, and nothing may be accounted. */
static NOINLINE void all_fail(size_t n, size_t half)
{
	struct truth_block b = site_block(50);
	void *out = &out, *before = out;
	void *volatile block = b.at; /* the compiler is not to know that it stays */

	errno = 0;
	need(!truth_got(FAILS, malloc(n), 0) && errno == ENOMEM, "malloc");
	need(!truth_got(FAILS, calloc(half, 2), 0), "calloc");
	need(!truth_got(FAILS, calloc(2, half), 0), "calloc, turned");
	need(!truth_got(FAILS, calloc(1, n), 0), "calloc of one");
	need(!truth_got(FAILS, realloc(NULL, n), 0), "realloc of none");
	need(!site_grown(&b, n), "realloc");
	need(!truth_got(FAILS, reallocarray(NULL, half, 2), 0), "reallocarray of none");
	need(!truth_got(FAILS, reallocarray(block, 2, half), 0), "reallocarray");
	need(!truth_got(FAILS, reallocarray(block, 1, n), 0), "reallocarray of one");
	need(!truth_got(FAILS, aligned_alloc(64, n), 0), "aligned_alloc");
	need(!truth_got(FAILS, memalign(4096, n), 0), "memalign");
	need(!truth_got(FAILS, valloc(n), 0), "valloc");
	need(!truth_got(FAILS, pvalloc(n), 0), "pvalloc");
	need(posix_memalign(&out, 64, n) == ENOMEM && out == before, "posix_memalign");
	truth_got(FAILS, NULL, 0);
	truth_block_free(&b);
}

static void try_overflow(void)
{
	static const volatile size_t sizes[] = { SIZE_MAX, SIZE_MAX - 8, SIZE_MAX - 4096,
		(size_t)PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1, HUGE_BYTES };

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		all_fail(sizes[i], SIZE_MAX / 2 + 1 + i);
}

/* Not written to, so that they cost address space only. */
static void try_sizes(void)
{
	static const size_t beside[] = { 0, 1, 4096 };
	struct truth_block b;

	for (unsigned i = 0; i < 100; i++) {
		b = site_zero();
		need(b.at != NULL, "a block of no bytes");
		if (i % 2)
			truth_block_free(&b);
	}
	for (unsigned i = 0; i < 3; i++) {
		b = site_large((4ul << 30) + beside[i]);
		need(b.at != NULL, "4 GB");
		if (i == 1)
			truth_block_free(&b);
	}
	b = site_large(5ul << 30);
	need(b.at && site_grown(&b, 6ul << 30), "5 GB that become 6");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} what[] = { { "realloc", try_realloc }, { "limit", try_limit },
		{ "overflow", try_overflow }, { "sizes", try_sizes } };

	truth_strict = 1;
	truth_name(BLOCK, "site_block", "malloc");
	truth_name(GROWN, "site_grown", "realloc");
	truth_name(ZERO, "site_zero", "malloc");
	truth_name(LARGE, "site_large", "malloc");
	for (unsigned i = 0; argc > 1 && i < sizeof(what) / sizeof(what[0]); i++)
		if (!strcmp(argv[1], what[i].name))
			what[i].run();
	truth_text(1, "done\n");
	return 0;
}
