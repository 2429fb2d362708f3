/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Steering, with programs and a clock that are invented: what a program does in a second, and what
 * the library would measure of it, follow from a few numbers.
 */
#include "src/session/sampling_control.h"

#include <math.h>
#include "tests/check.h"

#define S_NS   1e9
#define LOOKS  100
#define SETTLE 12 /* looks until a rate is found */

/* A program, per second of its life. */
struct program {
	double own_cpu_ns; /* processor time for itself */
	double allocs; /* each is freed */
	double size; /* of a block */
	double event_ns; /* what recording one costs */
};

struct world {
	struct program p;
	struct sampling_control steer;
	struct sampling_request request;
	struct sampling_reading r;
	double cost, own; /* of the second before: what is true */
	double measured; /* so much of it is measured; 0: all */
	unsigned changes;
};

static double recorded_part(const struct world *w)
{
	return w->r.bytes ? -expm1(-w->p.size / (double)w->r.bytes) : 1;
}

/* A second passes, and a reading is taken. */
static void live(struct world *w)
{
	double events = 2 * w->p.allocs, recorded = events * recorded_part(w);
	uint64_t next;

	w->own = w->p.own_cpu_ns;
	w->cost = recorded * (w->p.event_ns + 4) + events * 1.0;
	w->r.cpu_ns += (uint64_t)(w->own + w->cost);
	w->r.cost_ns += (uint64_t)(recorded * w->p.event_ns * (w->measured > 0 ? w->measured : 1));
	w->r.recorded += (uint64_t)recorded;
	w->r.events += (uint64_t)events;
	w->r.allocs += (uint64_t)w->p.allocs;
	w->r.alloc_bytes += (uint64_t)(w->p.allocs * w->p.size);
	next = sampling_control_update(&w->steer, &w->request, &w->r);
	w->changes += next != w->r.bytes;
	w->r.bytes = next;
}

static void live_for(struct world *w, unsigned seconds)
{
	w->changes = 0;
	for (unsigned i = 0; i < seconds; i++)
		live(w);
}

static const struct program busy = { 0.9e9, 4e6, 64, 60 }; /* exact: 53 % */
static const struct program light = { 0.9e9, 1e5, 100, 60 }; /* exact: 1.3 % */
static const struct program idle = { 1e6, 100, 100, 200 };
static const struct program large = { 0.5e9, 1e6, 100000, 100 }; /* exact: 40 % */

static struct world begin(const struct program *p, double limit)
{
	return (struct world){ .p = *p, .request = { .given = true, .limit = limit } };
}

TEST(dear_programs_are_sampled)
{
	static const struct program *const dear[] = { &busy, &large };

	for (unsigned i = 0; i < 2; i++) {
		struct world w = begin(dear[i], 0.05);

		live_for(&w, SETTLE);
		CHECK(w.r.bytes > 0);
		CHECK(w.cost / w.own <= 0.05);
		/* And it stays there: no hunting. */
		live_for(&w, LOOKS);
		CHECK(w.cost / w.own <= 0.05);
		CHECK(w.changes <= 1);
	}
}

/* The second look already says what rate it takes. */
TEST(the_first_step_goes_most_of_the_way)
{
	struct world w = begin(&busy, 0.05);

	live_for(&w, 3);
	CHECK(w.cost / w.own <= 0.05);
}

TEST(cheap_programs_stay_exact)
{
	struct world w = begin(&light, 0.05);

	live_for(&w, LOOKS);
	CHECK_INT(w.r.bytes, 0);
	CHECK_INT(w.changes, 0);
	CHECK(w.steer.measured);
	CHECK(fabs(w.steer.overhead - w.cost / w.own) < 0.001);
}

TEST(idle_programs_stay_as_they_are)
{
	struct world w = begin(&idle, 0.05);

	w.r.bytes = 1 << 19;
	live_for(&w, 15); /* 15 ms of work */
	CHECK_INT(w.r.bytes, 1 << 19);
	CHECK(!w.steer.measured);
}

