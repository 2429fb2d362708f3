/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of walks put together (unwind_trail.h). */
#include "preload/unwind_trail.h"

/* What to add to the numbers of one trail's parts to get those of another's; modulo 2^32. */
struct shift {
	uint32_t frames, words, rbps, unpinned;
};

/* A run of numbers, without the last. */
struct run {
	uint32_t from, to;
};

size_t unwind_trail_bytes(uint32_t room)
{
	return room * (sizeof(struct unwind_frame) + UNWIND_WORDS * sizeof(struct unwind_word) +
			      sizeof(struct unwind_rbp) + sizeof(uint64_t) + sizeof(uint32_t));
}

/* Ends of arrays that are used at the same time lie side by side, to use fewer pages: frames and
 * pcs grow away from each other. */
void unwind_trail_make(struct unwind_trail *t, void *memory, uint32_t room)
{
	t->room = room;
	t->rbps = memory;
	t->words = (void *)(t->rbps + room);
	t->frames = (void *)(t->words + UNWIND_WORDS * room);
	t->pcs_end = (uint64_t *)(void *)(t->frames + room) + room;
	t->modules_end = (uint32_t *)t->pcs_end + room;
	unwind_trail_empty(t);
}

void unwind_trail_empty(struct unwind_trail *t)
{
	t->low = t->top = t->settled = t->rbps_low = t->rbps_top = t->room;
	t->words_low = t->words_top = UNWIND_WORDS * t->room;
	t->unpinned_low = t->unpinned_top = 0;
	t->complete = true;
}

void unwind_trail_cut(struct unwind_trail *t, uint32_t q)
{
	const struct unwind_frame *f = &t->frames[q];
	struct unwind_rbp *r = &t->rbps[f->rbp];

	t->low = q + 1;
	t->words_low = f->words;
	t->rbps_low = f->rbp;
	t->unpinned_low = f->unpinned;
	r->noted = unwind_rbp_noted(r, q);
}

static struct unwind_rbp rbp_shifted(const struct unwind_rbp *r, uint32_t by)
{
	struct unwind_rbp to = *r;

	to.needed = (uint16_t)(r->needed + by);
	to.noted_at = (uint16_t)(r->noted_at + by);
	return to;
}

/* A frame as eight numbers: four are its rsp, three get another origin, the last are its flags. */
typedef uint16_t lanes __attribute__((vector_size(16)));

static_assert(sizeof(struct unwind_frame) == sizeof(lanes), "lanes");
static_assert(offsetof(struct unwind_frame, words) == 8, "lanes");
static_assert(offsetof(struct unwind_frame, rbp) == 10, "lanes");
static_assert(offsetof(struct unwind_frame, unpinned) == 12, "lanes");

static inline lanes frame_numbers(const struct shift *by)
{
	return (lanes){ 0, 0, 0, 0, (uint16_t)by->words, (uint16_t)by->rbps, (uint16_t)by->unpinned,
		0 };
}

static inline void frame_copy(struct unwind_frame *to, const struct unwind_frame *from, lanes add)
{
	lanes frame;

	__builtin_memcpy(&frame, from, sizeof(frame));
	frame += add;
	__builtin_memcpy(to, &frame, sizeof(frame));
}

/* Copies frames; `rbps`: those to copy, others are the caller's. */
static inline void copy(struct unwind_trail *t, const struct unwind_trail *from, struct run frames,
	struct run words, struct run rbps, const struct shift *by)
{
	const lanes add = frame_numbers(by);

	for (uint32_t q = frames.from; q < frames.to; q++) {
		uint32_t to = q + by->frames;

		frame_copy(&t->frames[to], &from->frames[q], add);
		t->pcs_end[-1 - (ptrdiff_t)to] = unwind_trail_pc(from, q);
		t->modules_end[-1 - (ptrdiff_t)to] = unwind_trail_module(from, q);
	}
	for (uint32_t i = words.from; i < words.to; i++)
		t->words[i + by->words] = from->words[i];
	for (uint32_t i = rbps.from; i < rbps.to; i++)
		t->rbps[i + by->rbps] = rbp_shifted(&from->rbps[i], by->frames);
}

