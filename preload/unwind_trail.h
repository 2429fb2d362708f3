/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The findings of a walk along a stack (struct unwind_trail), and how a part of one becomes the
 * inner or the outer part of another. Numbers are relative, so a copy adds the same amount to all
 * numbers of a kind.
 * In hooks, on the thread that owns the memory.
 */
#ifndef PRELOAD_UNWIND_TRAIL_H
#define PRELOAD_UNWIND_TRAIL_H

#include "preload/unwind_types.h"
#include "shm/layout.h"

/* Bytes of the arrays of a trail with room for so many frames, an even number. */
size_t unwind_trail_bytes(uint32_t room);
/* Lays the arrays out at `memory`, which is aligned to 8 bytes. */
void unwind_trail_make(struct unwind_trail *t, void *memory, uint32_t room);
/* Empties it. The first frame, word and rbp added get the highest numbers. */
void unwind_trail_empty(struct unwind_trail *t);
/* Forgets frame `q` and all further out, so that a walk can go on from there. Its rbp is what it
 * was before that frame. */
void unwind_trail_cut(struct unwind_trail *t, uint32_t q);
/* Replaces all that is further in than frame `q` of `t` by all of `from`, whose walk has reached
 * that frame. False: there is no room, and `t` is as it was. */
bool unwind_trail_join(struct unwind_trail *t, uint32_t q, const struct unwind_trail *from);
/* Adds the frames of `from` below number `q` down to `end`, to `t`, whose walk has reached frame
 * `q` of `from`. Then frame `end` is the outermost of `t`, or else that is as it was: no room,
 * false. */
bool unwind_trail_extend(
	struct unwind_trail *t, const struct unwind_trail *from, uint32_t q, uint32_t end);
/* Replaces all of `t`, which has twice the room, by all of `from`. `open`: its walk could have gone
 * on. */
void unwind_trail_replace(struct unwind_trail *t, const struct unwind_trail *from, bool open);

/* rbp as it is at first, before anything used it. Field by field: a whole one would be copied from
 * where its narrower fields have just been stored, which the processor must wait for. */
static inline void unwind_rbp_set(
	struct unwind_rbp *r, uint64_t at, uint64_t value, bool known, uint32_t needed)
{
	r->value = value;
	r->at = at;
	r->needed = (uint16_t)needed;
	r->noted_at = 0;
	r->noted = false;
	r->known = known;
}

/* Whether the rest of the walk uses rbp, from frame `q` on, one of those that share it. */
static inline bool unwind_rbp_needed(const struct unwind_rbp *r, uint32_t q)
{
	return q >= r->needed;
}

/* Whether its word was noted before frame `q`. */
static inline bool unwind_rbp_noted(const struct unwind_rbp *r, uint32_t q)
{
	return r->noted && q < r->noted_at;
}

static inline uint64_t unwind_trail_pc(const struct unwind_trail *t, uint32_t q)
{
	return t->pcs_end[-1 - (ptrdiff_t)q];
}

static inline uint32_t unwind_trail_module(const struct unwind_trail *t, uint32_t q)
{
	return t->modules_end[-1 - (ptrdiff_t)q];
}

#endif
