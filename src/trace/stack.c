/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of a stack (stack.h). */
#include "src/trace/stack.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK	   8192u /* words read at once */
#define STACK_MOST (16u << 20) /* bytes of one stack that are searched */

static bool chunk_search(const uint64_t *words, size_t count,
	bool (*hit)(const void *ctx, const uint64_t *word), const void *ctx)
{
	for (size_t i = 0; i < count; i++)
		if (hit(ctx, words + i))
			return true;
	return false;
}

bool trace_stack_search(const struct trace_image *i, const struct trace_thread *t,
	bool (*hit)(const void *ctx, const uint64_t *word), const void *ctx)
{
	const struct trace_map *m = trace_image_map(i, trace_registers_stack(&t->regs));
	uint64_t at = (trace_registers_stack(&t->regs) - TRACE_REGISTERS_RED_ZONE) & ~UINT64_C(7),
		 end = m ? m->end : 0;
	uint64_t *words = malloc((CHUNK + TRACE_STACK_AHEAD) * sizeof(*words));
	bool found = !words || !m; /* unknown */

	if (m && at < m->start)
		at = m->start;
	if (end > at + STACK_MOST)
		end = at + STACK_MOST;
	while (at < end && !found) {
		size_t left = (size_t)(end - at) / sizeof(*words);
		size_t want = left < CHUNK ? left : CHUNK;
		size_t got = trace_memory_some(i->memory, at, words,
				     (CHUNK + TRACE_STACK_AHEAD) * sizeof(*words)) /
			     sizeof(*words);

		memset(words + got, 0, (CHUNK + TRACE_STACK_AHEAD - got) * sizeof(*words));
		if (got == 0)
			break;
		found = chunk_search(words, want < got ? want : got, hit, ctx);
		at += want * sizeof(*words);
	}
	free(words);
	return found;
}

struct range {
	uint64_t from, end;
};

static bool is_in_range(const void *ctx, const uint64_t *word)
{
	const struct range *r = ctx;

	return *word >= r->from && *word < r->end;
}

bool trace_stack_has(
	const struct trace_image *i, const struct trace_thread *t, uint64_t from, uint64_t end)
{
	const struct range r = { from, end };

	return trace_stack_search(i, t, is_in_range, &r);
}
