/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The growth detector on invented pasts whose truth is known. Each is one of what programs do; a
 * slope alone gets most of them wrong, which is tried here, too.
 */
#include "src/model/growth.h"

#include "tests/check.h"

#define S     1000000000ull
#define STEPS 600u

struct past {
	struct growth_clock clock;
	struct growth_site site;
	unsigned seconds;
	uint64_t live[STEPS + 1];
	struct snap_growth verdict;
};

/* One second later it has so much. */
static void past_add(struct past *p, uint64_t live)
{
	uint64_t now = (1000 + p->seconds) * S;

	if (growth_clock_tick(&p->clock, now))
		growth_site_span(&p->site, &p->clock);
	growth_site_add(&p->site, live, p->seconds == 0);
	p->verdict = growth_judge(&p->site, &p->clock, 0);
	p->live[p->seconds++] = live;
}

/* What everybody would write first: more than ten seconds ago. */
static bool naive_grows(const struct past *p)
{
	unsigned back = p->seconds > 10 ? 10 : p->seconds - 1;

	return p->live[p->seconds - 1] > p->live[p->seconds - 1 - back];
}

struct counted {
	unsigned grows, naive, of, first;
	struct snap_growth last;
};

/* Runs a history, and counts in how many of the seconds from..STEPS it is said to grow. */
static struct counted history(uint64_t (*live)(unsigned second), unsigned from)
{
	struct past p = { .seconds = 0 };
	struct counted c = { .first = STEPS };

	for (unsigned i = 0; i < STEPS; i++) {
		past_add(&p, live(i));
		if (p.verdict.sure > 0 && c.first == STEPS)
			c.first = i;
		if (i < from)
			continue;
		c.of++;
		c.grows += p.verdict.sure > 0;
		c.naive += naive_grows(&p);
	}
	c.last = p.verdict;
	return c;
}

/* Of no luck: the same numbers on each run. */
static unsigned noise(unsigned i)
{
	uint32_t x = i * 2654435761u + 12345;

	x ^= x >> 16;
	x *= 0x45d9f3b;
	return x >> 8;
}

static uint64_t linear(unsigned i)
{
	return 1000000 + 2000ull * i;
}

static uint64_t staircase(unsigned i)
{
	return 500000 + i / 25 * 40000ull;
}

static uint64_t cache(unsigned i)
{
	return i < 90 ? i * 100000ull : 9000000;
}

/* It is full, and what it evicts and takes in is not always of the same size. */
static uint64_t busy_cache(unsigned i)
{
	return i < 90 ? i * 100000ull : 8900000 + noise(i) % 200000;
}

static uint64_t sawtooth(unsigned i)
{
	return i % 40 * 50000ull;
}

static uint64_t slow_sawtooth(unsigned i)
{
	return i % 170 * 50000ull;
}

static uint64_t warm_up(unsigned i)
{
	return i < 20 ? 10000000ull * i * (40 - i) / 400 : 10000000;
}

static uint64_t one_time(unsigned i)
{
	return i < 3 ? 0 : 64 << 20;
}

static uint64_t constant_with_noise(unsigned i)
{
	return 5000000 + noise(i) % 1000000;
}

static uint64_t shrinking(unsigned i)
{
	return 50000000 - i * 40000ull;
}

static uint64_t leaky_sawtooth(unsigned i)
{
	return sawtooth(i) + 30000ull * i;
}

/* Large at first, and then a small leak. */
static uint64_t warm_up_then_leak(unsigned i)
{
	return warm_up(i) + (i > 20 ? (i - 20) * 500ull : 0);
}

static uint64_t startup_then_leak(unsigned i)
{
	return (i < 5 ? 80000000 : 1000000) + i * 500ull;
}

TEST(a_leak_grows)
{
	struct counted c = history(linear, 0);

	/* Not at once, but long before anyone is out of memory; and always from then on. */
	CHECK(c.first >= 6 && c.first <= 12);
	CHECK_INT(c.grows, STEPS - c.first);
	CHECK(c.last.bytes_per_s > 1900 && c.last.bytes_per_s < 2100);
	CHECK_INT(c.last.parts, GROWTH_PARTS);
	CHECK(c.last.sure > 0.85 && c.last.sure < 1);
}

