/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the checker's parts: search.c decides and schedules, memory.c says what loads may see. */
#ifndef TESTS_MODEL_ENGINE_H
#define TESTS_MODEL_ENGINE_H

#include "tests/model/model.h"

#define ENGINE_NOBODY UINT32_MAX

/* search.c. The running thread; ENGINE_NOBODY in setups, invariants and ends, which see plain
 * memory. */
extern uint32_t engine_thread;
/* One of `count` ways to go on; 0 is the ordinary one. Any other is a deviation if `costs`. */
unsigned engine_choose(unsigned count, bool costs);
/* Before an access that others race with: lets another thread run, perhaps. */
void engine_yield(void);
/* After a store. */
void engine_stored(void);
bool engine_is_observer(void);
bool engine_tracing(void);
_Noreturn void engine_violation(const char *property);

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

/* Before a scenario; before and after each execution; between rounds. */
void memory_reset(void);
void memory_begin(void);
void memory_end(void);
/* True when words were found that threads race for and were not known yet: search again. */
bool memory_learned(void);
uint64_t memory_accesses(void);

#endif
