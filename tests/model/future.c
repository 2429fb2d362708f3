/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads of values that are still to be stored (load buffering), which ARM allows: a relaxed load
 * may be done after later accesses of its thread. Which values those can be is learned from
 * executions that are the same up to the load: what other threads store to the word afterwards
 * without having learned of the load. In an execution with such a guess
 *
 *   - another thread must store it, without having learned of the load by release and acquire, nor
 *     seen a store that the guess may have decided: one that the thread makes only with it. Or the
 *     execution proves nothing, and is dropped;
 *   - until then the thread neither accesses the word again nor passes an acquire fence, by which
 * the load is done;
 *   - nor does a thread that has learned of the load by release and acquire access the word: it
 * would have to see that store, or a later one.
 *
 * The loads of changes of a value (exchange, addition) always see the newest one.
 */
#include <string.h>

#include "tests/model/engine.h"

#define LOADS_MAX   2048u /* of an execution that may see the future; further ones do not */
#define GUESSES_MAX 8u

struct load {
	uint32_t decision, clock;
	uint64_t guess;
	uint16_t word;
	uint8_t thread, bit; /* bit: of the guess; 0: it was an ordinary load */
	bool open;
};

static struct load loads[LOADS_MAX];
static uint32_t load_count, pending;
static struct {
	uint16_t word,
		number; /* number: of the store that was guessed; 0: it is still to be made */
} guess_of[GUESSES_MAX];
static unsigned guesses;

void future_begin(void)
{
	load_count = pending = guesses = 0;
}

bool future_is_pending(void)
{
	return pending > 0;
}

static struct load *load_add(uint32_t decision, uint16_t word, uint32_t clock)
{
	struct load *l;

	if (load_count == LOADS_MAX)
		return NULL;
	l = &loads[load_count++];
	*l = (struct load){ .decision = decision,
		.clock = clock,
		.word = word,
		.thread = (uint8_t)engine_thread,
		.open = true };
	return l;
}

void future_loaded(uint32_t decision, uint16_t word, uint32_t clock)
{
	load_add(decision, word, clock);
}

void future_guessed(uint32_t decision, uint16_t word, uint32_t clock, uint64_t guess)
{
	struct load *l = guesses < GUESSES_MAX ? load_add(decision, word, clock) : NULL;

	if (!l)
		engine_drop();
	l->guess = guess;
	l->bit = (uint8_t)(1u << guesses);
	guess_of[guesses].word = word;
	guess_of[guesses++].number = 0;
	pending++;
}

uint8_t future_guesses(void)
{
	uint8_t bits = 0;

	for (uint32_t i = 0; i < load_count; i++)
		if (loads[i].open && loads[i].thread == engine_thread)
			bits |= loads[i].bit;
	return bits;
}

uint16_t future_number(unsigned bit, uint16_t *word)
{
	*word = guess_of[bit].word;
	return guess_of[bit].number;
}

/* The thread cannot go on without having done the load. */
static void load_done(struct load *l)
{
	if (l->bit)
		engine_drop();
	l->open = false;
}

void future_accessed(uint16_t word, uint8_t learned)
{
	for (unsigned i = 0; i < guesses; i++)
		if (learned >> i & 1 && guess_of[i].word == word && guess_of[i].number == 0)
			engine_drop();
	for (uint32_t i = 0; i < load_count; i++)
		if (loads[i].open && loads[i].thread == engine_thread && loads[i].word == word)
			load_done(&loads[i]);
}

void future_fenced(void)
{
	for (uint32_t i = 0; i < load_count; i++)
		if (loads[i].open && loads[i].thread == engine_thread)
			load_done(&loads[i]);
}

uint8_t future_decided(uint16_t word, uint64_t value)
{
	uint8_t bits = 0;

	for (uint32_t i = 0; i < load_count; i++) {
		const struct load *l = &loads[i];

		if (!l->open || l->thread != engine_thread)
			continue;
		if (!l->bit)
			engine_own_add(l->decision, word, value);
		else if (!engine_own_has(l->decision, word, value))
			bits |= l->bit;
	}
	return bits;
}

void future_stored(
	uint16_t word, uint64_t value, uint16_t number, const uint32_t *clock, uint8_t decided)
{
	for (uint32_t i = 0; i < load_count; i++) {
		struct load *l = &loads[i];

		if (!l->open || l->thread == engine_thread || l->word != word ||
			l->clock <= clock[l->thread])
			continue;
		if (!l->bit) {
			engine_future_add(l->decision, value);
		} else if (l->guess == value && !(decided & l->bit)) {
			l->open = false;
			pending--;
			guess_of[__builtin_ctz(l->bit)].number = number;
			memory_fulfil(l->thread, word);
		}
	}
}
