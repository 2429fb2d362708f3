/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Populated pages (pages.h). Source: proc.h on pagemap. */
#include "src/leak/access/pages.h"

#include <stdlib.h>

#include "src/leak/access/lent_memory.h"

#define PAGE	     PROC_PAGE_BYTES
#define WINDOW_PAGES 64u /* one bit each */
#define WINDOW_BYTES ((uint64_t)WINDOW_PAGES * PAGE)
#define WINDOWS	     4096u /* cached: 1 GB of memory */
#define LENT_WINDOWS 48u /* read by one request, which takes hardly longer than for one */

struct window {
	uint64_t start; /* 0: the entry is free */
	uint64_t there; /* bit i: page i is populated */
};

struct leak_pages_cache {
	struct window window[WINDOWS];
	uint64_t entries[LENT_WINDOWS * WINDOW_PAGES]; /* of the windows that are being read */
};

struct leak_pages_cache *leak_pages_cache_new(void)
{
	return calloc(1, sizeof(struct leak_pages_cache));
}

void leak_pages_cache_free(struct leak_pages_cache *c)
{
	free(c);
}

bool leak_pages_read(const struct leak_pages *p, uint64_t addr, uint64_t *entries, size_t count)
{
	uint64_t page = proc_machine_page();
	size_t bytes = proc_pagemap_count(addr, count, page) * sizeof(*entries);

	if (!p->lent)
		return p->pagemap >= 0 && proc_pagemap_read(p->pagemap, addr, entries, count);
	if (leak_lent_memory_read(p->lent, p->server, HT_COOP_PAGES,
		    proc_pagemap_first(addr, page) * sizeof(*entries), entries,
		    bytes) != (ssize_t)bytes)
		return false;
	proc_pagemap_spread(entries, addr, count, page);
	return true;
}

static struct window *window_of(struct leak_pages_cache *c, uint64_t start)
{
	return &c->window[start / WINDOW_BYTES % WINDOWS];
}

static void window_set(struct leak_pages_cache *c, uint64_t start, const uint64_t *entries)
{
	struct window w = { .start = start };

	for (unsigned i = 0; i < WINDOW_PAGES; i++)
		w.there |= (uint64_t)((entries[i] & LEAK_PAGE_THERE) != 0) << i;
	*window_of(c, start) = w;
}

static bool windows_read(const struct leak_pages *p, struct leak_pages_cache *c, uint64_t start)
{
	unsigned count = p->lent ? LENT_WINDOWS : 1;

	if (!leak_pages_read(p, start, c->entries, count * WINDOW_PAGES))
		return false;
	while (count-- > 0)
		window_set(c, start + count * WINDOW_BYTES, c->entries + count * WINDOW_PAGES);
	return true;
}

bool leak_pages_is_there(const struct leak_pages *p, struct leak_pages_cache *c, uint64_t addr)
{
	uint64_t start = addr / WINDOW_BYTES * WINDOW_BYTES, entry;

	if (!c)
		return !leak_pages_read(p, addr, &entry, 1) || (entry & LEAK_PAGE_THERE);
	if (window_of(c, start)->start != start && !windows_read(p, c, start))
		return true;
	return window_of(c, start)->there >> (addr / PAGE % WINDOW_PAGES) & 1;
}
