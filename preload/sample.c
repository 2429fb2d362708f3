/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sampling inside the program (sample.h). This is the slow path: it runs once for each recorded
 * block, and after a viewer's switch.
 *
 * `applied` is the rate that the process last switched to; the thread that changes it by
 * compare-and-swap records the switch. The mode bytes (next_mode, own->on) follow from it, and only
 * select the path tried first: a thread that sees an old one for a while records more than it must,
 * or reads the header's word and corrects it.
 *
 * Edge MODE: next_mode is NEXT_SAMPLED from the start or never. A thread that records exactly has
 * seen another mode, or set it, before; so no thread can get an exactly recorded block and let its
 * free bypass by counts of sampled blocks alone.
 *
 * Frees that bypass recording are not checked for the loader's (modules.h), so their generation
 * proves nothing: it is advanced before each sampled block's stack is taken, and once more when the
 * bypass has ended. That comes after the mode bytes, so that a free which still bypassed had
 * unloaded before.
 */
#include "preload/sample.h"

#include <string.h>
#include <sys/auxv.h>

#include "preload/bulk.h"
#include "preload/clock.h"
#include "preload/coop.h"
#include "preload/environment.h"
#include "preload/ignored.h"
#include "preload/modules.h"
#include "preload/recorder.h"
#include "preload/signals.h"
#include "preload/unwind.h"

#define TIMED_EVERY   64u /* two readings of the clock then cost a nanosecond an event */
#define TIMED_MOST_NS UINT64_C(50000) /* more was a preemption, not recording */
#define PAGE_BYTES    4096u
#define PAGE_HELD     255u /* permanent: the count does not return from here */

BULK uint8_t sample_held[SAMPLE_PAGES];

static uint64_t applied; /* as of the last applied switch */
static uint64_t draws; /* counter of poisson_mix */

/* ---- pages ---- */

/* Blocks of the bootstrap arena must not go to the next allocator: all their frees are checked. */
static void arena_hold(void)
{
	uintptr_t first = (uintptr_t)next_arena / PAGE_BYTES;
	uintptr_t last = ((uintptr_t)next_arena + NEXT_ARENA_BYTES - 1) / PAGE_BYTES;

	for (uintptr_t page = first; page <= last; page++)
		ht_store_relaxed_8(sample_page((const void *)(page * PAGE_BYTES)), PAGE_HELD);
}

/* Adds `delta`, unless the page is held permanently. */
static void page_count(uint64_t addr, int delta)
{
	uint8_t *page = sample_page((const void *)(uintptr_t)addr);
	uint8_t now = ht_load_relaxed_8(page);

	while (now != PAGE_HELD && !ht_cas_relaxed_8(page, &now, (uint8_t)(now + delta)))
		;
}

void sample_hold(uint64_t addr)
{
	page_count(addr, 1);
}

void sample_release(uint64_t addr)
{
	page_count(addr, -1);
}

/* ---- gaps ---- */

static bool is_sampling(const struct state_thread *t)
{
	return t->rate_seen != SAMPLE_NEVER && t->rate_seen != 0;
}

static uint32_t rate_log2(uint64_t bytes)
{
	return (uint32_t)__builtin_ctzll(bytes);
}

void sample_redraw(void)
{
	struct state_thread *t = &state_thread;
	uint64_t left = 0;

	if (is_sampling(t))
		left = poisson_gap(poisson_mix(ht_add_relaxed_64(&draws, POISSON_STEP)),
			rate_log2(t->rate_seen));
	ht_store_relaxed_64(&t->gap_left, left);
}

/* A test sets the seed; otherwise it comes from the kernel's random bytes, which stay secret. */
static uint64_t seed(void)
{
	const char *given = environment_variable("HEAPTOP_SEED");
	const uint64_t *random = (const uint64_t *)getauxval(AT_RANDOM);
	uint64_t value = 0;

	if (!given)
		return poisson_mix((random ? random[0] : 0) ^ clock_monotonic());
	while (*given >= '0' && *given <= '9')
		value = value * 10 + (uint64_t)(*given++ - '0');
	return poisson_mix(value);
}

/* ---- switching ---- */

bool sample_was_on(void)
{
	return ht_load_relaxed_64(&state_segment.header->sample_most) != 0;
}

/* The requested rate; an invalid one means exact. */
static uint64_t wanted_bytes(void)
{
	uint64_t bytes = ht_load_relaxed_64(&state_segment.header->sample_bytes);

	return poisson_is_rate(bytes) ? bytes : 0;
}

static void mark(uint64_t bytes)
{
	struct ht_header *h = state_segment.header;
	struct ht_rate_change *m =
		&h->rate_change[ht_add_relaxed_32(&h->rate_changes, 1) % HT_RATE_CHANGES];
	uint64_t most = ht_load_relaxed_64(&h->sample_most);

	while (bytes > most && !ht_cas_relaxed_64(&h->sample_most, &most, bytes))
		;
	ht_store_relaxed_64(&m->ns, 0); /* readers skip it until it is complete */
	ht_store_release_64(&m->sample_bytes, bytes); /* RATE */
	ht_store_release_64(&m->ns, clock_monotonic()); /* RATE */
}