TEST(what_becomes_cheap_becomes_exact)
{
	struct world w = begin(&busy, 0.05);

	live_for(&w, SETTLE);
	CHECK(w.r.bytes > 0);
	w.p = light;
	live_for(&w, SETTLE);
	CHECK_INT(w.r.bytes, 0);
	live_for(&w, LOOKS);
	CHECK_INT(w.changes, 0);
}

TEST(what_becomes_dear_is_sampled_more_coarsely)
{
	struct world w = begin(&busy, 0.05);
	uint64_t before;

	live_for(&w, SETTLE);
	before = w.r.bytes;
	w.p.event_ns = 4000;
	w.p.size = 1000;
	live_for(&w, SETTLE);
	CHECK(w.r.bytes > before);
	CHECK(w.cost / w.own <= 0.05);
}

TEST(limits_are_kept)
{
	static const double limits[] = { 0.02, 0.05, 0.1, 0.3 };
	uint64_t rate = UINT64_MAX;

	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct world w = begin(&busy, limits[i]);

		live_for(&w, SETTLE);
		CHECK(w.cost / w.own <= limits[i]);
		CHECK(w.r.bytes <= rate); /* a larger limit buys finer samples */
		rate = w.r.bytes;
	}
	/* One that allows exact recording gets it. */
	{
		struct world w = begin(&busy, 0.8);

		live_for(&w, LOOKS);
		CHECK_INT(w.r.bytes, 0);
	}
}

/* Where passing on alone costs more than the limit, a coarser rate would only lose information. */
TEST(the_impossible_is_not_paid_for)
{
	struct world w = begin(&(struct program){ 0.1e9, 2e7, 16, 60 }, 0.05);

	live_for(&w, LOOKS);
	CHECK(w.r.bytes > 0 && w.r.bytes <= 1 << 20);
	CHECK(w.steer.overhead > 0.05);
	CHECK(recorded_part(&w) * 2 * w.p.allocs * w.p.event_ns < 0.05 * w.own);
	live_for(&w, LOOKS);
	CHECK_INT(w.changes, 0);
	/* And it is known why. */
	CHECK(w.steer.passing > 0.05 && w.steer.passing <= w.steer.overhead);
	CHECK(fabs(w.steer.passing - 2 * w.p.allocs * 1.0 / w.own) < 0.01);
}

/* A loop of nothing but malloc and free. That recording takes more than was used altogether, by a
 * measure that is not exact, is no reason for a rate at which nothing is seen any more. */
TEST(nothing_but_malloc)
{
	static const double measured[] = { 0.8, 1, 1.02, 1.1, 1.5, 3 };

	for (unsigned i = 0; i < sizeof(measured) / sizeof(measured[0]); i++) {
		struct world w = begin(&(struct program){ 0.15e9, 2.5e7, 32, 15 }, 0.05);

		w.measured = measured[i];
		live(&w);
		live(&w);
		CHECK(w.steer.overhead >= 0.5 && w.steer.overhead <= 16);
		live_for(&w, LOOKS);
		CHECK(w.r.bytes > 0 && w.r.bytes <= 1 << 20);
		live_for(&w, LOOKS);
		CHECK_INT(w.changes, 0);
		CHECK(w.steer.passing > 0.05);
	}
}

/* Far above the limit, but a rate twice as coarse leaves no more than recording is worth. */
TEST(no_coarser_than_is_worth_it)
{
	struct sampling_control steer = { 0 };
	struct sampling_request request = { .given = true, .limit = 0.005 };
	struct sampling_reading r = { .bytes = 4 << 20 };

	CHECK_INT(sampling_control_update(&steer, &request, &r), 4 << 20);
	r.cpu_ns = 1000000000;
	r.events = 200000000; /* 200 ms of passing: 10 ms of recording are worth it */
	r.cost_ns = 15000000;
	CHECK_INT(sampling_control_update(&steer, &request, &r), 8 << 20);
}

TEST(without_a_limit_only_the_cost_is_told)
{
	struct world w = begin(&busy, 0);

	live_for(&w, LOOKS);
	CHECK_INT(w.r.bytes, 0);
	CHECK(fabs(w.steer.overhead - w.cost / w.own) < 0.001);
	w.r.bytes = 1 << 16;
	live_for(&w, LOOKS);
	CHECK_INT(w.r.bytes, 1 << 16);
	CHECK(w.steer.overhead < 0.02);
}

