/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks as a program makes them, for the unwinder, whose files are compiled in. Stacks are arrays,
 * code is numbers, and each kind of function treats rbp in another way. Rules and modules are
 * theirs.
 */
#ifndef TESTS_UNIT_UNWIND_FIXTURE_H
#define TESTS_UNIT_UNWIND_FIXTURE_H

#include "preload/unwind_trail.c"
#include "preload/walk.c"
#include "preload/unwind_cfi.c"

#include <string.h>

#define STACK_WORDS 65536u
#define CALLS_MAX   3000u
#define FUNCTIONS   64u
#define CODE	    0x10000ull /* functions are 256 bytes apart */
#define CODE_JIT    0x900000ull /* outside any object */
#define CODE_SIGNAL 0xa00000ull /* what a handler returns to */
#define PINNED	    48u /* functions below this are in an object that stays */

#define EXACT_LESS 16u

enum kind {
	PLAIN, /* leaves rbp alone */
	SAVES, /* saves it, and uses it for something else */
	POINTS, /* has it as frame pointer */
	BORROWS, /* finds its frame by that of a POINTS, which called it */
	REALIGNS, /* has it as frame pointer, and realigns its stack */
	CLOBBERS, /* changes it, and no information says where it is */
	ENDS, /* the outermost function */
	SIGNALS, /* the kernel's frame */
	OURS,
	JIT, /* without information */
};

struct call {
	enum kind kind;
	unsigned function;
	uint64_t cfa, rsp, rbp; /* the last two at its own call */
	uint64_t pc; /* where that returns to */
	bool exact; /* or where it was interrupted: a PLAIN one with less of a frame */
	uint64_t spare; /* of its frame */
};

struct thread {
	uint64_t *words;
	unsigned count;
	struct call call[CALLS_MAX]; /* outermost first */
};

static enum kind kind_of[FUNCTIONS];
static unsigned bytes_of[FUNCTIONS];
static uint32_t module_now = 2;
static bool jit_is_loaded;
static unsigned steps, asked;
static uint64_t seed = 1;

struct modules_loader modules_loader = { .generation = MODULES_NEVER + 1 };
struct cfi_cache_entry cfi_cache[1u << CFI_CACHE_LOG2];