/* Selects the path that hooks and recorder try first. */
static void modes_set(uint64_t bytes)
{
	uint8_t exact = NEXT_EXACT;

	state_set_mode(bytes || unwind_checks() ? OWN_SLOW : OWN_FAST);
	if (bytes)
		(void)ht_cas_acq_rel_8(&next_mode, &exact, NEXT_MIXED); /* MODE, NEXT */
	else
		ht_store_release_8(&next_mode, NEXT_EXACT); /* MODE, NEXT */
}

/* Whether this thread has not applied the latest switch. */
static bool is_outdated(const struct state_thread *t)
{
	uint64_t bytes = ht_load_relaxed_64(&state_segment.header->sample_bytes);

	return bytes != (t->rate_seen == SAMPLE_NEVER ? 0 : t->rate_seen) ||
	       (bytes == 0) != (ht_load_acquire_8(&next_mode) == NEXT_EXACT); /* MODE */
}

/* Applies the requested rate, for the process and for this thread. Signals are blocked: the thread
 * that has changed `applied` must record the switch. */
static void apply_switch(void)
{
	struct state_thread *t = &state_thread;
	uint64_t bytes = wanted_bytes(), before = ht_load_relaxed_64(&applied);
	uint64_t signals = signals_block();

	if (bytes != before) {
		arena_hold();
		if (ht_cas_relaxed_64(&applied, &before, bytes))
			mark(bytes);
	}
	modes_set(bytes);
	modules_invalidate();
	t->rate_seen = bytes ? bytes : SAMPLE_NEVER;
	sample_redraw();
	signals_restore(signals);
}

bool sample_start(void)
{
	uint64_t bytes = wanted_bytes();

	draws = seed();
	if (bytes) {
		arena_hold();
		applied = bytes;
		mark(bytes);
		ht_store_release_8(&next_mode, NEXT_SAMPLED); /* MODE, NEXT */
	}
	return bytes != 0;
}

void sample_detach(void)
{
	memset(sample_held, 0, sizeof(sample_held));
	applied = 0;
	ht_store_release_8(&next_mode, NEXT_EXACT); /* MODE, NEXT */
}

/* The counts of the parent's blocks do not apply: their frees are those of unknown blocks. */
bool sample_forked(void)
{
	struct state_thread *t = &state_thread;

	if (!next_is_exact())
		memset(sample_held, 0, sizeof(sample_held));
	applied = 0;
	t->gap_left = t->rate_seen = 0;
	ht_store_release_8(&next_mode, NEXT_EXACT); /* MODE, NEXT */
	return sample_start();
}

/* ---- taking ---- */

bool sample_takes(uint64_t size, uint32_t *log2)
{
	struct state_thread *t = &state_thread;
	uint64_t left;

	if (is_outdated(t))
		apply_switch();
	*log2 = 0;
	if (!is_sampling(t))
		return true;
	left = ht_load_relaxed_64(&t->gap_left);
	if (size < left) {
		ht_store_relaxed_64(&t->gap_left, left - size - 1);
		return false;
	}
	sample_redraw();
	modules_invalidate();
	*log2 = rate_log2(t->rate_seen);
	return true;
}

/* ---- measuring ---- */

void sample_serve(struct recorder *r)
{
	struct state_thread *t = &state_thread;

	if (ht_load_relaxed_32(&state_segment.header->coop_ask) != HT_COOP_NOTHING)
		coop_serve();
	if (ignored_is_outdated(r))
		ignored_serve(r);
	if (is_outdated(t)) {
		apply_switch();
	} else if (!is_sampling(t) && ht_load_relaxed_32(&state_segment.header->measure) != 0) {
		/* The number of events until the clock is read again. */
		r->until_timed += r->clock_interval;
		if (r->until_timed >= TIMED_EVERY && t->recorder == r) {
			r->until_timed = 0;
			recorder_set_aside(r);
		}
	}
}

/* In sampling mode all recorded events come through here, and are counted here. */
static bool is_timed(struct state_thread *t)
{
	if (t->timed) {
		recorder_take_back();
		return true;
	}
	return is_sampling(t) && ht_load_relaxed_32(&state_segment.header->measure) != 0 &&
	       ++t->until_timed % TIMED_EVERY == 0;
}

uint64_t sample_time_begin(void)
{
	uint64_t before, begin;

	if (!is_timed(&state_thread))
		return 0;
	before = clock_monotonic();
	begin = clock_monotonic();
	/* Excludes the cost of reading the clock. */
	return begin + (begin - before);
}

void sample_time_end(uint64_t begin, bool recorded)
{
	struct ht_header *h = state_segment.header;
	uint64_t now, took;

	if (begin == 0)
		return;
	now = clock_monotonic();
	took = now > begin ? now - begin : 0;
	ht_add_relaxed_64(&h->timed_ns, took < TIMED_MOST_NS ? took : TIMED_MOST_NS);
	ht_add_relaxed_64(&h->timed_events, recorded);
}
