/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests names for frames (name_requests.h). One entry per distinct address, in an open-addressed
 * hash table; the frames that wait for it form a list through one array. Main thread.
 */
#include "src/session/name_requests.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include "shm/layout.h"

#define TABLE_START 1024u
#define INLINES_MAX 64u /* frames named per address; deeper than any compiler nests inlines */

/* A new stack has one for each frame: a million of them may wait. */
struct waiter {
	uint32_t site : 22, index : 10;
	uint32_t next; /* in n->waiters, 0: last */
};
static_assert(HT_SITES_MAX <= 1u << 22 && HT_DEPTH_MAX <= 1u << 10, "they fit");

struct address {
	uint64_t offset, pc;
	uint32_t module_id;
	uint32_t waiting; /* first waiter, 0: none */
	bool held; /* its name is not asked for yet */
	const struct snap_module *module;
	uint32_t nframes; /* 0: not answered yet */
	const struct sym_frame *frames;
	uint64_t hidden; /* bit i: frame i names no site */
	const struct stack_place *place; /* of its frames in all stacks, once they are resolved */
};

struct name_requests {
	struct model *model;
	struct sym *sym;
	struct address *addresses; /* [0] unused; the cookie of a request is its index here */
	uint32_t count, room;
	uint32_t *table; /* indices of addresses, by hash */
	uint32_t mask;
	struct waiter *waiters; /* [0] unused */
	uint32_t waiter_count, waiter_room;
	uint32_t waiter_free, waiting;
	const uint32_t *below; /* modules that may be asked about; NULL: all */
	uint32_t was_below; /* at the last release */
};

struct name_requests *name_requests_new(struct model *model, struct sym *sym)
{
	struct name_requests *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->model = model;
	n->sym = sym;
	n->count = n->waiter_count = 1;
	n->mask = TABLE_START - 1;
	n->table = calloc(TABLE_START, sizeof(*n->table));
	if (n->table)
		return n;
	free(n);
	return NULL;
}

void name_requests_free(struct name_requests *n)
{
	if (!n)
		return;
	free(n->addresses);
	free(n->table);
	free(n->waiters);
	free(n);
}

static uint32_t *table_find(struct name_requests *n, uint32_t module_id, uint64_t offset)
{
	uint64_t h = (offset ^ (uint64_t)module_id << 48) * 0x9e3779b97f4a7c15ull;

	for (uint32_t i = (uint32_t)(h >> 32) & n->mask;; i = (i + 1) & n->mask) {
		uint32_t at = n->table[i];

		if (at == 0 || (n->addresses[at].offset == offset &&
				       n->addresses[at].module_id == module_id))
			return &n->table[i];
	}
}

