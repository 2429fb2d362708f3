/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settling of the shares of counters and slots (counter.h), where maxima of the program begin and
 * end. Inside hooks, on any thread.
 */
#include "shm/counter.h"

static void own_settle(const struct segment *s, struct counter_owner *o, struct ht_counter *c)
{
	if (ht_counter_slot(c->key) != 0)
		counter_batch_settle(&o->adding, &c->share, counter_site_live(s, c),
			c->alloc_bytes - c->free_bytes, 1);
}

/* The slots that share the program's live bytes. */
static uint32_t slots_of(const struct segment *s)
{
	uint32_t slots = ht_load_relaxed_32(&s->header->threads);

	return slots > 2 ? slots - 1 : 1;
}

static void slot_settle(const struct segment *s, struct counter_owner *o)
{
	struct ht_thread *t = o->thread;

	if (!counter_batch_settle(
		    &o->adding, &t->share, &s->header->live_bytes, t->live_bytes, slots_of(s)))
		return;
	ht_store_relaxed_64(&t->peak_ns, ht_load_relaxed_64(&s->header->clock_ns));
	if (counter_peak_is_new(s, counter_batch_peak(&t->share)))
		counter_batch_arm(&t->share, t->live_bytes);
}

void counter_settle(const struct segment *s, struct counter_owner *o, struct ht_counter *c)
{
	own_settle(s, o, c);
	slot_settle(s, o);
}

/* The total is made anew: since this slot had its part at its highest, others may have changed
 * theirs. */
void counter_settle_free(const struct segment *s, struct counter_owner *o, struct ht_counter *c,
	struct counter_sum sum)
{
	struct ht_thread *t = o->thread;

	if (ht_counter_slot(c->key) != 0 &&
		counter_batch_above(c->share.low, c->alloc_bytes - c->free_bytes))
		own_settle(s, o, c);
	if (!counter_batch_above(t->share.low, t->live_bytes))
		return;
	counter_peak_fell(s, c, sum, counter_live(s, o->slot) + sum.bytes);
	counter_batch_disarm(&t->share, slots_of(s));
	if (counter_batch_above(t->share.low, t->live_bytes))
		slot_settle(s, o);
}
