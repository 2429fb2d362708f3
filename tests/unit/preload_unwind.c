/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The unwinder's walk that goes on where the previous stack is known, against one from end to end,
 * and against the stack as it was made (unwind_fixture.h).
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "tests/check.h"
#include "tests/unit/unwind_fixture.h"

#define DEPTH 128u

static struct unwind unwind_made(unsigned depth)
{
	struct unwind u = { .depth = depth };
	uint32_t room = depth + UNWIND_SPARE;

	unwind_trail_make(&u.fresh, calloc(1, unwind_trail_bytes(room)), room);
	unwind_trail_make(&u.last, calloc(1, unwind_trail_bytes(2 * room)), 2 * room);
	return u;
}

static void unwind_drop(struct unwind *u)
{
	free(u->fresh.rbps);
	free(u->last.rbps);
}

static bool same_stack(const struct unwind *u, const struct unwind *v)
{
	if (u->count != v->count || u->guard_count != v->guard_count ||
		u->truncated != v->truncated || u->repeatable != v->repeatable ||
		u->unpinned != v->unpinned)
		return false;
	for (uint32_t i = 0; i < u->count; i++)
		if (u->pcs[i] != v->pcs[i] || u->modules[i] != v->modules[i])
			return false;
	for (uint32_t i = 0; i < u->guard_count; i++)
		if (u->words_end[-1 - (int)i].at != v->words_end[-1 - (int)i].at ||
			unwind_guard(u, i) != unwind_guard(v, i))
			return false;
	return true;
}

/* Whether it is the stack that was made. */
static bool is_made(const struct unwind *u, const struct thread *t)
{
	uint32_t i = 0;

	for (unsigned k = t->count; k-- > 0 && i < u->depth;) {
		if (t->call[k].kind == OURS)
			continue;
		if (i == u->count || u->pcs[i] != t->call[k].pc)
			return false;
		i++;
	}
	return i == u->count;
}

/* What the unwinder said of a stack, for the next one's `kept` and `shared`. */
struct said {
	uint32_t count, guard_count, number;
	uint64_t pcs[DEPTH + UNWIND_SPARE];
	struct unwind_word words[2 * (DEPTH + UNWIND_SPARE)]; /* outermost first */
};

static void say(struct said *s, const struct unwind *u)
{
	s->count = u->count;
	s->guard_count = u->guard_count;
	s->number = u->number;
	if (u->number == 0)
		return; /* there is none yet */
	memcpy(s->pcs, u->pcs, u->count * sizeof(u->pcs[0]));
	memcpy(s->words, u->words_end - u->guard_count, u->guard_count * sizeof(s->words[0]));
}

static bool keeps_promises(const struct said *s, const struct unwind *u)
{
	if (u->number != s->number + 1 || u->kept > s->count || u->kept > u->count ||
		u->shared > s->guard_count || u->shared > u->guard_count)
		return false;
	if (s->number == 0)
		return u->kept == 0 && u->shared == 0;
	return memcmp(s->pcs + s->count - u->kept, u->pcs + u->count - u->kept,
		       u->kept * sizeof(u->pcs[0])) == 0 &&
	       memcmp(s->words, u->words_end - u->guard_count, u->shared * sizeof(s->words[0])) ==
		       0;
}

struct tally {
	unsigned stacks, wrong, not_made, broken; /* promises */
	uint64_t frames, kept, shared, steps;
};

static uint64_t stacks[2][STACK_WORDS] __attribute__((aligned(4096)));
static struct thread threads[2];
static struct said last_said;

/* One stack. `made`: what was made is what must come out. */
static void take_one(struct unwind *u, struct thread *t, bool made, struct tally *y)
{
	struct unwind fresh;

	u->frame = hook_enter(t);
	say(&last_said, u);
	steps = 0;
	unwind_cfi(u);
	y->steps += steps;
	fresh = *u;
	unwind_cfi_afresh(&fresh);
	y->wrong += !same_stack(u, &fresh);
	y->not_made += made && !is_made(u, t);
	y->broken += !keeps_promises(&last_said, u);
	y->stacks++;
	y->frames += u->count;
	y->kept += u->kept;
	y->shared += u->shared;
}

