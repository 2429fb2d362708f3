/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of src/read: a good segment with some of its words changed (segment_changes.h), through
 * everything that a viewer does with one. Built with libFuzzer it takes inputs from there
 * (-DFUZZ_LIBFUZZER); alone it makes up its own:
 *
 *	read_alone [COUNT [FIRST-SEED]]	read_alone FILE...
 */
#include <ctype.h>

#include "src/read/read.h"
#include "tests/fuzz/segment_changes.h"

#define SITES_SEEN 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void event_take(void *ctx, uint32_t thread, const struct ht_event *e)
{
	*(uint64_t *)ctx += thread + e->addr;
}

static void block_take(void *ctx, const struct read_block *b)
{
	*(uint64_t *)ctx += b->addr;
}

static void look_at_site(struct read_segment *r, uint32_t number, const struct read_site *site)
{
	static struct read_frame frames[HT_DEPTH_MAX];
	struct read_module m;
	struct ht_hist hist;
	uint32_t function;
	ssize_t n = read_stack(r, site->node, frames, HT_DEPTH_MAX, &function);

	for (ssize_t i = 0; i < n; i++)
		read_module(r, frames[i].module, &m);
	read_hist(r, number, &hist);
}

static void look(struct read_segment *r)
{
	static struct read_identity id;
	static struct read_totals totals;
	static struct read_site sites[SITES_SEEN];
	uint64_t sum = 0, lost = 0;
	ssize_t n;

	read_identity(r, &id);
	if (read_totals(r, &totals) != 0)
		return;
	n = read_sites(r, 0, sites, SITES_SEEN);
	for (ssize_t i = 0; i < n; i++)
		look_at_site(r, (uint32_t)i, &sites[i]);
	read_events(r, event_take, &sum, &lost);
	read_blocks(r, block_take, &sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *r = read_open(spoilt_make(data, bytes), message);

	if (r)
		look(r);
	read_close(r);
	spoilt_mend();
	return 0;
}

#ifndef FUZZ_LIBFUZZER

/* Values that programs trip over, and any others. */
static uint64_t value(uint64_t *random)
{
	static const uint64_t odd[] = { 0, 1, UINT64_MAX, UINT32_MAX, 1ull << 63, 1ull << 32,
		INT64_MAX, INT32_MAX, 0xffffffff00000000ull };
	uint64_t r = fixture_random(random);

	switch (r & 3) {
	case 0:
		return odd[(r >> 8) % (sizeof(odd) / sizeof(odd[0]))];
	case 1:
		return r >> 8 & 0xff;
	case 2:
		return 1ull << (r >> 8) % 64;
	default:
		return fixture_random(random);
	}
}

static void run_seed(uint64_t seed)
{
	uint8_t data[1 + CHANGES_MAX * CHANGE] = { (uint8_t)seed };
	uint64_t random = seed * 0x9e3779b97f4a7c15ull + 1;
	size_t count = 1 + fixture_random(&random) % 8;

	for (size_t i = 0; i < count; i++) {
		uint32_t pick = (uint32_t)fixture_random(&random);
		uint64_t v = value(&random);

		memcpy(data + 1 + i * CHANGE, &pick, sizeof(pick));
		memcpy(data + 1 + i * CHANGE + sizeof(pick), &v, sizeof(v));
	}
	LLVMFuzzerTestOneInput(data, 1 + count * CHANGE);
}

static int run_file(const char *path)
{
	uint8_t data[1 + CHANGES_MAX * CHANGE];
	FILE *f = fopen(path, "rb");

	if (!f) {
		perror(path);
		return 1;
	}
	LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof(data), f));
	fclose(f);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	int rc = 0;

	if (argc > 1 && !isdigit((unsigned char)argv[1][0])) {
		for (int i = 1; i < argc; i++)
			rc |= run_file(argv[i]);
	} else {
		for (uint64_t seed = first; seed < first + count; seed++)
			run_seed(seed);
		printf("%llu inputs\n", (unsigned long long)count);
	}
	return rc;
}

#endif
