/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The unwinder by call frame information. It walks (walk.h) only as far as it must: a stack mostly
 * ends like the thread's previous one. When the walk reaches a frame of that stack in the same
 * state, the rest is the same as long as the words that it depends on are. It compares these words,
 * and puts the new frames in place of those further in. Where a word differs it walks on from the
 * last proved frame.
 *
 * Each frame that was ever known stays true with its words: they may lie further out than a stack
 * that ends at the depth asked for, and are compared when they are used again.
 */
#include "preload/unwind_cfi.h"

#include "preload/unwind_trail.h"
#include "preload/walk.h"
#include "shm/atomic.h"
#include "shm/layout.h"

#define STEP_WORDS 3u /* at most, that a step notes: rbp, what it points to, the return address */

/* Where a walk has met the previous stack. */
struct meeting {
	uint32_t at; /* the frame where they met, and */
	uint32_t low; /* the outermost that the stack may have */
	uint32_t end; /* number of the last word that it depends on */
};

/* Whether the previous stack is usable: its code is where it was. */
static bool usable(const struct unwind *u)
{
	const struct unwind_trail *t = &u->last;

	return u->last_whole &&
	       (t->unpinned_low == t->unpinned_top ||
		       (u->generation > MODULES_NEVER && u->generation == u->last_generation));
}

/* Whether the walk's state equals that of the previous one at frame `q`, which has the same stack
 * pointer, as far as the rest depends on it. */
static bool state_equal(const struct walk *w, const struct unwind_trail *last, uint32_t q)
{
	const struct unwind_frame *f = &last->frames[q];
	const struct unwind_rbp *then = &last->rbps[f->rbp],
				*now = &w->trail->rbps[w->trail->rbps_low];

	if (unwind_trail_pc(last, q) != w->pc || f->exact != w->exact)
		return false;
	return !unwind_rbp_needed(then, q) ||
	       (then->at == now->at && then->value == now->value && then->known == now->known &&
		       unwind_rbp_noted(then, q) == now->noted);
}

static inline bool word_differs(const struct unwind_word *w)
{
	return cfi_rule_word(w->at) != w->value;
}

/* Compares the words from number `from` down to, without, `end`. Returns the number of the first
 * that differs, plus 1; or `end`. Each is read only when those before it are unchanged: its address
 * depends on them. */
static uint32_t words_compare(const struct unwind_trail *t, uint32_t from, uint32_t end)
{
	const struct unwind_word *w = &t->words[from], *last = &t->words[end];

	for (; w - last >= 4; w -= 4)
		if (word_differs(w - 1) || word_differs(w - 2) || word_differs(w - 3) ||
			word_differs(w - 4))
			break;
	while (w != last && !word_differs(w - 1))
		w--;
	return (uint32_t)(w - t->words);
}

/* Code outside any object may have changed: looks it up again. */
static bool outermost_holds(const struct unwind_trail *t)
{
	struct module_range range;

	if (unwind_trail_module(t, t->low) != HT_NODE_UNPINNED)
		return true;
	modules_find(unwind_trail_pc(t, t->low), &range);
	return range.module == HT_NODE_UNPINNED;
}

/* Fills in the rest of where the walk and the previous stack have met. False: the last step is not
 * known by itself. */
static bool meeting_fill(const struct unwind *u, struct meeting *m)
{
	const struct unwind_trail *t = &u->last;
	uint32_t room = u->depth - (u->fresh.top - u->fresh.low), known = m->at + 1 - t->low;

	m->low = t->low;
	m->end = t->words_low;
	if (room >= known)
		return true;
	m->low = m->at + 1 - room;
	m->end = t->frames[m->low - 1].words;
	return !t->frames[m->low - 1].after_ours;
}

enum join { JOIN_NONE, JOIN_GO_ON, JOIN_DONE, JOIN_NO_ROOM };

/* How a stack that was taken ends. */
struct end {
	uint32_t low, words; /* numbers of its outermost frame and word */
	bool truncated;
	uint64_t rsp; /* where the walk ended */
};

/* Fills in the result: the frames of `t` from e->low on. */
static void result_fill(struct unwind *u, const struct unwind_trail *t, const struct end *e)
{
	bool to_end = e->low == t->low;
	uint16_t unpinned = to_end ? t->unpinned_low : t->frames[e->low - 1].unpinned;

	u->pcs = t->pcs_end - t->top;
	u->modules = t->modules_end - t->top;
	u->count = t->top - e->low;
	u->unpinned = unpinned != t->unpinned_top;
	u->truncated = e->truncated;
	u->words_end = t->words + t->words_top;
	u->guard_count = t->words_top - e->words;
	/* The outermost return address is the farthest word. */
	u->repeatable = t->complete &&
			(e->rsp - CFI_RULE_WORD - u->frame) / CFI_RULE_WORD <= UNWIND_PLACE_MAX;
}

