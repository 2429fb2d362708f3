/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the checker's parts: search.c decides and schedules, memory.c says what loads may see. */
#ifndef TESTS_MODEL_ENGINE_H
#define TESTS_MODEL_ENGINE_H

#include "tests/model/model.h"

#define ENGINE_NOBODY UINT32_MAX
#define ENGINE_CELL   4u /* bytes told apart when looking for races */

/* search.c. The running thread; ENGINE_NOBODY in setups, invariants and ends, which see plain
 * memory. */
extern uint32_t engine_thread;
/* One of `count` ways to go on; 0 is the ordinary one. Any other is a deviation if `costs`. */
unsigned engine_choose(unsigned count, bool costs);
/*
 * A load's choice among `plain` values, and after those the values that it may see though they are
 * still to be stored: *guess is set if the result is not below `plain`. *decision: by what to call
 * it below; ENGINE_NOBODY: there was nothing to decide.
 */
unsigned engine_choose_load(unsigned plain, uint32_t *decision, uint64_t *guess);
/* What is known of a decision's load: a value that another thread stores afterwards; a store that
 * its own thread makes afterwards, and whether it made that without a guess. */
void engine_future_add(uint32_t decision, uint64_t value);
void engine_own_add(uint32_t decision, uint16_t word, uint64_t value);
bool engine_own_has(uint32_t decision, uint16_t word, uint64_t value);
/* Ends an execution that proves nothing. */
_Noreturn void engine_drop(void);
/* Before an access that others race with: lets another thread run, perhaps. */
void engine_yield(void);
/* After a store. */
void engine_stored(void);
bool engine_is_observer(void);
bool engine_tracing(void);
_Noreturn void engine_violation(const char *property);

/* future.c, for each execution. `word`: its number. `clock`: of the running thread. */
void future_begin(void);
/* Is there a guess that was not stored yet? */
bool future_is_pending(void);
void future_loaded(uint32_t decision, uint16_t word, uint32_t clock);
void future_guessed(uint32_t decision, uint16_t word, uint32_t clock, uint64_t guess);
/* Before the running thread, which has `learned` of these guesses, a bit each, accesses the word,
 * and before it passes an acquire fence. */
void future_accessed(uint16_t word, uint8_t learned);
void future_fenced(void);
/* The running thread's guesses that were not stored yet. */
uint8_t future_guesses(void);
/* The number of the store that was guessed, in its word's history; 0: it is still to be made. */
uint16_t future_number(unsigned guess, uint16_t *word);
/* The guesses, a bit each, that may have decided a store of the running thread. */
uint8_t future_decided(uint16_t word, uint64_t value);
/* After a store of the running thread, `number` of its word, which knows `clock` of each thread;
 * `decided`: the guesses that may have decided it, or what it has seen. */
void future_stored(
	uint16_t word, uint64_t value, uint16_t number, const uint32_t *clock, uint8_t decided);

/* memory.c. Accesses outside of the checked memory are done as they are. */
enum engine_order { ENGINE_RELAXED = 0, ENGINE_ACQUIRE = 1, ENGINE_RELEASE = 2 };
uint64_t memory_load(const void *at, size_t size, unsigned order);
void memory_store(void *at, size_t size, uint64_t value, unsigned order);
/* Stores change(old, operand) and returns old. */
uint64_t memory_change(void *at, size_t size, uint64_t (*change)(uint64_t old, uint64_t operand),
	uint64_t operand, unsigned order);
bool memory_swap(void *at, size_t size, uint64_t *expected, uint64_t value, unsigned success,
	unsigned failure);
void memory_fence(unsigned order);
void memory_plain_read(const void *at, size_t size);
/* Before the write. */
void memory_plain_write(void *at, size_t size);

/* The newest store to a word was the one that a thread has guessed. */
void memory_fulfil(uint32_t thread, uint16_t word);

/* Before a scenario; before and after each execution; between rounds. */
void memory_reset(void);
void memory_begin(void);
void memory_end(void);
/* True when words were found that threads race for and were not known yet: search again. */
bool memory_learned(void);
uint64_t memory_accesses(void);

#endif
