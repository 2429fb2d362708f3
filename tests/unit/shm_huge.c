/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of the huge pages that a segment's large tables grow by: when they are requested, what
 * becomes of what was there, and of a kernel that refuses or takes its time.
 */
#include "tests/unit/live_fixture.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define FROM	 (32 * HT_HUGE_BYTES) /* bytes of all tables: then they take huge pages */
#define SLOW_NS	 30000000
#define REQUESTS 64u

/* Stands in for the kernel: notes the requests for huge pages, and refuses or is slow. */
enum { REAL, REFUSES, BUSY, LIES, SLOW };
static struct {
	int kernel;
	unsigned count;
	char *at[REQUESTS];
	bool made; /* the first one */
	long now_ns;
} requests;

int clock_gettime(clockid_t id, struct timespec *t)
{
	(void)id;
	*t = (struct timespec){ .tv_nsec = requests.now_ns };
	return 0;
}

static int fail(int with)
{
	errno = with;
	return -1;
}

int madvise(void *at, size_t bytes, int advice)
{
	int rc;

	if (advice != MADV_COLLAPSE)
		return (int)syscall(SYS_madvise, at, bytes, advice);
	if (requests.count < REQUESTS)
		requests.at[requests.count] = at;
	requests.count++;
	if (requests.kernel == REFUSES)
		return fail(ENOMEM);
	if (requests.kernel == BUSY)
		return fail(EAGAIN);
	if (requests.kernel == LIES)
		return 0;
	rc = (int)syscall(SYS_madvise, at, bytes, advice);
	if (requests.count == 1)
		requests.made = rc == 0;
	if (requests.kernel == REAL)
		return rc;
	/* An old kernel makes none: its pages serve as well. */
	requests.now_ns += SLOW_NS;
	return 0;
}

#define NEEDS_SMALL_PAGES                                                                          \
	do {                                                                                       \
		if (sysconf(_SC_PAGESIZE) != COMMIT_PAGE)                                          \
			SKIP("pages are larger than 4 KB: huge ones are not used");                \
	} while (0)

static void start(struct fixture *f, int kernel)
{
	memset(&requests, 0, sizeof(requests));
	requests.kernel = kernel;
	fixture_open(f, SEGMENT_FULL);
}