TEST(a_staircase_grows)
{
	struct counted c = history(staircase, 150);

	CHECK_INT(c.grows, c.of);
	CHECK(c.last.bytes_per_s > 1200 && c.last.bytes_per_s < 2000);
}

TEST(a_leak_under_a_sawtooth_grows)
{
	struct counted c = history(leaky_sawtooth, 450);

	CHECK_INT(c.grows, c.of);
	CHECK(c.last.bytes_per_s > 20000 && c.last.bytes_per_s < 40000);
}

TEST(a_small_leak_after_a_large_start_grows)
{
	struct counted c = history(warm_up_then_leak, 60);

	CHECK_INT(c.grows, c.of);
	CHECK(c.last.bytes_per_s > 450 && c.last.bytes_per_s < 550);
	c = history(startup_then_leak, 120);
	CHECK_INT(c.grows, c.of);
}

TEST(a_cache_that_is_full_does_not_grow)
{
	CHECK(history(cache, 60).first < 60); /* as long as it fills nobody can tell */
	CHECK_INT(history(cache, 150).grows, 0);
	CHECK_INT(history(busy_cache, 150).grows, 0);
	CHECK(history(busy_cache, 150).naive > 150);
}

TEST(what_warms_up_does_not_grow)
{
	CHECK_INT(history(warm_up, 32).grows, 0);
}

TEST(one_allocation_is_no_growth)
{
	struct counted c = history(one_time, 0);

	CHECK_INT(c.grows, 0);
	CHECK_INT(c.naive, 10);
}

TEST(a_sawtooth_is_no_growth)
{
	struct counted c = history(sawtooth, 40);

	CHECK_INT(c.grows, 0);
	CHECK(c.naive > 400);
	c = history(slow_sawtooth, 170);
	CHECK_INT(c.grows, 0);
	CHECK(c.naive > 350);
}

TEST(noise_is_no_growth)
{
	struct counted c = history(constant_with_noise, 0);

	CHECK_INT(c.grows, 0);
	CHECK(c.naive > 200);
}

TEST(what_shrinks_does_not_grow)
{
	CHECK_INT(history(shrinking, 0).grows, 0);
}

/* The longer it goes on, the surer; and what falls now and then is less sure than what does not. */
TEST(surety)
{
	struct past p = { .seconds = 0 };
	double last = 0;

	for (unsigned i = 0; i < 300; i++) {
		past_add(&p, linear(i));
		if (i == 15)
			CHECK_INT(growth_word(&p.verdict), GROWTH_MAYBE);
		if (i == 29)
			CHECK_INT(growth_word(&p.verdict), GROWTH_LIKELY);
		if (i == 15 || i == 29 || i == 299) {
			CHECK(p.verdict.sure > last);
			last = p.verdict.sure;
		}
	}
	CHECK_INT(growth_word(&p.verdict), GROWTH_SURE);
	CHECK(last < 1);
	CHECK(history(leaky_sawtooth, 0).last.sure < history(linear, 0).last.sure);
}

/* What lies inside the error of an estimate has not grown. */
TEST(estimates)
{
	struct past p = { .seconds = 0 };

	for (unsigned i = 0; i < 100; i++)
		past_add(&p, linear(i));
	CHECK(p.verdict.sure > 0);
	CHECK(growth_judge(&p.site, &p.clock, 300000).sure <= 0);
}

/* A site that comes late had nothing before: its first block is a step, not what was always there.
 */
TEST(late_sites)
{
	struct past p = { .seconds = 0 };

	for (unsigned i = 0; i < 100; i++) {
		if (growth_clock_tick(&p.clock, (1000 + i) * S))
			growth_site_span(&p.site, &p.clock);
		if (i >= 90)
			growth_site_add(&p.site, 4096, false);
		p.verdict = growth_judge(&p.site, &p.clock, 0);
		CHECK(p.verdict.sure <= 0);
	}
}

/* Looks that are far apart, or many in a second, make the spans no others. */
TEST(any_delay)
{
	struct past p = { .seconds = 0 };
	uint64_t now = 0, live = 0;

	for (unsigned i = 0; i < 300; i++, now += 100000000, live += 1000) {
		if (growth_clock_tick(&p.clock, now))
			growth_site_span(&p.site, &p.clock);
		growth_site_add(&p.site, live, i == 0);
	}
	p.verdict = growth_judge(&p.site, &p.clock, 0);
	CHECK(p.verdict.bytes_per_s > 9000 && p.verdict.bytes_per_s < 11000);
	for (unsigned i = 0; i < 40; i++, now += 60 * S, live += 600000) {
		if (growth_clock_tick(&p.clock, now))
			growth_site_span(&p.site, &p.clock);
		growth_site_add(&p.site, live, false);
	}
	p.verdict = growth_judge(&p.site, &p.clock, 0);
	CHECK(p.verdict.bytes_per_s > 8000 && p.verdict.bytes_per_s < 12000);
	CHECK(p.verdict.sure > 0.8);
}

