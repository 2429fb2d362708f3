/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a process's memory has no pages. What was never touched there is zeros, and to read it
 * would make page tables for it, in the process's cgroup: of a large mapping that is almost empty,
 * gigabytes. One thread.
 */
#ifndef SRC_LEAK_ACCESS_PAGES_H
#define SRC_LEAK_ACCESS_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leak_space;

/* What was seen of the pages of memory that stands still, some million of them. */
struct leak_holes;
/* NULL without memory: then nothing is remembered. */
struct leak_holes *leak_holes_new(void);
void leak_holes_free(struct leak_holes *h);

/* Whether the page of `addr` is private, of no file, and was never touched. False where that cannot
 * be told, too. */
bool leak_holes_has(struct leak_space *s, uint64_t addr);
/*
 * The first address from `addr`, a page, on, up to `end`, where something may be; *pages: so many
 * pages from there on are worth a look at once. Where that takes no less than looking at each page:
 * `addr`.
 */
uint64_t leak_holes_skip(struct leak_space *s, uint64_t addr, uint64_t end, size_t *pages);

#endif
