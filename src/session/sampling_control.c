/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The choice of the rate (sampling_control.h). The first reading above the limit makes the rate as
 * coarse as that reading requires. It becomes finer slowly, by one step after several cheap
 * readings, so that a program that works in bursts keeps the rate of its bursts.
 */
#include "src/session/sampling_control.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "shm/poisson.h"
#include "src/util/units.h"

#define RATE_LEAST (UINT64_C(16) << 10) /* finer: hardly cheaper than exact */
#define RATE_MOST                                                                                  \
	(UINT64_C(16) << 20) /* coarser: hardly any information, and nothing left to gain */
#define CPU_LEAST_NS	 UINT64_C(20000000) /* a reading of less work than this proves nothing */
#define CALM_LOOKS	 3u
#define CALM_PART	 0.25 /* of the limit: twice the samples still leave room */
#define EXACT_PART	 0.5 /* of the limit: the expected cost at which exact recording resumes */
#define WORTH_PART	 0.25 /* of the limit: a coarser rate saves no more than recording costs */
#define WORTH_OF_PASSING 0.05 /* nor if it saves so little of what no rate can save */
#define AIM_PART	 0.5 /* of the limit: the cost that the first rate aims at */
#define RECORDED_LEAST	 256u /* events: fewer give no reliable mean cost */
#define EVENT_COST_NS	 300.0 /* of one event, before we know better: a stack never seen before */
/* The approximate cost of passing through a hook, recorded or not; too little to be measured. */
#define PASS_COST_NS 1.0
/* The least time that an event takes the program itself: the fastest allocators need it. */
#define OWN_LEAST_NS   3.0
#define OWN_LEAST_PART (1.0 / 16) /* of all that was used */
#define TORN_PART      4.0 /* of the same: no measure is so wrong */
/* The cost of a recorded event outside the part that is timed. */
#define RECORD_COST_NS 4.0

static uint64_t nearest_power(uint64_t bytes)
{
	uint64_t below = 1;

	while (below <= bytes / 2)
		below *= 2;
	return bytes - below < 2 * below - bytes ? below : 2 * below;
}

int sampling_control_parse_rate(const char *text, struct sampling_request *request)
{
	uint64_t bytes = 0;

	if (strcmp(text, "auto") == 0) {
		if (request->limit == 0)
			request->limit = SAMPLING_CONTROL_AUTO_LIMIT;
		request->given = true;
		return 0;
	}
	if (strcmp(text, "exact") != 0) {
		if (units_parse_bytes(text, &bytes) != 0 || bytes < 1ull << POISSON_LOG2_LEAST ||
			bytes > 1ull << POISSON_LOG2_MOST)
			return -EINVAL;
		bytes = nearest_power(bytes);
	}
	request->given = request->has_rate = true;
	request->bytes = bytes;
	return 0;
}

int sampling_control_parse_limit(const char *text, struct sampling_request *request)
{
	char *end;
	double percent = strtod(text, &end);

	if (*text < '0' || *text > '9' || !(percent >= 0.1 && percent <= 100))
		return -EINVAL;
	if (*end == '%')
		end++;
	if (*end != '\0')
		return -EINVAL;
	request->given = true;
	request->limit = percent / 100;
	return 0;
}

/* The growth of a counter; a torn reading may seem to decrease. */
static double grown(uint64_t before, uint64_t now)
{
	return now > before ? (double)(now - before) : 0;
}

/*
 * The library's cost between two readings, as a fraction of the program's own time: recording,
 * which depends on the rate, and passing through, which does not.
 */
struct cost {
	double recording, passing, all;
	double own_ns; /* the program's own time */
};

/* The measured cost may reach or exceed the processor time used, but each event also takes the
 * program itself some time. A cost far above the time used is a torn reading. */
static double own_between(double cpu, double library, double events)
{
	bool torn = library > cpu * TORN_PART;
	double least = torn ? cpu / 2 : fmax(events * OWN_LEAST_NS, cpu * OWN_LEAST_PART);

	return fmax(cpu - library, fmin(least, cpu / 2));
}