/* A word promises less than a number, and says what it is for. */
TEST(words)
{
	struct past p = { .seconds = 0 };
	enum growth_word last = GROWTH_NONE;
	unsigned since[GROWTH_SURE + 1] = { 0 };
	char text[GROWTH_EVIDENCE_MAX];
	struct snap_growth g;

	for (unsigned i = 0; i < 300; i++) {
		past_add(&p, linear(i));
		CHECK(growth_word(&p.verdict) >= last);
		if (growth_word(&p.verdict) > last)
			since[growth_word(&p.verdict)] = i;
		last = growth_word(&p.verdict);
	}
	CHECK(since[GROWTH_MAYBE] >= 6 && since[GROWTH_MAYBE] <= 12);
	CHECK(since[GROWTH_LIKELY] >= 18 && since[GROWTH_LIKELY] <= 25);
	CHECK(since[GROWTH_SURE] >= 100 && since[GROWTH_SURE] <= 150);
	CHECK_STR(growth_evidence(&p.verdict, text), "rose all along");
	CHECK_STR(growth_word_text(&p.verdict), "sure");
	g = history(leaky_sawtooth, 0).last;
	CHECK(strstr(growth_evidence(&g, text), ", once fell by 1.8M") != NULL);
	/* Only the second half of the time is judged. */
	CHECK(p.verdict.old.oldest_ns > p.verdict.old.youngest_ns);
	CHECK_INT(p.verdict.old.youngest_ns, p.verdict.middle.oldest_ns);
	CHECK_INT(p.verdict.old.bytes / 5000,
		(p.verdict.old.oldest_ns - p.verdict.old.youngest_ns) / S * 2000 / 5000);
	growth_kept(&p.verdict, 0);
	CHECK_STR(growth_word_text(&p.verdict), "maybe");
	CHECK(strstr(growth_evidence(&p.verdict, text), "old mostly go") != NULL);
}

TEST(rank)
{
	static const struct snap_site sites[] = {
		{ .id = 7, .growth = { .sure = 0.9, .bytes_per_s = 10 } }, { .id = 1 },
		{ .id = 9, .growth = { .sure = 0.1, .bytes_per_s = 1000 } },
		{ .id = 4, .growth = { .sure = 0.95, .bytes_per_s = 10 } },
		{ .id = 5,
			.growth = { .sure = 0.3,
				.bytes_per_s = 3000,
				.has_kept = true,
				.kept = 0.1 } },
		{ .id = 6, .growth = { .sure = 0.87, .bytes_per_s = 20 } },
		{ .id = 8, .growth = { .sure = 0.6, .bytes_per_s = 2000 } }
	};
	static const uint32_t want[] = { 5, 3, 0, 6, 2, 4 };
	const struct snapshot s = { .sites = sites, .nsites = 7 };
	uint32_t index[7];

	CHECK_INT(growth_rank(&s, index, 7), 6);
	for (unsigned i = 0; i < 6; i++)
		CHECK_INT(index[i], want[i]);
	CHECK_INT(growth_rank(&s, index, 1), 6);
	CHECK_INT(growth_rank(&s, NULL, 0), 6);
}

int main(void)
{
	RUN(a_leak_grows);
	RUN(a_staircase_grows);
	RUN(a_leak_under_a_sawtooth_grows);
	RUN(a_small_leak_after_a_large_start_grows);
	RUN(a_cache_that_is_full_does_not_grow);
	RUN(what_warms_up_does_not_grow);
	RUN(one_allocation_is_no_growth);
	RUN(a_sawtooth_is_no_growth);
	RUN(noise_is_no_growth);
	RUN(what_shrinks_does_not_grow);
	RUN(surety);
	RUN(estimates);
	RUN(late_sites);
	RUN(any_delay);
	RUN(words);
	RUN(rank);
	return check_end();
}