/* Counters of a torn reading that go back, and a process that took no time, are no disaster. */
TEST(torn_readings)
{
	struct world w = begin(&busy, 0.05);
	struct sampling_reading back;

	live_for(&w, 2);
	back = w.r;
	back.cost_ns = back.events = back.cpu_ns = 0;
	CHECK_INT(sampling_control_update(&w.steer, &w.request, &back), w.r.bytes);
	back = w.r;
	back.cpu_ns += 1000000000;
	back.cost_ns += 5000000000; /* more than there was */
	CHECK(sampling_control_update(&w.steer, &w.request, &back) > 0);
	CHECK(w.steer.overhead <= 16);
	back.cpu_ns += 1000000000;
	back.cost_ns += 5000000000; /* so much more that it says nothing */
	CHECK(sampling_control_update(&w.steer, &w.request, &back) > 0);
	CHECK(w.steer.overhead <= 1);
}

static struct sampling_request rate(const char *text)
{
	struct sampling_request w = { 0 };

	if (sampling_control_parse_rate(text, &w) != 0)
		w.given = false;
	return w;
}

TEST(rates_are_read)
{
	CHECK_INT(rate("512K").bytes, 512 << 10);
	CHECK_INT(rate("512k").bytes, 512 << 10);
	CHECK_INT(rate("1M").bytes, 1 << 20);
	CHECK_INT(rate("65536").bytes, 65536);
	/* To the nearest power of two. */
	CHECK_INT(rate("500K").bytes, 512 << 10);
	CHECK_INT(rate("700K").bytes, 512 << 10);
	CHECK_INT(rate("800K").bytes, 1 << 20);
	CHECK_INT(rate("50M").bytes, 64 << 20);
	CHECK(rate("exact").given && rate("exact").has_rate && rate("exact").bytes == 0);
	CHECK(rate("auto").given && !rate("auto").has_rate);
	CHECK(rate("auto").limit == SAMPLING_CONTROL_AUTO_LIMIT);
	CHECK(!rate("").given);
	CHECK(!rate("512KB").given);
	CHECK(!rate("-1").given);
	CHECK(!rate("K").given);
	CHECK(!rate("0").given);
	CHECK(!rate("1023").given);
	CHECK(rate("1024").given);
	CHECK(rate("64M").given);
	CHECK(!rate("65M").given);
	CHECK(!rate("1G").given);
	CHECK(!rate("99999999999999999999").given);
	CHECK(!rate("18014398509481984K").given);
}

static double limit(const char *text)
{
	struct sampling_request w = { 0 };

	return sampling_control_parse_limit(text, &w) == 0 ? w.limit : -1;
}

TEST(limits_are_read)
{
	struct sampling_request both = { 0 };

	CHECK(limit("5%") == 0.05);
	CHECK(limit("5") == 0.05);
	CHECK(limit("0.5%") == 0.005);
	CHECK(limit("100%") == 1);
	CHECK(limit("0") == -1);
	CHECK(limit("101%") == -1);
	CHECK(limit("5%%") == -1);
	CHECK(limit("") == -1);
	CHECK(limit("nan") == -1);
	CHECK(limit("5 %") == -1);
	/* "auto" does not undo a limit that was given. */
	CHECK_INT(sampling_control_parse_limit("2%", &both), 0);
	CHECK_INT(sampling_control_parse_rate("auto", &both), 0);
	CHECK(both.limit == 0.02);
}

int main(void)
{
	RUN(dear_programs_are_sampled);
	RUN(the_first_step_goes_most_of_the_way);
	RUN(cheap_programs_stay_exact);
	RUN(idle_programs_stay_as_they_are);
	RUN(what_becomes_cheap_becomes_exact);
	RUN(what_becomes_dear_is_sampled_more_coarsely);
	RUN(limits_are_kept);
	RUN(the_impossible_is_not_paid_for);
	RUN(nothing_but_malloc);
	RUN(no_coarser_than_is_worth_it);
	RUN(without_a_limit_only_the_cost_is_told);
	RUN(torn_readings);
	RUN(rates_are_read);
	RUN(limits_are_read);
	return check_end();
}
