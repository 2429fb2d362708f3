/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Growth, and how much of it is retained: call sites that do what programs do, in a real live table
 * and in seconds that the test makes. All of them have risen; their order is that of how surely
 * they grow on.
 */
#include <stdlib.h>
#include "tests/unit/live_walk_fixture.h"

#define S	   1000000000ull
#define FIRST_NS   (FIXTURE_CREATED_NS + S)
#define BLOCKS_MAX 8000u /* of one site, ever */

/* The sites' ids, as they should be ranked after two minutes. */
enum what { NOTHING, CHURN, LEAK, FASTER, MOVED, CHANCE, QUEUE, CACHE, WARM_UP, SAWTOOTH, SITES };

struct site {
	uint32_t made, first; /* blocks so far; the oldest that may be alive */
	uint64_t size[BLOCKS_MAX]; /* 0: it is freed */
	struct model_site plain;
};

static struct surveyed w;
static struct site site[SITES];
static unsigned seconds, chance;

static void begin(void)
{
	surveyed_open(&w, SITES);
	memset(site, 0, sizeof(site));
	seconds = chance = 0;
}

static void end(void)
{
	surveyed_close(&w);
}

static uint64_t address(enum what of, uint32_t block)
{
	return 0x600000000000ull + (uint64_t)of * 0x100000 + block * 64ull;
}

static void get(enum what of, uint64_t size)
{
	struct site *in = &site[of];
	uint64_t ns = FIRST_NS - FIXTURE_CREATED_NS + seconds * S - S / 2;
	struct live_block b = { size, ns >> HT_TICK_SHIFT, counter_claim(&w.made.s, of, 1) },
			  old[LIVE_MISSED_MAX];

	CHECK_INT(live_insert(&w.made.s, address(of, in->made), &b, old), 0);
	in->size[in->made++] = size;
	in->plain.live_bytes += size;
	in->plain.allocs++;
}

static void drop(enum what of, uint32_t block)
{
	struct site *in = &site[of];
	struct live_block b;

	CHECK(live_remove(&w.made.s, address(of, block), &b));
	in->plain.live_bytes -= in->size[block];
	in->size[block] = 0;
	in->plain.frees++;
}

static void drop_oldest(enum what of)
{
	while (!site[of].size[site[of].first])
		site[of].first++;
	drop(of, site[of].first);
}

static void drop_any(enum what of)
{
	uint32_t at;

	do {
		chance = chance * 1103515245u + 12345;
		at = (chance >> 8) % site[of].made;
	} while (!site[of].size[at]);
	drop(of, at);
}

static uint32_t alive(enum what of)
{
	return (uint32_t)(site[of].plain.allocs - site[of].plain.frees);
}

/* A leak among blocks that live for a second. */
static void churn(void)
{
	static unsigned had;

	for (unsigned i = 0; seconds && i < had; i++)
		drop(CHURN, site[CHURN].made - had + i);
	get(CHURN, 3000); /* is kept: before those, so that they are the last */
	for (had = 0; had < 20; had++)
		get(CHURN, 100);
}

/* What each does in a second. Some grow faster than the leak. */
static void live(void)
{
	churn();
	for (unsigned i = 0; i < 5; i++)
		get(LEAK, 200);
	for (unsigned i = 0; i < seconds / 20 + 1; i++)
		get(FASTER, 100);
	get(MOVED, 1000 + seconds * 100ull);
	if (alive(MOVED) > 1)
		drop_oldest(MOVED);
	for (unsigned i = 0; i < 50; i++)
		get(CHANCE, 200);
	while (alive(CHANCE) > 300 + 6 * seconds)
		drop_any(CHANCE);
	for (unsigned i = 0; i < 50; i++)
		get(QUEUE, 200);
	while (alive(QUEUE) > 100 + 5 * seconds)
		drop_oldest(QUEUE);
	for (unsigned i = 0; i < 50; i++)
		get(CACHE, 2000);
	while (alive(CACHE) > 2000)
		drop_oldest(CACHE);
	for (unsigned i = 0; seconds < 30 && i < 50; i++)
		get(WARM_UP, 2000);
	for (unsigned i = 0; i < 50; i++)
		get(SAWTOOTH, 2000);
	while (seconds % 25 == 0 && alive(SAWTOOTH))
		drop_oldest(SAWTOOTH);
}

