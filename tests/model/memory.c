/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The checked memory: what a load may see, and which accesses race (model.h tells the rules).
 * Memory itself always holds the newest values; older ones are kept in the words' histories.
 * Everything an execution wrote is undone at its end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/model/engine.h"

#define ARENA_BYTES (25u * HT_COMMIT_BYTES)
#define CELL	    ENGINE_CELL
#define CELLS	    (ARENA_BYTES / CELL)
#define WORDS_MAX   256u /* words that threads store to by atomic accesses */
#define STORES_MAX  8192u /* in one execution */

/* What a thread knows: of each word the oldest value it may see, of each thread how far it got. */
struct view {
	uint16_t oldest[WORDS_MAX];
	uint32_t clock[MODEL_THREADS_MAX];
	uint8_t guesses; /* loads of what was still to be stored (future.c), a bit each */
};

struct store {
	struct view view; /* what one learns who acquires this value */
	uint64_t value;
	uint32_t before; /* the word's store before this one */
	uint8_t decided; /* by these guesses, perhaps (future.c) */
	uint16_t number; /* of the word's stores, from 1 */
};

/* A word with atomic stores. Store 0 of each execution is what the setup left. */
struct word {
	uint64_t initial;
	uint32_t newest; /* index in stores, 0: none in this execution */
};

/* Clocks of the last accesses to a cell, per thread; 0: none. */
struct race {
	uint32_t plain_write[MODEL_THREADS_MAX], plain_read[MODEL_THREADS_MAX];
	uint32_t atomic_write[MODEL_THREADS_MAX], atomic_read[MODEL_THREADS_MAX];
};

struct cell {
	uint16_t word[CELL]; /* that begin at each of its bytes; 0: none */
	uint32_t saved; /* value before the execution, when `touched` */
	uint8_t written, touched, owned, one_writer, contended;
	uint8_t readers, writers; /* threads, in all executions */
	struct race race;
};

struct thread {
	struct view now; /* what it knows */
	struct view seen; /* what an acquire fence would add */
	struct view fenced; /* what it knew at its last release fence */
	uint8_t decided; /* by these guesses of others, which its loads have seen */
};

static char *arena;
static size_t arena_used;
static struct cell cells[CELLS];
static uint32_t touched[CELLS], touched_count;
static struct word words[WORDS_MAX];
static uint32_t word_count = 1;
static struct store stores[STORES_MAX];
static uint32_t store_count;
static struct thread threads[MODEL_THREADS_MAX];
static bool learned;
static uint64_t accesses;

static bool is_checked(const void *at)
{
	return engine_thread != ENGINE_NOBODY && (uintptr_t)at - (uintptr_t)arena < ARENA_BYTES;
}

static struct cell *cell_at(const void *at)
{
	return &cells[((uintptr_t)at - (uintptr_t)arena) / CELL];
}

/* How many cells an access of `size` bytes covers. */
static size_t cells_of(const void *at, size_t size)
{
	return size ? (size_t)(cell_at((const char *)at + size - 1) - cell_at(at)) + 1 : 0;
}

static struct thread *self(void)
{
	return &threads[engine_thread];
}

/* Who learns of a load that saw the future sees that store, too. */
static void guesses_join(struct view *to, uint8_t guesses)
{
	to->guesses |= guesses;
	for (unsigned i = 0; to->guesses >> i; i++) {
		uint16_t word, number;

		if (!(to->guesses >> i & 1))
			continue;
		number = future_number(i, &word);
		if (number > to->oldest[word])
			to->oldest[word] = number;
	}
}

static void view_join(struct view *to, const struct view *from)
{
	guesses_join(to, from->guesses);
	for (uint32_t i = 0; i < word_count; i++)
		if (from->oldest[i] > to->oldest[i])
			to->oldest[i] = from->oldest[i];
	for (uint32_t i = 0; i < MODEL_THREADS_MAX; i++)
		if (from->clock[i] > to->clock[i])
			to->clock[i] = from->clock[i];
}

static void view_copy(struct view *to, const struct view *from)
{
	to->guesses = from->guesses;
	for (uint32_t i = 0; i < word_count; i++)
		to->oldest[i] = from->oldest[i];
	for (uint32_t i = 0; i < MODEL_THREADS_MAX; i++)
		to->clock[i] = from->clock[i];
}