static struct cost cost_between(const struct sampling_reading *a, const struct sampling_reading *b)
{
	double recording =
		grown(a->cost_ns, b->cost_ns) + grown(a->recorded, b->recorded) * RECORD_COST_NS;
	double cpu = grown(a->cpu_ns, b->cpu_ns), events = grown(a->events, b->events);
	double passing = events * PASS_COST_NS, own = own_between(cpu, recording + passing, events);

	passing = fmin(passing, cpu - own);
	recording = fmin(recording, cpu - own - passing);
	return (struct cost){ recording / own, passing / own, (recording + passing) / own, own };
}

/* The cost of recording every event. */
static double exact_overhead(const struct sampling_control *s, const struct sampling_reading *now)
{
	double recorded = grown(s->changed.recorded, now->recorded), each = EVENT_COST_NS, cost;
	double cpu = grown(s->last.cpu_ns, now->cpu_ns);

	if (recorded >= RECORDED_LEAST)
		each = grown(s->changed.cost_ns, now->cost_ns) / recorded;
	cost = grown(s->last.events, now->events) * (each + RECORD_COST_NS + PASS_COST_NS);
	return cost / cpu;
}

static uint64_t rate_between(double bytes)
{
	uint64_t rate = RATE_LEAST;

	while (rate < RATE_MOST && (double)rate < bytes)
		rate *= 2;
	return rate;
}

/* From exact to sampled: each sample is a block that is allocated and, sooner or later, freed. */
static uint64_t first_rate(const struct sampling_control *s, double limit, const struct cost *c,
	const struct sampling_reading *now)
{
	double bytes = grown(s->last.alloc_bytes, now->alloc_bytes);

	return rate_between(
		2 * bytes * SAMPLING_CONTROL_SAMPLED_NS / (limit * AIM_PART * c->own_ns));
}

static uint64_t cheaper(const struct sampling_control *s, double limit, const struct cost *c,
	const struct sampling_reading *now)
{
	double worth = fmax(limit * WORTH_PART, c->passing * WORTH_OF_PASSING);
	bool far_above = c->recording > 2 * limit && c->recording >= 2 * worth;

	if (now->bytes == 0)
		return first_rate(s, limit, c, now);
	if (now->bytes >= RATE_MOST || c->recording < worth)
		return now->bytes;
	return rate_between((double)now->bytes * (far_above ? 4 : 2));
}

static uint64_t finer(
	const struct sampling_control *s, double limit, const struct sampling_reading *now)
{
	if (exact_overhead(s, now) < limit * EXACT_PART)
		return 0;
	return now->bytes <= RATE_LEAST ? now->bytes : now->bytes / 2;
}

static uint64_t decide(struct sampling_control *s, double limit, const struct cost *c,
	const struct sampling_reading *now)
{
	if (s->overhead > limit) {
		s->calm = 0;
		return cheaper(s, limit, c, now);
	}
	s->calm = s->overhead < limit * CALM_PART ? s->calm + 1 : 0;
	if (now->bytes == 0 || s->calm < CALM_LOOKS)
		return now->bytes;
	s->calm = 0;
	return finer(s, limit, now);
}

uint64_t sampling_control_update(struct sampling_control *s, const struct sampling_request *request,
	const struct sampling_reading *now)
{
	uint64_t next = now->bytes;
	struct cost cost;

	if (!s->looked || s->last.bytes != now->bytes) {
		s->looked = true;
		s->last = s->changed = *now;
		return next;
	}
	if (grown(s->last.cpu_ns, now->cpu_ns) < (double)CPU_LEAST_NS)
		return next; /* the next reading covers more */
	cost = cost_between(&s->last, now);
	s->overhead = cost.all;
	s->passing = cost.passing;
	s->measured = true;
	if (request->limit > 0)
		next = decide(s, request->limit, &cost, now);
	s->last = *now;
	return next;
}