static uint64_t random_below(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* ---- what the library has instead ---- */

static unsigned function_of(uint64_t pc)
{
	return (unsigned)((pc - CODE) / 256);
}

static uint64_t ours_pc(void)
{
	return (uint64_t)(uintptr_t)__ehdr_start + 16;
}

void modules_find(uint64_t pc, struct module_range *out)
{
	asked++;
	if (pc < CODE + PINNED * 256ull)
		*out = (struct module_range){ CODE, CODE + PINNED * 256ull, 1 };
	else if (pc < CODE + FUNCTIONS * 256ull)
		*out = (struct module_range){ CODE + PINNED * 256ull, CODE + FUNCTIONS * 256ull,
			module_now | HT_NODE_UNPINNED };
	else if (pc >= CODE_JIT && pc < CODE_SIGNAL)
		*out = (struct module_range){ pc, pc + 1,
			jit_is_loaded ? 5u | HT_NODE_UNPINNED : HT_NODE_UNPINNED };
	else
		*out = (struct module_range){ pc, pc + 1, 9 };
}

void *symbols_first(const char *name)
{
	return NULL;
}

static struct cfi_rule rule_of_kind(enum kind kind, unsigned bytes)
{
	switch (kind) {
	case PLAIN:
	case OURS:
		return (struct cfi_rule){ CFI_RSP, CFI_RBP_SAME, 0, (int32_t)bytes };
	case BORROWS:
		return (struct cfi_rule){ CFI_RBP, CFI_RBP_SAME, 0, -16 };
	case SAVES:
		return (struct cfi_rule){ CFI_RSP, CFI_RBP_AT_CFA, -16, (int32_t)bytes };
	case POINTS:
		return (struct cfi_rule){ CFI_RBP, CFI_RBP_AT_CFA, -16, 16 };
	case REALIGNS:
		return (struct cfi_rule){ CFI_DEREF, CFI_RBP_AT_RBP, 0, -8 };
	case CLOBBERS:
		return (struct cfi_rule){ CFI_RSP, CFI_RBP_LOST, 0, (int32_t)bytes };
	case ENDS:
		return (struct cfi_rule){ .type = CFI_END };
	case SIGNALS:
		return (struct cfi_rule){ .type = CFI_SIGNAL };
	case JIT:
		break;
	}
	return (struct cfi_rule){ .type = CFI_NONE };
}

/* Keeps nothing, so each step of a walk comes here. */
struct cfi_rule cfi_read(uint64_t pc, bool exact, uint64_t key)
{
	unsigned function;

	steps++;
	if (pc == ours_pc())
		return rule_of_kind(OURS, 64);
	if (pc == CODE_SIGNAL)
		return rule_of_kind(SIGNALS, 0);
	if (pc >= CODE_JIT)
		return rule_of_kind(jit_is_loaded ? ENDS : JIT, 0);
	function = function_of(pc);
	return rule_of_kind(kind_of[function],
		bytes_of[function] - (exact && kind_of[function] == PLAIN ? EXACT_LESS : 0));
}

/* ---- a program ---- */

static struct call *top_of(struct thread *t)
{
	return &t->call[t->count - 1];
}

static void word_put(uint64_t at, uint64_t value)
{
	*(uint64_t *)(uintptr_t)at = value;
}

/* The latest function calls from one of its places. */
static void place_take(struct thread *t)
{
	struct call *c = top_of(t);
	uint64_t place = random_below(4) * 16;

	if (c->exact && c->kind == PLAIN)
		c->rsp -= EXACT_LESS;
	c->exact = false;
	c->pc = c->kind == OURS	     ? ours_pc()
		: c->kind == SIGNALS ? CODE_SIGNAL
		: c->kind == JIT     ? CODE_JIT + place
				     : CODE + c->function * 256ull + 8 + place;
}

static void thread_begin(struct thread *t, uint64_t *words, enum kind kind)
{
	uint64_t end = (uint64_t)(uintptr_t)(words + STACK_WORDS) - 256;

	t->words = words;
	t->count = 1;
	t->call[0] = (struct call){ .kind = kind, .cfa = end, .rsp = end - 64, .rbp = 0x77 };
	while (kind == ENDS && kind_of[t->call[0].function] != ENDS)
		t->call[0].function++;
	place_take(t);
}

static uint64_t rbp_junk(void)
{
	return random_below(3) ? random_below(1000) : 0xfff0000000000000ull;
}

/* The latest function calls another, which gets so far as to call, too. */
static void enter_with(struct thread *t, enum kind kind, unsigned function, uint64_t spare)
{
	struct call *caller = top_of(t), *c = &t->call[t->count++];
	uint64_t cfa = caller->rsp;

	word_put(cfa - 8, caller->pc);
	*c = (struct call){
		.kind = kind, .function = function, .cfa = cfa, .rbp = caller->rbp, .spare = spare
	};
	c->rsp = cfa - (kind == OURS ? 64 : bytes_of[function]);
	if (kind == SAVES || kind == CLOBBERS)
		c->rbp = rbp_junk();
	if (kind == POINTS || kind == REALIGNS) {
		c->rbp = kind == POINTS ? cfa - 16 : (cfa - 32 - spare) & ~63ull;
		c->rsp = c->rbp - 16 - spare;
	}
	if (kind == REALIGNS)
		word_put(c->rbp - 8, cfa);
	if (kind != CLOBBERS && c->rbp != caller->rbp)
		word_put(kind == REALIGNS ? c->rbp : cfa - 16, caller->rbp);
	place_take(t);
}

static void enter(struct thread *t, enum kind kind, unsigned function)
{
	enter_with(t, kind, function, 16 * random_below(4));
}

/* A signal interrupts the latest function; its handler is the kernel's callee. */
static void interrupt(struct thread *t)
{
	struct call *was = top_of(t), *c = &t->call[t->count++];
	uint64_t below = (was->rsp - 256 - sizeof(ucontext_t)) & ~(uint64_t)63;
	ucontext_t *context = (void *)(uintptr_t)below;

	was->exact = true;
	if (was->kind == PLAIN)
		was->rsp += EXACT_LESS;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)was->pc;
	context->uc_mcontext.gregs[REG_RBP] = (greg_t)was->rbp;
	context->uc_mcontext.gregs[REG_RSP] = (greg_t)was->rsp;
	*c = (struct call){ .kind = SIGNALS, .rsp = (uint64_t)(uintptr_t)context, .rbp = was->rbp };
	place_take(t);
}