static uint64_t file_memory(const struct fixture *f)
{
	struct stat st;

	return fstat(f->fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

/* Commits the units of a table from one byte to another, as they are taken. */
static void fill_table(struct fixture *f, enum ht_region_id table, uint64_t from, uint64_t to)
{
	const uint64_t start = f->s.header->region[table].offset;

	for (uint64_t at = from; at < to; at += HT_COMMIT_BYTES)
		CHECK_INT(commit_range(&f->s, start + at, HT_COMMIT_BYTES), 0);
}

static void fill(struct fixture *f, uint64_t from, uint64_t to)
{
	fill_table(f, HT_REGION_NODES, from, to);
}

static char *node_memory(const struct fixture *f, uint64_t at)
{
	return segment_at(&f->s, f->s.header->region[HT_REGION_NODES].offset + at);
}

/* Huge pages of the file fit the mapping, and the large tables begin with one. */
TEST(aligned)
{
	static const enum ht_region_id large[] = { HT_REGION_NODES, HT_REGION_SITES,
		HT_REGION_COUNTERS, HT_REGION_OWNERS, HT_REGION_HISTS, HT_REGION_AT_PEAK };
	struct fixture f;

	start(&f, REAL);
	CHECK_INT((uintptr_t)f.s.header % HT_HUGE_BYTES, 0);
	for (unsigned i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		CHECK_INT(f.s.header->region[large[i]].offset % HT_HUGE_BYTES, 0);
	fixture_close(&f);
}

/* Whether a table's units from one byte to another are committed. */
static bool has(const struct fixture *f, enum ht_region_id table, uint64_t from, uint64_t to)
{
	const uint64_t start = f->s.header->region[table].offset;

	for (uint64_t at = from; at < to; at += HT_COMMIT_BYTES)
		if (!commit_has(&f->s, start + at))
			return false;
	return true;
}

TEST(taken_when_tables_are_large)
{
	struct fixture f;
	uint64_t before;

	NEEDS_SMALL_PAGES;
	start(&f, REAL);
	fill(&f, 0, FROM);
	CHECK_INT(requests.count, 0);
	before = file_memory(&f);
	fill(&f, FROM, FROM + HT_COMMIT_BYTES);
	CHECK_INT(requests.count, 1);
	CHECK(requests.at[0] == node_memory(&f, FROM));
	CHECK_INT(file_memory(&f) - before, requests.made ? HT_HUGE_BYTES : HT_COMMIT_BYTES);
	CHECK_INT(has(&f, HT_REGION_NODES, FROM, FROM + HT_HUGE_BYTES), requests.made);
	fill(&f, FROM, FROM + HT_HUGE_BYTES);
	CHECK_INT(requests.count, 1);
	CHECK_INT(file_memory(&f) - before, HT_HUGE_BYTES);
	if (requests.made) {
		fill(&f, FROM + HT_HUGE_BYTES, FROM + 2 * HT_HUGE_BYTES);
		CHECK_INT(requests.count, 2);
		CHECK(requests.at[1] == node_memory(&f, FROM + HT_HUGE_BYTES));
	}
	fixture_close(&f);
	if (!requests.made)
		SKIP("this kernel makes no huge pages of shared memory (Linux 6.1 does)");
}

/* Of many tables each takes at most one too early, and small ones none. */
TEST(not_by_small_tables)
{
	struct fixture f;

	NEEDS_SMALL_PAGES;
	start(&f, REAL);
	fill(&f, 0, FROM);
	fill_table(&f, HT_REGION_SITES, 0, 2 * HT_HUGE_BYTES);
	CHECK_INT(requests.count, 0);
	fill_table(&f, HT_REGION_SITES, 2 * HT_HUGE_BYTES, 3 * HT_HUGE_BYTES);
	CHECK_INT(requests.count, 1);
	fixture_close(&f);
}

/* What is written there already stays; the rest is zero. */
TEST(keeps_what_is_there)
{
	const uint64_t part = 5 * HT_COMMIT_BYTES;
	struct fixture f;
	uint64_t bad = 0;

	NEEDS_SMALL_PAGES;
	start(&f, REAL);
	fill(&f, 0, FROM - HT_COMMIT_BYTES);
	fill(&f, FROM + part, FROM + part + HT_COMMIT_BYTES);
	memset(node_memory(&f, FROM + part), 0xaa, HT_COMMIT_BYTES);
	CHECK_INT(requests.count, 0);
	fill(&f, FROM, FROM + HT_HUGE_BYTES);
	CHECK_INT(requests.count, 1);
	for (uint64_t i = 0; i < HT_HUGE_BYTES; i++)
		bad += (uint8_t)*node_memory(&f, FROM + i) !=
		       (i - part < HT_COMMIT_BYTES ? 0xaa : 0);
	CHECK_INT(bad, 0);
	fixture_close(&f);
}

/* The next request comes when the tables have doubled, and all is there meanwhile. */
static void check_seldom(int kernel)
{
	struct fixture f;

	start(&f, kernel);
	fill(&f, 0, FROM + HT_HUGE_BYTES);
	CHECK_INT(requests.count, 1);
	CHECK(requests.at[0] == node_memory(&f, FROM));
	fill(&f, FROM + HT_HUGE_BYTES, 2 * FROM);
	CHECK_INT(requests.count, 1);
	errno = 17;
	fill(&f, 2 * FROM, 2 * FROM + 4 * HT_HUGE_BYTES);
	CHECK_INT(errno, 17);
	CHECK_INT(requests.count, 2);
	CHECK(requests.at[1] == node_memory(&f, 2 * FROM));
	for (uint64_t at = FROM; at < 2 * FROM + 4 * HT_HUGE_BYTES; at += HT_COMMIT_BYTES)
		*node_memory(&f, at) = 1;
	CHECK_INT(f.s.header->commit_failed, 0);
	fixture_close(&f);
}

TEST(refused)
{
	NEEDS_SMALL_PAGES;
	check_seldom(REFUSES);
}

/* Another thread may be about to make the same. */
TEST(busy)
{
	struct fixture f;

	NEEDS_SMALL_PAGES;
	start(&f, BUSY);
	fill(&f, 0, FROM + HT_COMMIT_BYTES);
	CHECK_INT(requests.count, 1);
	fill(&f, FROM + HT_COMMIT_BYTES, FROM + 2 * HT_COMMIT_BYTES);
	CHECK_INT(requests.count, 2);
	CHECK(requests.at[1] == requests.at[0]);
	fixture_close(&f);
}

/* A kernel whose huge pages are larger does nothing and says 0. */
TEST(memory_is_there_whatever_the_kernel_says)
{
	struct fixture f;
	uint64_t before;

	NEEDS_SMALL_PAGES;
	start(&f, LIES);
	fill(&f, 0, FROM);
	before = file_memory(&f);
	fill(&f, FROM, FROM + HT_COMMIT_BYTES);
	CHECK_INT(requests.count, 1);
	CHECK(has(&f, HT_REGION_NODES, FROM, FROM + HT_HUGE_BYTES));
	CHECK_INT(file_memory(&f) - before, HT_HUGE_BYTES);
	fixture_close(&f);
}

TEST(slow)
{
	NEEDS_SMALL_PAGES;
	check_seldom(SLOW);
}

/* What a limited address space has is for what is needed. */
TEST(limited_address_space)
{
	struct fixture f;

	NEEDS_SMALL_PAGES;
	start(&f, REAL);
	f.s.most = 1ull << 40;
	fill(&f, 0, 2 * FROM);
	CHECK_INT(requests.count, 0);
	fixture_close(&f);
}

/* Not by what is used here and there: the live table, which is as large as its heap is, and the
 * index, where they made searches slower. */
TEST(only_by_tables_that_fill_up)
{
	struct fixture f;
	uint64_t bad = 0;

	NEEDS_SMALL_PAGES;
	start(&f, REAL);
	fill(&f, 0, FROM);
	for (uint64_t at = 0; at < 64u << 20; at += 8192)
		bad += put(&f.s, BASE + at, 24) != 0;
	fill_table(&f, HT_REGION_INDEX, 0, 4 * HT_HUGE_BYTES);
	fill_table(&f, HT_REGION_LIVE, 0, 4 * HT_HUGE_BYTES);
	CHECK_INT(bad, 0);
	CHECK_INT(requests.count, 0);
	fixture_close(&f);
}

/* A core contains what is in use, no more. */
TEST(core_view)
{
	struct fixture f;

	NEEDS_SMALL_PAGES;
	start(&f, REAL);
	CHECK_INT(segment_dump(&f.s, f.fd), 0);
	fill(&f, 0, 2 * FROM);
	CHECK_INT(requests.count, 0);
	fixture_close(&f);
}

int main(void)
{
	RUN(aligned);
	RUN(taken_when_tables_are_large);
	RUN(not_by_small_tables);
	RUN(keeps_what_is_there);
	RUN(refused);
	RUN(busy);
	RUN(memory_is_there_whatever_the_kernel_says);
	RUN(slow);
	RUN(limited_address_space);
	RUN(only_by_tables_that_fill_up);
	RUN(core_view);
	return check_end();
}
