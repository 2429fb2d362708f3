/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conclusions from a leak scan's result (leaks.h). */
#include "src/model/leaks.h"

#include <stdio.h>
#include <string.h>

#include "src/model/columns.h"
#include "src/util/units.h"

bool leaks_is_whole(const struct snap_leaks *l)
{
	return l->unread_bytes == 0 && l->running == 0 && l->busy == 0;
}

enum leaks_confidence leaks_confidence(const struct snap_leaks *l, const struct snap_leak_site *row)
{
	if (row->class == SNAP_LEAK_REACHABLE)
		return LEAKS_NONE;
	if (row->class == SNAP_LEAK_POSSIBLE)
		return LEAKS_LOW;
	/* At its end the program cannot be in the middle of moving a pointer. */
	return (row->seen > 1 || l->at_exit) && leaks_is_whole(l) ? LEAKS_HIGH : LEAKS_MEDIUM;
}

const char *leaks_confidence_word(enum leaks_confidence c)
{
	static const char *const words[] = { "-", "low", "medium", "high" };

	return words[c];
}

const char *leaks_type(const struct snap_leaks *l, uint32_t site)
{
	for (size_t i = 0; i < l->nsites; i++)
		if (l->sites[i].site == site)
			return l->sites[i].type;
	return NULL;
}

/* A site of a cycle: its type, or else its function. */
static void cycle_site_text(
	const struct snap_leaks *l, uint32_t id, const struct snapshot *s, char *out, size_t cap)
{
	const struct row_style style = { .glyphs = GLYPHS_ASCII, .names = NAMES_SHORT };
	const struct snap_site *site = snapshot_site(s, id);
	const char *type = leaks_type(l, id);
	char name[COLUMN_TEXT_MAX];

	if (!type && site)
		site_name(site, &style, name, sizeof(name));
	snprintf(out, cap, "%.160s", type ? type : site ? name : "a call site not known yet");
}

char *leaks_cycle_name(const struct snap_leaks *l, const struct snap_cycle *c,
	const struct snapshot *s, char out[LEAKS_CYCLE_MAX])
{
	char count[UNITS_MAX + 8];
	size_t n = 0;

	for (uint32_t i = 0; i < c->sites && i < SNAP_CYCLE_SITES; i++) {
		if (i > 0)
			n += (size_t)snprintf(out + n, LEAKS_CYCLE_MAX - n, " <-> ");
		cycle_site_text(l, c->site[i], s, out + n, LEAKS_CYCLE_MAX - n);
		n += strlen(out + n);
	}
	if (c->sites > SNAP_CYCLE_SITES)
		n += (size_t)snprintf(
			out + n, LEAKS_CYCLE_MAX - n, " and %u more", c->sites - SNAP_CYCLE_SITES);
	snprintf(out + n, LEAKS_CYCLE_MAX - n, ", %s time%s", units_exact(count, c->times),
		units_plural(c->times));
	return out;
}

char *leaks_cycle_text(const struct snap_leaks *l, const struct snap_cycle *c,
	const struct snapshot *s, char out[LEAKS_CYCLE_MAX])
{
	size_t n = strlen(leaks_cycle_name(l, c, s, out));
	char bytes[UNITS_MAX], count[UNITS_MAX + 8];

	n += (size_t)snprintf(out + n, LEAKS_CYCLE_MAX - n, ": %s in %s blocks",
		units_bytes(bytes, c->sum.bytes), units_exact(count, c->sum.blocks));
	if (c->retained.bytes > c->sum.bytes)
		snprintf(out + n, LEAKS_CYCLE_MAX - n, ", and %s that only they lead to",
			units_bytes(bytes, c->retained.bytes - c->sum.bytes));
	return out;
}