/* ---- undoing ---- */

static void cell_touch(struct cell *c)
{
	if (c->touched)
		return;
	c->touched = 1;
	touched[touched_count++] = (uint32_t)(c - cells);
}

static void cell_save(struct cell *c)
{
	cell_touch(c);
	if (c->written)
		return;
	c->written = 1;
	memcpy(&c->saved, arena + (size_t)(c - cells) * CELL, CELL);
}

static void cell_restore(struct cell *c)
{
	if (c->written)
		memcpy(arena + (size_t)(c - cells) * CELL, &c->saved, CELL);
	for (unsigned i = 0; i < CELL; i++)
		words[c->word[i]].newest = 0;
	c->written = c->touched = 0;
	memset(&c->race, 0, sizeof(c->race));
}

/* ---- races ---- */

/* Whether all accesses of other threads in `clocks` happened before now. */
static bool is_ordered(const uint32_t *clocks)
{
	for (uint32_t i = 0; i < MODEL_THREADS_MAX; i++)
		if (i != engine_thread && clocks[i] > self()->now.clock[i])
			return false;
	return true;
}

static void race_check(const uint32_t *clocks, const char *property)
{
	if (!is_ordered(clocks))
		engine_violation(property);
}

static void race_note(struct cell *c, bool write, bool plain)
{
	struct race *r = &c->race;
	uint32_t *clocks = write ? (plain ? r->plain_write : r->atomic_write)
				 : (plain ? r->plain_read : r->atomic_read);

	cell_touch(c);
	race_check(r->plain_write, "no access races with a plain write");
	if (plain)
		race_check(r->atomic_write, "no plain access races with a store");
	if (write)
		race_check(r->plain_read, "no write races with a plain read");
	if (write && plain)
		race_check(r->atomic_read, "no plain write races with a load");
	clocks[engine_thread] = self()->now.clock[engine_thread];
}

/* Learns which words threads race for: those are where the search may switch. */
static void contention_note(struct cell *c, bool write)
{
	uint8_t bit = (uint8_t)(1u << engine_thread);

	c->readers |= bit;
	if (write)
		c->writers |= bit;
	if (!c->contended && c->writers && (c->readers & (c->readers - 1)))
		learned = true;
}

static void access_note(const void *at, size_t size, bool write, bool plain)
{
	struct cell *c = cell_at(at);

	accesses++;
	for (size_t i = 0; i < cells_of(at, size); i++) {
		if (c[i].one_writer && write)
			race_check(c[i].race.atomic_write, "no two stores race");
		if (c[i].owned && !plain && engine_is_observer())
			continue;
		race_note(&c[i], write, plain || c[i].owned);
	}
}

static void before_access(const void *at)
{
	if (cell_at(at)->contended)
		engine_yield();
}

/* ---- plain memory ---- */

static uint64_t raw_load(const void *at, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size);
	return value;
}

static void raw_store(void *at, size_t size, uint64_t value)
{
	for (size_t i = 0; i < cells_of(at, size); i++)
		cell_save(cell_at(at) + i);
	memcpy(at, &value, size);
}

static void trace(const char *what, const void *at, uint64_t value, unsigned order)
{
	static const char *const orders[] = { "relaxed", "acquire", "release", "acq_rel" };

	if (engine_tracing())
		fprintf(stderr, "  thread %u: %-5s %-7s +0x%zx = 0x%llx\n", engine_thread, what,
			orders[order], (size_t)((const char *)at - arena),
			(unsigned long long)value);
}

void memory_plain_read(const void *at, size_t size)
{
	if (is_checked(at))
		access_note(at, size, false, true);
}

void memory_plain_write(void *at, size_t size)
{
	if (!is_checked(at))
		return;
	access_note(at, size, true, true);
	for (size_t i = 0; i < cells_of(at, size); i++)
		cell_save(cell_at(at) + i);
}

/* ---- atomic accesses ---- */

/* The number of the word at an address, which may have none: 0. */
static uint16_t *word_number(const void *at)
{
	return &cell_at(at)->word[(uintptr_t)at % CELL];
}

static struct word *word_at(const void *at)
{
	uint16_t *number = word_number(at);