/* Takes over the frames whose words are there, those from number `words` on, into the walk. */
static enum join join_part(struct walk *w, const struct unwind_trail *last, const struct meeting *m,
	uint32_t words, uint32_t *next)
{
	uint32_t end = m->at;

	while (end > m->low && last->frames[end - 1].words >= words)
		end--;
	*next = end;
	if (end == m->at)
		return JOIN_NONE;
	return unwind_trail_extend(w->trail, last, m->at, end) ? JOIN_GO_ON : JOIN_NO_ROOM;
}

/* Marks the previous stack as unusable, until its memory is whole again: a handler may leave in
 * between. */
static void last_begin(struct unwind *u)
{
	ht_store_relaxed_8(&u->last_whole, 0);
	ht_fence_handler();
}

static void last_end(struct unwind *u)
{
	u->last_generation = u->generation;
	u->number++;
	ht_fence_handler();
	ht_store_relaxed_8(&u->last_whole, 1);
}

/* Puts the new frames into the previous stack, whose rest is unchanged. */
static enum join join_all(struct unwind *u, struct walk *w, const struct meeting *m)
{
	struct unwind_trail *last = &u->last;
	bool same_end = m->low == u->last_low, to_end = m->low == last->low;
	uint32_t words = last->frames[m->at].words;

	/* With more words a walk would not be complete, whatever it met. */
	if (words - m->end + u->fresh.words_top - u->fresh.words_low > UNWIND_WORDS * u->fresh.room)
		return JOIN_NO_ROOM;
	last_begin(u);
	last->frames[m->at].after_ours = w->after_ours;
	if (!unwind_trail_join(last, m->at, &u->fresh))
		return JOIN_NO_ROOM;
	if (to_end && u->last_open && last->top - last->low < u->depth) {
		w->trail = last;
		return JOIN_GO_ON;
	}
	result_fill(u, last,
		&(struct end){ m->low, m->end, !to_end || u->last_truncated,
			to_end ? u->last_rsp : last->frames[m->low - 1].rsp });
	u->kept = same_end ? m->at + 1 - m->low : 0;
	u->shared = same_end ? words - m->end : 0;
	u->last_low = m->low;
	last_end(u);
	return JOIN_DONE;
}

/* Takes over the rest of the previous stack, as far as it is unchanged, at frame `q`, whose state
 * is the walk's. `*next`: where the part further out begins that was not taken over. */
static __attribute__((noinline)) enum join join(
	struct unwind *u, struct walk *w, uint32_t q, uint32_t *next)
{
	const struct unwind_trail *last = &u->last;
	struct meeting m = { .at = q };
	bool known = meeting_fill(u, &m);
	uint32_t words = words_compare(last, last->frames[q].words, m.end);

	if (known && words == m.end && (m.low != last->low || outermost_holds(last)))
		return join_all(u, w, &m);
	return join_part(w, last, &m, words, next);
}

/* Joins the walk and the previous stack if they have met. `*next`: only its frames numbered below
 * may be further out. */
static inline enum join join_try(struct unwind *u, struct walk *w, uint32_t *next)
{
	const struct unwind_trail *last = &u->last;

	while (*next > last->low && last->frames[*next - 1].rsp < w->rsp)
		--*next;
	if (*next <= last->low || last->frames[*next - 1].rsp != w->rsp ||
		!state_equal(w, last, *next - 1))
		return JOIN_NONE;
	return join(u, w, *next - 1, next);
}

/* Whether the previous stack's memory has room for one more step further out. */
static bool last_has_room(const struct unwind *u)
{
	const struct unwind_trail *t = &u->last;

	return t->low != 0 && t->words_low >= STEP_WORDS && t->rbps_low != 0 &&
	       t->words_top - t->words_low + STEP_WORDS <= UNWIND_WORDS * u->fresh.room;
}

/* Walks to the end, or until the rest is known. `next`: where the previous stack begins, 0: it is
 * not usable. */
static enum join walk_on(struct unwind *u, uint32_t next, struct walk *w, bool *open, bool *whole)
{
	bool more = walk_start(w, u->frame, &u->known, &u->fresh);