static void functions_make(void)
{
	static const enum kind kinds[] = { PLAIN, SAVES, POINTS, REALIGNS, CLOBBERS, BORROWS };

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		kind_of[i] = kinds[i % (sizeof(kinds) / sizeof(kinds[0]))];
		bytes_of[i] = 32 + 16 * (unsigned)random_below(6);
	}
	kind_of[PINNED - 1] = kind_of[FUNCTIONS - 1] = ENDS;
	module_now = 2;
	jit_is_loaded = false;
}

/* `rounds` stacks of one program. */
static struct tally program(unsigned rounds, unsigned depth, const enum kind *kinds, unsigned count)
{
	struct unwind u = unwind_made(DEPTH);
	struct tally y = { 0 };
	bool made = true;

	functions_make();
	for (unsigned i = 0; i < count; i++)
		made = made && kinds[i] != CLOBBERS;
	thread_begin(&threads[0], stacks[0], ENDS);
	for (unsigned i = 0; i < rounds; i++) {
		run_on(&threads[0], depth, kinds, count);
		take_one(&u, &threads[0], made, &y);
	}
	unwind_drop(&u);
	CHECK_INT(y.wrong, 0);
	CHECK_INT(y.not_made, 0);
	CHECK_INT(y.broken, 0);
	return y;
}

#define PROGRAM(rounds, depth, ...)                                                                \
	program(rounds, depth, (const enum kind[]){ __VA_ARGS__ },                                 \
		sizeof((const enum kind[]){ __VA_ARGS__ }) / sizeof(enum kind))

/* ---- tests ---- */

/* Nearly all of each stack is the one before, and is not walked. */
TEST(ordinary_functions)
{
	struct tally y = PROGRAM(20000, 60, PLAIN, SAVES);

	CHECK(y.frames > 30ull * y.stacks);
	CHECK(y.steps < 8ull * y.stacks);
	CHECK(y.kept > y.frames / 4 * 3);
	CHECK(y.shared > y.kept / 2);
}

TEST(frame_pointers)
{
	struct tally y = PROGRAM(50000, 60, PLAIN, SAVES, POINTS, BORROWS, REALIGNS);

	CHECK(y.steps < 12ull * y.stacks);
	CHECK(y.kept > y.frames / 2);
}

TEST(lost_frame_pointers)
{
	PROGRAM(50000, 40, PLAIN, PLAIN, SAVES, SAVES, POINTS, CLOBBERS, REALIGNS);
}

TEST(signals_and_frames_of_ours)
{
	PROGRAM(50000, 40, PLAIN, PLAIN, SAVES, POINTS, BORROWS, REALIGNS, OURS, SIGNALS);
}

/* Every second rule notes more than a word: there is no room for all. */
TEST(too_many_words)
{
	PROGRAM(5000, 126, REALIGNS);
}

/* More frames than are kept: only what changed is walked, also where the function that called the
 * outermost kept one comes into sight. */
TEST(deep_recursion)
{
	struct tally y = PROGRAM(20000, 900, PLAIN, SAVES);

	CHECK(y.frames > 100ull * y.stacks);
	CHECK(y.steps < 24ull * y.stacks);
}

/* It returns step by step: the functions further out come into sight. */
TEST(deep_recursion_returns)
{
	struct unwind u = unwind_made(DEPTH);
	struct tally y = { 0 };

	functions_make();
	thread_begin(&threads[0], stacks[0], ENDS);
	while (threads[0].count < 900)
		enter(&threads[0], SAVES, function_find(SAVES));
	for (; threads[0].count > 1; threads[0].count--) {
		place_take(&threads[0]);
		take_one(&u, &threads[0], true, &y);
	}
	CHECK_INT(y.wrong + y.not_made + y.broken, 0);
	CHECK(y.steps < 8ull * y.stacks);
	unwind_drop(&u);
}

