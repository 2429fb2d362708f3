/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search: coroutines, decisions, and the report. model.h describes what is searched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "tests/model/engine.h"

#define STACK_BYTES    65536u
#define DECISIONS_MAX  16384u
#define EXECUTIONS_MAX 20000000u /* a scenario that needs more is too large: make it smaller */

#define FUTURES_MAX 4u /* values that a load may see before they are stored */
#define OWN_MAX	    24u /* stores of its thread after it */

struct decision {
	uint16_t count, taken;
	uint16_t plain, own; /* of a load: values that were stored; known stores after it */
	uint64_t future[FUTURES_MAX];
	struct {
		uint64_t value;
		uint16_t word;
	} store[OWN_MAX];
};

uint32_t engine_thread = ENGINE_NOBODY;

static const struct model_scenario *scenario;
static ucontext_t contexts[MODEL_THREADS_MAX], searcher;
static char stacks[MODEL_THREADS_MAX][STACK_BYTES] __attribute__((aligned(64)));
static bool running[MODEL_THREADS_MAX];
static uint32_t thread_count;

static struct decision path[DECISIONS_MAX];
static uint32_t path_length, path_at;
static unsigned bound, left; /* deviations */
static bool cut_off; /* the bound hid something */
static const char *violation;
static bool tracing;

bool engine_tracing(void)
{
	return tracing;
}

bool engine_is_observer(void)
{
	return scenario->observers >> engine_thread & 1;
}

_Noreturn void engine_drop(void)
{
	setcontext(&searcher);
	abort();
}

_Noreturn void engine_violation(const char *property)
{
	/* With the store before it, it is found by another execution. */
	if (!future_is_pending())
		violation = property;
	setcontext(&searcher);
	abort();
}

void model_require(bool holds, const char *property)
{
	if (!holds)
		engine_violation(property);
}

unsigned engine_choose(unsigned count, bool costs)
{
	unsigned taken;

	if (costs && left == 0) {
		cut_off = true;
		return 0;
	}
	if (path_at == path_length) {
		if (path_length == DECISIONS_MAX)
			engine_violation("the execution ends");
		path[path_length].count = path[path_length].plain = (uint16_t)count;
		path[path_length].taken = path[path_length].own = 0;
		path_length++;
	}
	taken = path[path_at++].taken;
	if (costs && taken != 0)
		left--;
	return taken;
}

unsigned engine_choose_load(unsigned plain, uint32_t *decision, uint64_t *guess)
{
	uint32_t at = path_at;
	unsigned taken;

	*decision = ENGINE_NOBODY;
	if (left == 0)
		return plain > 1 ? engine_choose(plain, true) : 0;
	taken = engine_choose(plain, true);
	*decision = at;
	if (taken >= path[at].plain)
		*guess = path[at].future[taken - path[at].plain];
	return taken;
}

void engine_future_add(uint32_t decision, uint64_t value)
{
	struct decision *d = &path[decision];
	unsigned known = d->count - d->plain;

	for (unsigned i = 0; i < known; i++)
		if (d->future[i] == value)
			return;
	if (known == FUTURES_MAX) {
		cut_off = true;
		return;
	}
	d->future[known] = value;
	d->count++;
}

bool engine_own_has(uint32_t decision, uint16_t word, uint64_t value)
{
	const struct decision *d = &path[decision];

	for (unsigned i = 0; i < d->own; i++)
		if (d->store[i].word == word && d->store[i].value == value)
			return true;
	return false;
}

void engine_own_add(uint32_t decision, uint16_t word, uint64_t value)
{
	struct decision *d = &path[decision];

	if (d->own == OWN_MAX || engine_own_has(decision, word, value))
		return;
	d->store[d->own].word = word;
	d->store[d->own++].value = value;
}

/* The threads that could run instead of `than`. */
static uint32_t others(uint32_t than, uint32_t *out)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < thread_count; i++)
		if (i != than && running[i])
			out[count++] = i;
	return count;
}

static void thread_switch(uint32_t to)
{
	uint32_t from = engine_thread;

	if (tracing)
		fprintf(stderr, "  -- thread %u --\n", to);
	engine_thread = to;
	swapcontext(&contexts[from], &contexts[to]);
}

void engine_yield(void)
{
	uint32_t list[MODEL_THREADS_MAX], count = others(engine_thread, list), taken;

	if (count == 0)
		return;
	taken = engine_choose(count + 1, true);
	if (taken != 0)
		thread_switch(list[taken - 1]);
}

