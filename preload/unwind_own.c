/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The unwinder by call frame information. A state is (rsp, pc, rbp); the rule at pc says where the
 * caller's three are. It stops cleanly at the outermost frame, and marks the stack truncated at
 * anything it cannot prove: no information, a rule of another kind, a frame that does not move
 * outwards.
 *
 * The information may be wrong: assembly that keeps other data in rbp, and does not say so, sends
 * the walk anywhere. So it reads only pages known to be there: that of the hook's own frame, and
 * those that the kernel was asked about. A thread remembers them, and asks once for each page.
 *
 * On the way it notes which words of the stack the result depends on (guards.h): each return
 * address, and a saved rbp at the moment a rule uses it (until then it is the program's data).
 */
#include "preload/unwind.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/cfi.h"
#include "preload/modules.h"
#include "preload/state.h"

#define PAGE_BYTES 4096u
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

static bool knows(const struct unwind_known *k, uint64_t address)
{
	return address - k->range[0].low < k->range[0].high - k->range[0].low ||
	       address - k->range[1].low < k->range[1].high - k->range[1].low;
}

/* Adds a page. The second range is another stack, or the rest of this one before a long step. */
static void learn(struct unwind_known *k, uint64_t page)
{
	if (page + PAGE_BYTES == k->range[0].low) {
		k->range[0].low = page;
	} else if (page == k->range[0].high) {
		k->range[0].high = page + PAGE_BYTES;
	} else {
		k->range[1] = k->range[0];
		k->range[0].low = page;
		k->range[0].high = page + PAGE_BYTES;
	}
	if (k->range[0].high == k->range[1].low) {
		k->range[0].high = k->range[1].high;
		k->range[1].low = k->range[1].high = 0;
	}
}

/*
 * Asks the kernel. rt_sigprocmask copies its argument in before it looks at `how`, and fails either
 * way, so nothing is changed.
 */
static bool page_readable(uint64_t page)
{
	int saved = errno;
	bool readable = syscall(SYS_rt_sigprocmask, ~0L, page, NULL, 8L) == 0 || errno != EFAULT;

	errno = saved;
	return readable;
}

/* Reads the word at `address`; false: there is none. */
static bool word_read(struct unwind *u, uint64_t address, uint64_t *value)
{
	uint64_t page = address & ~(uint64_t)(PAGE_BYTES - 1);

	if (address % sizeof(*value) != 0)
		return false;
	if (!knows(u->known, address)) {
		if (!page_readable(page))
			return false;
		learn(u->known, page);
	}
	*value = *(const uint64_t *)(uintptr_t)address;
	return true;
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
		if (!word_read(w->u, at, cfa))
			return false;
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
	if (!word_read(w->u, at, &w->rbp))
		return false;
	w->rbp_at = at;
	w->rbp_noted = false;
	w->rbp_known = true;
	return true;
}

/* Past the kernel's frame to the code that the signal interrupted. Never remembered. */
static bool signal_step(struct walk *w)
{
	uint64_t registers = w->rsp + offsetof(ucontext_t, uc_mcontext.gregs);

	w->u->repeatable = false;
	if (!word_read(w->u, registers + REG_RIP * sizeof(greg_t), &w->pc) ||
		!word_read(w->u, registers + REG_RBP * sizeof(greg_t), &w->rbp) ||
		!word_read(w->u, registers + REG_RSP * sizeof(greg_t), &w->rsp))
		return false;
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
	if (!word_read(w->u, cfa - 8, &w->pc))
		return false;
	note(w->u, cfa - 8, w->pc);
	w->rsp = cfa;
	w->exact = false;
	*whole = w->pc == 0;
	return w->pc != 0;
}

/* Sets out from a hook. False: not even its caller is known. */
static bool walk_start(struct walk *w, struct unwind *u)
{
	*w = (struct walk){ .u = u, .rbp_at = u->frame, .rbp_known = true, .rsp = u->frame + 16 };
	/* The hook's frame is ours, so it is there. */
	if (!knows(u->known, u->frame))
		learn(u->known, u->frame & ~(uint64_t)(PAGE_BYTES - 1));
	u->count = u->guard_count = 0;
	u->repeatable = true;
	u->generation = modules_generation();
	if (!word_read(u, u->frame, &w->rbp) || !word_read(u, u->frame + 8, &w->pc) || w->pc == 0)
		return false;
	note(u, u->frame + 8, w->pc);
	return true;
}

static void range_find(struct walk *w)
{
	if (w->pc - w->range.start >= w->range.end - w->range.start)
		modules_find(w->pc, &w->range);
}

void unwind_own(struct unwind *u)
{
	struct walk w;
	bool whole = false, more = walk_start(&w, u);

	while (more && u->count < u->depth) {
		range_find(&w);
		u->pcs[u->count] = w.pc;
		u->modules[u->count] = w.range.module;
		u->count += !unwind_is_ours(w.pc);
		more = step(&w, &whole);
	}
	u->truncated = !whole;
}

bool unwind_own_passes(uintptr_t frame, uintptr_t until)
{
	struct unwind_known known = { 0 };
	struct unwind u = { .frame = frame, .known = &known };
	struct walk w;
	bool whole, more = walk_start(&w, &u), deeper = frame < until;

	while (more && (!deeper || w.rsp <= until) && !unwind_is_ours(w.pc)) {
		range_find(&w);
		more = step(&w, &whole);
	}
	return deeper ? more && w.rsp > until : !unwind_is_ours(w.pc);
}
