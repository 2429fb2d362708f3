/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads inside realloc (in_realloc.h). */
#include "src/leak/access/in_realloc.h"

#include "src/util/clock.h"

/* A realloc takes microseconds, of a large block milliseconds. */
#define RETRIES_MAX 200u
#define RETRIES_NS  5000000000ull /* the time limit: the program hardly progresses meanwhile */
/* Every so many times all threads are resumed: one may wait for an allocator's lock that a stopped
 * thread holds. */
#define RETRY_ALL 4u

struct realloc_check {
	struct trace_stop *stop;
	struct leak_space *space;
	int64_t at; /* read_in_realloc_at */
	bool all; /* resume all threads */
};

static bool is_in_realloc(const struct realloc_check *m, const struct trace_thread *t)
{
	uint64_t at = trace_stop_thread_pointer(t) + (uint64_t)m->at, word;

	if (m->at == 0 || trace_stop_thread_pointer(t) == 0 ||
		!leak_space_word(m->space, at & ~7ull, &word))
		return false;
	return (word >> at % 8 * 8 & 0xff) != 0;
}

static bool is_to_resume(void *ctx, const struct trace_thread *t)
{
	const struct realloc_check *m = ctx;

	return m->all || is_in_realloc(m, t);
}

static unsigned in_realloc_count(const struct realloc_check *m)
{
	unsigned n = 0;

	for (size_t i = 0; i < m->stop->count; i++)
		n += m->stop->thread[i].state == TRACE_THREAD_STOPPED &&
		     is_in_realloc(m, &m->stop->thread[i]);
	return n;
}

unsigned leak_in_realloc_count(
	struct read_segment *segment, struct trace_stop *stop, struct leak_space *space)
{
	const struct realloc_check m = { stop, space, read_in_realloc_at(segment), false };

	return in_realloc_count(&m);
}

unsigned leak_in_realloc_await(
	struct read_segment *segment, struct trace_stop *stop, struct leak_space *space)
{
	struct realloc_check m = { stop, space, read_in_realloc_at(segment), false };
	uint64_t until_ns = clock_monotonic_ns() + RETRIES_NS;
	unsigned count = 0;

	for (unsigned i = 1; i <= RETRIES_MAX; i++) {
		count = in_realloc_count(&m);
		if (count == 0 || clock_monotonic_ns() > until_ns || leak_space_cancelled(space))
			break;
		m.all = i % RETRY_ALL == 0;
		trace_stop_retry(stop, is_to_resume, &m);
	}
	return count;
}
