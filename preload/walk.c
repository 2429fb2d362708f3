/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A walk along a stack by call frame information (walk.h).
 *
 * The information may be wrong: assembly that keeps other data in rbp without saying so sends the
 * walk anywhere. So it reads only pages known to exist: those of the hook's stack, which a thread
 * remembers for as long as it stays there, and others after asking the kernel. Words read from
 * others are not remembered: their pages may be gone the next time.
 */
#include "preload/walk.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/cfi.h"
#include "preload/symbols.h"
#include "preload/thread_pointer.h"
#include "shm/layout.h"

#define PAGE_BYTES 4096u
#define VALUE_BITS 48u
#define VALUE_MASK ((1ull << VALUE_BITS) - 1)
/* An unchecked gap of a stack that is checked at once, page by page. */
#define GAP_MAX (1u << 20)
/* No function has a larger frame; a larger step is a corrupt chain. */
#define FRAME_MAX (64u << 20)

/* Where the kernel put the program's arguments, which ends the main thread's stack: the loader's
 * first frame, which has no information, is there. 0: unknown. */
static uint64_t arguments;

void walk_begin(void)
{
	const uint64_t *end = symbols_first("__libc_stack_end");

	arguments = end ? *end : 0;
}

/* Asks the kernel. rt_sigprocmask copies its argument in before it checks `how`, and fails either
 * way, so nothing is changed. */
static bool page_readable(uint64_t page)
{
	int saved = errno;
	bool readable = syscall(SYS_rt_sigprocmask, ~0L, page, NULL, 8L) == 0 || errno != EFAULT;

	errno = saved;
	return readable;
}

/* The page after the thread's control block, which libc puts at the top of the thread's own stack:
 * no stack reaches across. (The main thread's lies elsewhere, and nothing is above its stack.) */
static uint64_t thread_end(void)
{
	return (thread_pointer() & ~(uint64_t)(PAGE_BYTES - 1)) + PAGE_BYTES;
}

/* Whether the page belongs to the hook's stack: all pages up to it are readable. The unreadable
 * page between most stacks is its end. */
static bool reaches(struct unwind_known *k, uint64_t page)
{
	if (page < k->low || (page >= k->high && page - k->high >= GAP_MAX))
		return false;
	while (page >= k->high && k->high != thread_end() && page_readable(k->high))
		k->high += PAGE_BYTES;
	return page < k->high;
}

/* Starts the known part of the stack at the hook's frame or deeper, which exists. Of another stack
 * nothing is known: the previous one's place may hold anything by now. */
static void known_begin(struct unwind_known *k, uint64_t page)
{
	uint64_t at = page + PAGE_BYTES;
	bool joins;

	if (page >= k->low && page < k->high)
		return;
	while (at < k->low && k->low - at < GAP_MAX && at != thread_end() && page_readable(at))
		at += PAGE_BYTES;
	joins = at == k->low && k->low < k->high;
	/* Wherever a handler leaves, nothing between two stacks counts as known. */
	if (!joins)
		ht_store_relaxed_64(&k->high, 0);
	ht_fence_handler();
	ht_store_relaxed_64(&k->low, page);
	ht_fence_handler();
	if (!joins)
		ht_store_relaxed_64(&k->high, page + PAGE_BYTES);
}

/* A word was read that is not noted. */
static void unsettle(struct unwind *u)
{
	u->repeatable = false;
	u->settled = u->count;
}

/* Reads the word at `address`; false: there is none. */
static bool word_read(struct unwind *u, uint64_t address, uint64_t *value)
{
	uint64_t page = address & ~(uint64_t)(PAGE_BYTES - 1);

	if (address % sizeof(*value) != 0)
		return false;
	if (!reaches(u->known, page)) {
		if (!page_readable(page))
			return false;
		unsettle(u);
	}
	*value = *(const uint64_t *)(uintptr_t)address;
	return true;
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

/* The next frame is found by rbp. False: rbp is unknown. */
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

/* rbp changes here. */
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

/* Moves past the kernel's frame to the interrupted code. Never remembered. */
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

	*whole = rule.type == CFI_END || (rule.type == CFI_NONE && w->at.rsp == arguments);
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
	known_begin(u->known, u->frame & ~(uint64_t)(PAGE_BYTES - 1));
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
