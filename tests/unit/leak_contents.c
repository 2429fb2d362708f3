/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/leak: zeros and copies in blocks, by call site. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/analysis/contents.h"
#include "tests/check.h"

#define BASE	   UINT64_C(0x10000)
#define BYTES	   (1u << 20)
#define UNREADABLE (BASE + BYTES - 8192) /* from here on */

static unsigned char memory[BYTES];
static struct leak_blocks blocks;
static unsigned reads, stop_at; /* stop_at: calls of is_stopped until it says so; 0: never */

static ssize_t read_memory(void *ctx, uint64_t addr, void *out, size_t bytes)
{
	reads++;
	if (addr < BASE || addr >= UNREADABLE)
		return -1;
	bytes = bytes < UNREADABLE - addr ? bytes : (size_t)(UNREADABLE - addr);
	memcpy(out, memory + (addr - BASE), bytes);
	return (ssize_t)bytes;
}

static bool is_stopped(void *ctx)
{
	return stop_at != 0 && --stop_at == 0;
}

static const struct leak_contents_memory access_ = { NULL, read_memory, is_stopped };

static void reset(void)
{
	memset(memory, 0, sizeof(memory));
	leak_blocks_free(&blocks);
	blocks = (struct leak_blocks){ 0 };
}

/* A block at that offset whose bytes are `fill`, or text. */
static unsigned char *block(uint64_t offset, uint64_t size, uint32_t site, int fill)
{
	struct leak_block b = { BASE + offset, size, site, 0 };

	CHECK_INT(leak_blocks_add(&blocks, &b), 0);
	memset(memory + offset, fill, size);
	return memory + offset;
}

static int find(struct leak_contents *c)
{
	CHECK_INT(leak_blocks_finish(&blocks), 0);
	return leak_contents_find(c, &blocks, &access_);
}

static const struct leak_site_contents *of_site(const struct leak_contents *c, uint32_t site)
{
	for (size_t i = 0; i < c->sites; i++)
		if (c->site[i].site == site)
			return &c->site[i];
	return NULL;
}

TEST(copies_are_equal_in_each_byte_and_in_size)
{
	struct leak_contents c;

	reset();
	block(0, 40, 1, 'a');
	block(64, 40, 2, 'a'); /* of another site, and a copy */
	block(128, 40, 1, 'a');
	block(192, 40, 1, 'a')[0] = 'b'; /* differs at its start, */
	block(256, 40, 1, 'a')[39] = 'b'; /* and at its end */
	block(320, 39, 1, 'a'); /* in its size */
	block(384, 41, 1, 'a');
	CHECK_INT(find(&c), 0);
	CHECK_INT(c.all.copies.blocks, 2);
	CHECK_INT(c.all.copies.bytes, 80);
	CHECK_INT(of_site(&c, 1)->copies.blocks, 1);
	CHECK_INT(of_site(&c, 2)->copies.bytes, 40);
	CHECK_INT(c.all.read.blocks, 7);
	CHECK_INT(c.all.read.bytes, 5 * 40 + 39 + 41);
	CHECK_INT(c.all.zero.blocks + c.all.tail.blocks, 0);
	CHECK(c.is_whole);
	leak_contents_free(&c);
}

/* All sizes of one word and a bit, each twice, with every place of the byte that differs. */
TEST(short_blocks)
{
	struct leak_contents c;

	for (uint64_t size = 1; size <= 17; size++)
		for (uint64_t at = 0; at <= size; at++) {
			reset();
			block(0, size, 1, 'x');
			block(64, size, 1, 'x');
			memory[64 + at] ^= 1; /* at == size: behind it */
			CHECK_INT(find(&c), 0);
			CHECK_INT(c.all.copies.blocks, at == size);
			leak_contents_free(&c);
		}
}

TEST(zeros_and_tails)
{
	struct leak_contents c;

	reset();
	block(0, 100, 1, 0);
	block(128, 100, 1, 0); /* a copy, but said as zeros */
	block(256, 200, 2, 'x');
	memset(memory + 256 + 136, 0, 64); /* a tail of 64 bytes */
	block(512, 200, 3, 'x');
	memset(memory + 512 + 137, 0, 63); /* too short a tail */
	block(768, 20, 4, 'x');
	memset(memory + 768 + 10, 0, 10); /* half of it */
	block(832, 0, 5, 0);
	CHECK_INT(find(&c), 0);
	CHECK_INT(of_site(&c, 1)->zero.blocks, 2);
	CHECK_INT(of_site(&c, 1)->zero.bytes, 200);
	CHECK_INT(of_site(&c, 1)->copies.blocks, 0);
	CHECK_INT(of_site(&c, 2)->tail.bytes, 64);
	CHECK_INT(of_site(&c, 3)->tail.blocks, 0);
	CHECK_INT(of_site(&c, 4)->tail.bytes, 10);
	CHECK_INT(of_site(&c, 5)->read.blocks, 0);
	leak_contents_free(&c);
}

/* Longer than a piece and a window, across their ends. */
TEST(long_blocks)
{
	struct leak_contents c;

	reset();
	block(100, 300000, 1, 'q');
	block(300200, 300000, 1, 'q');
	block(600300, 300000, 1, 'q')[299999] = 'r';
	CHECK_INT(find(&c), 0);
	CHECK_INT(c.all.copies.blocks, 1);
	CHECK_INT(c.all.tail.blocks, 0);
	leak_contents_free(&c);
	memset(memory + 100 + 100000, 0, 200000); /* most pieces are zeros alone */
	CHECK_INT(leak_contents_find(&c, &blocks, &access_), 0);
	CHECK_INT(c.all.copies.blocks, 0);
	CHECK_INT(c.all.tail.bytes, 200000);
	leak_contents_free(&c);
}

TEST(what_cannot_be_read_is_left_out)
{
	struct leak_contents c;

	reset();
	block(0, 64, 1, 'a');
	block(UNREADABLE - BASE - 32, 64, 1, 'a'); /* its half */
	block(UNREADABLE - BASE + 64, 64, 1, 'a');
	CHECK_INT(find(&c), 0);
	CHECK_INT(c.all.read.blocks, 1);
	CHECK_INT(c.all.copies.blocks, 0);
	CHECK(!c.is_whole);
	leak_contents_free(&c);
}

TEST(it_can_be_stopped)
{
	struct leak_contents c;

	reset();
	for (uint32_t i = 0; i < 5000; i++)
		block(i * 64, 48, 1, 1 + (int)(i % 250));
	stop_at = 3;
	CHECK_INT(find(&c), -ECANCELED);
	stop_at = 0;
	reads = 0;
	CHECK_INT(leak_contents_find(&c, &blocks, &access_), 0);
	CHECK_INT(c.all.copies.blocks, 5000 - 250);
	/* Each window once, and each copy's model. */
	CHECK(reads <= 5000 - 250 + 5000 * 64 / 4096);
	leak_contents_free(&c);
	reset();
}

int main(void)
{
	RUN(copies_are_equal_in_each_byte_and_in_size);
	RUN(short_blocks);
	RUN(zeros_and_tails);
	RUN(long_blocks);
	RUN(what_cannot_be_read_is_left_out);
	RUN(it_can_be_stopped);
	return check_end();
}
