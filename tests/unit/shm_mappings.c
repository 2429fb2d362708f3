/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of shm/mappings: random operations against an array that has one element per page, the
 * counts, losses (no room, no lock), and threads.
 */
#include <pthread.h>

#include "shm/mappings.h"
#include "shm/mappings_tree.h"
#include "shm/stack.h"
#include "tests/unit/shm_fixture.h"

#define PAGE  4096ull
#define BASE  0x7f0000000000ull
#define PAGES 96u
#define SITES 5u

/* What should be there: of each page, the number of its block, or 0; and what is to be counted. */
struct oracle {
	uint64_t block[PAGES];
	uint32_t site[PAGES];
	uint64_t maps[SITES + 1], map_bytes[SITES + 1], unmap_bytes[SITES + 1], peak[SITES + 1];
	uint64_t blocks, peak_all;
};

static uint32_t sites[SITES + 1];

static void sites_make(const struct segment *s)
{
	for (uint32_t i = 1; i <= SITES; i++) {
		uint64_t pc = 0x1000 * i;
		uint32_t module = 0;
		struct stack_trace t = { HT_FN_MMAP, 1, false, &pc, &module, NULL, 0 };

		sites[i] = stack_intern(s, &t);
		CHECK(sites[i] != 0);
	}
}

static uint64_t at_page(uint64_t page)
{
	return BASE + page * PAGE;
}

/* Whether it could be entered. */
static bool enter(const struct segment *s, uint64_t start, uint64_t end, uint32_t site)
{
	struct mappings_block b = { start, end, 7, site, HT_MAPPING_MMAP, 0 };
	uint64_t untracked = s->header->untracked_maps;

	mappings_enter(s, &b);
	return s->header->untracked_maps == untracked;
}

static void unmap(const struct segment *s, uint64_t start, uint64_t end)
{
	struct mappings_taken t = mappings_take(s, start, end);

	mappings_gone(s, &t);
}

static uint64_t entries(const struct segment *s)
{
	return s->header->mappings - 1;
}

/* ---- the oracle ---- */

static void oracle_unmap(struct oracle *o, uint64_t first, uint64_t last)
{
	for (uint64_t p = first; p < last; p++) {
		if (o->block[p] != 0)
			o->unmap_bytes[o->site[p]] += PAGE;
		o->block[p] = 0;
	}
}

static void oracle_map(struct oracle *o, uint64_t first, uint64_t last, uint32_t site)
{
	uint64_t all = 0;

	oracle_unmap(o, first, last);
	o->blocks++;
	for (uint64_t p = first; p < last; p++) {
		o->block[p] = o->blocks;
		o->site[p] = site;
	}
	o->maps[site]++;
	o->map_bytes[site] += (last - first) * PAGE;
	if (o->map_bytes[site] - o->unmap_bytes[site] > o->peak[site])
		o->peak[site] = o->map_bytes[site] - o->unmap_bytes[site];
	for (uint32_t i = 1; i <= SITES; i++)
		all += o->map_bytes[i] - o->unmap_bytes[i];
	if (all > o->peak_all)
		o->peak_all = all;
}

static uint64_t oracle_blocks(const struct oracle *o, uint32_t site)
{
	uint64_t count = 0;

	for (uint64_t p = 0; p < PAGES; p++) {
		bool seen = o->block[p] == 0 || o->site[p] != site;

		for (uint64_t q = 0; q < p && !seen; q++)
			seen = o->block[q] == o->block[p];
		count += !seen;
	}
	return count;
}

/* Everything that is in entries, by page. */
static bool pages_are(const struct segment *s, const struct oracle *o)
{
	uint64_t found = 0, block[PAGES] = { 0 };
	bool same = true;

	for (uint32_t i = 1; i <= entries(s); i++) {
		const struct ht_mapping *e = mappings_tree_at(s, i);

		same = same && e->mark == ht_mapping_mark(e) && !(e->kind & HT_MAPPING_LEAVING);
		if (e->kind == HT_MAPPING_NONE)
			continue;
		for (uint64_t at = e->start; at < e->end; at += PAGE) {
			uint64_t p = (at - BASE) / PAGE;

			same = same && block[p] == 0 && o->site[p] != 0 &&
			       e->site == sites[o->site[p]];
			block[p] = e->block;
			found += e->tick == 7;
		}
	}
	for (uint64_t p = 0; p < PAGES; p++) {
		same = same && block[p] == o->block[p];
		found -= o->block[p] != 0;
	}
	return same && found == 0;
}