	if (!*number) {
		if (word_count == WORDS_MAX)
			abort();
		*number = (uint16_t)word_count++;
	}
	cell_touch(cell_at(at));
	return &words[*number];
}

static void learn(const struct store *s, unsigned order)
{
	self()->decided |= s->decided;
	view_join(order & ENGINE_ACQUIRE ? &self()->now : &self()->seen, &s->view);
}

/* The values that a load may see: the newest, and older ones. */
static unsigned values_of(const struct word *w, uint32_t id)
{
	unsigned newest = w->newest ? stores[w->newest].number : 0;

	return newest - self()->now.oldest[id] + 1;
}

/* The value of a load, `back` stores before the newest. */
static uint64_t value_take(const struct word *w, uint32_t id, const void *at_word, size_t size,
	unsigned back, unsigned order)
{
	unsigned newest = w->newest ? stores[w->newest].number : 0;
	uint32_t at = w->newest;

	if (!w->newest)
		return raw_load(at_word, size);
	self()->now.oldest[id] = (uint16_t)(newest - back);
	while (back-- > 0 && at != 0)
		at = stores[at].before;
	if (at == 0)
		return w->initial;
	learn(&stores[at], order);
	return stores[at].value;
}

/* A relaxed load of a word that others store to: perhaps of what is still to be stored. */
static uint64_t value_guess(const void *at, size_t size)
{
	const struct word *w = word_at(at);
	uint16_t id = *word_number(at);
	uint32_t decision, clock = self()->now.clock[engine_thread];
	unsigned plain = values_of(w, id), taken;
	uint64_t guess;

	taken = engine_choose_load(plain, &decision, &guess);
	if (taken >= plain) {
		future_guessed(decision, id, clock, guess);
		self()->now.guesses |= future_guesses();
		return guess;
	}
	if (decision != ENGINE_NOBODY)
		future_loaded(decision, id, clock);
	return value_take(w, id, at, size, taken, ENGINE_RELAXED);
}

static uint64_t value_choose(const void *at, size_t size, unsigned order)
{
	uint16_t id = *word_number(at);
	unsigned plain = id ? values_of(&words[id], id) : 1;
	unsigned back = plain > 1 ? engine_choose(plain, true) : 0;

	return value_take(&words[id], id, at, size, back, order);
}

uint64_t memory_load(const void *at, size_t size, unsigned order)
{
	uint64_t value;

	if (!is_checked(at))
		return raw_load(at, size);
	before_access(at);
	contention_note(cell_at(at), false);
	access_note(at, size, false, false);
	if (*word_number(at)) {
		guesses_join(&self()->now, 0);
		future_accessed(*word_number(at), self()->now.guesses & (uint8_t)~future_guesses());
	}
	if (order == ENGINE_RELAXED && cell_at(at)->contended)
		value = value_guess(at, size);
	else
		value = value_choose(at, size, order);
	trace("load", at, value, order);
	return value;
}

/* Appends to a word's history. `chain`: also pass on what the store before did (a change of a
 * value continues its release sequence). */
static void store_append(void *at, size_t size, uint64_t value, unsigned order, bool chain)
{
	struct word *w = word_at(at);
	uint32_t id = *word_number(at);
	struct store *s = &stores[++store_count];
	struct thread *t = self();

	if (store_count + 1 == STORES_MAX)
		engine_violation("the execution ends");
	if (!w->newest)
		w->initial = raw_load(at, size);
	future_accessed((uint16_t)id, t->now.guesses & (uint8_t)~future_guesses());
	s->decided = t->decided | future_decided((uint16_t)id, value);
	s->number = (uint16_t)(w->newest ? stores[w->newest].number + 1 : 1);
	s->value = value;
	s->before = w->newest;
	t->now.oldest[id] = s->number;
	view_copy(&s->view, order & ENGINE_RELEASE ? &t->now : &t->fenced);
	s->view.oldest[id] = s->number;
	if (chain && s->before)
		view_join(&s->view, &stores[s->before].view);
	t->now.clock[engine_thread]++;
	w->newest = store_count;
	raw_store(at, size, value);
	trace("store", at, value, order);
	future_stored((uint16_t)id, value, s->number, t->now.clock, s->decided);
	engine_stored();
}

