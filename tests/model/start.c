/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The start of recording: one thread writes what recording needs and publishes it, while others
 * call their first hooks, or ask whether they are a forked child. The functions are those of
 * preload/state.h, whose two variables lie in the checked memory here; the phase, and the order in
 * which it is set and asked, are those of preload/lifecycle.c.
 */
#include "tests/model/model.h"

#define state_own     (*start_own)
#define state_segment (*start_segment)
#include "preload/state.h"

#define BYTES 0x1000u

enum { PHASE_STARTING, PHASE_ON };

const struct own **start_own;
struct segment *start_segment;
static struct own *page;
static uint32_t *phase;
static bool recorded[MODEL_THREADS_MAX]; /* by the hook of this thread */

static void setup(void)
{
	static struct own off;

	start_own = model_shared(sizeof(*start_own));
	start_segment = model_shared(sizeof(*start_segment));
	page = model_shared(sizeof(*page));
	phase = model_shared(sizeof(*phase));
	*start_own = &off;
}

static void begin(void)
{
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		recorded[i] = false;
}

/* ---- what threads do ---- */

static void start(void)
{
	state_segment.bytes = BYTES;
	state_publish(page, OWN_FAST);
	ht_store_release_32(phase, PHASE_ON);
}

static void hook(unsigned thread)
{
	if (!state_is_fast())
		return;
	model_require(state_segment.bytes == BYTES, "who records has the segment");
	recorded[thread] = true;
}

static void hook_1(void)
{
	hook(1);
}

static void hook_2(void)
{
	hook(2);
}

/* The hook's slow path. */
static void wake(void)
{
	if (ht_load_acquire_32(phase) != PHASE_ON)
		return;
	model_require(state_is_on(), "who finds the phase on is no forked child");
	hook(2);
	model_require(recorded[2], "and records");
}

/* What one thread records, another may free: that one finds recording on, too. */
static void hook_and_pass(void)
{
	hook(1);
	if (recorded[1])
		ht_store_release_32(phase, PHASE_ON);
}

static void start_alone(void)
{
	state_segment.bytes = BYTES;
	state_publish(page, OWN_FAST);
}

int main(void)
{
	static const struct model_scenario scenarios[] = {
		{ .name = "two threads call their first hooks while a third starts recording",
			.setup = setup,
			.begin = begin,
			.thread = { start, hook_1, hook_2 },
			.deviations = 6 },
		{ .name = "one of them after it has found the phase on",
			.setup = setup,
			.begin = begin,
			.thread = { start, hook_1, wake },
			.deviations = 6 },
		{ .name = "a block passes from one that records to one that did not yet",
			.setup = setup,
			.begin = begin,
			.thread = { start_alone, hook_and_pass, wake },
			.deviations = 6 },
	};

	return model_run(scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
