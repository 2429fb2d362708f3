/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads inside malloc (at_rest.h). */
#include "src/leak/access/at_rest.h"

#include <string.h>

#include "src/util/clock.h"

/* A call takes less than a microsecond, mostly; a lock may have to wait for others. */
#define RETRIES_MAX 100u
#define RETRIES_NS  200000000ull
/* Every so many times all threads are resumed: one may wait for a lock that a stopped one holds. */
#define RETRY_ALL   8u
#define STACK_WORDS 24u /* above the stack pointer: malloc's callees in libc are small */

struct rest_check {
	struct trace_stop *stop;
	struct leak_space *space;
	int64_t busy_at, realloc_at;
	struct leak_range code; /* of malloc */
	bool all; /* resume all threads */
};

static bool lies_in(struct leak_range r, uint64_t at)
{
	return at >= r.start && at < r.end;
}

/* The library's code. Not by a folder's name: the program may lie in one called heaptop. */
static bool is_ours(const struct leak_map *m)
{
	const char *slash = m ? strrchr(m->path, '/') : NULL;

	return m && m->executable && strstr(slash ? slash : m->path, "libheaptop") != NULL;
}

static bool is_malloc_code(const struct rest_check *c, uint64_t at)
{
	return lies_in(c->code, at) || is_ours(leak_space_map(c->space, at));
}

/* Whether the innermost functions are malloc's, or were called by it: the kernel is called by
 * functions of libc that keep little on the stack. */
static bool is_in_malloc(const struct rest_check *c, const struct trace_thread *t)
{
	uint64_t words[STACK_WORDS];
	ssize_t got;

	if (is_malloc_code(c, trace_registers_pc(&t->regs)))
		return true;
#ifdef __aarch64__
	if (is_malloc_code(c, t->regs.regs[30])) /* a function that malloc has called */
		return true;
#endif
	got = leak_space_read(c->space, trace_registers_stack(&t->regs), words, sizeof(words),
		leak_space_has_shared(c->space));
	for (ssize_t i = 0; i < got / (ssize_t)sizeof(words[0]); i++)
		if (is_malloc_code(c, words[i]))
			return true;
	return false;
}

static bool is_set(const struct rest_check *c, uint64_t at, uint64_t mask)
{
	uint64_t word;

	return leak_space_word(c->space, at & ~7ull, &word) && (word >> at % 8 * 8 & mask) != 0;
}

static bool is_busy(const struct rest_check *c, const struct trace_thread *t)
{
	uint64_t pointer = trace_stop_thread_pointer(t);

	if (pointer != 0 && c->busy_at != 0 && is_set(c, pointer + (uint64_t)c->busy_at, ~0ull))
		return true;
	if (pointer != 0 && c->realloc_at != 0 &&
		is_set(c, pointer + (uint64_t)c->realloc_at, 0xff))
		return true;
	return is_in_malloc(c, t);
}

static bool is_to_resume(void *ctx, const struct trace_thread *t)
{
	const struct rest_check *c = ctx;

	return c->all || is_busy(c, t);
}

static unsigned busy_count(const struct rest_check *c)
{
	unsigned n = 0;

	for (size_t i = 0; i < c->stop->count; i++)
		n += c->stop->thread[i].state == TRACE_THREAD_STOPPED &&
		     is_busy(c, &c->stop->thread[i]);
	return n;
}

unsigned leak_at_rest_await(struct read_segment *segment, struct leak_range malloc_code,
	struct trace_stop *stop, struct leak_space *space)
{
	struct rest_check c = { .stop = stop,
		.space = space,
		.busy_at = read_in_hook_at(segment),
		.realloc_at = read_in_realloc_at(segment),
		.code = malloc_code };
	uint64_t until_ns = clock_monotonic_ns() + RETRIES_NS;
	unsigned count = 0;

	for (unsigned i = 1; i <= RETRIES_MAX; i++) {
		count = busy_count(&c);
		if (count == 0 || clock_monotonic_ns() > until_ns || leak_space_cancelled(space))
			break;
		c.all = i % RETRY_ALL == 0;
		trace_stop_retry(stop, is_to_resume, &c);
	}
	return count;
}
