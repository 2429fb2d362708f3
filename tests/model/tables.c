/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thread slots, module table, counters and history: who gets a slot, which index a module gets,
 * that no count is lost, and that readers see whole entries.
 */
#include "shm/counter.h"
#include "shm/history.h"
#include "shm/module.h"
#include "tests/model/model.h"

static struct segment segment;

/* ---- thread slots ---- */

#define DEAD 5u /* a thread that has ended, whose slot is DEAD too */

static uint32_t slot[MODEL_THREADS_MAX];
static uint32_t *reborn; /* 1 when the kernel has given DEAD to a new thread */

static void begin_slots(void)
{
	for (uint32_t i = 0; i < MODEL_THREADS_MAX; i++)
		slot[i] = 0;
}

/* The kernel does not give old answers: a change of a word, unlike a load, is always of the newest
 * value. */
static bool is_alive(uint32_t tid)
{
	uint32_t yes = 1;

	return tid != DEAD || ht_cas_acq_rel_32(reborn, &yes, 1);
}

static void setup_slots(void)
{
	model_segment(&segment, 1, 1);
	reborn = model_shared(sizeof(*reborn));
}

/* All slots are taken, the dead thread's with a count of 10. */
static void setup_slots_taken(void)
{
	uint32_t count = HT_COMMIT_BYTES / sizeof(struct ht_thread);

	setup_slots();
	segment.header->threads = count;
	for (uint32_t i = 1; i < count; i++)
		thread_at(&segment, i)->tid = i;
	thread_at(&segment, DEAD)->reallocs = 10;
	model_owned(&thread_at(&segment, DEAD)->reallocs, 8);
}

static void claim(uint32_t thread, uint32_t tid)
{
	slot[thread] = thread_claim(&segment, tid, is_alive);
	if (slot[thread])
		thread_add(slot[thread], &thread_at(&segment, slot[thread])->reallocs, 1);
}

static void claim_0(void)
{
	claim(0, 200);
}

static void claim_1(void)
{
	claim(1, 201);
}

/* The kernel starts a thread with the dead one's id. */
static void be_reborn(void)
{
	ht_store_release_32(reborn, 1);
	claim(1, DEAD);
}

static void end_fresh_slots(void)
{
	model_require(
		slot[0] && slot[1] && slot[0] != slot[1], "each thread has a slot of its own");
	model_require(segment.header->threads == 3, "slots in use are counted");
	for (uint32_t i = 1; i < 3; i++)
		model_require(thread_at(&segment, i)->owners == 1 &&
				      thread_at(&segment, i)->reallocs == 1 &&
				      thread_at(&segment, i)->state == HT_THREAD_USED,
			"a slot knows its owner");
}

static void end_dead_slot(void)
{
	model_require(
		(slot[0] == DEAD) + (slot[1] == DEAD) == 1 && (slot[0] == 0) + (slot[1] == 0) == 1,
		"a dead thread's slot has one heir");
	model_require(thread_at(&segment, DEAD)->reallocs == 11, "a slot goes on counting");
}

static void end_reborn(void)
{
	const struct ht_thread *t = thread_at(&segment, DEAD);

	model_require(slot[0] == 0 || slot[0] != slot[1], "each thread has a slot of its own");
	model_require(slot[1] == 0 || t->tid == DEAD, "a thread keeps its slot");
	model_require(t->tid != HT_NONE, "no slot is left out of reach");
	model_require(
		t->reallocs == 10u + (slot[0] != 0) + (slot[1] != 0), "a slot goes on counting");
}

/* ---- counters ---- */

#define SLOTS 3u

static struct counter_owner owner[SLOTS];
static uint64_t highest[2]; /* live bytes settled over the execution, of the program and the site */

static void begin_counters(void)
{
	highest[0] = highest[1] = 0;
	for (uint32_t i = 0; i < SLOTS; i++) {
		owner[i] = (struct counter_owner){ 0 };
		counter_own(&segment, &owner[i], i);
	}
}

