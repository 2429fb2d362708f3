/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A walk along a stack by call frame information (walk.h).
 *
 * The information may be wrong: assembly that keeps other data in rbp, and does not say so, sends
 * the walk anywhere. So it reads only pages known to be there: that of the hook's own frame, and
 * those that the kernel was asked about. A thread remembers them, and asks once for each page.
 */
#include "preload/walk.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/cfi.h"
#include "preload/state.h"

#define PAGE_BYTES 4096u
#define VALUE_BITS 48u
#define VALUE_MASK ((1ull << VALUE_BITS) - 1)
#define FRAME_MAX                                                                                  \
	(64u << 20) /* no function has a larger frame; a larger step is a corrupt chain            \
		     */

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

/* Something was read that is not noted. */
static void unsettle(struct unwind *u)
{
	u->repeatable = false;
	u->settled = u->count;
}

void walk_note(struct unwind *u, uint64_t address, uint64_t value)
{
	uint64_t distance = (address - u->frame) / sizeof(uint64_t);

	if (address < u->frame || distance > UINT16_MAX || value > VALUE_MASK ||
		u->guard_count == u->guard_room) {
		unsettle(u);
		return;
	}
	u->guards[u->guard_count++] = distance << VALUE_BITS | value;
}

void walk_rbp_needed(struct walk *w)
{
	struct unwind_frame *frames = w->u->frames;

	w->at.rbp_needed = true;
	for (uint32_t i = w->u->count; i-- > 0 && frames[i].rbp_age == w->at.rbp_age;) {
		if (frames[i].rbp_needed)
			break;
		frames[i].rbp_needed = true;
	}
}

bool walk_rbp_again(struct walk *w)
{
	return w->at.rbp_at == 0 || word_read(w->u, w->at.rbp_at, &w->at.rbp);
}

/* rbp, by which the next frame is found. False: it is not known. */
static bool rbp_use(struct walk *w)
{
	walk_rbp_needed(w);
	if (!w->at.rbp_known)
		return false;
	if (!w->at.rbp_at)
		unsettle(w->u);
	else if (!w->at.rbp_noted)
		walk_note(w->u, w->at.rbp_at, w->at.rbp);
	w->at.rbp_noted = true;
	return true;
}

/* rbp is another one from here on. */
static void rbp_change(struct walk *w, bool known, uint64_t at)
{
	w->at.rbp_at = at;
	w->at.rbp_age++;
	w->at.rbp_known = known;
	w->at.rbp_noted = w->at.rbp_needed = false;
}

static bool cfa_find(struct walk *w, struct cfi_rule rule, uint64_t *cfa)
{
	uint64_t at;

	switch ((enum cfi_type)rule.type) {
	case CFI_RSP:
		*cfa = w->at.rsp + (uint64_t)(int64_t)rule.offset;
		break;
	case CFI_RBP:
		if (!rbp_use(w))
			return false;
		*cfa = w->at.rbp + (uint64_t)(int64_t)rule.offset;
		break;
	case CFI_DEREF:
		if (!rbp_use(w))
			return false;
		at = w->at.rbp + (uint64_t)(int64_t)rule.offset;
		if (!word_read(w->u, at, cfa))
			return false;
		walk_note(w->u, at, *cfa);
		break;
	case CFI_PLT:
		*cfa = w->at.rsp + 8 + ((w->pc & 15) >= (uint64_t)rule.offset ? 8 : 0);
		break;
	case CFI_NONE:
	case CFI_STOP:
	case CFI_END:
	case CFI_SIGNAL:
		return false;
	}
	return *cfa > w->at.rsp && *cfa - w->at.rsp < FRAME_MAX && *cfa % 8 == 0;
}

static bool rbp_step(struct walk *w, struct cfi_rule rule, uint64_t cfa)
{
	uint64_t at = 0;

	switch ((enum cfi_rbp)rule.rbp) {
	case CFI_RBP_SAME:
		return true;
	case CFI_RBP_LOST:
		rbp_change(w, false, 0);
		return true;
	case CFI_RBP_AT_CFA:
		at = cfa + (uint64_t)(int64_t)rule.rbp_offset;
		break;
	case CFI_RBP_AT_RBP:
		if (!rbp_use(w))
			return false;
		at = w->at.rbp + (uint64_t)(int64_t)rule.rbp_offset;
		break;
	}
	if (!word_read(w->u, at, &w->at.rbp))
		return false;
	rbp_change(w, true, at);
	return true;
}

/* Past the kernel's frame to the code that the signal interrupted. Never remembered. */
static bool signal_step(struct walk *w)
{
	uint64_t registers = w->at.rsp + offsetof(ucontext_t, uc_mcontext.gregs);

	unsettle(w->u);
	if (!word_read(w->u, registers + REG_RIP * sizeof(greg_t), &w->pc) ||
		!word_read(w->u, registers + REG_RBP * sizeof(greg_t), &w->at.rbp) ||
		!word_read(w->u, registers + REG_RSP * sizeof(greg_t), &w->at.rsp))
		return false;
	rbp_change(w, true, 0);
	w->at.exact = true;
	return true;
}

bool walk_step(struct walk *w, bool *whole)
{
	struct cfi_rule rule = cfi_find(w->pc, w->range.module, w->at.exact);
	uint64_t cfa = 0;

	*whole = rule.type == CFI_END;
	if (rule.type == CFI_SIGNAL)
		return signal_step(w);
	if (!cfa_find(w, rule, &cfa) || !rbp_step(w, rule, cfa))
		return false;
	if (!word_read(w->u, cfa - 8, &w->pc))
		return false;
	walk_note(w->u, cfa - 8, w->pc);
	w->at.rsp = cfa;
	w->at.exact = false;
	*whole = w->pc == 0;
	return w->pc != 0;
}

bool walk_start(struct walk *w, struct unwind *u)
{
	*w = (struct walk){ .u = u,
		.at = { .rbp_at = u->frame, .rbp_known = true, .rsp = u->frame + 16 } };
	/* The hook's frame is ours, so it is there. */
	if (!knows(u->known, u->frame))
		learn(u->known, u->frame & ~(uint64_t)(PAGE_BYTES - 1));
	u->count = u->guard_count = u->kept = u->settled = 0;
	u->repeatable = true;
	u->unpinned = false;
	u->generation = modules_generation();
	if (!word_read(u, u->frame, &w->at.rbp) || !word_read(u, u->frame + 8, &w->pc) ||
		w->pc == 0)
		return false;
	walk_note(u, u->frame + 8, w->pc);
	return true;
}

void walk_range(struct walk *w)
{
	if (w->pc - w->range.start >= w->range.end - w->range.start)
		modules_find(w->pc, &w->range);
}
