/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks ignored sites in the segment (ignore_marks.h). Main thread. */
#include "src/session/ignore_marks.h"

#include <stdlib.h>
#include <string.h>

#include "shm/layout.h"

void ignore_marks_start(struct ignore_marks *m, const struct ignored_rules *rules)
{
	if (rules)
		m->rules = ignored_new(rules);
}

/* Where to remember that a site is judged; NULL: no memory. */
static uint8_t *judged_at(struct ignore_marks *m, uint32_t site)
{
	uint32_t room = m->room ? m->room : 1024;
	uint8_t *grown;

	while (room <= site)
		room *= 2;
	if (room > m->room) {
		grown = realloc(m->judged, room);
		if (!grown)
			return NULL;
		memset(grown + m->room, 0, room - m->room);
		m->judged = grown;
		m->room = room;
	}
	return &m->judged[site];
}

/* ht_site.ignored. The inner frames of an ancestor's stacks are unknown. */
static uint32_t mark_of(const struct snap_site *site, uint32_t frame)
{
	return frame == IGNORED_WHOLE || site->stack->ancestor ? HT_IGNORED_WHOLE : frame + 1;
}

/* Judges a site once it has all names. True: it is ignored, and marked so. */
static bool site_mark(
	struct ignore_marks *m, struct read_segment *segment, const struct snap_site *site)
{
	uint8_t *judged;
	uint32_t frame;

	if (!site->stack->resolved || site->id == 0 || site->id >= HT_SITES_MAX)
		return false;
	judged = judged_at(m, site->id);
	if (!judged || *judged)
		return false;
	*judged = 1;
	return ignored_decides(m->rules, site, &frame) &&
	       read_site_ignore(segment, site->id, mark_of(site, frame)) == 0;
}

void ignore_marks_set(
	struct ignore_marks *m, struct read_segment *segment, const struct snapshot *s)
{
	size_t marked = 0;

	if (!m->rules || s->state != SNAP_RUNNING)
		return;
	for (size_t i = 0; i < s->nsites; i++)
		marked += site_mark(m, segment, &s->sites[i]);
	if (marked == 0)
		return;
	m->marked = true;
	read_ignore_publish(segment, true);
}

void ignore_marks_end(struct ignore_marks *m, struct read_segment *segment, bool alive)
{
	if (m->marked && alive) {
		for (uint32_t site = 1; site < m->room; site++)
			if (m->judged[site])
				(void)read_site_ignore(segment, site, 0);
		read_ignore_publish(segment, false);
	}
	ignored_free(m->rules);
	free(m->judged);
}