static bool counts_are(const struct segment *s, const struct oracle *o)
{
	uint64_t bytes = 0, maps = 0, unmaps = 0;
	bool same = true;

	for (uint32_t i = 1; i < s->header->mapped; i++) {
		const struct ht_mapped *m = segment_at(
			s, segment_element(s, HT_REGION_MAPPED, i, sizeof(struct ht_mapped)));
		uint32_t site = 1;

		while (site < SITES && sites[site] != m->site)
			site++;
		same = same && m->maps == o->maps[site] && m->map_bytes == o->map_bytes[site] &&
		       m->unmap_bytes == o->unmap_bytes[site] && m->peak_bytes == o->peak[site] &&
		       m->maps - m->unmaps == oracle_blocks(o, site);
		bytes += m->map_bytes - m->unmap_bytes;
		maps += m->maps;
		unmaps += m->unmaps;
	}
	return same && s->header->map_bytes - s->header->unmap_bytes == bytes &&
	       s->header->maps == maps && s->header->unmaps == unmaps &&
	       s->header->mapped_peak_bytes == o->peak_all;
}

static bool tree_is(const struct segment *s, const struct oracle *o)
{
	for (uint64_t p = 0; p < PAGES; p++) {
		uint32_t at = mappings_tree_floor(s, at_page(p));
		bool in = at != 0 && mappings_tree_at(s, at)->end > at_page(p);

		if (in != (o->block[p] != 0))
			return false;
	}
	return true;
}

static void step(const struct segment *s, struct oracle *o, uint64_t *seed)
{
	uint64_t first = fixture_random(seed) % PAGES;
	uint64_t last = first + 1 + fixture_random(seed) % (PAGES - first);
	uint32_t site = 1 + (uint32_t)(fixture_random(seed) % SITES);
	struct mappings_taken t;

	switch (fixture_random(seed) % 8) {
	case 0:
	case 1:
	case 2:
		if (last > first + 12)
			last = first + 12;
		CHECK(enter(s, at_page(first), at_page(last), sites[site]));
		oracle_map(o, first, last, site);
		break;
	case 3:
	case 4:
		t = mappings_take(s, at_page(first), at_page(last));
		mappings_put_back(s, &t); /* a call that fails changes nothing */
		break;
	default:
		if (last > first + 6)
			last = first + 6;
		unmap(s, at_page(first), at_page(last));
		oracle_unmap(o, first, last);
		break;
	}
}

TEST(as_an_array_of_pages)
{
	uint64_t seed = 88172645463325252ull;

	for (unsigned round = 0; round < 20 && check_failed_here == 0; round++) {
		struct oracle o = { .blocks = 0 };
		struct fixture f;

		fixture_open(&f, SEGMENT_SMALL);
		sites_make(&f.s);
		for (unsigned i = 0; i < 600 && check_failed_here == 0; i++) {
			step(&f.s, &o, &seed);
			CHECK(pages_are(&f.s, &o));
			CHECK(counts_are(&f.s, &o));
			CHECK(tree_is(&f.s, &o));
		}
		CHECK(entries(&f.s) <= 2 * PAGES); /* free entries are used again */
		CHECK_INT(f.s.header->untracked_maps, 0);
		CHECK_INT(f.s.header->mapping_changes % 2, 0);
		CHECK_INT(f.s.header->mapping_lock, 0);
		fixture_close(&f);
	}
}

/* ---- single cases ---- */

/* Bytes that are taken out, until their call ends. */
static uint64_t leaving(const struct segment *s)
{
	uint64_t bytes = 0;

	for (uint32_t i = 1; i <= entries(s); i++)
		if (mappings_tree_at(s, i)->kind & HT_MAPPING_LEAVING)
			bytes += mappings_tree_at(s, i)->end - mappings_tree_at(s, i)->start;
	return bytes;
}

