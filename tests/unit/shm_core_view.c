/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The view of a segment that a core dump takes: exactly what is committed, so that a dump neither
 * misses any of it nor allocates more; not inherited by fork; a bounded number of mappings.
 */
#include "tests/unit/shm_fixture.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "shm/commit.h"
#include "shm/core_view.h"
#include "shm/live.h"
#include "shm/mapping.h"
#include "shm/stack.h"

/* A sanitizer's shadow is larger than any limit. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* What of the view a dump would take, by the kernel's account of it. */
struct dumped {
	uint64_t bytes;
	uint64_t holes; /* bytes that the file does not have */
	uint64_t first; /* address of the first byte; 0: none */
	unsigned mappings; /* all of them: what is excluded counts, too */
	unsigned private; /* with pages of their own: they do not show the file */
};

static uint64_t holes_in(int fd, uint64_t from, uint64_t to)
{
	uint64_t holes = 0;

	while (from < to) {
		off_t hole = lseek(fd, (off_t)from, SEEK_HOLE), data;

		if (hole < 0 || (uint64_t)hole >= to)
			break;
		data = lseek(fd, hole, SEEK_DATA);
		from = data < 0 || (uint64_t)data > to ? to : (uint64_t)data;
		holes += from - (uint64_t)hole;
	}
	return holes;
}

/* Adds one mapping of the view, whose flags are these. */
static void mapping_add(
	struct dumped *d, const struct fixture *f, uint64_t start, uint64_t end, const char *flags)
{
	uint64_t view = (uint64_t)(uintptr_t)f->s.core_view;

	d->mappings++;
	if (strstr(flags, " dd"))
		return;
	if (d->first == 0)
		d->first = start;
	d->bytes += end - start;
	d->holes += holes_in(f->fd, start - view, end - view);
}

static struct dumped dumped_of(const struct fixture *f)
{
	uint64_t view = (uint64_t)(uintptr_t)f->s.core_view, start = 0, end = 0;
	struct dumped d = { 0 };
	char line[512];
	FILE *smaps = fopen("/proc/self/smaps", "re");

	while (smaps && view && fgets(line, sizeof(line), smaps)) {
		unsigned long long a, b, kilobytes;

		if (sscanf(line, "%llx-%llx ", &a, &b) == 2) {
			start = a;
			end = b;
		}
		if (start < view || end > view + f->s.bytes)
			continue;
		if (sscanf(line, "Anonymous: %llu", &kilobytes) == 1 && kilobytes > 0)
			d.private ++;
		if (strncmp(line, "VmFlags:", 8) == 0)
			mapping_add(&d, f, start, end, line);
	}
	if (smaps)
		fclose(smaps);
	return d;
}

static uint64_t allocated(const struct fixture *f)
{
	struct stat st;

	return fstat(f->fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

static void viewed_open(struct fixture *f, enum segment_size size)
{
	fixture_open(f, size);
	CHECK_INT(segment_dump(&f->s, f->fd), 0);
}

static void work(const struct segment *s, uint64_t from, uint64_t blocks)
{
	struct live_block b = { .size = 40, .counter = 7 }, old[LIVE_MISSED_MAX];
	uint64_t pcs[8];
	uint32_t modules[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct stack_trace t = { HT_FN_MALLOC, 8, false, pcs, modules, NULL, 0 };

	for (uint64_t i = from; i < from + blocks; i++) {
		CHECK_INT(live_insert(s, 0x10000000 + i * 64, &b, old), 0);
		for (uint64_t k = 0; k < 8; k++)
			pcs[k] = i << 12 | k;
		CHECK(stack_intern(s, &t) != 0);
	}
}

/* All but the index, which only the library reads, and which has holes. */
static void check_exact(const struct fixture *f)
{
	const struct ht_region *index = &f->s.header->region[HT_REGION_INDEX];
	struct dumped d = dumped_of(f);
	uint64_t there = allocated(f) - index->bytes +
			 holes_in(f->fd, index->offset, index->offset + index->bytes);

	CHECK_INT(d.first, (uint64_t)(uintptr_t)f->s.core_view);
	CHECK_INT(d.holes, 0);
	CHECK_INT(d.bytes, there);
	CHECK_INT(d.private, 0);
}

TEST(it_has_exactly_what_is_committed)
{
	struct fixture f;

	viewed_open(&f, SEGMENT_FULL);
	check_exact(&f);
	work(&f.s, 0, 20000);
	check_exact(&f);
	CHECK(dumped_of(&f).mappings < 100);
	fixture_close(&f);
	CHECK_INT(dumped_of(&f).mappings, 0);
}

/* What a dump reads is the file's bytes as they are now. */
TEST(it_shows_the_segment)
{
	struct fixture f;

	viewed_open(&f, SEGMENT_SMALL);
	CHECK_INT(mprotect(f.s.core_view, COMMIT_PAGE, PROT_READ), 0);
	ht_store_relaxed_32(&f.s.header->pid, 1);
	CHECK_INT(((const struct ht_header *)(void *)f.s.core_view)->pid, 1);
	ht_store_relaxed_32(&f.s.header->pid, 4711);
	CHECK_INT(((const struct ht_header *)(void *)f.s.core_view)->pid, 4711);
	fixture_close(&f);
}

TEST(many_places_take_few_mappings_and_no_holes)
{
	struct dumped d;
	struct fixture f;
	uint64_t at, before;

	viewed_open(&f, SEGMENT_FULL);
	at = f.s.header->region[HT_REGION_PIECES].offset;
	before = allocated(&f);
	for (unsigned i = 0; i < 2048 + 512 + 64; i++)
		CHECK_INT(commit_pages(&f.s, at + i * UINT64_C(196608), COMMIT_PAGE), 0);
	d = dumped_of(&f);
	CHECK_INT(d.holes, 0);
	CHECK(d.mappings > 4000 && d.mappings < 2 * (2048 + 512 + 64) + 100);
	/* 8 MB exactly; then granules of 128 KB, and of 256 KB. */
	CHECK(allocated(&f) - before < 100u << 20);
	fixture_close(&f);
}

static struct fixture parents;

static void in_child(void)
{
	CHECK_INT(dumped_of(&parents).mappings, 0);
	core_view_forget(&parents.s);
	work(&parents.s, 0, 100);
}

TEST(a_child_of_fork_has_none)
{
	viewed_open(&parents, SEGMENT_SMALL);
	CHECK(dumped_of(&parents).mappings > 0);
	fixture_in_child(in_child);
	fixture_close(&parents);
}

static void under_limit(void)
{
	struct rlimit limit = { 1ull << 32, 1ull << 32 };
	struct fixture f;

	CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
	fixture_open(&f, SEGMENT_FULL);
	CHECK_INT(segment_dump(&f.s, f.fd), -ENOMEM);
	CHECK(!f.s.core_view);
	work(&f.s, 0, 100);
	fixture_close(&f);
}

TEST(a_limit_on_the_address_space_leaves_none)
{
	if (!SANITIZED)
		fixture_in_child(under_limit);
}

int main(void)
{
	RUN(it_has_exactly_what_is_committed);
	RUN(it_shows_the_segment);
	RUN(many_places_take_few_mappings_and_no_holes);
	RUN(a_child_of_fork_has_none);
	RUN(a_limit_on_the_address_space_leaves_none);
	return check_end();
}
