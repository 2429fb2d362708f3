/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walks through the heap of a process that keeps its own account. All that it holds is found, with
 * its usable size, and nothing that it has freed.
 */
#include <fcntl.h>
#include <limits.h>
#include "src/leak/analysis/heap_walk.h"
#include "tests/unit/heap_account.h"

/* Each block of the account is there; how many blocks are not in it. */
static uint32_t compare(struct leak_blocks *b, unsigned *missing, unsigned *wrong)
{
	uint32_t own;

	CHECK_INT(leak_blocks_finish(b), 0);
	own = b->count;
	for (uint64_t i = 0; i < account->count; i++) {
		uint32_t at = leak_blocks_from(b, account->block[i].addr);

		if (at == b->count || b->block[at].addr != account->block[i].addr) {
			++*missing;
			continue;
		}
		*wrong += b->block[at].size != account->block[i].usable;
		own--;
	}
	return own;
}

static uint64_t below_bytes; /* of the last one */

static void walk(const char *what, unsigned arenas_least)
{
	pid_t pid = child_start(what);
	unsigned missing = 0, wrong = 0;
	struct leak_blocks blocks = { 0 }, again = { 0 };
	struct leak_heap_walk w;
	struct leak_space s;
	uint32_t own;

	CHECK_INT(leak_space_open(&s, pid), 0);
	CHECK_INT(leak_heap_walk(&s, &again, &w), 0);
	CHECK(w.whole);
	CHECK_INT(leak_heap_walk_whole(&s, &blocks, &w), 0);
	CHECK(w.whole);
	CHECK_INT(blocks.count, again.count);
	CHECK(w.arenas >= arenas_least);
	own = compare(&blocks, &missing, &wrong);
	CHECK(account->count > 100);
	CHECK_INT(missing, 0);
	CHECK_INT(wrong, 0);
	CHECK(own <= OWN_MOST);
	if (own > OWN_MOST)
		printf("  %u blocks more than the %u of the account\n", own,
			(unsigned)account->count);
	below_bytes = account->below_bytes;
	leak_blocks_free(&blocks);
	leak_blocks_free(&again);
	leak_space_close(&s);
	child_end(pid);
}

TEST(one_thread)
{
	walk("one", 1);
}

TEST(threads)
{
	walk("threads", 3);
}

TEST(hole_in_brk)
{
	walk("brk", 3);
}

TEST(heap_in_several_mappings)
{
	walk("split", 1);
}

static unsigned readings;

ssize_t __real_pread(int fd, void *to, size_t bytes, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t at);

ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t at)
{
	readings++;
	return __real_pread(fd, to, bytes, at);
}

/* The fewest of several walks: where the chunks are differs from process to process. */
static unsigned fewest_readings(const char *way)
{
	unsigned least = UINT_MAX;

	for (unsigned i = 0; i < 4; i++) {
		readings = 0;
		walk(way, 3);
		least = readings < least ? readings : least;
	}
	return least;
}

/* A large mapping is not read page by page, and the largest not at all where all chunks are found:
 * it has what could be taken for some. */
TEST(chunk_above_other_memory)
{
	unsigned before = fewest_readings("threads"), mapped = fewest_readings("mapped");

	CHECK(below_bytes > 4u << 20);
	CHECK(mapped < before + below_bytes / 4096 / 2);
	printf("# %u readings, %u without\n", mapped, before);
}

/* An arena's list, its heads and the chunks' may hold anything. */
TEST(anything)
{
	pid_t pid = child_start("threads");
	char path[64];
	uint64_t state = 5;
	unsigned spared = 0; /* readings, where all or nothing is wanted */
	int mem;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDWR | O_CLOEXEC);
	CHECK(mem >= 0);
	for (unsigned round = 0; round < 40; round++) {
		struct leak_blocks blocks = { 0 };
		struct leak_heap_walk w;
		struct leak_space s;
		unsigned all;

		for (unsigned i = 0; i < 50; i++) {
			uint64_t at = account->block[draw(&state) % account->count].addr;
			uint64_t word = round % 2 ? draw(&state) << 4 | 1 : draw(&state) * 16;

			CHECK(pwrite(mem, &word, sizeof(word),
				      (off_t)(at - 8 * (1 + draw(&state) % 2))) == sizeof(word));
		}
		CHECK_INT(leak_space_open(&s, pid), 0);
		readings = 0;
		CHECK_INT(leak_heap_walk(&s, &blocks, &w), 0);
		CHECK(!w.whole);
		all = readings;
		/* What a walk leaves in the buffers decides how the next one reads. */
		leak_space_close(&s);
		CHECK_INT(leak_space_open(&s, pid), 0);
		readings = 0;
		CHECK_INT(leak_heap_walk_whole(&s, &blocks, &w), 0);
		CHECK(!w.whole);
		CHECK(readings <= all);
		spared += all - readings;
		leak_blocks_free(&blocks);
		leak_space_close(&s);
	}
	CHECK(spared > 0);
	close(mem);
	child_end(pid);
}

int main(int argc, char **argv)
{
	int rc = account_main(argc, argv);

	if (rc >= 0)
		return rc;
	RUN(one_thread);
	RUN(threads);
	RUN(hole_in_brk);
	RUN(heap_in_several_mappings);
	RUN(chunk_above_other_memory);
	RUN(anything);
	return check_end();
}