/* The total is far below the peak, whose composition is tests/model/peak.c's. */
static void setup_counters(void)
{
	model_segment(&segment, 1, 1);
	segment.header->peak_state = segment.header->peak_least = 1 << 30;
}

static void raise(uint64_t *to, uint64_t live)
{
	if ((int64_t)live > (int64_t)*to)
		*to = live;
}

static void watch(void)
{
	raise(&highest[0], segment.header->live_bytes);
	raise(&highest[1], stack_site(&segment, 1)->live_bytes);
}

static void count(uint32_t in, uint64_t size, bool ends)
{
	struct counter_freed end = { .size = size, .life_ticks = 1, .temporary = true };

	counter_alloc(&segment, &owner[in], 1, size);
	if (ends)
		counter_free(&segment, &owner[in], 1, &end);
}

/* More than a share keeps to itself, so that it settles twice. */
static void count_0(void)
{
	count(1, 5000, true);
}

static void count_1(void)
{
	count(2, 12, false);
}

static void count_shared(void)
{
	count(0, 10, true);
	thread_add(0, &thread_at(&segment, 0)->failed, 1);
}

static const struct ht_hist *hist_of(const struct ht_counter *c)
{
	return segment_at(&segment,
		segment_element(&segment, HT_REGION_HISTS, c->hist, sizeof(struct ht_hist)));
}

/* Every counter in a chain is whole, and one of the site's. */
static void look_at_counters(void)
{
	uint32_t counter = ht_load_acquire_32(&stack_site(&segment, 1)->counters);

	for (; counter != 0; counter = counter_at(&segment, counter)->next) {
		uint64_t key = ht_load_relaxed_64(&counter_at(&segment, counter)->key);

		model_require(ht_counter_site(key) == 1 && ht_counter_slot(key) != 0 &&
				      ht_counter_slot(key) < SLOTS,
			"a counter that is found is whole");
	}
}

/* The numbers of slots 1 and 2: theirs alone, whatever the other does. */
static void end_counters(void)
{
	const struct ht_counter *c, *in[SLOTS] = { NULL };
	uint32_t counters = 0;

	for (uint32_t i = stack_site(&segment, 1)->counters; i != 0; i = c->next, counters++) {
		c = counter_at(&segment, i);
		in[ht_counter_slot(c->key)] = c;
	}
	model_require(counters == 2 && in[1] && in[2], "each slot has one counter");
	model_require(in[1]->allocs == 1 && in[1]->frees == 1 && in[1]->temporary == 1 &&
			      in[2]->allocs == 1 && in[2]->frees == 0,
		"no count is lost");
	model_require(
		in[1]->alloc_bytes == 5000 && in[1]->free_bytes == 5000 && in[2]->alloc_bytes == 12,
		"no bytes are lost");
	model_require(in[1]->hist == HT_HIST_FEW && ht_few(in[1]->few_lives, 1) == 1 &&
			      in[2]->hist == HT_HIST_FEW && in[2]->few_lives == 0,
		"the counters know the lifetimes themselves");
	model_require(thread_at(&segment, 1)->size[10].free_bytes == 5000 &&
			      thread_at(&segment, 2)->live_bytes == 12,
		"the slots' sums are right");
	model_require(segment.header->live_bytes == in[1]->share.settled + in[2]->share.settled &&
			      segment.header->live_bytes == 12,
		"what is settled is the sum of the shares");
	model_require(counter_batch_peak(&thread_at(&segment, 1)->share) == highest[0] ||
			      counter_batch_peak(&thread_at(&segment, 2)->share) == highest[0],
		"somebody has noted the highest");
}