void memory_store(void *at, size_t size, uint64_t value, unsigned order)
{
	if (!is_checked(at)) {
		memcpy(at, &value, size);
		return;
	}
	before_access(at);
	contention_note(cell_at(at), true);
	access_note(at, size, true, false);
	store_append(at, size, value, order, false);
}

/* The reading half of a change of a value: always of the newest. */
static uint64_t newest_take(const void *at, size_t size, unsigned order)
{
	uint16_t number = *word_number(at);

	if (number)
		future_accessed(number, self()->now.guesses & (uint8_t)~future_guesses());
	if (number && words[number].newest) {
		const struct store *s = &stores[words[number].newest];

		self()->now.oldest[number] = s->number;
		learn(s, order);
	}
	return raw_load(at, size);
}

uint64_t memory_change(void *at, size_t size, uint64_t (*change)(uint64_t, uint64_t),
	uint64_t operand, unsigned order)
{
	uint64_t old;

	if (!is_checked(at)) {
		uint64_t value = change(old = raw_load(at, size), operand);

		memcpy(at, &value, size);
		return old;
	}
	before_access(at);
	contention_note(cell_at(at), true);
	access_note(at, size, true, false);
	old = newest_take(at, size, order);
	store_append(at, size, change(old, operand), order, true);
	return old;
}

bool memory_swap(void *at, size_t size, uint64_t *expected, uint64_t value, unsigned success,
	unsigned failure)
{
	uint64_t old;

	if (!is_checked(at)) {
		old = raw_load(at, size);
		if (old == *expected)
			memcpy(at, &value, size);
	} else {
		before_access(at);
		old = raw_load(at, size);
		contention_note(cell_at(at), old == *expected);
		access_note(at, size, old == *expected, false);
		newest_take(at, size, old == *expected ? success : failure);
		if (old == *expected)
			store_append(at, size, value, success, true);
	}
	if (old == *expected)
		return true;
	*expected = old;
	return false;
}

void memory_fulfil(uint32_t thread, uint16_t word)
{
	const struct store *s = &stores[words[word].newest];

	threads[thread].now.oldest[word] = s->number;
	threads[thread].decided |= s->decided;
	view_join(&threads[thread].seen, &s->view);
}

void memory_fence(unsigned order)
{
	if (engine_thread == ENGINE_NOBODY)
		return;
	if (order & ENGINE_ACQUIRE) {
		future_fenced();
		view_join(&self()->now, &self()->seen);
	}
	if (order & ENGINE_RELEASE) {
		view_copy(&self()->fenced, &self()->now);
		self()->now.clock[engine_thread]++;
	}
}

/* ---- around executions ---- */

void memory_begin(void)
{
	memset(threads, 0, sizeof(threads));
	for (uint32_t i = 0; i < MODEL_THREADS_MAX; i++)
		threads[i].now.clock[i] = 1;
	store_count = 0;
}

void memory_end(void)
{
	for (uint32_t i = 0; i < touched_count; i++)
		cell_restore(&cells[touched[i]]);
	touched_count = 0;
}

bool memory_learned(void)
{
	bool result = learned;

	for (uint32_t i = 0; learned && i < CELLS; i++)
		cells[i].contended =
			cells[i].writers && (cells[i].readers & (cells[i].readers - 1));
	learned = false;
	accesses = 0;
	return result;
}

uint64_t memory_accesses(void)
{
	return accesses;
}

void memory_reset(void)
{
	if (!arena)
		arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	if (arena == MAP_FAILED)
		abort();
	memset(arena, 0, ARENA_BYTES);
	memset(cells, 0, sizeof(cells));
	memset(stores, 0, sizeof(stores));
	arena_used = 0;
	word_count = 1;
	learned = false;
}

void *model_shared(size_t bytes)
{
	void *at = arena + arena_used;

	arena_used += (bytes + 63) / 64 * 64;
	return at;
}

void model_owned(const void *at, size_t bytes)
{
	for (size_t i = 0; i < bytes / CELL; i++)
		cell_at(at)[i].owned = 1;
}

void model_one_writer(const void *at, size_t bytes)
{
	for (size_t i = 0; i < bytes / CELL; i++)
		cell_at(at)[i].one_writer = 1;
}
