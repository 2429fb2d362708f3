/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak scans' details as payloads (leak_details.h). Main thread.
 *
 * The scan's time; why holders are missing; sums; each call site's own, in the order of the scan's
 * block; cycles; holders; then by call site its blocks, each with two paths.
 */
#include "src/record/leak_details.h"

#include <errno.h>
#include "src/record/leak_words.h"
#include "src/record/state.h"

/* Blocks of one scan: with their paths, some 100 bytes each in the file. */
#define BLOCKS_MOST 512u
/* Numbers, of a byte or more, that an item has. */
#define CYCLE_LEAST  6u
#define HOLDER_LEAST 7u
#define BLOCK_LEAST  11u
#define STEP_LEAST   4u

static uint32_t site_id_read(struct bytes_cursor *c)
{
	return (uint32_t)bytes_read_below(c, STATE_SITES_MAX - 1);
}

/* ---- call sites, cycles, holders ---- */

static void site_put(struct bytes *b, const struct snap_leak_site *s)
{
	leak_sum_put(b, s->retained);
	leak_sum_put(b, s->cyclic);
	leak_sum_put(b, s->cyclic_retained);
	leak_word_put(b, s->type);
	bytes_number(b, s->type_blocks);
}

static void site_read(struct bytes_cursor *c, struct arena *arena, struct snap_leak_site *s)
{
	s->retained = leak_sum_read(c);
	s->cyclic = leak_sum_read(c);
	s->cyclic_retained = leak_sum_read(c);
	s->type = leak_word_read(c, arena);
	s->type_blocks = bytes_read(c);
}

static void cycle_put(struct bytes *b, const struct snap_cycle *y)
{
	bytes_number(b, y->sites);
	for (uint32_t i = 0; i < y->sites && i < SNAP_CYCLE_SITES; i++)
		bytes_number(b, y->site[i]);
	bytes_number(b, y->times);
	leak_sum_put(b, y->sum);
	leak_sum_put(b, y->retained);
}

static void cycle_read(struct bytes_cursor *c, struct snap_cycle *y)
{
	y->sites = (uint32_t)bytes_read_below(c, UINT32_MAX);
	for (uint32_t i = 0; i < y->sites && i < SNAP_CYCLE_SITES; i++)
		y->site[i] = site_id_read(c);
	y->times = bytes_read(c);
	y->sum = leak_sum_read(c);
	y->retained = leak_sum_read(c);
}

/* A parent is written as its distance: roots have none. */
static void holder_put(struct bytes *b, const struct snap_holder *h, size_t index)
{
	bytes_number(b, h->parent == UINT32_MAX ? 0 : index - h->parent);
	leak_word_put(b, h->root);
	bytes_number(b, h->site);
	leak_sum_put(b, h->own);
	leak_sum_put(b, h->all);
}

/* Whether the holder before `index` is `parent`, or below it. Each step up is one that no later
 * holder takes again. */
static bool is_below(const struct snap_holder *all, size_t index, uint32_t parent)
{
	uint32_t i = (uint32_t)index - 1;

	while (i > parent && i != UINT32_MAX)
		i = all[i].parent;
	return i == parent;
}

/* Roots, and nothing else, have names; the order is depth first. */
static void holder_read(
	struct bytes_cursor *c, struct arena *arena, struct snap_holder *all, size_t index)
{
	size_t up = bytes_read_below(c, index);
	struct snap_holder *h = &all[index];

	h->parent = up ? (uint32_t)(index - up) : UINT32_MAX;
	h->depth = up ? all[h->parent].depth + 1 : 0;
	h->root = leak_word_read(c, arena);
	h->site = site_id_read(c);
	h->own = leak_sum_read(c);
	h->all = leak_sum_read(c);
	c->bad |= (up == 0) != (h->root != NULL) || (up && !is_below(all, index, h->parent));
}

/* ---- blocks and their paths ---- */

static void steps_put(struct bytes *b, const struct snap_leak_step *step, uint32_t n)
{
	bytes_number(b, n);
	for (uint32_t i = 0; i < n; i++) {
		bytes_number(b, step[i].addr);
		bytes_number(b, step[i].size);
		bytes_number(b, step[i].site);
		leak_word_put(b, step[i].root);
	}
}

static const struct snap_leak_step *steps_read(
	struct bytes_cursor *c, struct arena *arena, uint32_t *n)
{
	size_t count;
	struct snap_leak_step *step = leak_array_read(c, arena, sizeof(*step), STEP_LEAST, &count);

	for (size_t i = 0; i < count && !c->bad; i++) {
		step[i].addr = bytes_read(c);
		step[i].size = bytes_read(c);
		step[i].site = site_id_read(c);
		step[i].root = leak_word_read(c, arena);
	}
	*n = (uint32_t)count;
	return step;
}

static void shown_put(struct bytes *b, const struct snap_leak_block *k)
{
	bytes_number(b, k->addr);
	bytes_number(b, k->size);
	bytes_number(b, k->birth_ns);
	bytes_number(b, k->holders);
	bytes_number(b, k->left_out);
	bytes_number(b, k->inside);
	leak_sum_put(b, k->retained);
	bytes_number(b, k->through_left_out);
	steps_put(b, k->steps, k->nsteps);
	steps_put(b, k->through, k->nthrough);
}