TEST(deep_recursion_of_all_kinds)
{
	struct tally y = PROGRAM(50000, 300, PLAIN, SAVES, POINTS, REALIGNS, PLAIN, SAVES, OURS);

	CHECK(y.frames > 100ull * y.stacks);
}

/* Around the depth that is kept, where a stack is truncated or just not. */
TEST(about_as_deep_as_kept)
{
	PROGRAM(50000, DEPTH, PLAIN, SAVES, POINTS);
}

TEST(coroutines)
{
	static const enum kind kinds[] = { PLAIN, SAVES, POINTS, OURS };
	struct unwind u = unwind_made(DEPTH);
	struct tally y = { 0 };

	functions_make();
	thread_begin(&threads[0], stacks[0], ENDS);
	thread_begin(&threads[1], stacks[1], ENDS);
	for (unsigned i = 0; i < 20000; i++) {
		struct thread *t = &threads[random_below(8) == 0];

		run_on(t, 40, kinds, 4);
		take_one(&u, t, true, &y);
	}
	CHECK_INT(y.wrong, 0);
	CHECK_INT(y.not_made, 0);
	CHECK_INT(y.broken, 0);
	unwind_drop(&u);
}

/* Code that no object holds ends a stack, until it is loaded. */
TEST(code_without_information)
{
	static const enum kind kinds[] = { PLAIN, SAVES };
	struct unwind u = unwind_made(DEPTH);
	struct tally y = { 0 };

	functions_make();
	thread_begin(&threads[0], stacks[0], JIT);
	for (unsigned i = 0; i < 5000; i++) {
		if (jit_is_loaded && i / 500 % 2 == 0)
			modules_loader.generation++;
		jit_is_loaded = i / 500 % 2;
		run_on(&threads[0], 40, kinds, 2);
		take_one(&u, &threads[0], true, &y);
	}
	CHECK_INT(y.wrong, 0);
	CHECK_INT(y.not_made, 0);
	CHECK_INT(y.broken, 0);
	CHECK(y.kept > y.frames / 2);
	unwind_drop(&u);
}

/* Other code may be in the place of what was unloaded, also further out than the frames kept. */
TEST(code_replaced)
{
	static const enum kind kinds[] = { PLAIN, SAVES };

	for (unsigned depth = 40; depth <= 400; depth += 360) {
		struct unwind u = unwind_made(DEPTH);
		struct tally y = { 0 };

		functions_make();
		thread_begin(&threads[0], stacks[0], ENDS);
		for (unsigned i = 0; i < 20000; i++) {
			if (random_below(10) == 0) {
				module_now++;
				modules_loader.generation++;
			}
			run_on(&threads[0], depth, kinds, 2);
			take_one(&u, &threads[0], true, &y);
		}
		CHECK_INT(y.wrong, 0);
		CHECK_INT(y.not_made, 0);
		CHECK_INT(y.broken, 0);
		unwind_drop(&u);
	}
}

