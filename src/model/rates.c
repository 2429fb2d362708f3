/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rates per second (rates.h). All sites share the times of the readings, so a site keeps only its
 * values, in a ring parallel to this one.
 */
#include "src/model/rates.h"

#define READING_STEP_NS	 950000000ull /* a second, less the jitter of a 1 Hz tick */
#define RATE_SHORTEST_NS 50000000ull /* a rate over less is noise */

static void reading_push(struct rates *r, uint64_t ns, const struct snapshot *head)
{
	r->reading[r->readings % RATES_READINGS] =
		(struct rates_reading){ .ns = ns, .totals = head->totals, .proc = head->proc };
	r->readings++;
}

void rates_start(struct rates *r, uint64_t now_ns, uint64_t age_ns)
{
	static const struct snapshot nothing = { .proc.valid = true };

	if (age_ns > 0 && age_ns <= RATES_WINDOW_NS && age_ns <= now_ns)
		reading_push(r, now_ns - age_ns, &nothing);
}

/* The slot for this tick's reading, or -1 if the last one is too recent. */
static int keep_slot(const struct rates *r, uint64_t now_ns)
{
	uint64_t last = r->readings ? r->reading[(r->readings - 1) % RATES_READINGS].ns : 0;

	if (r->readings && (now_ns < last || now_ns - last < READING_STEP_NS))
		return -1;
	return (int)(r->readings % RATES_READINGS);
}

/* Picks the oldest reading inside the window or, with ticks further apart than that, the newest. */
static void window_find(struct rates_window *w, const struct rates *r, uint64_t now_ns)
{
	uint64_t kept = r->readings < RATES_READINGS ? r->readings : RATES_READINGS;

	for (uint64_t i = r->readings - kept; i < r->readings; i++) {
		uint64_t ns = r->reading[i % RATES_READINGS].ns;

		if (ns > now_ns || now_ns - ns < RATE_SHORTEST_NS)
			break;
		w->valid = true;
		w->slot = i % RATES_READINGS;
		w->seconds = (double)(now_ns - ns) / 1e9;
		if (now_ns - ns <= RATES_WINDOW_NS)
			break;
	}
}

struct rates_window rates_window(const struct rates *r, uint64_t now_ns, bool ended)
{
	struct rates_window w = { .keep = keep_slot(r, now_ns) };

	if (!ended)
		window_find(&w, r, now_ns);
	return w;
}

void rates_keep(
	struct rates *r, struct rates_window w, uint64_t now_ns, const struct snapshot *head)
{
	if (w.keep >= 0)
		reading_push(r, now_ns, head);
}

double rates_per_second(struct rates_window w, uint64_t before, uint64_t now)
{
	return w.valid ? ((double)now - (double)before) / w.seconds : 0;
}

double rates_frequency(struct rates_window w, uint64_t before, uint64_t now)
{
	return now > before ? rates_per_second(w, before, now) : 0;
}

void rates_site(struct rates_window w, uint64_t live_bytes, uint64_t allocs, struct snap_site *site)
{
	site->rate_bytes_per_s = rates_per_second(w, live_bytes, site->live_bytes);
	site->allocs_per_s = rates_frequency(w, allocs, site->allocs);
	site->alloc_bytes_per_s = site->temporary_per_s = w.valid ? -1 : 0;
}

struct rates_count rates_count(uint64_t allocs, uint64_t alloc_bytes, uint64_t temporary)
{
	return (struct rates_count){ .allocs = (uint32_t)allocs,
		.temporary = (uint32_t)temporary,
		.bytes = (uint32_t)(alloc_bytes / RATES_BYTES) };
}

/* A torn reading seems to fall: by much, modulo 2^32. */
static double count_frequency(struct rates_window w, uint32_t before, uint32_t now)
{
	uint32_t more = now - before;

	return w.valid && more <= UINT32_MAX / 2 ? (double)more / w.seconds : 0;
}

void rates_site_counted(struct rates_window w, uint64_t live_bytes, struct rates_count before,
	struct snap_site *site)
{
	struct rates_count now = rates_count(site->allocs, site->alloc_bytes, site->temporary);

	site->rate_bytes_per_s = rates_per_second(w, live_bytes, site->live_bytes);
	site->allocs_per_s = count_frequency(w, before.allocs, now.allocs);
	site->alloc_bytes_per_s = count_frequency(w, before.bytes, now.bytes) * RATES_BYTES;
	site->temporary_per_s = count_frequency(w, before.temporary, now.temporary);
}

void rates_totals(const struct rates *r, struct rates_window w, struct snapshot *s)
{
	const struct rates_reading *b = &r->reading[w.slot];
	struct snap_totals *t = &s->totals;
	struct snap_proc *p = &s->proc;
	struct rates_window faults = w;

	t->allocs_per_s = rates_frequency(w, b->totals.allocs, t->allocs);
	t->frees_per_s = rates_frequency(w, b->totals.frees, t->frees);
	t->reallocs_per_s = rates_frequency(w, b->totals.reallocs, t->reallocs);
	t->growth_bytes_per_s = rates_per_second(w, b->totals.live_bytes, t->live_bytes);
	t->mapped_per_s = rates_per_second(w, b->totals.mapped_bytes, t->mapped_bytes);
	faults.valid = w.valid && b->proc.valid && p->valid;
	p->minor_faults_per_s = rates_frequency(faults, b->proc.minor_faults, p->minor_faults);
	p->major_faults_per_s = rates_frequency(faults, b->proc.major_faults, p->major_faults);
}
