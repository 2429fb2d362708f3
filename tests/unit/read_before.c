/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What there was before the recording: its sites, its frees, what a viewer publishes, and what
 * readers make of all that, also of nonsense. */
#include "src/read/read.h"
#include "tests/unit/segment_fixture.h"

#include "shm/before.h"

static struct made made;
static struct read_segment *reader;

static void begin(void)
{
	made_open(&made, &fixture_identity);
	CHECK_INT(thread_claim(&made.s, 4711, NULL), 1);
	memset(&made.owner, 0, sizeof(made.owner));
	counter_own(&made.s, &made.owner, 1);
	CHECK(!before_is_on(&made.s));
	CHECK_INT(before_prepare(&made.s), 0);
	CHECK(before_is_on(&made.s));
	reader = made_read(&made);
}

static void end(void)
{
	read_close(reader);
	made_close(&made);
}

static struct read_totals totals(void)
{
	struct read_totals t;

	CHECK_INT(read_totals(reader, &t), 0);
	return t;
}

static struct read_site site_of(uint32_t class)
{
	static struct read_site sites[64];
	uint32_t first = made.s.header->before_site;

	CHECK_INT(read_sites(reader, 0, sites, 64), (long)first + HT_BEFORE_CLASSES);
	return sites[first + class];
}

/* A free by the thread with its own counters, or by the shared slot. */
static void free_of(uint64_t usable, bool listed)
{
	uint32_t site = before_free(&made.s, &made.owner, usable, listed);

	CHECK_INT(site, before_site(&made.s, usable, listed));
}

static void publish(uint32_t class, uint64_t blocks, uint64_t bytes)
{
	struct ht_before b = { .ns = 77 };

	b.of[class] = (struct ht_before_class){ blocks, bytes };
	CHECK_INT(read_before_publish(reader, &b), 0);
}

TEST(sites)
{
	struct read_site site;
	struct read_frame frame[4];
	uint32_t function;

	begin();
	CHECK_INT(before_site(&made.s, 24, true), made.s.header->before_site + 2);
	CHECK_INT(before_site(&made.s, 1ull << 40, true),
		made.s.header->before_site + HT_SIZE_BUCKETS - 1);
	CHECK_INT(before_site(&made.s, 24, false), made.s.header->before_site + BEFORE_OTHER);
	for (uint32_t i = 0; i < HT_BEFORE_CLASSES; i++) {
		site = site_of(i);
		CHECK(site.is_before);
		CHECK_INT(read_stack(reader, site.node, frame, 4, &function), 0);
		CHECK(ht_function_is_before(function));
		CHECK_INT(function, HT_FN_BEFORE + i);
	}
	CHECK_STR(ht_function_name(HT_FN_BEFORE + 3), "before attach, <=64 B");
	CHECK_STR(ht_function_name(HT_FN_BEFORE + 7), "before attach, <=1 KB");
	CHECK_STR(ht_function_name(HT_FN_BEFORE_LAST), "before attach, other allocators");
	CHECK(!ht_function_is_before(HT_FN_DELETE_ARRAY_ALIGNED));
	end();
}

/* Nothing is below zero before a viewer has said what there was. */
TEST(unknown_yet)
{
	struct read_totals t;

	begin();
	free_of(40, true);
	free_of(56, true);
	t = totals();
	CHECK(!t.before.is_known);
	CHECK_INT(t.before.blocks, 2);
	CHECK_INT(t.before.bytes, 96);
	CHECK_INT(t.allocs, 2);
	CHECK_INT(t.frees, 2);
	CHECK_INT(t.live_bytes, 0);
	CHECK_INT(t.events, 2);
	CHECK_INT(site_of(3).allocs, 2);
	CHECK_INT(site_of(3).live_bytes, 0);
	end();
}

TEST(published)
{
	struct ht_before again = { .ns = 78 };
	struct ht_hist hist;
	struct read_totals t;
	struct read_site site;

	begin();
	free_of(40, true);
	publish(3, 11, 601);
	free_of(50, true);
	t = totals();
	CHECK(t.before.is_known);
	CHECK_INT(t.before.ns, 77);
	CHECK_INT(t.allocs, 11);
	CHECK_INT(t.frees, 2);
	CHECK_INT(t.live_bytes, 601 - 90);
	CHECK_INT(t.peak_bytes, 601);
	CHECK_INT(t.size_allocs[3], 11);
	CHECK_INT(t.size_alloc_bytes[3] - t.size_free_bytes[3], 601 - 90);
	site = site_of(3);
	CHECK_INT(site.allocs, 11);
	CHECK_INT(site.frees, 2);
	CHECK_INT(site.live_bytes, 601 - 90);
	CHECK_INT(site.peak_bytes, 601);
	CHECK_INT(read_hist(reader, made.s.header->before_site + 3, &hist), 0);
	CHECK_INT(hist.size_allocs[3], 11);
	CHECK_INT(hist.size_frees[3], 2);
	CHECK_INT(before_live(&made.s, 1), 601 - 90);
	CHECK_INT(read_before_publish(reader, &again), -EEXIST);
	CHECK_INT(totals().before.ns, 77);
	end();
}

/* The peak is what there was, and what came on top. */
TEST(peak)
{
	struct read_totals t;
	uint32_t site;

	begin();
	made_modules(&made);
	site = made_stack(&made, 1);
	publish(5, 10, 2000);
	for (int i = 0; i < 5; i++)
		free_of(200, true);
	counter_alloc(&made.s, &made.owner, site, 1500);
	t = totals();
	CHECK_INT(t.live_bytes, 2500);
	CHECK_INT(t.peak_bytes, 2500);
	counter_free(&made.s, &made.owner, site, &(struct counter_freed){ .size = 1500 });
	counter_alloc(&made.s, &made.owner, site, 700);
	t = totals();
	CHECK_INT(t.live_bytes, 1700);
	CHECK_INT(t.peak_bytes, 2500);
	end();
}

TEST(other_allocators)
{
	struct read_totals t;

	begin();
	publish(BEFORE_OTHER, 4, 4000);
	free_of(900, false);
	t = totals();
	CHECK_INT(t.live_bytes, 3100);
	CHECK_INT(t.size_allocs[7], 1); /* as it was freed */
	CHECK_INT(t.size_allocs[8], 3); /* of 1033 bytes each, on average */
	CHECK_INT(t.size_alloc_bytes[7] + t.size_alloc_bytes[8], 4000);
	CHECK_INT(site_of(BEFORE_OTHER).live_bytes, 3100);
	end();
}

TEST(broken)
{
	struct ht_before b = { .ns = 1 };
	struct read_before got;

	begin();
	b.of[1].blocks = UINT64_MAX;
	b.of[2].bytes = UINT64_MAX;
	CHECK_INT(read_before_publish(reader, &b), 0);
	CHECK_INT(read_before(reader, &got), 0);
	CHECK_INT(got.blocks, 0);
	CHECK_INT(got.bytes, 0);
	made.s.header->before_site = UINT32_MAX - 3;
	CHECK_INT(read_before(reader, &got), -EINVAL);
	CHECK_INT(got.site, 0);
	made.s.header->before_site = 0;
	CHECK_INT(read_before(reader, &got), 0);
	CHECK_INT(got.blocks, 0);
	end();
}

int main(void)
{
	RUN(sites);
	RUN(unknown_yet);
	RUN(published);
	RUN(peak);
	RUN(other_allocators);
	RUN(broken);
	return check_end();
}
