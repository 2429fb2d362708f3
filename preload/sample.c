/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sampling mode inside the program (sample.h). What is here is the long way: it runs once for each
 * recorded block, and when a viewer switched.
 *
 * `acted` is the word that the process last acted on; whoever moves it by compare-and-swap leaves
 * the mark. The mode bytes (next_mode, own->on) follow from it, and only say which way is tried
 * first: a thread that sees an old one for a while records more than it must, or looks at the word
 * and finds out.
 *
 * Frees that pass are not looked at for the loader's (modules.h), so nothing is proved by their
 * generation: it moves before each sampled block's stack is taken, and once more when passing has
 * ended. That comes after the mode bytes, so that a free which still passed had unloaded before.
 *
 * Edge FILTER: the counts of held pages are closed (all pages held, for good) before anything is
 * recorded exactly, so that no thread can be given an exactly recorded block and see open counts.
 */
#include "preload/sample.h"

#include <string.h>
#include <sys/auxv.h>

#include "preload/attach.h"
#include "preload/clock.h"
#include "preload/modules.h"

#define MEASURE_EVERY	64u /* two looks at the clock then cost a nanosecond an event */
#define MEASURE_MOST_NS UINT64_C(50000) /* more was a preemption, not recording */
#define PAGE_BYTES	4096u
#define PAGE_HELD	255u /* for good: the count does not come back from here */

uint8_t sample_held[SAMPLE_PAGES];

static uint64_t acted; /* header.sample_bytes as of the last switch that took effect */
static uint32_t is_closed; /* the counts of held pages */
static uint64_t draws; /* counter of poisson_mix */

/* ---- pages ---- */

/* Every page that has a byte of [first, first + bytes). */
static void pages_hold(uintptr_t first, uintptr_t bytes)
{
	for (uintptr_t page = first / PAGE_BYTES; page <= (first + bytes - 1) / PAGE_BYTES; page++)
		ht_store_relaxed_8(sample_page((const void *)(page * PAGE_BYTES)), PAGE_HELD);
}

static void pages_close(void)
{
	if (ht_load_acquire_32(&is_closed)) /* FILTER */
		return;
	pages_hold(0, (uintptr_t)SAMPLE_PAGES * PAGE_BYTES);
	ht_store_release_32(&is_closed, 1); /* FILTER */
}

/* Counts by `delta`, unless the page is held for good. */
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
	return t->seen != SAMPLE_NEVER && t->seen != 0;
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
		left = poisson_gap(
			poisson_mix(ht_add_relaxed_64(&draws, POISSON_STEP)), rate_log2(t->seen));
	ht_store_relaxed_64(&t->left, left);
}

/* A test gives the seed; else what the kernel gave the process at its start, which stays secret. */
static uint64_t seed(void)
{
	const char *given = attach_variable("HEAPTOP_SEED");
	const uint64_t *random = (const uint64_t *)getauxval(AT_RANDOM);
	uint64_t value = 0;

	if (!given)
		return poisson_mix((random ? random[0] : 0) ^ clock_monotonic());
	while (*given >= '0' && *given <= '9')
		value = value * 10 + (uint64_t)(*given++ - '0');
	return poisson_mix(value);
}

/* ---- switching ---- */

bool sample_ever(void)
{
	return ht_load_relaxed_64(&state_segment.header->sample_most) != 0;
}

/* What the word asks for; nonsense asks for nothing. */
static uint64_t wanted_bytes(void)
{
	uint64_t bytes = ht_load_relaxed_64(&state_segment.header->sample_bytes);

	return poisson_is_rate(bytes) ? bytes : 0;
}

static void mark(uint64_t bytes)
{
	struct ht_header *h = state_segment.header;
	struct ht_mark *m = &h->mark[ht_add_relaxed_32(&h->marks, 1) % HT_MARKS];
	uint64_t most = ht_load_relaxed_64(&h->sample_most);

	while (bytes > most && !ht_cas_relaxed_64(&h->sample_most, &most, bytes))
		;
	ht_store_relaxed_64(&m->ns, 0); /* readers pass over it until it is whole */
	ht_store_release_64(&m->sample_bytes, bytes);
	ht_store_release_64(&m->ns, clock_monotonic());
}

/* Which way hooks and recorder try first. */
static void modes_set(uint64_t bytes)
{
	bool measures = ht_load_relaxed_32(&state_segment.header->measure) != 0;

	state_way(bytes || measures ? OWN_LONG : OWN_SHORT);
	ht_store_release_8(&next_mode, bytes ? NEXT_SAMPLED : NEXT_EXACT); /* FILTER */
}

/* Acts on the word, for the process and for this thread. */
void sample_look(void)
{
	struct state_thread *t = &state_thread;
	uint64_t bytes = wanted_bytes(), before = ht_load_acquire_64(&acted); /* FILTER */

	if (bytes != before) {
		pages_close();
		if (ht_cas_acq_rel_64(&acted, &before, bytes)) /* FILTER */
			mark(bytes);
	}
	modes_set(bytes);
	modules_doubt();
	t->seen = bytes ? bytes : SAMPLE_NEVER;
	sample_redraw();
}

void sample_start(void)
{
	uint64_t bytes = wanted_bytes();

	draws = seed();
	if (bytes) {
		/* Blocks of the bootstrap arena go nowhere, so their frees are all looked at. */
		pages_hold((uintptr_t)next_arena, NEXT_ARENA_BYTES);
		acted = bytes;
		mark(bytes);
	}
}

/* ---- taking ---- */

/* Whether there is something to act on. */
static bool is_behind(const struct state_thread *t)
{
	const struct ht_header *h = state_segment.header;
	uint64_t bytes = ht_load_relaxed_64(&h->sample_bytes);

	/* Exact, and here only to be measured. */
	if (bytes == 0 && t->seen == SAMPLE_NEVER)
		return ht_load_relaxed_32(&h->measure) == 0;
	return bytes != t->seen;
}

bool sample_takes(uint64_t size, uint32_t *log2)
{
	struct state_thread *t = &state_thread;
	uint64_t left;

	if (is_behind(t))
		sample_look();
	*log2 = 0;
	if (!is_sampling(t))
		return true;
	left = ht_load_relaxed_64(&t->left);
	if (size < left) {
		ht_store_relaxed_64(&t->left, left - size - 1);
		return false;
	}
	sample_redraw();
	modules_doubt();
	*log2 = rate_log2(t->seen);
	return true;
}

/* ---- measuring ---- */

uint64_t sample_measure_begin(void)
{
	struct state_thread *t = &state_thread;
	uint64_t before, begin;

	if (!ht_load_relaxed_32(&state_segment.header->measure) ||
		++t->until_measured % MEASURE_EVERY != 0)
		return 0;
	before = clock_monotonic();
	begin = clock_monotonic();
	/* What a look itself takes is left out. */
	return begin + (begin - before);
}

void sample_measure_end(uint64_t begin, bool recorded)
{
	struct ht_header *h = state_segment.header;
	uint64_t now, took;

	if (begin == 0)
		return;
	now = clock_monotonic();
	took = now > begin ? now - begin : 0;
	ht_add_relaxed_64(&h->timed_ns, took < MEASURE_MOST_NS ? took : MEASURE_MOST_NS);
	ht_add_relaxed_64(&h->timed_events, recorded);
}