TEST(a_failed_call_leaves_one_entry)
{
	struct fixture f;
	struct mappings_taken t;
	const struct ht_mapping *e;

	fixture_open(&f, SEGMENT_SMALL);
	sites_make(&f.s);
	CHECK(enter(&f.s, at_page(0), at_page(9), sites[1]));
	t = mappings_take(&f.s, at_page(3), at_page(6));
	CHECK_INT(leaving(&f.s), 3 * PAGE);
	CHECK_INT(f.s.header->unmap_bytes, 0);
	mappings_put_back(&f.s, &t);
	e = mappings_tree_at(&f.s, mappings_tree_floor(&f.s, at_page(4)));
	CHECK_INT(e->start, at_page(0));
	CHECK_INT(e->end, at_page(9));
	CHECK_INT(f.s.header->unmap_bytes, 0);
	fixture_close(&f);
}

/* Another thread got the address in between, as MAP_FIXED may. */
TEST(put_back_too_late)
{
	struct fixture f;
	struct mappings_taken t;

	fixture_open(&f, SEGMENT_SMALL);
	sites_make(&f.s);
	CHECK(enter(&f.s, at_page(0), at_page(4), sites[1]));
	t = mappings_take(&f.s, at_page(0), at_page(4));
	CHECK(enter(&f.s, at_page(2), at_page(6), sites[2]));
	CHECK_INT(f.s.header->missed_unmap_bytes, 0);
	mappings_put_back(&f.s, &t);
	CHECK_INT(f.s.header->map_bytes - f.s.header->unmap_bytes, 4 * PAGE);
	CHECK_INT(f.s.header->maps - f.s.header->unmaps, 1);
	fixture_close(&f);
}

TEST(unknown_and_missed)
{
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	sites_make(&f.s);
	unmap(&f.s, at_page(0), at_page(3));
	CHECK_INT(f.s.header->unknown_unmap_bytes, 3 * PAGE);
	CHECK(enter(&f.s, at_page(0), at_page(4), sites[1]));
	unmap(&f.s, at_page(2), at_page(6));
	CHECK_INT(f.s.header->unknown_unmap_bytes, 5 * PAGE);
	CHECK(enter(&f.s, at_page(1), at_page(2), sites[2]));
	CHECK_INT(f.s.header->missed_unmap_bytes, PAGE);
	CHECK_INT(f.s.header->map_bytes - f.s.header->unmap_bytes, 2 * PAGE);
	fixture_close(&f);
}

TEST(a_block_by_its_start)
{
	struct fixture f;
	struct mappings_block b = { at_page(10), at_page(20), 7, 0, HT_MAPPING_SHM, 0 };
	struct mappings_taken t;

	fixture_open(&f, SEGMENT_SMALL);
	sites_make(&f.s);
	b.site = sites[1];
	mappings_enter(&f.s, &b);
	CHECK(enter(&f.s, at_page(20), at_page(22), sites[2]));
	unmap(&f.s, at_page(12), at_page(14));
	unmap(&f.s, at_page(16), at_page(17));
	t = mappings_take_attached(&f.s, at_page(20));
	CHECK_INT(leaving(&f.s), 0); /* of another kind */
	t = mappings_take_attached(&f.s, at_page(11));
	CHECK_INT(leaving(&f.s), 0); /* not its start */
	t = mappings_take_attached(&f.s, at_page(10));
	CHECK_INT(leaving(&f.s), 7 * PAGE);
	mappings_put_back(&f.s, &t);
	CHECK_INT(f.s.header->map_bytes - f.s.header->unmap_bytes, 9 * PAGE);
	t = mappings_take_attached(&f.s, at_page(10));
	mappings_gone(&f.s, &t);
	CHECK_INT(f.s.header->map_bytes - f.s.header->unmap_bytes, 2 * PAGE);
	CHECK_INT(f.s.header->unmaps, 1);
	fixture_close(&f);
}

