/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading what was live at the peak (src/read/at_peak.c), of a quiet program and of a busy one. */
#include <pthread.h>
#include "src/read/read.h"
#include "tests/unit/segment_fixture.h"

static struct made made;
static struct read_segment *reader;

static void begin(void)
{
	made_open(&made, &fixture_identity);
	made_fill(&made);
	reader = made_read(&made);
}

static void end(void)
{
	read_close(reader);
	made_close(&made);
}

static uint64_t peak_read(void)
{
	struct read_totals t;

	CHECK_INT(read_totals(reader, &t), 0);
	return t.peak_bytes;
}

static uint64_t sites_read(struct read_site out[MADE_SITES])
{
	uint64_t sum = 0, peak = peak_read();

	CHECK_INT(read_sites(reader, 0, out, MADE_SITES), MADE_SITES);
	read_at_peak_choose(out, MADE_SITES, peak);
	for (uint32_t i = 0; i < MADE_SITES; i++)
		sum += out[i].at_peak_bytes;
	return sum;
}

/* Each site's blocks are allocated, then half of them freed: the peak is when all of the last one's
 * are there. */
TEST(when_it_had_all)
{
	struct read_site site[MADE_SITES];
	uint64_t all = made_live_bytes(1) + made_live_bytes(2) + made_alloc_bytes(3);

	begin();
	CHECK_INT(peak_read(), all);
	CHECK_INT(sites_read(site), all);
	CHECK_INT(site[0].at_peak_bytes, 0);
	CHECK_INT(site[1].at_peak_bytes, made_live_bytes(1));
	CHECK_INT(site[1].at_peak_blocks, MADE_BLOCKS / 2);
	CHECK_INT(site[3].at_peak_bytes, made_alloc_bytes(3));
	CHECK_INT(site[3].at_peak_blocks, MADE_BLOCKS);
	CHECK_INT(site[3].live_bytes, made_live_bytes(3));
	CHECK_INT(read_sites(reader, 3, site, 1), 1); /* a window */
	CHECK_INT(site[0].at_peak_bytes, made_alloc_bytes(3));
	end();
}

/* Higher than ever, and not yet fallen: what is there now. */
TEST(the_peak_is_now)
{
	struct read_site site[MADE_SITES];
	struct counter_freed e = { .size = 700000 };

	begin();
	counter_alloc(&made.s, &made.owner, 1, 1000000);
	CHECK_INT(sites_read(site), peak_read());
	CHECK_INT(site[1].at_peak_bytes, made_live_bytes(1) + 1000000);
	CHECK_INT(site[1].at_peak_blocks, MADE_BLOCKS / 2 + 1);
	CHECK_INT(site[3].at_peak_bytes, made_live_bytes(3));
	e.size = 1000000;
	counter_free(&made.s, &made.owner, 1, &e);
	CHECK_INT(sites_read(site), peak_read());
	CHECK_INT(site[1].at_peak_blocks, MADE_BLOCKS / 2 + 1);
	CHECK_INT(site[1].live_bytes, made_live_bytes(1));
	end();
}

/* A counter that was made since had nothing. One below zero, whose site is above. */
TEST(several_slots)
{
	struct read_site site[MADE_SITES];
	struct counter_owner other = { 0 };
	struct counter_freed e = { .size = made_size(3, 1) };
	uint64_t all;

	begin();
	CHECK_INT(thread_claim(&made.s, 4712, NULL), 2);
	counter_own(&made.s, &other, 2);
	counter_alloc(&made.s, &other, 2, 10);
	CHECK_INT(sites_read(site), peak_read());
	CHECK_INT(site[2].at_peak_blocks, MADE_BLOCKS / 2);
	counter_free(&made.s, &other, 3, &e); /* of slot 1 */
	counter_alloc(&made.s, &other, 1, 5000000);
	e.size = 5000000;
	counter_free(&made.s, &other, 1, &e);
	all = made_live_bytes(1) + made_live_bytes(2) + 10 + made_live_bytes(3) - made_size(3, 1) +
	      5000000;
	CHECK_INT(sites_read(site), all);
	CHECK_INT(site[3].at_peak_blocks, MADE_BLOCKS / 2 - 1);
	CHECK_INT(site[2].at_peak_bytes, made_live_bytes(2) + 10);
	end();
}