/* Runs one of the scenario's checks, which see memory as it is. */
static void check(void (*function)(void))
{
	uint32_t thread = engine_thread;

	if (!function)
		return;
	engine_thread = ENGINE_NOBODY;
	function();
	engine_thread = thread;
}

void engine_stored(void)
{
	check(scenario->invariant);
}

/* The thread on `contexts[engine_thread]`. When it ends, one of the others goes on; that costs
 * nothing. */
static void thread_main(void)
{
	uint32_t list[MODEL_THREADS_MAX], count;

	scenario->thread[engine_thread]();
	running[engine_thread] = false;
	count = others(engine_thread, list);
	if (count == 0)
		setcontext(&searcher);
	thread_switch(list[count > 1 ? engine_choose(count, false) : 0]);
	abort();
}

static void threads_prepare(void)
{
	for (uint32_t i = 0; i < thread_count; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		contexts[i].uc_link = NULL;
		makecontext(&contexts[i], thread_main, 0);
		running[i] = true;
	}
}

/* One execution, along `path` and then by first choices. */
static void execute(void)
{
	volatile bool started = false;

	path_at = 0;
	left = bound;
	violation = NULL;
	check(scenario->begin);
	memory_begin();
	future_begin();
	threads_prepare();
	getcontext(&searcher);
	if (!started) {
		started = true;
		engine_thread = engine_choose(thread_count, false);
		if (tracing)
			fprintf(stderr, "  -- thread %u --\n", engine_thread);
		setcontext(&contexts[engine_thread]);
	}
	/* all threads have ended, or a property was broken, here or in the check of the end */
	engine_thread = ENGINE_NOBODY;
	if (!violation && !future_is_pending() &&
		running[0] + running[1] + running[2] + running[3] == 0 && scenario->end)
		scenario->end();
	memory_end();
}

/* Turns to the next path; false when all have been taken. */
static bool path_next(void)
{
	while (path_length > 0 && path[path_length - 1].taken + 1u == path[path_length - 1].count)
		path_length--;
	if (path_length == 0)
		return false;
	path[path_length - 1].taken++;
	return true;
}

static uint64_t search(uint64_t limit)
{
	uint64_t executions = 0;

	path_length = 0;
	cut_off = false;
	do {
		execute();
		executions++;
	} while (!violation && executions < limit && path_next());
	if (executions == EXECUTIONS_MAX && !violation)
		violation = "the search ends";
	return executions;
}

static unsigned bound_of(const struct model_scenario *sc)
{
	const char *wish = getenv("MODEL_DEVIATIONS");

	return wish ? (unsigned)atoi(wish) : sc->deviations;
}

static void scenario_begin(const struct model_scenario *sc)
{
	scenario = sc;
	bound = bound_of(sc);
	memset(running, 0, sizeof(running));
	for (thread_count = 0; thread_count < MODEL_THREADS_MAX && sc->thread[thread_count];)
		thread_count++;
	memory_reset();
	sc->setup();
}

/* Shows the execution that broke the property. */
static void explain(const char *property)
{
	fprintf(stderr, "%s: \"%s\" is broken by:\n", scenario->name, property);
	tracing = true;
	execute();
	tracing = false;
}

/* At most `limit` executions; one that was cut short has nothing to say. */
static int run(const struct model_scenario *sc, uint64_t limit)
{
	uint64_t executions;

	scenario_begin(sc);
	/* A word is known to be raced for once it was seen; from then on the search may switch
	 * there. When a search finds no new ones, it was over all of them. */
	do {
		executions = search(limit);
	} while (!violation && memory_learned());
	if (violation) {
		const char *property = violation;

		printf("not ok - %s: %s (execution %llu)\n", sc->name, property,
			(unsigned long long)executions);
		fflush(stdout);
		explain(property);
		return 1;
	}
	if (limit == EXECUTIONS_MAX)
		printf("ok - %s: %llu executions, %s\n", sc->name, (unsigned long long)executions,
			cut_off ? "all within the bound" : "all there are");
	fflush(stdout);
	return 0;
}

int model_run(const struct model_scenario *scenarios, unsigned count)
{
	const char *first = getenv("MODEL_FIRST");
	int broken = 0;

	/* A mistake mostly shows in the first executions of some scenario. */
	for (unsigned i = 0; i < count && !broken && first; i++)
		broken = run(&scenarios[i], strtoull(first, NULL, 10));
	for (unsigned i = 0; i < count && !broken; i++)
		broken = run(&scenarios[i], EXECUTIONS_MAX);
	return broken;
}
