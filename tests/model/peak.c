/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The composition of the peak: threads that end a maximum at once, and a reader while an epoch
 * begins (shm/counter_peak.h).
 */
#include "shm/counter.h"
#include "tests/model/model.h"

#define SLOTS 3u
#define SITES 3u

static struct segment segment;
static struct counter_owner owner[SLOTS];

static void take(uint32_t slot, uint32_t site, uint64_t size)
{
	counter_alloc(&segment, &owner[slot], site, size);
}

static void give(uint32_t slot, uint32_t site, uint64_t size)
{
	struct counter_freed end = { .size = size };

	counter_free(&segment, &owner[slot], site, &end);
}

static void setup(void)
{
	model_segment(&segment, 1, 1);
	for (uint32_t i = 0; i < SLOTS; i++) {
		owner[i] = (struct counter_owner){ 0 };
		counter_own(&segment, &owner[i], i);
	}
}

static void begin_owners(void)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		owner[i].adding.share = NULL;
}

static uint32_t epoch_of_header(void)
{
	return ht_load_acquire_32(&segment.header->peak_epoch) >> HT_SIZE_BITS;
}

/* One counter as a reader has it: what it has now, copied first, or else what it saved. */
static struct ht_at_peak counter_read(uint32_t counter, uint32_t epoch)
{
	const struct ht_counter *c = counter_at(&segment, counter);
	const struct ht_at_peak *saved = &owner[0].at_peak[counter];
	struct ht_at_peak now = { .bytes = ht_load_relaxed_64(&c->alloc_bytes) -
					   ht_load_relaxed_64(&c->free_bytes),
		.blocks = ht_load_relaxed_64(&c->allocs) - ht_load_relaxed_64(&c->frees) };

	ht_fence_acquire();
	if (epoch == 0 || ht_at_peak_epoch(ht_load_relaxed_64(&saved->blocks)) < epoch)
		return now;
	ht_fence_acquire();
	now.bytes = ht_load_relaxed_64(&saved->bytes);
	now.blocks = ht_at_peak_blocks(ht_load_relaxed_64(&saved->blocks));
	return now;
}

/* ---- two threads end a maximum ---- */

static void setup_two(void)
{
	setup();
	take(1, 1, 8000);
	take(2, 2, 9000);
	segment.header->threads = 3;
}

static void fall_1(void)
{
	give(1, 1, 8000);
	take(1, 1, 3);
}

static void fall_2(void)
{
	give(2, 2, 9000);
}

/* Both blocks were there. */
static void end_two(void)
{
	uint64_t state = segment.header->peak_state;
	struct ht_at_peak one = counter_read(1, epoch_of_header()),
			  two = counter_read(2, epoch_of_header());

	model_require(epoch_of_header() == state >> HT_AT_PEAK_BITS && epoch_of_header() != 0,
		"the newest epoch is published");
	model_require(one.bytes == 8000 && one.blocks == 1, "the peak has what the first had");
	model_require(two.bytes == 9000 && two.blocks == 1, "the peak has what the second had");
}

/* ---- a reader ---- */

static void setup_one(void)
{
	setup();
	segment.header->threads = 2;
	take(1, 1, 100);
	take(1, 2, 50);
}

/* Ends a maximum; then what it has saved already, and what not, goes on. */
static void work(void)
{
	give(1, 1, 100);
	give(1, 2, 50);
	take(1, 2, 20);
}

static void read_composition(void)
{
	uint32_t before = epoch_of_header(), after;
	struct ht_at_peak one = counter_read(1, before), two = counter_read(2, before);

	ht_fence_acquire();
	after = epoch_of_header();
	if (before == 0 || before != after)
		return;
	model_require(one.bytes == 100 && one.blocks == 1, "the one that ended it is as before");
	model_require(two.bytes == 50 && two.blocks == 1, "one that went on is as before");
}

static void end_one(void)
{
	model_require(epoch_of_header() == 1, "one maximum, one epoch");
	read_composition();
}

/* ---- slot 0 ---- */

static void setup_shared(void)
{
	setup();
	segment.header->threads = 3;
	take(0, 1, 8000);
	take(2, 2, 9000);
	take(0, 1, 1000);
}

static void fall_shared(void)
{
	give(0, 1, 1000);
}

/* Its counter may differ by what was in flight: one block of each. */
static void end_shared(void)
{
	struct ht_at_peak one = counter_read(stack_site(&segment, 1)->shared, epoch_of_header());

	model_require(epoch_of_header() == segment.header->peak_state >> HT_AT_PEAK_BITS,
		"the newest epoch is published");
	model_require(
		one.bytes == 8000 || one.bytes == 9000 || one.bytes == 7000 || one.bytes == 10000,
		"the shared counter is off by what is in flight at most");
}

static const struct model_scenario scenarios[] = {
	{ .name = "two threads end a maximum at once",
		.setup = setup_two,
		.begin = begin_owners,
		.thread = { fall_1, fall_2 },
		.end = end_two,
		.deviations = 4 },
	{ .name = "an epoch begins while a reader copies",
		.setup = setup_one,
		.begin = begin_owners,
		.thread = { work, read_composition },
		.end = end_one,
		.deviations = 4 },
	{ .name = "the shared slot ends a maximum from two threads",
		.setup = setup_shared,
		.begin = begin_owners,
		.thread = { fall_shared, fall_shared, fall_2 },
		.end = end_shared,
		.deviations = 2 },
};

int main(void)
{
	return model_run(scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
