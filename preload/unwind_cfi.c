/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The unwinder by call frame information. It walks (walk.h) only as far as it must: a stack mostly
 * ends like the thread's previous one. When the walk reaches a frame of that stack in the same
 * state, the rest is the same as long as the words that it depends on are. It compares these words
 * and copies the frames. Where a word differs it walks on from the last proved frame.
 */
#include "preload/unwind_cfi.h"

#include <stddef.h>

#include "preload/modules.h"
#include "preload/walk.h"
#include "shm/layout.h"

#define VALUE_BITS 48u
#define VALUE_MASK ((1ull << VALUE_BITS) - 1)

/* Adds a frame of the program's to the stack. */
static void frame_add(struct walk *w)
{
	struct unwind *u = w->u;

	u->pcs[u->count] = w->pc;
	u->modules[u->count] = w->range.module;
	u->unpinned |= (w->range.module & HT_NODE_UNPINNED) != 0;
	w->at.guards = (uint16_t)u->guard_count;
	u->frames[u->count++] = w->at;
}

/* Whether the previous stack is usable: its code is where it was. */
static bool usable(const struct unwind *last, const struct unwind *u)
{
	return last && last->count != 0 &&
	       (!last->unpinned ||
		       (u->generation > MODULES_NEVER && u->generation == last->generation));
}

/* Whether the walk's state equals that of the previous one at frame `i`, as far as the rest depends
 * on it. */
static bool state_equal(const struct walk *w, const struct unwind *last, uint32_t i)
{
	const struct unwind_frame *f = &last->frames[i], *at = &w->at;

	if (f->rsp != at->rsp || last->pcs[i] != w->pc || f->exact != at->exact)
		return false;
	return !f->rbp_needed ||
	       (f->rbp_at == at->rbp_at && f->rbp == at->rbp && f->rbp_known == at->rbp_known &&
		       f->rbp_noted == at->rbp_noted);
}

/* The number of the previous stack's words that are unchanged, from `from` on. Each is read only
 * when those before it are unchanged: its address depends on them. */
static uint32_t guards_there(const struct unwind *last, uint32_t from)
{
	for (; from < last->guard_count; from++) {
		uint64_t guard = last->guards[from];

		if (((const uint64_t *)last->frame)[guard >> VALUE_BITS] != (guard & VALUE_MASK))
			break;
	}
	return from;
}

/* Notes the previous stack's words. */
static void guards_copy(struct unwind *u, const struct unwind *last, uint32_t from, uint32_t to)
{
	for (; from < to; from++) {
		uint64_t guard = last->guards[from];

		walk_note(u, last->frame + (guard >> VALUE_BITS) * sizeof(uint64_t),
			guard & VALUE_MASK);
	}
}

/* The number of the previous stack's frames, from `i` on, that depend on the first `guards` words
 * only. */
static uint32_t frames_there(
	const struct unwind *u, const struct unwind *last, uint32_t i, uint32_t guards)
{
	uint32_t room = u->depth - u->count, n = 0;
	/* Code outside any object may have changed: look it up again. */
	uint32_t count = last->count - (last->modules[last->count - 1] == HT_NODE_UNPINNED);

	while (n < room && i + n < count && last->frames[i + n].guards <= guards)
		n++;
	return n;
}

/* Makes *to a copy of the previous stack's frame, adapted to this one. Where rbp has not changed
 * since the two met it is this walk's. Loads no word that was just stored in parts: there are many
 * frames. */
static void frame_move(const struct walk *w, const struct unwind_frame *met,
	const struct unwind_frame *from, struct unwind_frame *to)
{
	*to = *from;
	to->rbp_age = (uint16_t)(from->rbp_age - met->rbp_age + w->at.rbp_age);
	to->guards = (uint16_t)(from->guards - met->guards + w->u->guard_count);
	if (from->rbp_age != met->rbp_age)
		return;
	to->rbp = w->at.rbp;
	to->rbp_at = w->at.rbp_at;
	to->rbp_known = w->at.rbp_known;
	if (!met->rbp_needed)
		to->rbp_noted = w->at.rbp_noted;
}

