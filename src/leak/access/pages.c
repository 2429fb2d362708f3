/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where there are no pages (holes.h). Source: proc.h on pagemap. */
#include "src/leak/access/pages.h"

#include <stdlib.h>

#include "src/leak/access/space.h"
#include "src/proc/proc.h"
#include "src/util/sorted.h"

#define PAGE	     PROC_PAGE_BYTES
#define WINDOW_PAGES 64u /* of a bit each */
#define WINDOW_BYTES ((uint64_t)WINDOW_PAGES * PAGE)
#define WINDOWS	     4096u /* remembered: of 1 GB */
#define ASKED	     48u /* windows for which one request to a process takes hardly longer */
#define SEEK_PAGES   512u /* looked at together, as without seeking */
#define READ_PAGES   3072u /* where each page is looked at; and as many as one request has */

struct window {
	uint64_t start; /* 0: none is here */
	uint64_t there; /* its pages that are */
};

struct leak_holes {
	struct window window[WINDOWS];
	uint64_t entries[ASKED * WINDOW_PAGES]; /* of the windows that are being read */
};

struct leak_holes *leak_holes_new(void)
{
	return calloc(1, sizeof(struct leak_holes));
}

void leak_holes_free(struct leak_holes *h)
{
	free(h);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- single pages ---- */

static struct window *window_of(struct leak_holes *h, uint64_t start)
{
	return &h->window[start / WINDOW_BYTES % WINDOWS];
}

static void window_set(struct leak_holes *h, uint64_t start, const uint64_t *entries)
{
	struct window w = { .start = start };

	for (unsigned i = 0; i < WINDOW_PAGES; i++)
		w.there |= (uint64_t)((entries[i] & LEAK_PAGE_THERE) != 0) << i;
	*window_of(h, start) = w;
}

static bool windows_read(struct leak_space *s, uint64_t start)
{
	uint64_t *entries = s->holes->entries;
	unsigned count = s->lent ? ASKED : 1;

	if (!leak_space_pages(s, start, entries, count * WINDOW_PAGES))
		return false;
	while (count-- > 0)
		window_set(s->holes, start + count * WINDOW_BYTES, entries + count * WINDOW_PAGES);
	return true;
}

static bool is_there(struct leak_space *s, uint64_t addr)
{
	uint64_t start = addr / WINDOW_BYTES * WINDOW_BYTES, entry;

	if (!s->holes)
		return !leak_space_pages(s, addr, &entry, 1) || (entry & LEAK_PAGE_THERE);
	if (window_of(s->holes, start)->start != start && !windows_read(s, start))
		return true;
	return window_of(s->holes, start)->there >> (addr / PAGE % WINDOW_PAGES) & 1;
}

bool leak_holes_has(struct leak_space *s, uint64_t addr)
{
	const struct leak_map *m;

	if ((s->pagemap < 0 && !s->lent) || is_there(s, addr))
		return false;
	m = leak_space_map(s, addr);
	return m && !m->shared && m->inode == 0;
}

/* ---- many ---- */

/* Of [addr, end), within one mapping. */
static uint64_t seek(struct leak_space *s, uint64_t addr, uint64_t end, size_t *pages)
{
	uint64_t found = end;
	int rc = proc_pagemap_seek(s->pagemap, addr, end, SEEK_PAGES, &found, pages);

	if (rc >= 0)
		return found;
	s->seekless = true;
	*pages = READ_PAGES;
	return addr;
}

uint64_t leak_holes_skip(struct leak_space *s, uint64_t addr, uint64_t end, size_t *pages)
{
	size_t i = sorted_through(SORTED_BY(s->map, s->maps, end), addr);
	const struct leak_map *m = i < s->maps ? &s->map[i] : NULL;

	*pages = SEEK_PAGES;
	if (!m || m->start > addr) /* between mappings */
		return m ? least(m->start, end) : end;
	if (m->shared) /* no page of its own says nothing of what is there */
		return addr;
	end = (least(end, m->end) + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	if (s->pagemap >= 0 && !s->seekless)
		return seek(s, addr, end, pages);
	*pages = READ_PAGES;
	return addr;
}
