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
#include "preload/unwind_trail.h"

#define PAGE_BYTES 4096u
/* An unchecked gap of a stack that is checked at once, page by page. */
#define GAP_MAX (1u << 20)

/* Where the kernel put the program's arguments, which ends the main thread's stack: the loader's
 * first frame, which has no information, is there. 0: unknown. */
static uint64_t arguments;

void walk_begin(void)
{
	const uintptr_t *end = symbols_first("__libc_stack_end");

	arguments = end ? *end : 0;
}

/* Asks the kernel. rt_sigprocmask copies its argument in before it checks `how`, and fails either
 * way, so nothing is changed. */
static bool page_readable(uint64_t page)
{
	int saved = errno;
	bool readable =
		syscall(SYS_rt_sigprocmask, ~0L, (uintptr_t)page, NULL, 8L) == 0 || errno != EFAULT;

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
static void unsettle(struct unwind_trail *t)
{
	t->complete = false;
	t->settled = t->low;
}

static __attribute__((noinline)) bool word_find(struct walk *w, uint64_t address, uint64_t *value)
{
	uint64_t page = address & ~(uint64_t)(PAGE_BYTES - 1);

	if (address % CFI_RULE_WORD != 0)
		return false;
	if (!reaches(w->known, page)) {
		if (!page_readable(page))
			return false;
		unsettle(w->trail);
	}
	*value = cfi_rule_word(address);
	return true;
}

/* Reads the word at `address`; false: there is none. */
static inline bool word_read(struct walk *w, uint64_t address, uint64_t *value)
{
	const struct unwind_known *k = w->known;

	if (__builtin_expect(
		    address - k->low >= k->high - k->low || address % CFI_RULE_WORD != 0, 0))
		return word_find(w, address, value);
	*value = cfi_rule_word(address);
	return true;
}

/* Notes that the result depends on the word at `address`, which holds `value`. */
static inline void note(struct unwind_trail *t, uint64_t address, uint64_t value)
{
	if (__builtin_expect(value > UNWIND_VALUE_MASK || t->words_low == 0, 0)) {
		unsettle(t);
		return;
	}
	t->words[--t->words_low] = (struct unwind_word){ address, value };
}

/* A word is noted only if it belongs to the frame that it was read in. So all words lie between the
 * hook's frame and the last return address, however a stack is put together. */
static bool is_within(uint64_t address, uint64_t rsp, uint64_t cfa)
{
	return address >= rsp && address < cfa;
}

/* ---- rbp ---- */

static struct unwind_rbp *rbp_of(const struct walk *w)
{
	return &w->trail->rbps[w->trail->rbps_low];
}

/* The next frame is found by rbp. False: rbp is unknown. */
static bool rbp_use(struct walk *w)
{
	struct unwind_rbp *r = rbp_of(w);

	r->needed = (uint16_t)w->trail->low;
	if (!r->known)
		return false;
	if (r->noted)
		return true;
	if (r->at)
		note(w->trail, r->at, r->value);
	else
		unsettle(w->trail);
	r->noted = true;
	r->noted_at = (uint16_t)w->trail->low;
	return true;
}

/* rbp changes here. Where there is no room the frames so far lose what they know of it. */
static void rbp_change(struct walk *w, bool known, uint64_t at, uint64_t value)
{
	struct unwind_trail *t = w->trail;

	if (__builtin_expect(t->rbps_low == 0, 0))
		unsettle(t);
	else
		t->rbps_low--;
	unwind_rbp_set(rbp_of(w), at, value, known, t->low);
}

static bool rbp_step(struct walk *w, struct cfi_rule rule, uint64_t cfa)
{
	uint64_t at = 0, value;

	switch ((enum cfi_rbp)rule.rbp) {
	case CFI_RBP_SAME:
		return true;
	case CFI_RBP_LOST:
		rbp_change(w, false, 0, 0);
		return true;
	case CFI_RBP_AT_CFA:
		at = cfa + (uint64_t)(int64_t)cfi_rule_rbp_offset(rule);
		break;
	case CFI_RBP_AT_RBP:
		if (!rbp_use(w))
			return false;
		at = rbp_of(w)->value + (uint64_t)(int64_t)cfi_rule_rbp_offset(rule);
		break;
	}
	if (!word_read(w, at, &value))
		return false;
	if (!is_within(at, w->rsp, cfa)) {
		unsettle(w->trail);
		at = 0;
	}
	rbp_change(w, true, at, value);
	return true;
}

/* ---- steps ---- */

static bool cfa_deref(struct walk *w, int32_t offset, uint64_t *cfa)
{
	uint64_t at;

	if (!rbp_use(w))
		return false;
	at = rbp_of(w)->value + (uint64_t)(int64_t)offset;
	if (!word_read(w, at, cfa))
		return false;
	if (is_within(at, w->rsp, *cfa))
		note(w->trail, at, *cfa);
	else
		unsettle(w->trail);
	return true;
}

static bool cfa_find(struct walk *w, struct cfi_rule rule, uint64_t *cfa)
{
	switch ((enum cfi_type)rule.type) {
	case CFI_RSP:
		*cfa = w->rsp + (uint64_t)(int64_t)cfi_rule_offset(rule);
		break;
	case CFI_RBP:
		if (!rbp_use(w))
			return false;
		*cfa = rbp_of(w)->value + (uint64_t)(int64_t)cfi_rule_offset(rule);
		break;
	case CFI_DEREF:
		if (!cfa_deref(w, (int32_t)cfi_rule_offset(rule), cfa))
			return false;
		break;
	case CFI_PLT:
		*cfa = w->rsp + CFI_RULE_WORD +
		       ((w->pc & 15) >= (uint64_t)cfi_rule_offset(rule) ? CFI_RULE_WORD : 0);
		break;
	case CFI_NONE:
	case CFI_STOP:
	case CFI_END:
	case CFI_SIGNAL:
		return false;
	}
	/* An interrupted function may not have a frame yet. */
	return (*cfa > w->rsp || (*cfa == w->rsp && w->exact && cfi_rule_in_register(rule))) &&
	       *cfa - w->rsp < WALK_FRAME_MAX && *cfa % CFI_RULE_WORD == 0;
}

#ifdef __i386__
/* Where the interrupted registers are: behind the handler's argument in the frame of a handler with
 * one, and where its third argument points in that of others. The two kinds return to different
 * code. */
static bool registers_find(struct walk *w, uint64_t *frame)
{
	if (!page_readable(w->pc & ~(uint64_t)(PAGE_BYTES - 1)))
		return false;
	if (*(const uint8_t *)(uintptr_t)w->pc == SIGNAL_FRAME_OLD_CODE) {
		*frame += SIGNAL_FRAME_OLD;
		return true;
	}
	if (!word_read(w, *frame + SIGNAL_FRAME_UCONTEXT, frame))
		return false;
	*frame += offsetof(ucontext_t, uc_mcontext.gregs);
	return true;
}
#endif

/* Moves past the kernel's frame to the interrupted code. Never remembered. */
static bool signal_step(struct walk *w)
{
	uint64_t frame = w->rsp, rbp;

	unsettle(w->trail);
#ifdef __i386__
	if (!registers_find(w, &frame))
		return false;
#endif
#if CFI_RULE_LINK
	if (!word_read(w, frame + SIGNAL_FRAME_LINK, &w->link))
		return false;
#endif
	if (!word_read(w, frame + SIGNAL_FRAME_PC, &w->pc) ||
		!word_read(w, frame + SIGNAL_FRAME_RBP, &rbp) ||
		!word_read(w, frame + SIGNAL_FRAME_RSP, &w->rsp))
		return false;
	rbp_change(w, true, 0, rbp);
	w->exact = true;
	return true;
}

/* Whether the frame returns to the kernel's code, which has no information. */
static bool in_sigreturn(const struct walk *w)
{
	static const uint8_t code[] = SIGNAL_FRAME_CODE;
	const uint64_t mask = ~(uint64_t)(PAGE_BYTES - 1);

	return SIGNAL_FRAME_BY_CODE && !w->exact && page_readable(w->pc & mask) &&
	       page_readable((w->pc + sizeof(code) - 1) & mask) &&
	       __builtin_memcmp((const void *)(uintptr_t)w->pc, code, sizeof(code)) == 0;
}

/* Reads the return address of a frame, which ends at `cfa`. */
static bool return_address(struct walk *w, struct cfi_rule rule, uint64_t cfa)
{
	uint64_t at = cfa + (uint64_t)cfi_rule_ra_offset(rule);

#if CFI_RULE_LINK
	if (cfi_rule_in_register(rule)) {
		/* Only of what a handler has interrupted: a call has overwritten it elsewhere. */
		w->pc = w->exact ? w->link : 0;
		unsettle(w->trail);
		return w->pc != 0;
	}
#endif
	if (!word_read(w, at, &w->pc))
		return false;
	if (!CFI_RULE_LINK || is_within(at, w->rsp, cfa))
		note(w->trail, at, w->pc);
	else
		unsettle(w->trail);
	return true;
}

bool walk_step_by(struct walk *w, struct cfi_rule rule, bool *whole)
{
	uint64_t cfa = 0;

	*whole = rule.type == CFI_END || (rule.type == CFI_NONE && w->rsp == arguments);
	if (rule.type == CFI_SIGNAL || (rule.type == CFI_NONE && !*whole && in_sigreturn(w)))
		return signal_step(w);
	if (!cfa_find(w, rule, &cfa) || !rbp_step(w, rule, cfa))
		return false;
	if (!return_address(w, rule, cfa))
		return false;
	w->rsp = cfa;
	w->exact = false;
	*whole = w->pc == 0;
	return w->pc != 0;
}

/* ---- begin and end ---- */

bool walk_start(struct walk *w, uintptr_t frame, struct unwind_known *known, struct unwind_trail *t)
{
	uint64_t rbp;

	*w = (struct walk){
		.known = known, .trail = t, .rsp = frame + 2 * CFI_RULE_WORD, .range = known->code
	};
	known_begin(known, frame & ~(uint64_t)(PAGE_BYTES - 1));
	unwind_trail_empty(t);
	t->rbps_low--;
	unwind_rbp_set(rbp_of(w), 0, 0, false, t->low);
	if (!word_read(w, frame, &rbp) || !word_read(w, frame + CFI_RULE_WORD, &w->pc) ||
		w->pc == 0)
		return false;
	unwind_rbp_set(rbp_of(w), frame, rbp, true, t->low);
	note(t, frame + CFI_RULE_WORD, w->pc);
	return true;
}

void walk_range_find(struct walk *w)
{
	modules_find(w->pc, &w->range);
	if (!(w->range.module & HT_NODE_UNPINNED))
		w->known->code = w->range;
}

bool walk_resume(struct walk *w)
{
	struct unwind_trail *t = w->trail;
	uint32_t q = t->low;
	struct unwind_rbp *r;

	w->rsp = t->frames[q].rsp;
	w->pc = unwind_trail_pc(t, q);
	w->exact = t->frames[q].exact;
	w->after_ours = t->frames[q].after_ours;
	unwind_trail_cut(t, q);
	r = rbp_of(w);
	return r->at == 0 || word_read(w, r->at, &r->value);
}