static struct snapshot *look(void)
{
	struct model_site plain[SITES - 1];
	struct model_input in = {
		.now_ns = FIRST_NS + seconds * S, .sites = plain, .nsites = SITES - 1
	};
	struct snapshot *s;

	live();
	for (uint32_t id = 1; id < SITES; id++) {
		plain[id - 1] = site[id].plain;
		plain[id - 1].id = id;
		plain[id - 1].alloc_bytes = 1;
	}
	in.head.uptime_ns = in.now_ns - FIXTURE_CREATED_NS;
	s = surveyed_look(&w, &in);
	seconds++;
	return s;
}

static struct snapshot *look_until(unsigned second)
{
	struct snapshot *s = look();

	while (seconds < second) {
		snapshot_unref(s);
		s = look();
	}
	return s;
}

static const struct snap_growth *growth(const struct snapshot *s, enum what of)
{
	return &s->sites[of - 1].growth;
}

static double kept(const struct snapshot *s, enum what of)
{
	return growth(s, of)->has_kept ? growth(s, of)->kept : -1;
}

TEST(a_leak_of_half_a_minute)
{
	char text[GROWTH_EVIDENCE_MAX];
	uint32_t index[SITES];
	struct snapshot *s;

	begin();
	s = look_until(31);
	CHECK_STR(growth_word_text(growth(s, LEAK)), "likely");
	CHECK_STR(
		growth_evidence(growth(s, LEAK), text), "rose all along; blocks over 15s old stay");
	CHECK_STR(growth_word_text(growth(s, CHURN)), "likely");
	CHECK_INT(growth_word(growth(s, QUEUE)), GROWTH_MAYBE);
	CHECK_INT(growth_word(growth(s, SAWTOOTH)), GROWTH_NONE);
	/* As long as they only fill nobody can tell a cache and a start from a leak. */
	CHECK_INT(growth_word(growth(s, CACHE)), GROWTH_LIKELY);
	CHECK_INT(growth_word(growth(s, WARM_UP)), GROWTH_LIKELY);
	snapshot_unref(s);
	/* But soon, and then the leaks are ahead of all that is faster and does not last. */
	s = look_until(61);
	CHECK_INT(growth_rank(s, index, SITES), 6);
	CHECK_INT(s->sites[index[0]].id, CHURN);
	CHECK_INT(s->sites[index[1]].id, LEAK);
	snapshot_unref(s);
	end();
}

TEST(two_minutes)
{
	char text[GROWTH_EVIDENCE_MAX];
	uint32_t index[SITES];
	struct snapshot *s;

	begin();
	s = look_until(130);
	CHECK(kept(s, LEAK) >= 0.98 && kept(s, CHURN) >= 0.98 && kept(s, FASTER) >= 0.98);
	CHECK(kept(s, QUEUE) >= 0 && kept(s, QUEUE) < 0.1);
	CHECK(kept(s, CHANCE) >= 0 && kept(s, CHANCE) < 0.5);
	CHECK(kept(s, MOVED) < 0); /* one block, which is new each time: that tells nothing */
	CHECK_STR(growth_word_text(growth(s, LEAK)), "sure");
	CHECK_STR(growth_word_text(growth(s, QUEUE)), "maybe");
	CHECK(strstr(growth_evidence(growth(s, QUEUE), text), "old mostly go") != NULL);
	/* The queue and the cache grow as fast as the leak, or faster, which ranks before them. */
	CHECK(growth(s, QUEUE)->bytes_per_s > growth(s, LEAK)->bytes_per_s * 0.9);
	CHECK_INT(growth_rank(s, index, SITES), 6);
	for (unsigned i = 0; i < 6; i++)
		CHECK_INT(s->sites[index[i]].id, CHURN + i);
	snapshot_unref(s);
	end();
}

/* Nobody walks where nothing grows. */
TEST(no_walk_for_nothing)
{
	struct snapshot *s;

	begin();
	s = look_until(5);
	CHECK(!w.live_walk.retention.known);
	CHECK_INT(w.live_walk.retention.room, 0);
	snapshot_unref(s);
	end();
}

int main(void)
{
	RUN_BOTH(a_leak_of_half_a_minute);
	RUN_BOTH(two_minutes);
	RUN_BOTH(no_walk_for_nothing);
	return check_end();
}