TEST(the_allocators_own)
{
	struct fixture f;
	struct mappings_block b = { at_page(0), at_page(8), 7, 0, HT_MAPPING_ALLOCATOR, 0 };

	fixture_open(&f, SEGMENT_SMALL);
	mappings_enter(&f.s, &b);
	CHECK_INT(f.s.header->allocator_mapped_bytes, 8 * PAGE);
	CHECK_INT(f.s.header->maps, 0);
	unmap(&f.s, at_page(1), at_page(3));
	CHECK_INT(f.s.header->allocator_mapped_bytes, 6 * PAGE);
	CHECK_INT(f.s.header->unmap_bytes, 0);
	fixture_close(&f);
}

/* ---- losses ---- */

TEST(no_room)
{
	struct fixture f;
	uint64_t n, room;

	fixture_open(&f, SEGMENT_SMALL);
	sites_make(&f.s);
	room = segment_capacity(&f.s, HT_REGION_MAPPINGS, sizeof(struct ht_mapping)) - 1;
	for (n = 0; n < room; n++)
		CHECK(enter(&f.s, at_page(4 * n), at_page(4 * n + 3), sites[1]));
	CHECK(!enter(&f.s, at_page(4 * n), at_page(4 * n + 3), sites[1]));
	CHECK_INT(f.s.header->untracked_maps, 1);
	CHECK_INT(f.s.header->untracked_map_bytes, 3 * PAGE);
	/* No room for the other piece: it is lost, and counted. */
	unmap(&f.s, at_page(1), at_page(2));
	CHECK_INT(f.s.header->untracked_map_bytes, 5 * PAGE);
	CHECK_INT(f.s.header->map_bytes - f.s.header->unmap_bytes, (3 * room - 2) * PAGE);
	unmap(&f.s, at_page(4), at_page(7));
	CHECK(enter(&f.s, at_page(4 * n), at_page(4 * n + 3), sites[1]));
	fixture_close(&f);
}

/* While the lock is held (by another thread, or by what a signal handler interrupted) calls are
 * queued; the next holder applies them in order. */
TEST(queued)
{
	uint64_t seed = 1234567;

	for (unsigned round = 0; round < 200 && check_failed_here == 0; round++) {
		struct oracle o = { .blocks = 0 };
		struct fixture f;

		fixture_open(&f, SEGMENT_SMALL);
		sites_make(&f.s);
		for (unsigned i = 0; i < 60; i++)
			step(&f.s, &o, &seed);
		f.s.header->mapping_lock = 1;
		for (unsigned i = 0; i < 30; i++)
			step(&f.s, &o, &seed);
		CHECK(f.s.header->mapping_queue != 0);
		f.s.header->mapping_lock = 0;
		step(&f.s, &o, &seed);
		CHECK(pages_are(&f.s, &o));
		CHECK(counts_are(&f.s, &o));
		CHECK(tree_is(&f.s, &o));
		CHECK_INT(f.s.header->mapping_queue, 0);
		fixture_close(&f);
	}
}

/* Calls are queued again and again: in the entries that earlier ones were in. */
TEST(queued_often)
{
	struct fixture f;
	uint32_t used = 0;

	fixture_open(&f, SEGMENT_SMALL);
	sites_make(&f.s);
	for (unsigned round = 0; round < 1000; round++) {
		f.s.header->mapping_lock = 1;
		for (unsigned i = 0; i < 5; i++)
			CHECK(enter(&f.s, at_page(i), at_page(i + 1), sites[1]));
		unmap(&f.s, at_page(0), at_page(3));
		f.s.header->mapping_lock = 0;
		unmap(&f.s, at_page(3), at_page(5));
		CHECK_INT(f.s.header->mapping_queue, 0);
		used = used ? used : f.s.header->mappings;
	}
	CHECK_INT(f.s.header->mappings, used);
	CHECK_INT(f.s.header->maps, 5000);
	CHECK_INT(f.s.header->unmaps, 5000);
	CHECK_INT(f.s.header->untracked_maps, 0);
	fixture_close(&f);
}