static int table_grow(struct name_requests *n)
{
	uint32_t *bigger = calloc((n->mask + 1ull) * 2, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	free(n->table);
	n->table = bigger;
	n->mask = n->mask * 2 + 1;
	for (uint32_t i = 1; i < n->count; i++)
		*table_find(n, n->addresses[i].module_id, n->addresses[i].offset) = i;
	return 0;
}

static int room_make(void **array, uint32_t *room, uint32_t count, size_t size)
{
	uint32_t want = *room ? *room * 2 : 1024;
	void *p;

	if (count < *room)
		return 0;
	p = realloc(*array, want * size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*room = want;
	return 0;
}

void name_requests_hold(struct name_requests *n, const uint32_t *below)
{
	n->below = below;
	n->was_below = *below;
}

/* Asks for the names that were held. Those that cannot be asked for now stay held. */
static void held_release(struct name_requests *n)
{
	if (!n->below || *n->below == n->was_below)
		return;
	n->was_below = *n->below;
	for (uint32_t i = 1; i < n->count; i++) {
		struct address *a = &n->addresses[i];

		if (a->held && a->module_id < n->was_below)
			a->held = sym_request(n->sym, a->module_id, a->offset, true, i) != 0;
	}
}

/* The entry of an address; requests its name when it is new. NULL: out of memory. */
static struct address *address_get(struct name_requests *n, const struct name_requests_frame *f)
{
	uint32_t *slot = table_find(n, f->module_id, f->offset);
	struct address *a;

	if (*slot)
		return &n->addresses[*slot];
	if (n->count * 2 > n->mask && table_grow(n) != 0)
		return NULL;
	if (room_make((void **)&n->addresses, &n->room, n->count, sizeof(*n->addresses)) != 0)
		return NULL;
	a = &n->addresses[n->count];
	*a = (struct address){
		.offset = f->offset, .pc = f->pc, .module_id = f->module_id, .module = f->module
	};
	a->held = n->below && f->module_id >= *n->below;
	if (!a->held && sym_request(n->sym, f->module_id, f->offset, true, n->count) != 0)
		return NULL;
	*table_find(n, f->module_id, f->offset) = n->count++;
	return a;
}

/* An address is named once but occurs in many stacks, so which frame names a site is decided here.
 */
static uint64_t hidden_frames(const struct address *a)
{
	uint64_t hidden = 0;

	for (uint32_t i = 0; i < a->nframes && i < INLINES_MAX; i++)
		if (hide_rules_match(a->frames[i].function, a->module->path))
			hidden |= UINT64_C(1) << i;
	return hidden;
}

/* The first stack's frame gets the names; those of the others are at the same place. */
static void deliver_first(struct name_requests *n, struct address *a, uint32_t site, uint32_t index)
{
	struct frame frames[INLINES_MAX];
	uint32_t count = a->nframes < INLINES_MAX ? a->nframes : INLINES_MAX;

	for (uint32_t i = 0; i < count; i++) {
		const struct sym_frame *s = &a->frames[i];

		frames[i] = (struct frame){ .pc = i + 1 == count ? a->pc : 0,
			.offset = a->offset,
			.module = a->module,
			.function = s->function,
			.mangled = s->function_raw,
			.file = s->file,
			.line = s->line,
			.inlined = s->inlined,
			.hidden = (a->hidden >> i & 1) != 0 };
	}
	if (model_frame_resolve(n->model, site, index, frames, count) == 0)
		a->place = model_frame_place(n->model, site, index);
}

static void deliver(struct name_requests *n, struct address *a, uint32_t site, uint32_t index)
{
	if (a->place)
		model_frame_resolve_at(n->model, site, index, a->place);
	else
		deliver_first(n, a, site, index);
}

static int wait_add(struct name_requests *n, struct address *a, uint32_t site, uint32_t index)
{
	uint32_t at = n->waiter_free;

	if (at) {
		n->waiter_free = n->waiters[at].next;
	} else {
		if (room_make((void **)&n->waiters, &n->waiter_room, n->waiter_count,
			    sizeof(*n->waiters)) != 0)
			return -ENOMEM;
		at = n->waiter_count++;
	}
	n->waiters[at] = (struct waiter){ site, index, a->waiting };
	a->waiting = at;
	n->waiting++;
	return 0;
}

static void waiters_drop(struct name_requests *n)
{
	free(n->waiters);
	n->waiters = NULL;
	n->waiter_room = n->waiter_free = 0;
	n->waiter_count = 1;
}

int name_requests_want(struct name_requests *n, const struct name_requests_frame *f)
{
	struct address *a = address_get(n, f);

	if (!a)
		return -ENOMEM;
	if (a->nframes == 0)
		return wait_add(n, a, f->site, f->index);
	deliver(n, a, f->site, f->index);
	return 0;
}

bool name_requests_collect(struct name_requests *n)
{
	struct sym_result r;
	bool any = false;

	held_release(n);
	while (sym_collect(n->sym, &r) == 1) {
		struct address *a = &n->addresses[r.cookie];

		a->nframes = r.nframes;
		a->frames = r.frames;
		a->hidden = hidden_frames(a);
		a->place = NULL;
		while (a->waiting) {
			uint32_t at = a->waiting;

			a->waiting = n->waiters[at].next;
			deliver(n, a, n->waiters[at].site, n->waiters[at].index);
			n->waiters[at].next = n->waiter_free;
			n->waiter_free = at;
			n->waiting--;
		}
		any = true;
	}
	if (any && n->waiting == 0)
		waiters_drop(n);
	return any;
}

static bool frame_hidden(const struct frame *f)
{
	return hide_rules_match(f->function, f->module->path);
}

void name_requests_hide_again(struct name_requests *n)
{
	for (uint32_t i = 1; i < n->count; i++)
		if (n->addresses[i].nframes)
			n->addresses[i].hidden = hidden_frames(&n->addresses[i]);
	model_hide_again(n->model, frame_hidden);
}
