/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies and zeros in a real heap, compared with sorting all blocks by their bytes. Without
 * arguments, of tests/targets/copies. Argument: the pid of a recorded program that is idle, as its
 * memory is read a second time (tests/soak/retained.py).
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/leak/analysis/holders.h"
#include "src/leak/analysis/roots.h"
#include "src/leak/scan.h"
#include "src/target/target.h"
#include "tests/check.h"
#include "tests/unit/ready_fixture.h"

struct item {
	struct leak_block block;
	unsigned char *bytes; /* NULL: not read */
};

struct truth {
	int mem;
	struct item *item;
	size_t count;
	struct leak_site_contents all;
};

static void blocks_take(void *ctx, const struct leak_holders *h)
{
	const struct leak_blocks *b = h->graph->blocks;
	struct truth *t = ctx;

	t->item = calloc(b->count + (size_t)1, sizeof(*t->item));
	for (uint32_t i = 0; t->item && i < b->count; i++)
		if (b->block[i].size > 0 && b->block[i].birth != LEAK_BIRTH_UNSURE)
			t->item[t->count++].block = b->block[i];
}

static bool item_read(struct truth *t, struct item *i)
{
	uint64_t done = 0;

	i->bytes = malloc(i->block.size);
	while (i->bytes && done < i->block.size) {
		ssize_t got = pread(t->mem, i->bytes + done, i->block.size - done,
			(off_t)(i->block.addr + done));

		if (got <= 0)
			return false;
		done += (uint64_t)got;
	}
	return i->bytes != NULL;
}

static int item_order(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int order = (a->block.size > b->block.size) - (a->block.size < b->block.size);

	if (order == 0)
		order = memcmp(a->bytes, b->bytes, a->block.size);
	return order ? order : a->block.addr < b->block.addr ? -1 : 1;
}

static uint64_t tail_of(const struct item *i)
{
	uint64_t n = i->block.size;

	while (n > 0 && i->bytes[n - 1] == 0)
		n--;
	return i->block.size - n;
}

static void sum(struct leak_contents_sum *s, uint64_t bytes)
{
	s->blocks++;
	s->bytes += bytes;
}

/* Of equal blocks the first, by address, is no copy. */
static void truth_find(struct truth *t)
{
	for (size_t i = 0; i < t->count; i++)
		CHECK(item_read(t, &t->item[i]));
	qsort(t->item, t->count, sizeof(*t->item), item_order);
	for (size_t i = 0; i < t->count; i++) {
		const struct item *at = &t->item[i], *before = i > 0 ? at - 1 : NULL;
		uint64_t tail = tail_of(at);

		sum(&t->all.read, at->block.size);
		if (tail == at->block.size) {
			sum(&t->all.zero, at->block.size);
			continue;
		}
		if (tail >= LEAK_CONTENTS_TAIL || 2 * tail >= at->block.size)
			sum(&t->all.tail, tail);
		if (before && before->block.size == at->block.size &&
			memcmp(before->bytes, at->bytes, at->block.size) == 0)
			sum(&t->all.copies, at->block.size);
	}
}

static void scan(pid_t pid, struct truth *t, struct leak_result *result)
{
	struct leak_scan_options options = { .pid = pid,
		.roots = LEAK_ROOT_ALL,
		.heuristics = ~0u,
		.copying = LEAK_COPY_ALWAYS,
		.contents = true,
		.holders = true,
		.inspect = blocks_take,
		.inspect_ctx = t };
	char message[TRACE_MESSAGE_MAX];
	struct target_segment found;
	struct read_segment *segment;

	CHECK_INT(target_find(pid, &found, message), 0);
	segment = read_open(found.path, message);
	CHECK(segment != NULL);
	CHECK_INT(leak_scan(segment, &options, result, message), 0);
	read_close(segment);
}

static void same(const struct leak_contents_sum *a, const struct leak_contents_sum *b)
{
	CHECK_INT(a->blocks, b->blocks);
	CHECK_INT(a->bytes, b->bytes);
}

/* Compares a program's contents; the sums of its sites, too. */
static void compare(pid_t pid)
{
	struct leak_contents_sum copies = { 0 };
	struct leak_result result;
	struct truth t = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	t.mem = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(t.mem >= 0);
	scan(pid, &t, &result);
	CHECK(result.has_contents && result.contents.is_whole);
	truth_find(&t);
	same(&result.contents.all.read, &t.all.read);
	same(&result.contents.all.zero, &t.all.zero);
	same(&result.contents.all.tail, &t.all.tail);
	same(&result.contents.all.copies, &t.all.copies);
	for (size_t i = 0; i < result.contents.sites; i++) {
		copies.blocks += result.contents.site[i].copies.blocks;
		copies.bytes += result.contents.site[i].copies.bytes;
	}
	same(&copies, &t.all.copies);
	fprintf(stderr, "%zu blocks, %llu of %llu bytes copies, %llu zeros, %llu in tails\n",
		t.count, (unsigned long long)t.all.copies.bytes,
		(unsigned long long)t.all.read.bytes, (unsigned long long)t.all.zero.bytes,
		(unsigned long long)t.all.tail.bytes);
	for (size_t i = 0; i < t.count; i++)
		free(t.item[i].bytes);
	free(t.item);
	close(t.mem);
	leak_result_free(&result);
}

TEST(what_comparing_all_blocks_finds)
{
	int in, status = 0;
	pid_t pid = ready_start("copies", &in);

	compare(pid);
	close(in);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		compare((pid_t)strtol(argv[1], NULL, 10));
		return check_end();
	}
	RUN(what_comparing_all_blocks_finds);
	return check_end();
}
