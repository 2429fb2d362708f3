/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sampling in one program (sampling.h). */
#include "src/session/sampling.h"

#include <math.h>
#include <stdio.h>

#include "shm/poisson.h"
#include "src/proc/proc.h"

int sampling_set(
	struct sampling *s, struct read_segment *segment, const struct sampling_request *request)
{
	struct read_totals t;
	int rc = read_totals(segment, &t);

	if (rc == 0)
		rc = read_control(
			segment, request->has_rate ? request->bytes : t.sample_bytes, true);
	if (rc == 0)
		*s = (struct sampling){ .request = *request };
	return rc;
}

void sampling_inherit(
	struct sampling *s, struct read_segment *segment, const struct sampling *before)
{
	struct sampling_request request = before->request;

	request.has_rate = false;
	if (request.given)
		sampling_set(s, segment, &request);
}

void sampling_leave(struct sampling *s, struct read_segment *segment)
{
	struct read_totals t;

	if (s->request.given && read_totals(segment, &t) == 0)
		read_control(segment, t.sample_bytes, false);
	s->request.given = false;
}

/* The mean cost of an event is remembered as that of so many. */
#define MEAN_EVENTS 256.0
/* Until so many sampled events are timed, the cost that is expected of one counts, too: few are
 * timed at coarse rates, and one in which the program lost its processor is a long one. */
#define EXPECTED_EVENTS 16.0

/* The mean cost of an event in the present mode, exact or sampled; 0: unknown. */
static double mean_cost(struct sampling *s, const struct read_totals *t)
{
	bool sampled = t->sample_bytes != 0;

	if (s->mean_sampled != sampled) { /* this reading is partly of the mode before */
		s->mean_sampled = sampled;
		s->mean_events = sampled ? EXPECTED_EVENTS : 0;
		s->mean_ns = s->mean_events * SAMPLING_CONTROL_SAMPLED_NS;
	} else {
		s->mean_events += (double)(t->timed_events - s->timed_events);
		s->mean_ns += (double)(t->timed_ns - s->timed_ns);
	}
	if (s->mean_events > MEAN_EVENTS) {
		s->mean_ns *= MEAN_EVENTS / s->mean_events;
		s->mean_events = MEAN_EVENTS;
	}
	if (s->mean_events > 0)
		return s->mean_ns / s->mean_events;
	return t->timed_events ? (double)t->timed_ns / (double)t->timed_events : 0;
}

/* The cost of recording since the last reading: the number of events, times their mean cost. */
static void cost_add(struct sampling *s, const struct read_totals *t)
{
	double mean = mean_cost(s, t);

	if (s->recorded && t->events > s->recorded)
		s->cost_ns += (uint64_t)(mean * (double)(t->events - s->recorded));
	s->recorded = t->events;
	s->timed_events = t->timed_events;
	s->timed_ns = t->timed_ns;
}

/* Compares the cost of recording with the program's processor time since the last tick. */
void sampling_update(struct sampling *s, struct read_segment *segment, pid_t pid,
	const struct read_totals *totals)
{
	struct sampling_reading r = { .recorded = totals->events,
		.events = totals->allocs + totals->frees,
		.allocs = totals->allocs,
		.alloc_bytes = totals->alloc_bytes,
		.bytes = totals->sample_bytes };
	uint64_t bytes;

	if (!s->request.given || proc_cpu_ns(pid, &r.cpu_ns) != 0)
		return;
	cost_add(s, totals);
	r.cost_ns = s->cost_ns;
	bytes = sampling_control_update(&s->steer, &s->request, &r);
	if (bytes != r.bytes)
		read_control(segment, bytes, true);
}

void sampling_fill(
	const struct sampling *s, const struct read_totals *totals, struct snap_sampling *out)
{
	*out = (struct snap_sampling){ .most = totals->sample_most,
		.marks = totals->marks,
		.limit = s->request.limit,
		.measured = s->steer.measured,
		.overhead = s->steer.overhead,
		.passing = s->steer.passing };
	for (uint32_t i = 0; i < totals->marks; i++)
		out->mark[i] = (struct snap_rate_change){ totals->mark[i].ns,
			totals->mark[i].sample_bytes };
	if (totals->marks)
		out->bytes = totals->mark[totals->marks - 1].sample_bytes;
}

const char *sampling_notice(struct sampling *s)
{
	if (!s->steer.measured || s->request.limit <= 0 || s->steer.last.bytes == 0 ||
		s->steer.passing <= s->request.limit)
		return NULL;
	snprintf(s->text, sizeof(s->text),
		"the %g%% limit cannot be met: unrecorded calls alone cost %.1f%%",
		s->request.limit * 100, s->steer.passing * 100);
	return s->text;
}

/* In the figure's unit. Its two parts are not read at one moment. */
static double variance(uint64_t all, uint64_t gone, int log2)
{
	return all > gone ? ldexp((double)(all - gone), log2) : 0;
}

struct model_variance sampling_variance(const struct ht_variance *s, struct model_variance *total)
{
	struct model_variance v = {
		.live_bytes = variance(s->bytes, s->free_bytes, POISSON_BYTES_LOG2),
		.live_blocks = variance(s->blocks, s->free_blocks, POISSON_BLOCKS_LOG2),
		.allocs = variance(s->blocks, 0, POISSON_BLOCKS_LOG2),
		.alloc_bytes = variance(s->bytes, 0, POISSON_BYTES_LOG2),
	};

	total->live_bytes += v.live_bytes;
	total->live_blocks += v.live_blocks;
	total->allocs += v.allocs;
	total->alloc_bytes += v.alloc_bytes;
	return v;
}
