/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events as columns (event_columns.h). One thread. */
#include "src/record/event_columns.h"

#include <errno.h>

#include "src/record/event_tags.h"

#define OLD		  64u /* younger blocks take a byte */
#define BLOCK_EVENTS_MOST (1u << 22) /* a larger block is damage */

static void ticks_end(struct event_columns *c)
{
	if (c->tick_run > 0)
		bytes_number(&c->ticks, c->tick_run);
	c->tick_run = 0;
}

static void slots_end(struct event_columns *c)
{
	if (c->slot_run > 0) {
		bytes_number(&c->slots, c->slot);
		bytes_number(&c->slots, c->slot_run);
	}
	c->slot_run = 0;
}

static void kinds_end(struct event_columns *c)
{
	bytes_add(&c->kinds, &c->kind_bits, 1);
	c->kind_bits = 0;
}

/* The run of each tick, and the distance to the next. */
static void tick_add(struct event_columns *c, uint64_t tick)
{
	if (c->count == 0) {
		c->first_tick = c->tick = tick;
	} else if (tick != c->tick) {
		ticks_end(c);
		bytes_number(&c->ticks, tick - c->tick);
		c->tick = tick;
	}
	c->tick_run++;
}

static void slot_add(struct event_columns *c, uint32_t slot)
{
	if (slot != c->slot)
		slots_end(c);
	c->slot = slot;
	c->slot_run++;
}

/*
 * A free names its block by its age, in allocations, or by its distance from the last old block
 * that was freed, whichever is less: what is built together is often freed in the same order.
 */
static uint64_t distance(uint64_t number, uint64_t from)
{
	uint64_t change = number - from;

	return change << 1 ^ (change >> 63 ? UINT64_MAX : 0);
}

static uint64_t distance_undo(uint64_t distance, uint64_t from)
{
	return from + (distance >> 1 ^ (distance & 1 ? UINT64_MAX : 0));
}

static void free_add(struct event_columns *c, uint64_t number)
{
	uint64_t age = c->number - number, from_last = distance(number, c->freed);

	if (age < OLD || age <= from_last)
		bytes_number(&c->ages, age << 1);
	else
		bytes_number(&c->ages, from_last << 1 | 1);
	if (age >= OLD)
		c->freed = number;
}

void event_columns_add(struct event_columns *c, const struct event *e)
{
	if (c->count == 0)
		c->first_number = c->number;
	tick_add(c, e->tick);
	slot_add(c, e->slot);
	c->kind_bits |= (uint8_t)(e->kind << 2 * (c->count % 4));
	if (++c->count % 4 == 0)
		kinds_end(c);
	switch (e->kind) {
	case EVENT_ALLOC:
	case EVENT_BEFORE:
		bytes_change(&c->sites, (uint64_t)e->site - c->site);
		bytes_number(&c->sizes, e->size);
		c->site = e->site;
		c->number = e->number + 1;
		break;
	case EVENT_FREE:
		free_add(c, e->number);
		break;
	case EVENT_LOST:
	case EVENT_KINDS:
		bytes_number(&c->ages, e->number);
		break;
	}
}

static void column_take(struct bytes *column, struct bytes *out)
{
	bytes_number(out, column->len);
	bytes_add(out, column->data, column->len);
	out->failed |= column->failed;
	column->len = 0;
}

void event_columns_take(struct event_columns *c, struct bytes *out)
{
	ticks_end(c);
	slots_end(c);
	if (c->count % 4)
		kinds_end(c);
	bytes_number(out, c->count);
	bytes_number(out, c->first_number);
	bytes_number(out, c->first_tick);
	column_take(&c->kinds, out);
	column_take(&c->ticks, out);
	column_take(&c->slots, out);
	column_take(&c->sites, out);
	column_take(&c->sizes, out);
	column_take(&c->ages, out);
	c->count = 0;
	c->slot = c->site = 0;
	c->freed = 0;
}

void event_columns_free(struct event_columns *c)
{
	bytes_free(&c->kinds);
	bytes_free(&c->ticks);
	bytes_free(&c->slots);
	bytes_free(&c->sites);
	bytes_free(&c->sizes);
	bytes_free(&c->ages);
}

/* ---- decoding ---- */

struct decoder {
	struct bytes_cursor kinds, ticks, slots, sites, sizes, ages;
	uint64_t number, tick, tick_run, slot_run, freed;
	uint32_t slot, site;
	uint8_t kind_bits;
};

static void tick_next(struct decoder *d, uint64_t index)
{
	if (d->tick_run == 0) {
		if (index > 0)
			d->tick += bytes_read(&d->ticks);
		d->tick_run = bytes_read(&d->ticks);
	}
	d->tick_run--;
}

static void slot_next(struct decoder *d)
{
	if (d->slot_run == 0) {
		d->slot = (uint32_t)bytes_read_below(&d->slots, EVENT_SLOTS_MAX - 1);
		d->slot_run = bytes_read(&d->slots);
	}
	d->slot_run--;
}

static enum event_kind kind_next(struct decoder *d, uint64_t index)
{
	const uint8_t *piece;

	if (index % 4 == 0) {
		piece = bytes_read_piece(&d->kinds, 1);
		d->kind_bits = piece ? *piece : 0;
	}
	return (enum event_kind)(d->kind_bits >> 2 * (index % 4) & 3);
}

static void block_next(struct decoder *d, struct event *e)
{
	d->site += (uint32_t)bytes_read_change(&d->sites);
	e->site = d->site;
	e->size = bytes_read(&d->sizes);
	e->number = d->number++;
}

/* False: damaged. */
static bool free_next(struct decoder *d, struct event *e)
{
	uint64_t coded = bytes_read(&d->ages);

	e->number = coded & 1 ? distance_undo(coded >> 1, d->freed) : d->number - (coded >> 1);
	if (e->number >= d->number)
		return false;
	if (d->number - e->number >= OLD)
		d->freed = e->number;
	return true;
}

/* False: damaged. */
static bool event_next(struct decoder *d, uint64_t index, struct event *e)
{
	tick_next(d, index);
	slot_next(d);
	*e = (struct event){ .kind = kind_next(d, index), .tick = d->tick, .slot = d->slot };
	switch (e->kind) {
	case EVENT_ALLOC:
	case EVENT_BEFORE:
		block_next(d, e);
		if (e->site >= EVENT_SITES_MAX)
			return false;
		break;
	case EVENT_FREE:
		if (!free_next(d, e))
			return false;
		break;
	case EVENT_LOST:
	case EVENT_KINDS:
		e->number = bytes_read(&d->ages);
		break;
	}
	return !d->kinds.bad && !d->ticks.bad && !d->slots.bad && !d->sites.bad && !d->sizes.bad &&
	       !d->ages.bad;
}

int event_columns_decode(
	struct bytes_cursor *contents, uint64_t *number, const struct event_sink *sink)
{
	uint64_t count = bytes_read_below(contents, BLOCK_EVENTS_MOST);
	struct decoder d = { .number = bytes_read(contents), .tick = bytes_read(contents) };
	struct event e;

	d.kinds = bytes_read_cursor(contents);
	d.ticks = bytes_read_cursor(contents);
	d.slots = bytes_read_cursor(contents);
	d.sites = bytes_read_cursor(contents);
	d.sizes = bytes_read_cursor(contents);
	d.ages = bytes_read_cursor(contents);
	if (contents->bad || d.number != *number)
		return -EPROTO;
	for (uint64_t i = 0; i < count; i++) {
		if (!event_next(&d, i, &e))
			return -EPROTO;
		sink->event(sink->ctx, &e);
	}
	*number = d.number;
	return 0;
}