/* Adds `n` of the previous stack's frames, from `i` on, at the walk's position. */
static void frames_copy(struct walk *w, const struct unwind *last, uint32_t i, uint32_t n)
{
	const struct unwind_frame *met = &last->frames[i];
	struct unwind *u = w->u;

	if (met->rbp_needed)
		walk_rbp_needed(w);
	for (uint32_t k = i; k < i + n; k++, u->count++) {
		u->pcs[u->count] = last->pcs[k];
		u->modules[u->count] = last->modules[k];
		u->unpinned |= (last->modules[k] & HT_NODE_UNPINNED) != 0;
		frame_move(w, met, &last->frames[k], &u->frames[u->count]);
	}
}

/* Moves the walk to the last frame added. False: its rbp cannot be read. */
static bool walk_resume(struct walk *w)
{
	const struct unwind *u = w->u;

	w->at = u->frames[u->count - 1];
	w->pc = u->pcs[u->count - 1];
	walk_range(w);
	return walk_rbp_again(w);
}

enum join { JOIN_NONE, JOIN_GO_ON, JOIN_DONE };

/* Copies the rest of the previous stack as far as it is unchanged. `*next`: its frames before that
 * are deeper than the walk. */
static enum join join(struct walk *w, const struct unwind *last, uint32_t *next)
{
	uint32_t i = *next < last->settled ? last->settled : *next, guards, n;

	while (i < last->count && last->frames[i].rsp < w->at.rsp)
		i++;
	*next = i;
	if (i >= last->count || !state_equal(w, last, i))
		return JOIN_NONE;
	guards = guards_there(last, last->frames[i].guards);
	n = frames_there(w->u, last, i, guards);
	if (n == 0)
		return JOIN_NONE;
	*next = i + n;
	frames_copy(w, last, i, n);
	if (i + n == last->count && guards == last->guard_count && last->count < last->depth) {
		guards_copy(w->u, last, last->frames[i].guards, guards);
		w->u->truncated = last->truncated;
		w->u->kept = n;
		return JOIN_DONE;
	}
	guards_copy(w->u, last, last->frames[i].guards, last->frames[i + n - 1].guards);
	return JOIN_GO_ON;
}

void unwind_cfi(struct unwind *u, const struct unwind *last)
{
	struct walk w;
	bool whole = false, more = walk_start(&w, u);
	uint32_t next = 0;

	if (!usable(last, u))
		last = NULL;
	while (more && u->count < u->depth) {
		enum join joined = last ? join(&w, last, &next) : JOIN_NONE;

		if (joined == JOIN_DONE)
			return;
		if (joined == JOIN_GO_ON) {
			more = walk_resume(&w);
		} else {
			walk_range(&w);
			if (!unwind_is_ours(w.pc))
				frame_add(&w);
		}
		more = more && walk_step(&w, &whole);
	}
	u->truncated = !whole;
}

bool unwind_cfi_is_clear(uintptr_t frame, uintptr_t until)
{
	struct unwind_known known = { 0 };
	struct unwind u = { .frame = frame, .known = &known };
	struct walk w;
	bool whole, more = walk_start(&w, &u), deeper = frame < until;

	while (more && (!deeper || w.at.rsp <= until) && !unwind_is_ours(w.pc)) {
		walk_range(&w);
		more = walk_step(&w, &whole);
	}
	return deeper ? more && w.at.rsp > until : !unwind_is_ours(w.pc);
}

uint64_t unwind_cfi_outermost(uintptr_t frame, uint32_t module)
{
	struct unwind_known known = { 0 };
	struct unwind u = { .frame = frame, .known = &known };
	struct walk w;
	bool whole = false, inner = true, more = walk_start(&w, &u);
	uint64_t rsp = 0;

	while (more && inner) {
		walk_range(&w);
		inner = unwind_is_ours(w.pc) || w.range.module == module ||
			w.pc - modules_loader.start < modules_loader.bytes;
		rsp = w.at.rsp;
		more = walk_step(&w, &whole);
	}
	return !inner && !more && whole ? rsp : 0;
}
