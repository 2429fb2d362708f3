/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which pages of a process are populated. Reading a page that was never touched would create page
 * tables for it, charged to the process's cgroup: gigabytes for a large mapping that is almost
 * empty. One thread.
 */
#ifndef SRC_LEAK_ACCESS_PAGES_H
#define SRC_LEAK_ACCESS_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/proc/proc.h"
#include "src/read/cooperation.h"

/* Bits of a pagemap entry: the page is populated. */
#define LEAK_PAGE_THERE (PROC_PAGE_PRESENT | PROC_PAGE_SWAPPED)

/* Where the entries come from. */
struct leak_pages {
	int pagemap; /* /proc/PID/pagemap; -1: it cannot be read */
	struct read_coop *lent; /* the program's library reads them instead; or NULL */
	enum ht_coop_server server; /* then */
};

/* The entries of `count` pages from that of `addr` on, as in pagemap. False: they are unknown. */
bool leak_pages_read(const struct leak_pages *p, uint64_t addr, uint64_t *entries, size_t count);

/* Entries read so far, of memory that does not change: those of some million pages. */
struct leak_pages_cache;
/* NULL without memory: then nothing is cached. */
struct leak_pages_cache *leak_pages_cache_new(void);
void leak_pages_cache_free(struct leak_pages_cache *c);

/* Whether the page of `addr` is populated. True where that is unknown, too. `c` may be NULL. */
bool leak_pages_is_there(const struct leak_pages *p, struct leak_pages_cache *c, uint64_t addr);

#endif