/* A place further than 16 bits hold: the stack is known, but cannot be remembered. */
TEST(far_words)
{
	struct unwind u = unwind_made(DEPTH);
	static uint64_t words[2 * UNWIND_PLACE_MAX];
	struct tally y = { 0 };
	struct thread *t = &threads[0];
	unsigned again = 0;

	functions_make();
	bytes_of[0] = 64;
	thread_begin(t, words + 2 * UNWIND_PLACE_MAX - STACK_WORDS, ENDS);
	for (unsigned i = 0; i < 40; i++)
		enter(t, PLAIN, 0);
	top_of(t)->rsp -= 8 * (UNWIND_PLACE_MAX - 600);
	kind_of[1] = POINTS;
	top_of(t)->kind = POINTS;
	top_of(t)->function = 1;
	top_of(t)->rbp = top_of(t)->cfa - 16;
	word_put(top_of(t)->cfa - 16, t->call[t->count - 2].rbp);
	place_take(t);
	for (unsigned i = 0; i < 1000; i++) {
		unsigned more = (unsigned)random_below(60);

		t->count = 41;
		place_take(t);
		for (unsigned k = 0; k < more; k++)
			enter(t, PLAIN, 0);
		take_one(&u, t, true, &y);
		again += u.repeatable;
	}
	CHECK_INT(y.wrong, 0);
	CHECK_INT(y.not_made, 0);
	CHECK(again > 100 && again < 900);
	CHECK(y.kept > y.frames / 3);
	unwind_drop(&u);
}

/* ---- a handler that leaves ---- */

static sigjmp_buf left;
static unsigned leave_after;
static bool stepping;
static const struct unwind *changing; /* counts only while this one's memory is changed */

/* At each instruction, while the processor's trap flag is set. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	if (stepping && !(changing && changing->last_whole) && leave_after-- == 0) {
		stepping = false;
		siglongjmp(left, 1);
	}
	if (!stepping)
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100ll;
}

static void trap_set(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orl $0x100, (%%rsp); popfq; lea "
			 "128(%%rsp), %%rsp" ::
				 : "memory", "cc");
}

/* False: the handler left. */
static bool take_stepping(struct unwind *u, unsigned after)
{
	if (sigsetjmp(left, 1)) {
		__asm__ volatile(
			"lea -128(%%rsp), %%rsp; pushfq; andl $~0x100, (%%rsp); popfq; lea "
			"128(%%rsp), %%rsp" ::
				: "memory", "cc");
		return false;
	}
	leave_after = after;
	stepping = true;
	trap_set();
	unwind_cfi(u);
	stepping = false;
	return true;
}

/* Wherever it leaves, the next stack is right. */
TEST(a_handler_leaves)
{
	static const enum kind kinds[] = { PLAIN, SAVES, POINTS };
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO }, was;
	struct unwind u = unwind_made(DEPTH);
	struct thread *t = &threads[0];
	struct tally y = { 0 };
	unsigned leaves = 0, whole = 0;

	functions_make();
	sigaction(SIGTRAP, &action, &was);
	thread_begin(t, stacks[0], ENDS);
	for (unsigned i = 0; i < 300; i++) {
		unsigned deep = i % 2 ? 30 : 140;

		while (t->count < deep)
			enter_some(t, kinds, 3);
		run_on(t, deep, kinds, 3);
		take_one(&u, t, true, &y);
		run_on(t, deep, kinds, 3);
		u.frame = hook_enter(t);
		changing = i % 3 ? &u : NULL;
		if (take_stepping(&u, i % 10 == 9 ? UINT32_MAX : i * (changing ? 1 : 11)))
			whole++;
		else
			leaves++;
		run_on(t, deep, kinds, 3);
		take_one(&u, t, true, &y);
		run_on(t, deep, kinds, 3);
		take_one(&u, t, true, &y);
	}
	sigaction(SIGTRAP, &was, NULL);
	CHECK(leaves > 100 && whole > 0);
	CHECK_INT(y.wrong, 0);
	CHECK_INT(y.not_made, 0);
	unwind_drop(&u);
}

int main(void)
{
	RUN(ordinary_functions);
	RUN(frame_pointers);
	RUN(lost_frame_pointers);
	RUN(signals_and_frames_of_ours);
	RUN(too_many_words);
	RUN(deep_recursion);
	RUN(deep_recursion_returns);
	RUN(deep_recursion_of_all_kinds);
	RUN(about_as_deep_as_kept);
	RUN(coroutines);
	RUN(code_without_information);
	RUN(code_replaced);
	RUN(far_words);
	RUN(a_handler_leaves);
	return check_end();
}