/* Two walks have met at frame `q`: what its rbp and those of its neighbours are from now on.
 * `inner`: as found on the way there; `outer`: as it was known there. */
static struct unwind_rbp rbp_meet(
	const struct unwind_rbp *inner, const struct unwind_rbp *outer, uint32_t q)
{
	struct unwind_rbp both = *outer;

	if (!unwind_rbp_needed(outer, q))
		return *inner;
	if (inner->noted)
		both.noted_at = inner->noted_at;
	return both;
}

bool unwind_trail_join(struct unwind_trail *t, uint32_t q, const struct unwind_trail *from)
{
	const struct unwind_frame *f = &t->frames[q];
	const struct shift by = { q + 1 - from->low, f->words - from->words_low,
		f->rbp - from->rbps_low, (uint32_t)f->unpinned - from->unpinned_low };
	struct unwind_rbp inner = rbp_shifted(&from->rbps[from->rbps_low], by.frames);

	if (from->top + by.frames > t->room || from->rbps_top + by.rbps > t->room ||
		from->words_top + by.words > UNWIND_WORDS * t->room)
		return false;
	t->rbps[f->rbp] = rbp_meet(&inner, &t->rbps[f->rbp], q);
	copy(t, from, (struct run){ from->low, from->top },
		(struct run){ from->words_low, from->words_top },
		(struct run){ from->rbps_low + 1, from->rbps_top }, &by);
	t->top = from->top + by.frames;
	t->words_top = from->words_top + by.words;
	t->rbps_top = from->rbps_top + by.rbps;
	t->unpinned_top = (uint16_t)(from->unpinned_top + by.unpinned);
	t->settled = from->settled + by.frames;
	t->complete = from->complete;
	return true;
}

bool unwind_trail_extend(
	struct unwind_trail *t, const struct unwind_trail *from, uint32_t q, uint32_t end)
{
	const struct unwind_frame *f = &from->frames[q], *last = &from->frames[end];
	const struct shift by = { t->low - 1 - q, t->words_low - f->words, t->rbps_low - f->rbp,
		(uint32_t)t->unpinned_low - f->unpinned };
	struct unwind_rbp outer = rbp_shifted(&from->rbps[f->rbp], by.frames);

	if (q - end >= t->low || (uint32_t)(f->words - last->words) > t->words_low ||
		(uint32_t)(f->rbp - last->rbp) > t->rbps_low)
		return false;
	t->rbps[t->rbps_low] = rbp_meet(&t->rbps[t->rbps_low], &outer, t->low - 1);
	copy(t, from, (struct run){ end, q + 1 }, (struct run){ last->words, f->words },
		(struct run){ last->rbp, f->rbp }, &by);
	t->low = end + by.frames;
	t->words_low = last->words + by.words;
	t->rbps_low = last->rbp + by.rbps;
	t->unpinned_low = (uint16_t)(last->unpinned + by.unpinned);
	return true;
}

/* A walk that could have gone on leaves room on both sides: the next stack may be longer or
 * shorter, and then begin further out. */
void unwind_trail_replace(struct unwind_trail *t, const struct unwind_trail *from, bool open)
{
	uint32_t spare = open ? t->room / 4 : 0;
	const struct shift by = { spare - from->low, UNWIND_WORDS * spare - from->words_low,
		spare - from->rbps_low, 0u - from->unpinned_low };

	copy(t, from, (struct run){ from->low, from->top },
		(struct run){ from->words_low, from->words_top },
		(struct run){ from->rbps_low, from->rbps_top }, &by);
	t->low = spare;
	t->top = from->top + by.frames;
	t->words_low = UNWIND_WORDS * spare;
	t->words_top = from->words_top + by.words;
	t->rbps_low = spare;
	t->rbps_top = from->rbps_top + by.rbps;
	t->unpinned_low = 0;
	t->unpinned_top = (uint16_t)(from->unpinned_top + by.unpinned);
	t->settled = from->settled + by.frames;
	t->complete = from->complete;
}