static void end_shared(void)
{
	const struct ht_thread *t = thread_at(&segment, 0);
	const struct ht_site *site = stack_site(&segment, 1);
	const struct ht_counter *c = counter_at(&segment, site->shared);

	model_require(site->shared != 0 && site->counters == 0, "there is one shared counter");
	model_require(c->allocs == 2 && c->frees == 2 && c->temporary == 2 &&
			      c->alloc_bytes == 20 && c->free_bytes == 20,
		"the shared counter loses no count");
	model_require(hist_of(c)->size_allocs[1] == 2 && hist_of(c)->size_frees[1] == 2 &&
			      hist_of(c)->life[1] == 2,
		"its histogram loses no count");
	model_require(t->size[1].allocs == 2 && t->size[1].frees == 2 && t->temporary == 2 &&
			      t->size[1].alloc_bytes == 20 && t->failed == 2,
		"the shared slot loses no count");
	model_require(segment.header->live_bytes == 0 && site->live_bytes == 0,
		"the program's bytes are right");
	model_require(t->share.peak == highest[0] && c->share.peak == highest[1],
		"the peak is the highest there was");
}

/* ---- modules ---- */

static uint32_t module[MODEL_THREADS_MAX];

static void begin_modules(void)
{
	for (uint32_t i = 0; i < MODEL_THREADS_MAX; i++)
		module[i] = 0;
}

static void intern(uint32_t thread, uint64_t start)
{
	struct module_info m = { .start = start,
		.end = start + 1,
		.bias = start + 2,
		.path = start == 100 ? "/libs/a" : "/libs/b",
		.build_id = (const uint8_t *)"id",
		.build_id_bytes = 2 };

	module[thread] = module_intern(&segment, &m);
}

static void intern_a_0(void)
{
	intern(0, 100);
}

static void intern_a_1(void)
{
	intern(1, 100);
}

static void intern_b_1(void)
{
	intern(1, 200);
}

/* Claimed, and then its thread was left by a signal handler. */
static void setup_module_left(void)
{
	struct ht_module *m;
	uint64_t key;

	setup_counters();
	intern_a_0();
	m = module_at(&segment, 1);
	key = m->key;
	*m = (struct ht_module){ .key = key, .start = 100 };
	segment.header->modules = 1;
}

static void look_at_module(void)
{
	const struct ht_module *m = module_at(&segment, 1);
	uint64_t start;
	uint32_t path;

	if (!(ht_load_acquire_32(&m->flags) & HT_MODULE_READY))
		return;
	start = ht_load_relaxed_64(&m->start);
	path = ht_load_relaxed_32(&m->path);
	model_require(ht_load_relaxed_64(&m->end) == start + 1 &&
			      ht_load_relaxed_64(&m->bias) == start + 2 && path != 0 &&
			      ht_load_relaxed_32(&m->path_bytes) == 7 &&
			      ht_load_relaxed_32(&m->build_id_bytes) == 2,
		"a module that is ready is whole");
	model_require(((const char *)segment_at(&segment,
			      segment.header->region[HT_REGION_STRINGS].offset + path))[6] ==
			      (start == 100 ? 'a' : 'b'),
		"a module that is ready has its path");
}

static void end_same_module(void)
{
	model_require(module[0] == 1 && module[1] == 1, "a module has one index");
	model_require(segment.header->modules == 2, "modules are counted");
	model_require(module_at(&segment, 1)->flags & HT_MODULE_READY, "it is ready at the end");
	look_at_module();
}

static void end_two_modules(void)
{
	model_require(module[0] + module[1] == 3 && module[0] && module[1],
		"different modules have different indices");
	model_require(segment.header->modules == 3, "modules are counted");
	model_require(module_at(&segment, module[0])->start == 100 &&
			      module_at(&segment, module[1])->start == 200,
		"an index is that of its module");
	model_require(module_at(&segment, 1)->path != module_at(&segment, 2)->path,
		"paths do not overlap");
}

/* ---- history: at time t there are t + 1 live bytes ---- */

static struct ht_history *history(void)
{
	return &segment.header->history;
}

static void note(uint32_t who, uint64_t at)
{
	history_note(&segment, who, at, at + 1);
}

static void setup_history(void)
{
	model_segment(&segment, 1, 1);
	for (uint64_t i = 0; i < HT_HISTORY_POINTS; i++)
		note(1, i);
}

/* Slot 1 was merging when a handler left it: all points are in their new place, but that is not
 * said yet. */