static unsigned function_find(enum kind kind)
{
	unsigned count = random_below(30) ? PINNED : FUNCTIONS;
	unsigned function = (unsigned)random_below(count);

	while (kind_of[function] != kind)
		function = (function + 1) % count;
	return function;
}

static void enter_some(struct thread *t, const enum kind *kinds, unsigned count)
{
	enum kind kind = kinds[random_below(count)];

	if (kind == SIGNALS)
		interrupt(t);
	else if (kind == BORROWS && (top_of(t)->kind != POINTS || top_of(t)->spare != 0))
		enter_with(t, POINTS, function_find(POINTS), 0);
	else
		enter(t, kind, kind == OURS ? 0 : function_find(kind));
}

/* Makes it a call of another function, whose frame is as large. */
static void replace(struct call *c)
{
	static const enum kind kinds[] = { PLAIN, SAVES, POINTS };
	uint64_t bytes = c->cfa - c->rsp;
	enum kind kind = kinds[random_below(3)];
	unsigned function = function_find(kind);

	if (c->kind > BORROWS || c->exact)
		return;
	for (unsigned i = 0; kind != POINTS && i < PINNED; i++)
		if (kind_of[function] != kind || bytes_of[function] != bytes)
			function = (function + 1) % PINNED;
	if (kind_of[function] != kind || (kind != POINTS && bytes_of[function] != bytes))
		return;
	c->kind = kind;
	c->function = function;
	c->spare = bytes - 32;
	c->pc = CODE + function * 256ull + 8;
}

/* Some functions return to one that calls the same from another place, but perhaps one: little else
 * differs, but for what was in rbp. */
static void run_again(struct thread *t)
{
	struct call were[8];
	unsigned back = 1 + (unsigned)random_below(8);

	if (back >= t->count)
		return;
	t->count -= back;
	memcpy(were, &t->call[t->count], back * sizeof(were[0]));
	place_take(t);
	if (random_below(2) && (back == 1 || were[1].kind != BORROWS))
		replace(&were[0]);
	for (unsigned i = 0; i < back; i++) {
		if (were[i].kind == SIGNALS)
			interrupt(t);
		else
			enter_with(t, were[i].kind, were[i].function, were[i].spare);
		if (!were[i].exact)
			top_of(t)->pc = were[i].pc;
	}
}

/* Some functions return, and others are called. */
static void run_on(struct thread *t, unsigned depth, const enum kind *kinds, unsigned count)
{
	unsigned back = (unsigned)random_below(random_below(100) ? 4 : t->count);

	if (random_below(4) == 0) {
		run_again(t);
		return;
	}
	t->count -= back < t->count ? back : t->count - 1;
	place_take(t);
	while (t->count < depth && random_below(4) != 0)
		enter_some(t, kinds, count);
	place_take(t);
}

/* The latest function calls the hook. Returns its frame. */
static uintptr_t hook_enter(struct thread *t)
{
	struct call *c = top_of(t);

	word_put(c->rsp - 8, c->pc);
	word_put(c->rsp - 16, c->rbp);
	return c->rsp - 16;
}

#endif
