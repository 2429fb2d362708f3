/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Explains a process's resident memory: its address space in areas, the pages that contain blocks,
 * how full of live blocks each page is, and which call sites keep nearly empty pages. Pure: made
 * from mappings, pages and blocks that src/memory/map_reader.c reads, once per reading, and never
 * changed after that. One thread makes it, any thread may read it.
 */
#ifndef SRC_MODEL_MAP_H
#define SRC_MODEL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/snapshot.h"

#define MAP_PAGE_BYTES 4096u
/* 32 GB page by page take 64 MB of memory. This limits reserved but unused address space. */
#define MAP_PAGES_MAX (UINT64_C(8) << 20)

/* Kinds of areas, in the order of the rows. */
enum map_kind {
	MAP_BRK, /* [heap] */
	MAP_ARENA, /* glibc's further arenas */
	MAP_POOL, /* contains small blocks, and is neither of these */
	MAP_CHUNKS, /* blocks with mappings of their own */
	MAP_MAPPED, /* private memory that the program mapped, with the call site */
	MAP_OTHER, /* other private anonymous memory without blocks */
	MAP_STACK,
	MAP_FILE,
	MAP_SHARED, /* memory shared with other processes */
	MAP_OWN, /* heaptop's: segment and library */
	MAP_KINDS
};

/* ---- input, all in address order ---- */

struct map_vma {
	uint64_t start, end;
	enum map_kind kind; /* by its name; never ARENA, POOL, CHUNKS or MAPPED */
	bool plain; /* private, anonymous and nameless: may contain anything */
	uint64_t rss_bytes, swap_bytes;
};

/* A known part of a plain mapping. */
struct map_piece {
	uint64_t start, end;
	enum map_kind kind; /* MAP_ARENA, MAP_STACK or MAP_OWN */
	uint64_t arena; /* the same for all pieces of one arena */
};

/* What the program mapped, as recorded. */
struct map_range {
	uint64_t start, end;
	uint32_t site; /* 0: an allocator's, which is not libc's */
};

struct map_block {
	uint64_t addr, size; /* requested size */
	uint32_t site;
};

struct map_input {
	const struct map_vma *vma;
	size_t vmas;
	const struct map_piece *piece;
	size_t pieces;
	const struct map_range *range;
	size_t ranges;
	const struct map_block *block;
	size_t blocks;
	bool glibc; /* blocks are chunks of glibc's malloc, whose rules give their real size */
	/* Not all blocks are known (sampling, or blocks from before a fork), so pages are not
	 * counted. */
	bool sampled, forked;
	uint64_t live_bytes; /* in that case: the estimate */
};

/* ---- result ---- */

enum map_page_flag {
	MAP_PAGE_PRESENT = 1,
	MAP_PAGE_SWAPPED = 2,
	MAP_PAGE_SHARED = 4 /* present; perhaps the zero page, or shared */
};

struct map_page {
	uint32_t site; /* the site with the largest part; meaningless if `owned` is 0 */
	uint16_t owned; /* bytes of live blocks, with their headers and slack */
	uint8_t flags; /* enum map_page_flag */
	uint8_t blocks; /* blocks that overlap it; 255: or more */
};

/* An address range of one kind. */
struct map_span {
	uint64_t start, end;
	enum map_kind kind;
	uint64_t arena; /* of MAPPED and SHARED: the call site; 0: unknown */
	unsigned rank; /* of the site among those of the kind; MAP_SITES: among the last */
	bool is_fine; /* its pages are counted */
	size_t page; /* the first */
	uint64_t rss_bytes, swap_bytes; /* if is_fine: sums over its pages, once counted */
};

/* One row of the list: all spans of a kind, of an arena, or of a call site that mapped. */
struct map_row {
	uint64_t id; /* the same in every map of a process */
	enum map_kind kind;
	unsigned number; /* of an arena, from 1 on */
	uint32_t site; /* that mapped it; 0: none, unknown or several */
	size_t first_span, spans; /* in map.span, in the order of addresses */
	size_t first_page, pages;
	uint64_t size_bytes, rss_bytes, swap_bytes;
	uint64_t live_bytes; /* requested and in memory */
	uint64_t slack_bytes; /* additional bytes that live blocks take, in memory */
	uint64_t blocks;
};