/* Counters that are read while the program goes on may sum up to more than it ever had. */
TEST(a_sum_that_never_was)
{
	struct read_site site[MADE_SITES];
	uint64_t all = made_live_bytes(1) + made_live_bytes(2) + made_alloc_bytes(3);

	begin();
	counter_at(&made.s, 3)->alloc_bytes +=
		all; /* which others had freed when these were read */
	CHECK_INT(peak_read(), all);
	CHECK_INT(sites_read(site), all);
	CHECK_INT(site[3].at_peak_blocks, MADE_BLOCKS);
	end();
}

/* Nothing in a segment is trusted: no number is below zero, and no window is passed. */
TEST(hostile)
{
	struct read_site site[MADE_SITES];
	struct ht_at_peak *saved;

	begin();
	saved = segment_at(
		&made.s, segment_element(&made.s, HT_REGION_AT_PEAK, 3, sizeof(struct ht_at_peak)));
	saved->bytes = UINT64_MAX;
	saved->blocks = ht_at_peak_word(HT_EPOCH_LAST, UINT64_MAX);
	CHECK_INT(read_sites(reader, 0, site, MADE_SITES), MADE_SITES);
	CHECK_INT(site[3].at_peak_bytes, 0);
	CHECK_INT(site[3].at_peak_blocks, 0);
	made.s.header->peak_epoch = UINT32_MAX;
	sites_read(site);
	made.s.header->peak_epoch = 0;
	CHECK(sites_read(site) > 0);
	end();
}

static bool stop;

/* Maxima are 7 above a multiple of 1000, whenever this thread is interrupted. After each, much
 * happens below it. */
static void *work(void *arg)
{
	struct counter_freed noise = { .size = 7 }, large = { .size = 1000 };

	for (uint64_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		if (i % 20000 == 0) {
			counter_alloc(&made.s, &made.owner, 3, 7);
			counter_alloc(&made.s, &made.owner, 1 + i / 20000 % 2, 1000);
			counter_free(&made.s, &made.owner, 1, &large);
			counter_free(&made.s, &made.owner, 3, &noise);
			counter_alloc(&made.s, &made.owner, 1, 1000);
		}
		counter_free(&made.s, &made.owner, 1, &large);
		counter_alloc(&made.s, &made.owner, 3, 7);
		counter_alloc(&made.s, &made.owner, 2, 993);
		counter_free(&made.s, &made.owner, 3, &noise);
		noise.size = 993;
		counter_free(&made.s, &made.owner, 2, &noise);
		noise.size = 7;
		counter_alloc(&made.s, &made.owner, 1, 1000);
	}
	return NULL;
}

static void read_while_it_runs(void)
{
	struct read_site site[MADE_SITES];
	int stable = 0;

	while (stable < 300) {
		uint32_t before = ht_load_relaxed_32(&made.s.header->peak_epoch);
		uint64_t sum = sites_read(site);

		if (before == 0 || ht_load_relaxed_32(&made.s.header->peak_epoch) != before)
			continue;
		stable++;
		CHECK_INT(sum % 1000, 7);
		CHECK_INT(site[3].at_peak_bytes, 7);
		CHECK_INT(site[3].at_peak_blocks, 1);
	}
}

/* The composition is of one moment, although the program runs on. */
TEST(while_it_runs)
{
	pthread_t thread;

	made_open(&made, &fixture_identity);
	CHECK_INT(thread_claim(&made.s, 4711, NULL), 1);
	memset(&made.owner, 0, sizeof(made.owner));
	counter_own(&made.s, &made.owner, 1);
	made_modules(&made);
	for (uint32_t site = 1; site < MADE_SITES; site++)
		CHECK_INT(made_stack(&made, site), site);
	reader = made_read(&made);
	counter_alloc(&made.s, &made.owner, 1, 1000);
	CHECK_INT(pthread_create(&thread, NULL, work, NULL), 0);
	read_while_it_runs();
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	end();
}

int main(void)
{
	RUN(when_it_had_all);
	RUN(the_peak_is_now);
	RUN(several_slots);
	RUN(a_sum_that_never_was);
	RUN(hostile);
	RUN(while_it_runs);
	return check_end();
}
