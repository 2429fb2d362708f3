/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distinct frames of a session's call stacks (stack_places.h). Main thread. */
#include "src/model/stack_places.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS_FIRST 1024u

static const struct snap_module places_nowhere = { .path = "", .name = "", .build_id = "" };

static struct frame frame_copy(const struct frame *from, bool inlined)
{
	struct frame f = *from;

	if (!f.module)
		f.module = &places_nowhere;
	f.inlined = inlined;
	return f;
}

static bool frames_equal(const struct frame *a, const struct frame *b)
{
	return a->pc == b->pc && a->offset == b->offset && a->module == b->module &&
	       a->function == b->function && a->mangled == b->mangled && a->file == b->file &&
	       a->line == b->line && a->inlined == b->inlined && a->hidden == b->hidden;
}

/* ---- finding ---- */

static size_t slot_first(const struct stack_places *s, const struct frame *f)
{
	uint64_t h = f->pc * 0x9e3779b97f4a7c15u ^ (uintptr_t)f->module;

	h *= 0x9e3779b97f4a7c15u;
	return (size_t)(h >> 32) & (s->nslots - 1);
}

/* Names come later, except to frames that brought one. */
static bool is_of(const struct stack_place *p, const struct frame *f)
{
	if (f->function)
		return p->named && frames_equal(&p->outer, f);
	return !p->named && p->outer.pc == f->pc && p->outer.module == f->module &&
	       p->outer.offset == f->offset;
}

static struct stack_place **slot_find(const struct stack_places *s, const struct frame *f)
{
	size_t i = slot_first(s, f);

	while (s->slots[i] && !is_of(s->slots[i], f))
		i = (i + 1) & (s->nslots - 1);
	return &s->slots[i];
}

static int slots_grow(struct stack_places *s)
{
	struct stack_place **old = s->slots;
	size_t had = s->nslots;

	s->slots = calloc(had ? had * 2 : SLOTS_FIRST, sizeof(struct stack_place *));
	if (!s->slots) {
		s->slots = old;
		return -ENOMEM;
	}
	s->nslots = had ? had * 2 : SLOTS_FIRST;
	for (size_t k = 0; k < had; k++) {
		size_t i = old[k] ? slot_first(s, &old[k]->outer) : 0;

		if (!old[k])
			continue;
		while (s->slots[i])
			i = (i + 1) & (s->nslots - 1);
		s->slots[i] = old[k];
	}
	free(old);
	return 0;
}

struct stack_place *stack_places_get(struct stack_places *s, const struct frame *frame)
{
	struct frame f = frame_copy(frame, false);
	struct stack_place **slot, *p;

	if (!s->memory)
		s->memory = intern_new();
	if (!s->memory || (s->count * 2 >= s->nslots && slots_grow(s) != 0))
		return NULL;
	slot = slot_find(s, &f);
	if (*slot)
		return *slot;
	p = intern_alloc(s->memory, sizeof(*p));
	if (!p)
		return NULL;
	p->outer = f;
	p->named = p->resolved = f.function != NULL;
	*slot = p;
	s->count++;
	return p;
}

/* ---- names ---- */

static bool is_resolved_to(const struct stack_place *p, const struct frame *frames, uint32_t n)
{
	struct frame f = frame_copy(&frames[n - 1], false);

	if (!p->resolved || p->ninlined != n - 1 || !frames_equal(&p->outer, &f))
		return false;
	for (uint32_t i = 0; i + 1 < n; i++) {
		f = frame_copy(&frames[i], true);
		if (!frames_equal(&p->inlined[i], &f))
			return false;
	}
	return true;
}

int stack_places_resolve(
	struct stack_places *s, struct stack_place *p, const struct frame *frames, uint32_t n)
{
	struct frame *inlined;

	if (n == 0 || n > UINT16_MAX)
		return -EINVAL;
	if (is_resolved_to(p, frames, n))
		return 0;
	inlined = n > 1 ? intern_alloc(s->memory, (n - 1) * sizeof(*inlined)) : NULL;
	if (n > 1 && !inlined)
		return -ENOMEM;
	for (uint32_t i = 0; i + 1 < n; i++)
		inlined[i] = frame_copy(&frames[i], true);
	p->outer = frame_copy(&frames[n - 1], false);
	p->inlined = inlined;
	p->ninlined = n - 1;
	p->resolved = true;
	return 0;
}

void stack_places_hide_again(struct stack_places *s, bool (*hidden)(const struct frame *f))
{
	for (size_t i = 0; i < s->nslots; i++) {
		struct stack_place *p = s->slots[i];

		if (p && p->outer.function)
			p->outer.hidden = hidden(&p->outer);
		for (uint32_t k = 0; p && k < p->ninlined; k++)
			if (p->inlined[k].function)
				p->inlined[k].hidden = hidden(&p->inlined[k]);
	}
}

void stack_places_free(struct stack_places *s)
{
	intern_free(s->memory);
	free(s->slots);
	*s = (struct stack_places){ 0 };
}
