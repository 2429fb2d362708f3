/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The unwinder by call frame information. A state is (rsp, pc, rbp); the rule at pc says where the
 * caller's three are. It stops cleanly at the outermost frame, and marks the stack truncated at
 * anything it cannot prove: no information, a rule of another kind, a frame that does not move
 * outwards. It reads no word that a correct unwinder would not read.
 *
 * On the way it notes which words of the stack the result depends on (guards.h): each return
 * address, and a saved rbp at the moment a rule uses it (until then it is the program's data).
 */
#include "preload/unwind.h"

#include <stddef.h>
#include <ucontext.h>

#include "preload/cfi.h"
#include "preload/modules.h"
#include "preload/state.h"

#define VALUE_BITS 48u
#define VALUE_MASK ((1ull << VALUE_BITS) - 1)
#define FRAME_MAX                                                                                  \
	(64u << 20) /* no function has a larger frame; a larger step is a corrupt chain            \
		     */

struct walk {
	struct unwind *u;
	uint64_t rsp, pc, rbp;
	uint64_t rbp_at; /* where rbp was read from; 0: not from a word of the stack */
	bool rbp_noted; /* that word is among the guards */
	bool rbp_known;
	bool exact; /* pc was interrupted, not returned to */
	struct module_range range;
};

static uint64_t word(uint64_t address)
{
	return *(const uint64_t *)(uintptr_t)address;
}

/* The result depends on the word at `address`, which holds `value`. */
static void note(struct unwind *u, uint64_t address, uint64_t value)
{
	uint64_t distance = (address - u->frame) / sizeof(uint64_t);

	if (address < u->frame || distance > UINT16_MAX || value > VALUE_MASK ||
		u->guard_count == UNWIND_GUARDS_MAX) {
		u->repeatable = false;
		return;
	}
	u->guards[u->guard_count++] = distance << VALUE_BITS | value;
}

/* rbp, by which the next frame is found. False: it is not known. */
static bool rbp_use(struct walk *w)
{
	if (!w->rbp_known)
		return false;
	if (!w->rbp_noted && w->rbp_at)
		note(w->u, w->rbp_at, w->rbp);
	else if (!w->rbp_at)
		w->u->repeatable = false;
	w->rbp_noted = true;
	return true;
}

static bool cfa_find(struct walk *w, struct cfi_rule rule, uint64_t *cfa)
{
	uint64_t at;

	switch ((enum cfi_type)rule.type) {
	case CFI_RSP:
		*cfa = w->rsp + (uint64_t)(int64_t)rule.offset;
		break;
	case CFI_RBP:
		if (!rbp_use(w))
			return false;
		*cfa = w->rbp + (uint64_t)(int64_t)rule.offset;
		break;
	case CFI_DEREF:
		if (!rbp_use(w))
			return false;
		at = w->rbp + (uint64_t)(int64_t)rule.offset;
		*cfa = word(at);
		note(w->u, at, *cfa);
		break;
	case CFI_PLT:
		*cfa = w->rsp + 8 + ((w->pc & 15) >= (uint64_t)rule.offset ? 8 : 0);
		break;
	case CFI_NONE:
	case CFI_STOP:
	case CFI_END:
	case CFI_SIGNAL:
		return false;
	}
	return *cfa > w->rsp && *cfa - w->rsp < FRAME_MAX && *cfa % 8 == 0;
}

static bool rbp_step(struct walk *w, struct cfi_rule rule, uint64_t cfa)
{
	uint64_t at = 0;

	switch ((enum cfi_rbp)rule.rbp) {
	case CFI_RBP_SAME:
		return true;
	case CFI_RBP_LOST:
		w->rbp_known = false;
		return true;
	case CFI_RBP_AT_CFA:
		at = cfa + (uint64_t)(int64_t)rule.rbp_offset;
		break;
	case CFI_RBP_AT_RBP:
		if (!rbp_use(w))
			return false;
		at = w->rbp + (uint64_t)(int64_t)rule.rbp_offset;
		break;
	}
	w->rbp = word(at);
	w->rbp_at = at;
	w->rbp_noted = false;
	w->rbp_known = true;
	return true;
}

/* Past the kernel's frame to the code that the signal interrupted. Never remembered. */
static bool signal_step(struct walk *w)
{
	const ucontext_t *c = (const ucontext_t *)(uintptr_t)w->rsp;

	w->u->repeatable = false;
	w->pc = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
	w->rbp = (uint64_t)c->uc_mcontext.gregs[REG_RBP];
	w->rsp = (uint64_t)c->uc_mcontext.gregs[REG_RSP];
	w->rbp_at = 0;
	w->rbp_noted = false;
	w->rbp_known = true;
	w->exact = true;
	return true;
}

/* From a frame to its caller's. False: this was the last; *whole tells whether rightly so. */
static bool step(struct walk *w, bool *whole)
{
	struct cfi_rule rule = cfi_find(w->pc, w->range.module, w->exact);
	uint64_t cfa = 0;

	*whole = rule.type == CFI_END;
	if (rule.type == CFI_SIGNAL)
		return signal_step(w);
	if (!cfa_find(w, rule, &cfa) || !rbp_step(w, rule, cfa))
		return false;
	w->pc = word(cfa - 8);
	note(w->u, cfa - 8, w->pc);
	w->rsp = cfa;
	w->exact = false;
	*whole = w->pc == 0;
	return w->pc != 0;
}

void unwind_own(struct unwind *u)
{
	struct walk w = { .u = u,
		.rbp = word(u->frame),
		.rbp_at = u->frame,
		.rbp_known = true,
		.rsp = u->frame + 16,
		.pc = word(u->frame + 8) };
	bool whole = false, more = w.pc != 0;

	u->count = u->guard_count = 0;
	u->repeatable = true;
	note(u, u->frame + 8, w.pc);
	while (more && u->count < u->depth) {
		if (w.pc - w.range.start >= w.range.end - w.range.start)
			modules_find(w.pc, &w.range);
		u->pcs[u->count] = w.pc;
		u->modules[u->count] = w.range.module;
		u->count += !unwind_is_ours(w.pc);
		more = step(&w, &whole);
	}
	u->truncated = !whole;
}