static void shown_read(struct bytes_cursor *c, struct arena *arena, struct snap_leak_block *k)
{
	k->addr = bytes_read(c);
	k->size = bytes_read(c);
	k->birth_ns = bytes_read(c);
	k->holders = (uint32_t)bytes_read_below(c, UINT32_MAX);
	k->left_out = (uint32_t)bytes_read_below(c, UINT32_MAX);
	k->inside = bytes_read_below(c, 1) != 0;
	k->retained = leak_sum_read(c);
	k->through_left_out = (uint32_t)bytes_read_below(c, UINT32_MAX);
	k->steps = steps_read(c, arena, &k->nsteps);
	k->through = steps_read(c, arena, &k->nthrough);
}

/* The number of call sites whose blocks are written: as long as all their blocks are few. */
static size_t rows_within(const struct snap_leaks *l)
{
	size_t rows = 0;

	for (uint32_t blocks = 0; rows < l->nsites; rows++) {
		blocks += l->sites[rows].nblocks;
		if (blocks > BLOCKS_MOST)
			break;
	}
	return rows;
}

static void rows_put(struct bytes *b, const struct snap_leaks *l)
{
	size_t rows = rows_within(l);

	bytes_number(b, rows);
	for (size_t i = 0; i < rows; i++) {
		bytes_number(b, l->sites[i].nblocks);
		for (uint32_t k = 0; k < l->sites[i].nblocks; k++)
			shown_put(b, &l->sites[i].blocks[k]);
	}
	/* Whether the others have any. */
	bytes_number(b, rows < l->nsites);
}

static void row_read(struct bytes_cursor *c, struct arena *arena, struct snap_leak_site *s)
{
	size_t count;
	struct snap_leak_block *block =
		leak_array_read(c, arena, sizeof(*block), BLOCK_LEAST, &count);

	for (size_t i = 0; i < count && !c->bad; i++)
		shown_read(c, arena, &block[i]);
	s->blocks = block;
	s->nblocks = (uint32_t)count;
}

/* ---- the whole ---- */

static struct snap_leak_site *rows_of(const struct snap_leaks *l)
{
	return (struct snap_leak_site *)(uintptr_t)l->sites; /* the arena's */
}

bool leak_details_any(const struct snap_leaks *l)
{
	bool blocks = false;

	for (size_t i = 0; i < l->nsites && !blocks; i++)
		blocks = l->sites[i].nblocks > 0;
	return !l->failed && (l->held.blocks > 0 || l->no_holders || blocks);
}

void leak_details_put(struct bytes *b, const struct snap_leaks *l)
{
	bytes_number(b, l->at_ns);
	bytes_number(b, l->nsites);
	leak_word_put(b, l->no_holders);
	leak_sum_put(b, l->held);
	leak_sum_put(b, l->typed);
	for (size_t i = 0; i < l->nsites; i++)
		site_put(b, &l->sites[i]);
	bytes_number(b, l->ncycles);
	for (size_t i = 0; i < l->ncycles; i++)
		cycle_put(b, &l->cycles[i]);
	bytes_number(b, l->nholders);
	for (size_t i = 0; i < l->nholders; i++)
		holder_put(b, &l->holders[i], i);
	rows_put(b, l);
}

static void holders_read(struct bytes_cursor *c, struct arena *arena, struct snap_leaks *l)
{
	struct snap_holder *holder =
		leak_array_read(c, arena, sizeof(*holder), HOLDER_LEAST, &l->nholders);

	for (size_t i = 0; i < l->nholders && !c->bad; i++)
		holder_read(c, arena, holder, i);
	l->holders = holder;
}

static void cycles_read(struct bytes_cursor *c, struct arena *arena, struct snap_leaks *l)
{
	struct snap_cycle *cycle =
		leak_array_read(c, arena, sizeof(*cycle), CYCLE_LEAST, &l->ncycles);

	for (size_t i = 0; i < l->ncycles && !c->bad; i++)
		cycle_read(c, &cycle[i]);
	l->cycles = cycle;
}

static void details_read(struct bytes_cursor *c, struct arena *arena, struct snap_leaks *l)
{
	struct snap_leak_site *row = rows_of(l);
	size_t rows;

	c->bad |= bytes_read(c) != l->at_ns || bytes_read(c) != l->nsites;
	l->no_holders = leak_word_read(c, arena);
	l->held = leak_sum_read(c);
	l->typed = leak_sum_read(c);
	for (size_t i = 0; i < l->nsites && !c->bad; i++)
		site_read(c, arena, &row[i]);
	cycles_read(c, arena, l);
	holders_read(c, arena, l);
	rows = bytes_read_below(c, l->nsites);
	for (size_t i = 0; i < rows && !c->bad; i++)
		row_read(c, arena, &row[i]);
	l->blocks_cut = bytes_read_below(c, 1) != 0;
}

/* As if there were none. */
static void rows_clear(const struct snap_leaks *l)
{
	struct snap_leak_site *row = rows_of(l);

	for (size_t i = 0; i < l->nsites; i++) {
		row[i].retained = row[i].cyclic = row[i].cyclic_retained =
			(struct snap_leak_sum){ 0, 0 };
		row[i].type = NULL;
		row[i].type_blocks = 0;
		row[i].blocks = NULL;
		row[i].nblocks = 0;
	}
}

int leak_details_read(const struct bytes *raw, struct arena *arena, struct snap_leaks *l)
{
	struct bytes_cursor c = bytes_begin(raw);
	struct snap_leaks made = *l;

	details_read(&c, arena, &made);
	if (c.bad || c.at != c.end) {
		rows_clear(l);
		return -EBADMSG;
	}
	*l = made;
	return 0;
}