/* A range was taken, and the lock is not available when its call ends; and the other way round. */
TEST(half_queued)
{
	struct fixture f;
	struct mappings_taken t;

	fixture_open(&f, SEGMENT_SMALL);
	sites_make(&f.s);
	CHECK(enter(&f.s, at_page(0), at_page(8), sites[1]));
	for (unsigned i = 0; i < 4; i++) {
		f.s.header->mapping_lock = i & 1;
		t = mappings_take(&f.s, at_page(i), at_page(i + 1));
		CHECK_INT(t.queued != 0, i & 1);
		f.s.header->mapping_lock = !(i & 1);
		if (i & 2)
			mappings_gone(&f.s, &t);
		else
			mappings_put_back(&f.s, &t);
	}
	f.s.header->mapping_lock = 0;
	CHECK(enter(&f.s, at_page(20), at_page(21), sites[2]));
	CHECK_INT(f.s.header->unmap_bytes, 2 * PAGE);
	CHECK_INT(f.s.header->map_bytes - f.s.header->unmap_bytes, 7 * PAGE);
	CHECK_INT(f.s.header->unknown_unmap_bytes, 0);
	fixture_close(&f);
}

/* A holder that never returns costs half of the entries, and no more. */
TEST(never_freed)
{
	struct fixture f;
	uint64_t room, n = 0;

	fixture_open(&f, SEGMENT_SMALL);
	sites_make(&f.s);
	room = segment_capacity(&f.s, HT_REGION_MAPPINGS, sizeof(struct ht_mapping)) / 2 - 1;
	f.s.header->mapping_lock = 1;
	while (enter(&f.s, at_page(2 * n), at_page(2 * n + 1), sites[1]))
		n++;
	CHECK_INT(n, room);
	CHECK_INT(f.s.header->untracked_maps, 1);
	unmap(&f.s, at_page(0), at_page(2));
	CHECK_INT(f.s.header->untracked_unmap_bytes, 2 * PAGE);
	fixture_close(&f);
}

/* ---- threads ---- */

#define THREADS	     4u
#define THREAD_STEPS 4000u

struct worker {
	const struct segment *s;
	uint64_t number, pages;
};

/* Each in pages of its own, between those of the others. */
static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t seed = 7 + w->number;
	bool used[16] = { false };

	for (unsigned i = 0; i < THREAD_STEPS; i++) {
		unsigned slot = (unsigned)(fixture_random(&seed) % 16);
		uint64_t start = BASE + (slot * THREADS + w->number) * 8 * PAGE;
		struct mappings_block b = { start, start + 8 * PAGE, 7, sites[1 + w->number],
			HT_MAPPING_MMAP, 0 };
		struct mappings_taken t;

		if (used[slot]) {
			t = mappings_take(w->s, start, start + 8 * PAGE);
			mappings_gone(w->s, &t);
		} else {
			mappings_enter(w->s, &b);
		}
		used[slot] = !used[slot];
	}
	for (unsigned slot = 0; slot < 16; slot++)
		w->pages += used[slot] ? 8 : 0;
	return NULL;
}

TEST(threads)
{
	struct worker w[THREADS];
	pthread_t thread[THREADS];
	struct ht_header *h;
	struct fixture f;
	uint64_t pages = 0;

	fixture_open(&f, SEGMENT_FULL);
	sites_make(&f.s);
	h = f.s.header;
	for (unsigned i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ &f.s, i, 0 };
		CHECK_INT(pthread_create(&thread[i], NULL, work, &w[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		pages += w[i].pages;
	}
	CHECK_INT(h->mapping_queue, 0);
	CHECK_INT(h->mapping_lock, 0);
	CHECK_INT(h->map_bytes - h->unmap_bytes, pages * PAGE);
	CHECK_INT(h->maps - h->unmaps, pages / 8);
	CHECK_INT(h->untracked_maps + h->untracked_unmap_bytes + h->missed_unmap_bytes +
			  h->unknown_unmap_bytes,
		0);
	fixture_close(&f);
}

int main(void)
{
	RUN(as_an_array_of_pages);
	RUN(a_failed_call_leaves_one_entry);
	RUN(put_back_too_late);
	RUN(unknown_and_missed);
	RUN(a_block_by_its_start);
	RUN(the_allocators_own);
	RUN(no_room);
	RUN(queued);
	RUN(queued_often);
	RUN(half_queued);
	RUN(never_freed);
	RUN(threads);
	return check_end();
}
