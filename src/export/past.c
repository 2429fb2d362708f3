/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Live bytes over time (past.h). */
#include "src/export/past.h"

#include <stdlib.h>

/* The history's point i is the highest value in [i, i + 1) steps; without a change it has none. */
static size_t from_history(const struct snapshot *s, uint64_t until_ns, struct timeline_point *out)
{
	size_t n = 0;

	for (unsigned i = 0; i < s->history_points && i < SNAP_HISTORY_POINTS; i++) {
		uint64_t ns = i * s->history_step_ns, bytes = s->history[i];

		if (ns >= until_ns)
			break;
		out[n++] = (struct timeline_point){
			.ns = ns, .live_bytes = bytes, .low_bytes = bytes, .high_bytes = bytes
		};
	}
	return n;
}

/* Inserts the snapshot's moment. */
static size_t add_moment(const struct snapshot *s, struct timeline_point *out, size_t n)
{
	const struct timeline_point now = { .ns = s->uptime_ns,
		.live_bytes = s->totals.live_bytes,
		.low_bytes = s->totals.live_bytes,
		.high_bytes = s->totals.live_bytes,
		.rss = s->proc.valid && s->moment == SNAP_NOW ? s->proc.rss : 0,
		.allocs = s->totals.allocs };
	size_t at = n;

	while (at > 0 && out[at - 1].ns > now.ns)
		at--;
	if (at > 0 && out[at - 1].ns == now.ns) {
		out[at - 1].live_bytes = now.live_bytes;
		return n;
	}
	for (size_t i = n; i > at; i--)
		out[i] = out[i - 1];
	out[at] = now;
	return n + 1;
}

/* Keeps every k-th point, with the extremes of those before it, the last one and that of a moment.
 */
static size_t thin(struct timeline_point *p, size_t n, size_t most, uint64_t moment_ns)
{
	size_t each = (n + most - 3) / (most - 2), kept = 0;
	struct timeline_point sum = { 0 };
	bool open = false;

	if (n <= most)
		return n;
	for (size_t i = 0; i < n; i++) {
		uint64_t low = p[i].low_bytes, high = p[i].high_bytes;

		if (open) {
			low = sum.low_bytes < low ? sum.low_bytes : low;
			high = sum.high_bytes > high ? sum.high_bytes : high;
		}
		sum = p[i];
		sum.low_bytes = low;
		sum.high_bytes = high;
		open = (i + 1) % each != 0 && i + 1 < n && p[i].ns != moment_ns;
		if (!open)
			p[kept++] = sum;
	}
	return kept;
}

struct timeline_point *past_points(
	const struct snapshot *s, const struct timeline *t, size_t most, size_t *npoints)
{
	size_t kept = t ? t->npoints : 0, n;
	struct timeline_point *out = calloc(SNAP_HISTORY_POINTS + kept + 1, sizeof(*out));

	*npoints = 0;
	if (!out)
		return NULL;
	/* The timeline begins when a viewer attached; the history, when the program started, unless
	 * it is made of a recording's timeline. */
	n = kept && t->replay && t->file
		    ? 0
		    : from_history(s, kept ? t->points[0].ns : s->uptime_ns + 1, out);
	for (size_t i = 0; i < kept; i++)
		out[n++] = t->points[i];
	n = add_moment(s, out, n);
	*npoints = thin(out, n, most, s->uptime_ns);
	return out;
}