	*whole = false;
	while (more && w->trail->top - w->trail->low < u->depth) {
		enum join joined = next ? join_try(u, w, &next) : JOIN_NONE;

		if (joined == JOIN_DONE || joined == JOIN_NO_ROOM)
			return joined;
		if (joined == JOIN_GO_ON)
			more = walk_resume(w);
		if (w->trail == &u->last) {
			next = 0;
			if (!last_has_room(u))
				return JOIN_NO_ROOM;
		}
		walk_range(w);
		if (unwind_is_ours(w->pc))
			w->after_ours = true;
		else
			walk_add(w);
		more = more && walk_step(w, whole);
	}
	*open = more;
	return JOIN_NONE;
}

/* Walks, and remembers the stack. False: what was known of the previous one leaves no room. */
static bool take(struct unwind *u, uint32_t next)
{
	struct unwind_trail *last = &u->last;
	struct walk w;
	bool open, whole;
	enum join joined = walk_on(u, next, &w, &open, &whole);

	if (joined != JOIN_NONE)
		return joined == JOIN_DONE;
	if (w.trail != last) {
		last_begin(u);
		unwind_trail_replace(last, &u->fresh, open);
	}
	u->last_open = open;
	u->last_truncated = !whole;
	u->last_rsp = w.rsp;
	u->last_low = last->low;
	u->kept = u->shared = 0;
	result_fill(u, last, &(struct end){ last->low, last->words_low, !whole, w.rsp });
	last_end(u);
	return true;
}

/* ---- near the previous stack ---- */

/* Most stacks differ from the previous one in a few inner frames of the plainest kind: found from
 * the stack pointer, in code that stays. For those, what follows is all of the above in one loop
 * and a few stores; what is not so plain is left to that. */

/* Whether the walk is in the state of the previous stack's frame `f`, as far as the rest depends on
 * it: state_equal, of a walk that has not used rbp. */
static inline bool near_meets(const struct unwind_trail *last, const struct unwind_frame *f,
	const struct unwind_near_frame *now)
{
	uint32_t q = (uint32_t)(f - last->frames);
	const struct unwind_rbp *then = &last->rbps[f->rbp];

	if (f->rsp != now->rsp || unwind_trail_pc(last, q) != now->pc || f->exact)
		return false;
	return !unwind_rbp_needed(then, q) ||
	       (then->at == now->rbp_at && then->known && !unwind_rbp_noted(then, q) &&
		       then->value == cfi_rule_word(now->rbp_at));
}

/* Finds the object that the frame is in. False: it may be unloaded, or is ours. */
static inline bool near_place(struct unwind *u, struct unwind_near_frame *f)
{
	struct module_range *range = &u->known.code;

	if (__builtin_expect(f->pc - range->start >= range->end - range->start, 0)) {
		struct module_range other;

		modules_find(f->pc, &other);
		if (other.module & HT_NODE_UNPINNED)
			return false;
		*range = other;
	}
	f->module = range->module;
	return !unwind_is_ours(f->pc);
}

/* The frame's pc is the return address at `at`, and where that is. */
static inline void near_pc_from(struct unwind_near_frame *f, uint64_t at)
{
	f->pc = cfi_rule_word(at);
#if CFI_RULE_LINK
	f->pc_at = at;
#endif
}

static inline uint64_t near_pc_at(const struct unwind_near_frame *f)
{
#if CFI_RULE_LINK
	return f->pc_at;
#else
	return f->rsp - CFI_RULE_WORD;
#endif
}

/* Moves to the caller's frame. False: the step is not of the plainest kind. */
static inline bool near_step(
	const struct unwind_known *k, struct unwind_near_frame *f, struct unwind_near_frame *caller)
{
	struct cfi_rule rule = cfi_find(f->pc, f->module, false);
	uint32_t bytes = (uint32_t)cfi_rule_offset(rule),
		 slot = (uint32_t)-cfi_rule_rbp_offset(rule);
	uint64_t cfa = f->rsp + bytes;

	f->saves = rule.rbp == CFI_RBP_AT_CFA;
	caller->rbp_at = f->saves ? cfa - slot : f->rbp_at;
	if (rule.type != CFI_RSP || bytes - CFI_RULE_WORD >= WALK_FRAME_MAX - CFI_RULE_WORD ||
		cfa % CFI_RULE_WORD != 0 || cfa > k->high || !cfi_rule_ra_inside(rule, bytes) ||
		!(f->saves ? slot - CFI_RULE_WORD <= bytes - CFI_RULE_WORD &&
					slot % CFI_RULE_WORD == 0
			   : rule.rbp == CFI_RBP_SAME))
		return false;
	caller->rsp = cfa;
	near_pc_from(caller, cfa + (uint64_t)cfi_rule_ra_offset(rule));
	return caller->pc - 1 < UNWIND_VALUE_MASK;
}