/* A call site whose blocks keep pages in memory that are less than half full. */
struct map_pin {
	uint32_t site;
	uint64_t pages, alone; /* alone: pages with blocks of no other site */
	uint64_t live_bytes; /* its blocks on these pages */
	uint64_t cost_bytes; /* free there, divided among a page's sites by bytes */
};

/* A call site that mapped memory. */
struct map_site {
	uint32_t site;
	bool shared; /* with other processes, so in MAP_PART_SHARED */
	uint64_t rss_bytes, size_bytes;
};

/* Blocks of sizes up to snap_size_le(i). */
struct map_class {
	uint64_t blocks, live_bytes, slack_bytes;
	uint64_t cost_bytes; /* as for pins */
};

enum map_part {
	MAP_PART_LIVE, /* live blocks, requested bytes, except those with mappings of their own */
	MAP_PART_MAPPED, /* live blocks with mappings of their own */
	MAP_PART_SLACK, /* rounding and headers of blocks */
	MAP_PART_FREE, /* held by the allocator, in no live block */
	MAP_PART_PROGRAM, /* mapped by the program itself */
	MAP_PART_OTHER,
	MAP_PART_STACKS,
	MAP_PART_FILES,
	MAP_PART_SHARED,
	MAP_PART_OWN,
	MAP_PARTS
};

#define MAP_PINS  64u /* the most expensive ones are kept */
#define MAP_SITES 16u /* rows of private and of shared memory each; the rest is one row */

/* The account of resident memory: the parts add up to it. Plain data. */
struct map_account {
	bool known; /* false: there was no reading; `why` gives the reason */
	const char *why; /* static */
	bool gone; /* the reason is that the process has ended */
	const char *note; /* a limit of the figures, or NULL; static */
	/* Free memory is not separated from the rest; if sampled, live is an estimate. */
	bool sampled, forked;
	bool glibc;
	bool allocator_known; /* `glibc` is certain; otherwise likely */
	uint64_t rss_bytes, swap_bytes;
	uint64_t part[MAP_PARTS];
	uint64_t live_bytes; /* all live blocks, in memory or not */
	uint64_t trim_bytes; /* whole free pages that malloc_trim(0) could give back */
	uint64_t top_bytes; /* whole free pages at the ends of arenas, which it does not return */
	uint64_t pinned_pages, pinned_bytes; /* less than half full; free in them */
	struct map_pin pin[MAP_PINS];
	unsigned pins;
	struct map_site site[2 * MAP_SITES]; /* by resident bytes */
	unsigned sites;
	uint64_t read_realtime_ns, took_ns;
	uint64_t cpu_ns; /* processor time of the reading */
	uint64_t again_ns; /* from its start to the next one's; 0: unknown */
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

/* Makes the areas, with pages that are not counted yet. NULL when out of memory. */
struct map *map_new(const struct map_input *in);
/* Makes the rows, and room for the pages, of a map that has spans in their final order. 0 or -1: no
 * memory. */
int map_rows_make(struct map *m);
/* Counts, after the caller has set the flags of all pages; takes the same input. 0 or -ENOMEM. */
int map_count(struct map *m, const struct map_input *in);
/* Puts the rows with most memory first, and files last, once they are counted. Those with about the
 * same keep their order, so that the rows of one map stand where those of the next do. */
void map_rows_sort(struct map *m);
void map_ref(struct map *m);
/* Frees with the last reference. map_unref(NULL) is fine. */
void map_unref(struct map *m);

/* "brk heap", "arena 2", "mapped", ...: without the name of its call site. */
const char *map_row_name(const struct map_row *row, char buf[48]);
/* "live", "free", ...: for text; "live_bytes", ...: for JSON. Static. */
const char *map_part_name(enum map_part part);
const char *map_part_key(enum map_part part);
const char *map_part_help(enum map_part part);
/* The address of a page, which is numbered within the row; and the page of an address, or
 * row->pages. */
uint64_t map_page_address(const struct map *m, const struct map_row *row, size_t page);
size_t map_page_at(const struct map *m, const struct map_row *row, uint64_t addr);

/* The sum over some pages of a row. */
struct map_sum {
	size_t pages, present, swapped;
	uint64_t owned; /* in pages that are present */
	uint64_t blocks; /* at most 255 of each page */
	uint32_t site; /* of the page with the most free space beside blocks */
	bool has_site;
};
void map_sum(const struct map *m, const struct map_row *row, size_t page, size_t count,
	struct map_sum *out);

#endif
