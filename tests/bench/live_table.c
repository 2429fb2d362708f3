/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live table by itself at its full size: blocks as an allocator hands them out one after
 * another, entered, taken out and entered again. Prints nanoseconds of processor time per block for
 * each of the three, and bytes of memory per live block. Usage: live_table [BLOCKS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "shm/live.h"
#include "shm/segment.h"

#define BLOCKS	    10000000u
#define HEAP_START  0x555555600010ull
#define BYTES_LEAST 16u
#define BYTES_MOST  112u
#define CHUNK_LEAST 32u

static struct segment segment;
static int segment_fd;
static unsigned blocks = BLOCKS;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static unsigned random_next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33);
}

static void enter(uint64_t addr, uint64_t size)
{
	struct live_block b = { .size = size, .tick = 1, .counter = 1 }, old[LIVE_MISSED_MAX];

	if (live_insert(&segment, addr, &b, old) != 0) {
		fprintf(stderr, "live_table: no room\n");
		exit(1);
	}
}

static void take_out(uint64_t addr, uint64_t size)
{
	struct live_block b;

	if (!live_remove(&segment, addr, &b) || b.size != size) {
		fprintf(stderr, "live_table: a block is lost\n");
		exit(1);
	}
}

/* Goes over all blocks with glibc's chunk sizes; ns per block. */
static double over_all(void (*act)(uint64_t addr, uint64_t size))
{
	uint64_t seed = 1, addr = HEAP_START;
	double start = now_ns();

	for (unsigned i = 0; i < blocks; i++) {
		uint64_t size = BYTES_LEAST + random_next(&seed) % (BYTES_MOST - BYTES_LEAST + 1);
		uint64_t chunk = (size + 8 + 15) & ~15ull;

		act(addr, size);
		addr += chunk > CHUNK_LEAST ? chunk : CHUNK_LEAST;
	}
	return (now_ns() - start) / blocks;
}

static double memory_bytes(void)
{
	struct stat st;

	return fstat(segment_fd, &st) == 0 ? (double)st.st_blocks * 512 : 0;
}

int main(int argc, char **argv)
{
	struct segment_identity id = { .pid = 1, .depth = HT_DEPTH_DEFAULT };
	double before, entered, taken, again;

	if (argc > 1)
		blocks = (unsigned)atoi(argv[1]);
	segment_fd = memfd_create("segment", MFD_CLOEXEC);
	if (segment_fd < 0 || segment_create(&segment, segment_fd, SEGMENT_FULL, &id) != 0)
		return 1;
	segment.single_threaded = "\1";
	segment_extents(&segment, true);
	before = memory_bytes();
	entered = over_all(enter);
	taken = over_all(take_out);
	again = over_all(enter);
	printf("%.2f %.2f %.2f %.2f\n", entered, taken, again, (memory_bytes() - before) / blocks);
	return 0;
}