/* Starts from the hook's frame. False: that is not on the stack known so far. */
static inline bool near_start(const struct unwind *u, struct unwind_near_frame *f)
{
	f->rsp = u->frame + 2 * CFI_RULE_WORD;
	f->rbp_at = u->frame;
	if (u->frame < u->known.low || f->rsp > u->known.high || u->frame % CFI_RULE_WORD != 0)
		return false;
	near_pc_from(f, u->frame + CFI_RULE_WORD);
	return f->pc - 1 < UNWIND_VALUE_MASK;
}

/* Walks until the previous stack is met, at a frame numbered below `next`. */
static inline bool near_walk(struct unwind *u, uint32_t next, struct unwind_near *n)
{
	const struct unwind_trail *last = &u->last;
	const struct unwind_frame *f = &last->frames[next - 1], *end = &last->frames[last->low];
	struct unwind_near_frame *now = n->frame;

	if (next <= last->low || !near_start(u, now))
		return false;
	for (; now < &n->frame[UNWIND_NEAR]; now++) {
		while (f->rsp < now->rsp)
			if (f-- == end)
				return false;
		if (near_meets(last, f, now)) {
			n->count = (uint32_t)(now - n->frame);
			n->at = (uint32_t)(f - last->frames);
			return true;
		}
		if (!near_place(u, now) || !near_step(&u->known, now, now + 1))
			return false;
	}
	return false;
}

/* Whether the rest is the previous stack's, all of it, and there is room for the new frames. */
static inline bool near_joins(const struct unwind *u, const struct unwind_near *n)
{
	const struct unwind_trail *last = &u->last;
	const struct unwind_frame *f = &last->frames[n->at];
	uint32_t words = f->words + n->count + 1u, top = n->at + n->count + 1u;

	if (u->last_open || top - last->low > u->depth ||
		words - last->words_low > UNWIND_WORDS * u->fresh.room || top > last->room ||
		words > UNWIND_WORDS * last->room || f->rbp + n->count + 1u > last->room)
		return false;
	return words_compare(last, f->words, last->words_low) == last->words_low &&
	       outermost_holds(last);
}

/* The rbp that was kept at `at`, and that no rule used; `top`: more than the numbers of its frames.
 */
static inline void near_rbp(struct unwind_rbp *r, uint64_t at, uint32_t top)
{
	unwind_rbp_set(r, at, cfi_rule_word(at), true, top);
}

/* Puts the new frames in place of those further in than where the stacks meet, from there inwards.
 * All is as unwind_trail_join leaves it. */
static inline void near_put(struct unwind_trail *t, const struct unwind_near *n)
{
	const struct unwind_near_frame *now = &n->frame[n->count];
	struct unwind_frame *f = &t->frames[n->at];
	uint32_t words = f->words, rbp = f->rbp, q = n->at, top = q + n->count + 1;
	uint16_t unpinned = f->unpinned;

	f->after_ours = false;
	if (!unwind_rbp_needed(&t->rbps[rbp], q))
		near_rbp(&t->rbps[rbp], now->rbp_at, top);
	t->words[words++] = (struct unwind_word){ near_pc_at(now), now->pc };
	while (now-- != n->frame) {
		if (now->saves)
			near_rbp(&t->rbps[++rbp], now->rbp_at, top);
		t->frames[++q] = (struct unwind_frame){ .rsp = now->rsp,
			.words = (uint16_t)words,
			.rbp = (uint16_t)rbp,
			.unpinned = unpinned };
		t->pcs_end[-1 - (ptrdiff_t)q] = now->pc;
		t->modules_end[-1 - (ptrdiff_t)q] = now->module;
		t->words[words++] = (struct unwind_word){ near_pc_at(now), now->pc };
	}
	t->top = t->settled = top;
	t->words_top = words;
	t->rbps_top = rbp + 1;
	t->unpinned_top = unpinned;
	t->complete = true;
}

/* Takes the stack if it is near the previous one, which has `next` settled frames. False: nothing
 * is changed. */
