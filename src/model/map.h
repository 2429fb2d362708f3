/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a process's resident memory is: its address space in areas, the pages of those that blocks
 * lie in, how full of live blocks each page is, and which call sites keep pages that are nearly
 * empty. Pure: made of mappings, pages and blocks that somebody else has read
 * (src/memory/map_reader.c), once for each reading, and never changed after that. One thread makes
 * it, any may read it.
 */
#ifndef SRC_MODEL_MAP_H
#define SRC_MODEL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/snapshot.h"

#define MAP_PAGE_BYTES 4096u

/* What an area is; in the order of the rows. */
enum map_kind {
	MAP_BRK, /* [heap] */
	MAP_ARENA, /* glibc's further arenas */
	MAP_POOL, /* small blocks lie in it, and it is neither of these */
	MAP_CHUNKS, /* blocks with mappings of their own */
	MAP_OTHER, /* private anonymous memory without blocks */
	MAP_STACK,
	MAP_FILE,
	MAP_SHARED, /* memory shared with other processes */
	MAP_OWN, /* heaptop's: segment and library */
	MAP_KINDS
};

/* ---- what it is made of: all in the order of addresses ---- */

struct map_vma {
	uint64_t start, end;
	enum map_kind kind; /* as far as its name tells: no ARENA, POOL or CHUNKS */
	bool plain; /* private, anonymous and nameless: there may be anything in it */
	uint64_t rss_bytes, swap_bytes;
};

/* A part of a plain mapping of which more is known. */
struct map_piece {
	uint64_t start, end;
	enum map_kind kind; /* MAP_ARENA, MAP_STACK or MAP_OWN */
	uint64_t arena; /* the same for all pieces of one arena */
};

struct map_block {
	uint64_t addr, size; /* as asked for */
	uint32_t site;
};

struct map_input {
	const struct map_vma *vma;
	size_t vmas;
	const struct map_piece *piece;
	size_t pieces;
	const struct map_block *block;
	size_t blocks;
	bool glibc; /* blocks are chunks of glibc's malloc: its rules tell what they take */
	/* Not all blocks are known, and pages are not looked at: they are sampled, or some come
	 * from before the process was forked. */
	bool sampled, forked;
	uint64_t live_bytes; /* then: the estimate */
};

/* ---- what comes of it ---- */

enum map_page_flag {
	MAP_PAGE_PRESENT = 1,
	MAP_PAGE_SWAPPED = 2,
	MAP_PAGE_SHARED = 4 /* present, and perhaps nobody's, or of more processes than one */
};

struct map_page {
	uint32_t site; /* that has most of it; meaningless while `owned` is 0 */
	uint16_t owned; /* bytes of live blocks, with their heads and slack */
	uint8_t flags; /* enum map_page_flag */
	uint8_t blocks; /* that begin in it or reach in; 255: or more */
};

/* A range of addresses that is one thing. */
struct map_span {
	uint64_t start, end;
	enum map_kind kind;
	uint64_t arena;
	bool is_fine; /* it has pages */
	size_t page; /* the first */
	uint64_t rss_bytes, swap_bytes; /* fine: of its pages, once they were counted */
};

/* What is listed as one: all spans of a kind, or of an arena. */
struct map_row {
	uint64_t id; /* the same in every map of a process */
	enum map_kind kind;
	unsigned number; /* of an arena, from 1 on */
	size_t first_span, spans; /* in map.span, in the order of addresses */
	size_t first_page, pages;
	uint64_t size_bytes, rss_bytes, swap_bytes;
	uint64_t live_bytes; /* asked for and in memory */
	uint64_t slack_bytes; /* what live blocks take beyond that, in memory */
	uint64_t blocks;
};

/* A call site whose blocks keep pages in memory that are less than half full. */
struct map_pin {
	uint32_t site;
	uint64_t pages, alone; /* alone: pages with blocks of no other site */
	uint64_t live_bytes; /* its blocks there */
	uint64_t cost_bytes; /* free there: shared among the sites of a page by their bytes */
};

/* Blocks of sizes up to snap_size_le(i). */
struct map_class {
	uint64_t blocks, live_bytes, slack_bytes;
	uint64_t cost_bytes; /* as of pins */
};

enum map_part {
	MAP_PART_LIVE, /* live blocks, as asked for, but for those with own mappings */
	MAP_PART_MAPPED, /* these */
	MAP_PART_SLACK, /* what blocks take beyond what was asked for */
	MAP_PART_FREE, /* the allocator's, in no live block */
	MAP_PART_OTHER,
	MAP_PART_STACKS,
	MAP_PART_FILES,
	MAP_PART_SHARED,
	MAP_PART_OWN,
	MAP_PARTS
};

#define MAP_PINS 64u /* kept, the dearest */

/* What resident memory is: the parts add up to it. Plain data. */
struct map_account {
	bool known; /* false: there was no reading, and `why` says why */
	const char *why; /* static */
	bool gone; /* that is: the process has ended */
	const char *note; /* what the figures cannot tell, or NULL; static */
	/* What is free cannot be told from the rest; sampled: live is an estimate. */
	bool sampled, forked;
	bool glibc;
	bool allocator_known; /* that is right of all readings of the process; else it is likely */
	uint64_t rss_bytes, swap_bytes;
	uint64_t part[MAP_PARTS];
	uint64_t live_bytes; /* all live blocks, in memory or not */
	uint64_t trim_bytes; /* whole free pages that malloc_trim(0) could give back */
	uint64_t top_bytes; /* whole free pages at the ends of arenas, which it does not */
	uint64_t pinned_pages, pinned_bytes; /* less than half full; free in them */
	struct map_pin pin[MAP_PINS];
	unsigned pins;
	uint64_t read_realtime_ns, took_ns;
	uint64_t cpu_ns; /* what the reading took of a processor's time */
	uint64_t again_ns; /* from its beginning to the next one's; 0: not known */
};

struct map {
	unsigned refs; /* map_ref, map_unref: main thread only */
	const void *owner; /* as of snapshots */
	struct map_account account;
	struct map_span *span; /* row by row */
	size_t spans, span_capacity;
	struct map_row *row;
	size_t rows;
	struct map_page *page; /* row by row */
	size_t pages;
	struct map_class class[SNAP_SIZE_BUCKETS];
};

/* The areas, with pages of which nothing is known yet. NULL without memory. */
struct map *map_new(const struct map_input *in);
/* Counts, once the flags of all pages are filled in; with the same input. 0 or -ENOMEM. */
int map_count(struct map *m, const struct map_input *in);
void map_ref(struct map *m);
/* Frees with the last reference. map_unref(NULL) is fine. */
void map_unref(struct map *m);

/* "brk heap", "arena 2", ... */
const char *map_row_name(const struct map_row *row, char buf[48]);
/* "live", "free", ...: for text; "live_bytes", ...: for JSON. Static. */
const char *map_part_name(enum map_part part);
const char *map_part_key(enum map_part part);
const char *map_part_help(enum map_part part);
/* The address of a page of this row (counted in the row), and the page that an address is in, or
 * row->pages. */
uint64_t map_page_address(const struct map *m, const struct map_row *row, size_t page);
size_t map_page_at(const struct map *m, const struct map_row *row, uint64_t addr);

/* Some pages of a row, taken together. */
struct map_sum {
	size_t pages, present, swapped;
	uint64_t owned; /* in pages that are present */
	uint64_t blocks; /* at most 255 of each page */
	uint32_t site; /* of the page that has most free beside blocks */
	bool has_site;
};
void map_sum(const struct map *m, const struct map_row *row, size_t page, size_t count,
	struct map_sum *out);

#endif