static void setup_history_left(void)
{
	struct ht_history *h;

	setup_history();
	h = history();
	h->writer = 2ull << 48;
	h->sequence++;
	h->merging = HT_HISTORY_POINTS;
	h->merged_step_ns = 2;
	for (uint32_t i = 0; i < HT_HISTORY_POINTS / 2; i++)
		h->point[i] = h->point[2 * i + 1];
	h->merged = HT_HISTORY_POINTS / 2;
}

static void note_and_merge(void)
{
	note(1, HT_HISTORY_POINTS);
}

static void note_later(void)
{
	note(2, HT_HISTORY_POINTS + 1);
}

/* What a point can be, if it and the step belong together. */
static bool is_point(uint64_t point, uint64_t i, uint64_t step)
{
	return point > i * step && point <= (i + 1) * step;
}

static void look_at_history(void)
{
	const struct ht_history *h = history();
	uint64_t before = ht_load_acquire_64(&h->sequence), step, point[HT_HISTORY_POINTS];
	uint32_t points;

	points = ht_load_acquire_32(&h->points);
	step = ht_load_relaxed_64(&h->step_ns);
	for (uint32_t i = 0; i < HT_HISTORY_POINTS; i++)
		point[i] = ht_load_relaxed_64(&h->point[i]);
	ht_fence_acquire();
	if (before % 2 || ht_load_relaxed_64(&h->sequence) != before)
		return;
	model_require(points <= HT_HISTORY_POINTS, "points are in range");
	for (uint32_t i = 0; i < points; i++)
		model_require(is_point(point[i], i, step), "points and step belong together");
}

static void end_history(void)
{
	const struct ht_history *h = history();

	model_require(h->writer == 0 && h->sequence % 2 == 0, "nobody is left writing");
	model_require(h->step_ns == 2 && h->points == 3, "a merge happens once");
	look_at_history();
}

static const struct model_scenario scenarios[] = {
	{ .name = "two threads want a slot",
		.setup = setup_slots,
		.begin = begin_slots,
		.thread = { claim_0, claim_1 },
		.end = end_fresh_slots,
		.deviations = 5 },
	{ .name = "two threads want a dead one's slot",
		.setup = setup_slots_taken,
		.begin = begin_slots,
		.thread = { claim_0, claim_1 },
		.end = end_dead_slot,
		.deviations = 4 },
	{ .name = "a thread gets a dead one's id during a sweep",
		.setup = setup_slots_taken,
		.begin = begin_slots,
		.thread = { claim_0, be_reborn },
		.end = end_reborn,
		.deviations = 4 },
	{ .name = "two threads count at one site",
		.setup = setup_counters,
		.begin = begin_counters,
		.thread = { count_0, count_1, look_at_counters },
		.invariant = watch,
		.end = end_counters,
		.deviations = 3 },
	{ .name = "two threads count in the shared slot",
		.setup = setup_counters,
		.begin = begin_counters,
		.thread = { count_shared, count_shared },
		.invariant = watch,
		.end = end_shared,
		.deviations = 3 },
	{ .name = "two threads meet the same module",
		.setup = setup_counters,
		.begin = begin_modules,
		.thread = { intern_a_0, intern_a_1, look_at_module },
		.end = end_same_module,
		.deviations = 3 },
	{ .name = "two threads meet different modules",
		.setup = setup_counters,
		.begin = begin_modules,
		.thread = { intern_a_0, intern_b_1, look_at_module },
		.end = end_two_modules,
		.deviations = 3 },
	{ .name = "two threads meet a module whose claim was left",
		.setup = setup_module_left,
		.begin = begin_modules,
		.thread = { intern_a_0, intern_a_1, look_at_module },
		.end = end_same_module,
		.deviations = 3 },
	{ .name = "a merge of the history was left",
		.setup = setup_history_left,
		.thread = { note_and_merge, note_later, look_at_history },
		.end = end_history,
		.deviations = 4 },
	{ .name = "the history is read while points merge",
		.setup = setup_history,
		.thread = { note_and_merge, note_later, look_at_history },
		.end = end_history,
		.deviations = 4 },
};

int main(void)
{
	return model_run(scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