static __attribute__((noinline)) bool take_near(struct unwind *u, uint32_t next)
{
	struct unwind_trail *last = &u->last;
	struct unwind_near *n = &u->near; /* not on the program's stack */
	bool same_end = last->low == u->last_low;
	uint32_t words;

	if (!near_walk(u, next, n) || !near_joins(u, n))
		return false;
	words = last->frames[n->at].words;
	last_begin(u);
	near_put(last, n);
	result_fill(u, last,
		&(struct end){ last->low, last->words_low, u->last_truncated, u->last_rsp });
	u->kept = same_end ? n->at + 1 - last->low : 0;
	u->shared = same_end ? words - last->words_low : 0;
	u->last_low = last->low;
	last_end(u);
	return true;
}

void unwind_cfi(struct unwind *u)
{
	const struct unwind_trail *last = &u->last;
	uint32_t next = last->settled < last->top ? last->settled : last->top;

	u->generation = modules_generation(); /* first: edge UNLOAD */
	if (!usable(u) || !(take_near(u, next) || take(u, next)))
		(void)take(u, 0);
}

uint32_t unwind_cfi_guards(const struct unwind *u, uint32_t frame)
{
	const struct unwind_trail *t =
		u->pcs == u->last.pcs_end - u->last.top ? &u->last : &u->fresh;

	if (u->pcs != t->pcs_end - t->top || frame >= u->count)
		return 0;
	return t->words_top - t->frames[t->top - 1 - frame].words;
}

void unwind_cfi_afresh(struct unwind *u)
{
	struct walk w;
	bool open, whole;

	u->generation = modules_generation();
	(void)walk_on(u, 0, &w, &open, &whole);
	result_fill(u, w.trail, &(struct end){ w.trail->low, w.trail->words_low, !whole, w.rsp });
}

/* A walk that leaves nothing behind needs only the latest of everything. */
struct without_trail {
	struct unwind_known known;
	struct unwind_trail trail;
	struct unwind_rbp rbp;
	struct unwind_word words[UNWIND_WORDS];
};

static bool walk_without_trail(struct walk *w, struct without_trail *n, uintptr_t frame)
{
	n->known = (struct unwind_known){ 0 };
	n->trail = (struct unwind_trail){ .room = 1, .rbps = &n->rbp, .words = n->words };
	return walk_start(w, frame, &n->known, &n->trail);
}

bool unwind_cfi_is_clear(uintptr_t frame, uintptr_t until)
{
	struct without_trail none;
	struct walk w;
	bool whole, more = walk_without_trail(&w, &none, frame), deeper = frame < until;

	while (more && (!deeper || w.rsp <= until) && !unwind_is_ours(w.pc)) {
		walk_range(&w);
		more = walk_step(&w, &whole);
	}
	return deeper ? more && w.rsp > until : !unwind_is_ours(w.pc);
}

/* Whether a return address is that of a handler: the kernel makes it return to code that calls
 * rt_sigreturn, which debuggers also recognise by these bytes. */
static bool is_sigreturn(const struct walk *w)
{
	static const uint8_t code[] = SIGNAL_FRAME_CODE;
	const uint8_t *at = (const uint8_t *)(uintptr_t)w->pc;

	if (w->pc - w->range.start + sizeof(code) > w->range.end - w->range.start)
		return false;
#ifdef SIGNAL_FRAME_OLD_CODE
	if (*at == SIGNAL_FRAME_OLD_CODE && at[1] == code[0] && at[2] == SIGNAL_FRAME_OLD_CALL)
		return true;
#endif
	return __builtin_memcmp(at, code, sizeof(code)) == 0;
}

bool unwind_cfi_in_handler(uintptr_t frame)
{
	struct without_trail none;
	struct walk w;
	bool whole, more = walk_without_trail(&w, &none, frame);

	while (more) {
		walk_range(&w);
		if (is_sigreturn(&w))
			return true;
		more = walk_step(&w, &whole);
	}
	return false;
}

uint64_t unwind_cfi_outermost(uintptr_t frame, uint32_t module)
{
	struct without_trail none;
	struct walk w;
	bool whole = false, inner = true, more = walk_without_trail(&w, &none, frame);
	uint64_t rsp = 0;

	while (more && inner) {
		walk_range(&w);
		inner = unwind_is_ours(w.pc) || w.range.module == module ||
			w.pc - modules_loader.start < modules_loader.bytes;
		rsp = w.rsp;
		more = walk_step(&w, &whole);
	}
	return !inner && !more && whole ? rsp : 0;
}
