/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The segment: the contract between the library inside the program and the viewer outside. This
 * file is long because it is one contract: it states everything that holds of each word.
 *
 * One segment is one file in shared memory, for one process image: (pid, start time, exec
 * generation). It has a fixed virtual size and is sparse. Memory is taken in units of
 * HT_COMMIT_BYTES. Each unit is populated (MADV_POPULATE_WRITE) before its first byte is written,
 * and marked in the header's `committed` bitmap, so that a full /dev/shm is an error code and never
 * a SIGBUS. Regions that fill up from their start take their first unit in parts, which only the
 * process that populates them knows; it is marked when it is whole. An uncommitted unit holds
 * zeros, except the parts that were taken. It must not be touched through a mapping, not even
 * read (the kernel would allocate the page); readers use pread, where a hole costs nothing.
 *
 * The file is a header followed by regions, whose offsets and sizes are in the header:
 *
 *   header      who, when, the program-wide words, loss counters, history of live bytes
 *   threads     ht_thread[]: one slot per thread that allocates; totals that only it writes
 *   modules     ht_module[]: object files that return addresses were found in, never reused
 *   strings     module paths, each terminated by NUL; a module holds offset and length
 *   index       uint32_t[]: finds nodes of the calling-context tree, in levels (below)
 *   nodes       ht_node[]: the calling-context tree; node 0 is the root and has no frame
 *   sites       ht_site[]: one call stack + allocation function, or what all stacks through a node
 *               have in common that found no room (HT_SITE_ANCESTOR); site 0 is the catch-all of
 *               blocks whose stack is unknown
 *   counters    ht_counter[]: what one thread slot counted at one site; counter 0 is for site 0
 *   owners      uint64_t[]: the site, slot and family of the counter of that number, in memory that
 *               does not change, for threads that free another's block (ht_owner_word)
 *   hists       ht_hist[]: histograms of counters that need one; number 0 is none: counts written
 *               there, for lack of room, mean nothing
 *   variances   ht_variance[]: variances of the sampled blocks of the counter of that number
 *   at peak     ht_at_peak[]: what the counter of that number had live at the program's peak
 *   live        the overflow of the live table: a hash, in levels (below)
 *   patched     ht_patched[]: functions of allocators inside the program; number 0 is none
 *   mapped      ht_mapped[]: what one site has mapped; number 0 is none
 *   mappings    ht_mapping[]: the ranges of memory that the program has mapped; number 0 is none
 *   notes       ht_note[HT_NOTES]: the program's latest notes through heaptop.h; and
 *               ht_intended[]: its intended leaks
 *   wrong frees ht_wrong_frees: invalid and mismatched frees
 *   before      ht_before: what the program had allocated before it was recorded
 *   rings       ht_event[HT_RING_EVENTS] per thread slot: the timeline, while a viewer wants it;
 *               not in `committed`: each thread that begins to write there populates its ring
 *   pieces      ht_piece[]: the live table itself. Last, and not in `committed`: a piece records
 *               itself which of its memory is populated
 *
 * The program maps only the used part of each region, and a little more (shm/mapping.h), at its
 * file offset from the header. All but the index and the overflow fill up from their start.
 *
 * A call stack is one 32-bit number: a site. Walking it: ht_site.node is a leaf; its `pc` holds the
 * allocation function (HT_LEAF_FUNCTION, a number below HT_FUNCTION_COUNT, or from HT_FN_NAMED on
 * HT_FN_NAMED and the number of a ht_patched that has the name); its parent is the
 * caller's frame, and so on out to node 0. Return addresses are stored as they were in memory, with
 * the module that was mapped there at that time, so an address stays right after dlclose and reuse.
 *
 * Each node names its first children, HT_NODE_CHILDREN at most, which never change. So a stack that
 * is new from some frame on costs one search at most, however many its new frames are: those form a
 * row, each the first child of the one before. The index finds the other children by a hash of all
 * frames from the outermost in to them; only the library reads it. It has levels: level 0 has
 * 2^index_log2 lines, and each further level eight times as many as the one before. A line is
 * HT_INDEX_SLOTS slots, used in order. A node goes into its line of the first level where that is
 * not full; when the last level's is full too, into one of the next HT_INDEX_PROBE_LINES - 1 there.
 * A slot is 0 (free), or a node and seven bits of its hash.
 *
 * The live table lists the live blocks. It is mapped directly: a block's address determines the
 * place of its entry. The table covers the address space in pieces of HT_PIECE_BYTES;
 * header.pieces[] lists the range of each, in the order in which the program needed them. The
 * program finds them by a private table (struct segment_place). A line is 64 bytes of address
 * space, four granules of 16 bytes. A block certainly has some address space to itself (its extent,
 * segment_extents), so it owns the granule that it starts in, and the next one when the extent is
 * 32 or more, and the next three when it is 64 or more. So one of them is the first of a line, or
 * the first or third. The block's entry is that granule's:
 *
 *   first[i]    of line i, granule 0: all blocks of extent 64 or more, and half of the smaller ones
 *   second[i]   of line i, granule 2: the other half. A heap of larger blocks never touches it
 *
 * Blocks of extent 16 that start in granule 1 or 3 have these in a piece of their own, of tag
 * HT_PIECE_ODD: granule 1 in first[], 3 in second[]. An entry is one word, so that no reader ever
 * sees a mixture (HT_ENTRY_* below). A free clears one bit of it, HT_ENTRY_BLOCK: so it
 * keeps the block that was here last, until the next one is stored. A block of HT_ENTRY_SIZE bytes
 * or more has its size in the next entry of first[], which it owns as well; a block that begins in
 * the last line of a piece may need the two spare ones. Memory comes in groups of up to
 * HT_GROUP_PAGES pages; state[] records for each page whether it, and the one after it in first[],
 * may be touched.
 *
 * Blocks that the table cannot take (of other extents, large ones where the table has no memory
 * yet, no piece left) are in the overflow. It is a hash of levels: level 0 has 2^live_log2 buckets,
 * and each further level four times as many as the one before. A level is added when a block finds
 * no room in the newest, the first with the first such block. A bucket is HT_BUCKET_SLOTS keys and
 * payloads; a block goes into its home bucket of the newest level or, when that is full, into one
 * of the next HT_PROBE_BUCKETS - 1. Each bucket passed over counts the block in `overflow`, and
 * deletion undoes that, so a search may stop where `overflow` is zero: there are no tombstones. A
 * key is 0 (free), 1 (claimed, payload being written) or the block's address.
 *
 * Mappings: memory that the program takes from the kernel itself (mmap, mremap, brk, sbrk, shmat)
 * is no part of the live table, and in no counter, thread total or peak of the heap. Its sites are
 * sites like others, whose leaf has one of these functions; ht_site.mapped is the number of their
 * counts. What libc's own malloc, the loader and libc's thread stacks map is not here: they do not
 * call the functions that a program calls. The next allocator's, where that is another library, is
 * here as ranges (HT_MAPPING_ALLOCATOR) without site, counted in header.allocator_mapped_bytes
 * only: blocks of the heap lie there.
 *
 * One call makes one block of memory. Unmapping part of a block leaves the rest; a hole leaves it
 * in pieces. It counts as unmapped when its last piece goes; its bytes do as they go. Each entry is
 * one piece; pieces of a block have the same `block`, and are in a ring. mremap is the end of the
 * old range and a block of its own. All entries and counts change under one lock,
 * header.mapping_lock (shm/mappings.h). The entries form a treap by address, which only the library
 * reads. A reader takes the entries in any order. Each has a mark (ht_mapping_mark), so that a
 * mixture of two states is not mistaken for a range; header.mapping_changes is odd while the table
 * changes, so that equal even values before and after show that the entries are of one moment.
 * Lengths are whole pages, but those of brk and sbrk are the program's own.
 *
 * Pools: blocks that the program reports by heaptop.h are entries of the same kind, at their
 * address + HT_POOL_SPACE, and sites with ht_site.mapped. Their totals are header.pool_*.
 *
 * Before: a program that was not started under heaptop has blocks from before. They are in no
 * table. header.before_site is the first of HT_BEFORE_CLASSES sites, without frames, that stand for
 * them: one for each size bucket of their usable sizes, and one for allocators whose blocks cannot
 * be listed. A free of a block that is not in the live table counts there, as a free, with its
 * usable size; nothing is allocated there. What there was, a viewer counts, once, and writes it to
 * ht_before: readers add it to what these sites, and so the program, have allocated, and to every
 * peak (shm/before.h).
 *
 * Counting: a counter has one writer, the owner of its slot, so that a hot site costs no thread a
 * locked instruction or another thread's cache line. A site's numbers are the sums over its
 * counters, the program's those over the thread slots. Slot 0 is shared: by threads that found no
 * slot, and by events in signal handlers that interrupt a hook; its words take atomic adds. The
 * first half of the counters is for any slot, the second for slot 0 only, which so has one for each
 * site when the first half is used up. A counter needs no histogram while all its blocks fall into
 * its key's size bucket, and all freed ones had a lifetime of bucket 0; and while no other bucket
 * has more than HT_FEW_MOST blocks, which it counts itself (ht_counter.few_*).
 *
 * Peaks: live bytes are a sum over writers, and no writer sees all of it at each event. Each has a
 * share of it (ht_share). It adds its allocated less its freed bytes to a shared word when they
 * exceed a limit: HT_SETTLE_LEAST bytes or 1/HT_SETTLE_PART of the peak if that is more; of the
 * program's, the slots have that part together. In between it knows its own part to the byte and
 * assumes that the others' is unchanged. So a peak is exact where one slot counts; with n slots it
 * is off by n limits at most, either way (shm/counter_batch.h gives the proof).
 *
 * The composition of the peak: a new maximum that ends, as a block is freed, starts a new epoch. A
 * counter's key holds the epoch of its last event. An event in a later one first saves what the
 * counter had live, in ht_at_peak, together with the epoch. So a counter had at the peak what it
 * saved in the header's epoch, or, if it has seen no event since, what it has now
 * (shm/counter_peak.h).
 *
 * Time: header.clock_ns is CLOCK_MONOTONIC as of the last refresh. Every few events a thread
 * refreshes it. Ticks are (clock_ns - created_ns) >> HT_TICK_SHIFT, of 65.5 us each. Hooks read
 * clock_birth, the tick in the form of an entry of the live table (live_birth).
 *
 * Sampling: header.sample_bytes sets how the program records: 0 exactly, else one block per that
 * number of bytes, on average (shm/poisson.h). Counters then hold the recorded blocks' weights.
 * Each applied change of the rate is noted (struct ht_rate_change).
 *
 * Timeline: threads write events only while header.events_until is ahead of the clock. A viewer
 * that wants events advances it from time to time, so that a dead viewer's request expires by
 * itself. A thread that has never written any has no memory for a ring. An event is written for
 * each block that is counted, and for each free that is: the sums of the events are those of the
 * counters. The ring of slot 0 has many writers. Each takes a number from its head, and ends with a
 * mark that follows from that number and all other words of the record (ht_event_mark).
 *
 * Waiting: one viewer at a time may request that no event is overwritten before it was read. It
 * publishes how far it has read a ring in ht_thread.ring_tail, and renews header.events_wait, the
 * time until which threads may wait for it, only as long as it makes progress. A thread whose
 * ring is full waits until shortly after then, or without progress for at most HT_RING_WAIT_NS,
 * counted in its own naps, and then overwrites. A thread in a signal handler, a vfork child and
 * slot 0 never wait.
 *
 * Writers: only the program's own threads, once `state` has left HT_STATE_PREPARED, with these
 * exceptions. Viewers of a running program publish the time in `clock_ns` and
 * `clock_birth`, and switch by `sample_bytes`, `measure`, `events_until`, `events_wait`,
 * ht_thread.ring_tail, ht_site.ignored and `ignore_round`, and count `notes_taken`; and one that
 * attaches writes ht_before, `before_bytes` and `before_settled`. The viewer that launches the
 * program is in `viewer`; a viewer that abandons its launch sets `family` to 0. A viewer that
 * scans the program for leaks at its end writes `leak_ask`, `leak_done` and `leak_beat`, and a
 * viewer that has stopped it may watch pages of the live table. Readers copy by pread. A reader may
 * find any word changing under it, and after a kill any unfinished update: it copies, then checks
 * every index against the sizes below.
 *
 * Publication edges, labelled at both ends in the code:
 *   MAGIC   segment_create -> segment_check: the header before the magic
 *   NODE    stack_intern -> any walker: a node's fields, and those of the row that it begins,
 *           before its number is in the index, in node.child or in a site
 *           (and row_fill -> a copier of the table: the fields before the pc, published or not)
 *   SITE    stack_intern, stack_ancestor_site -> site users: a site's fields before node.site
 *   COUNTER counter_claim -> any walker: a counter's fields, and its owner, before its index is in
 *           site.counters, a counter's `next` or site.shared, or in an entry
 *   MODULE  module_intern -> readers: a module's fields before HT_MODULE_READY
 *   ENTRY   live_insert -> readers: what was taken out before, then a block's size in the next
 *           entry, then its entry
 *   LIVE    live_overflow_put -> readers: payload before the key; live_overflow_take ->
 *           live_overflow_put: payload reads before the key is freed
 *   LEVEL   live_overflow_put -> everyone: a level's memory before header.live_levels counts it
 *   PLACE   live_pieces_claim -> everyone: where a piece is before the tag by which it is found
 *   PEAK    counter_peak.c -> readers: what a counter saved before its epoch, and that before the
 *           counts of a later event; what started an epoch has saved before the header's
 *   RING    ring_push -> ring_read: a record before the head, or in slot 0 the mark, that covers it
 *   TAIL    a viewer -> ring_append: the reading of a record before the tail that is beyond it
 *   SLOT    thread_release -> thread_claim: what a slot's owner counted before the slot is free
 *   PATCHED patched_add -> readers: a function's fields before its state
 *   MAPPED  mappings.c -> readers: an odd header.mapping_changes before entries and counts change,
 *           an even one after; and -> the next holder of the lock: what the last one wrote before
 *           the lock is free; and -> who queues a call: its entry's last call was applied before
 *           the entry is free
 *   HISTORY history_note -> the next writer: what the last one wrote before the writer's word is
 *           free; and -> readers: a point before the number of points, an odd sequence before
 *           points move, an even one after
 *   NOTE    note_write -> readers: a note before its number
 *   BEFORE  before_publish -> readers: the older blocks before their time
 *   INTEND  note_intend -> readers: a block's address before its time
 *   RATE    sample.c -> readers: the rate of a change before its time
 *   WHY     lifecycle.c -> readers: header.why before its first byte, and that before the state
 *   WAIT    exit_wait -> the viewer that scans: `leak_stack` before `leak_wait`; and back: what
 *           the scan did to the process before `leak_done`
 *   LEAVE   lifecycle.c <-> a viewer that leaves its launch: each writes its word, `state` or
 *           `family`, before it reads the other's, so that one of them removes the segment
 *   COOP    either side of struct ht_coop -> the other: what is written there before the word that
 *           the other waits for
 */
#ifndef SHM_LAYOUT_H
#define SHM_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/coop.h"

#define HT_MAGIC   0x31706f7470616568ull /* "heaptop1" in memory order */
#define HT_VERSION 1u
#define HT_COMMIT_BYTES                                                                            \
	65536u /* one populate call: large enough to be rare, small enough for 64 MB */
#define HT_HEADER_BYTES 65536u
#define HT_HUGE_BYTES	(2u << 20) /* a huge page, where pages are of 4 KB */
#define HT_SIZE_BUCKETS 24u /* sizes up to 8, 16, ... 2^25; the last takes the rest */
#define HT_LIFE_BUCKETS 16u /* lifetimes below 1, 4, 16, ... ticks; the last takes the rest */
/* The three that can be set from outside are made small by tests/model. */
#ifndef HT_HISTORY_POINTS
#define HT_HISTORY_POINTS 256u
#endif
#define HT_TICK_SHIFT 16u
#ifndef HT_RING_EVENTS
#define HT_RING_EVENTS 16384u /* 512 KB a thread: some milliseconds of the busiest one */
#endif
#ifndef HT_INDEX_SLOTS
#define HT_INDEX_SLOTS 16u /* of the tree's index: a line of the cache */
#endif
#ifndef HT_INDEX_PROBE_LINES
#define HT_INDEX_PROBE_LINES 8u /* 128 slots reachable: three quarters get used, at least */
#endif
#define HT_INDEX_GROWTH_LOG2 3u
#define HT_INDEX_LEVELS	     8u
#define HT_INDEX_NODE	     0x1ffffffu /* of a slot; the other bits, never all 0, are the hash's */
#define HT_BUCKET_SLOTS	     7u /* keys and overflow count fill one 64-byte line */
#ifndef HT_PROBE_BUCKETS
#define HT_PROBE_BUCKETS 8u /* 56 slots reachable: about 90 % full before a level overflows */
#endif
#define HT_LIVE_LEVELS 8u
#ifndef HT_PIECE_SHIFT
#define HT_PIECE_SHIFT                                                                             \
	25u /* 32 MB, for 8 MB of table: what a small heap costs of the address space */
#endif
#define HT_PIECES_MAX	   2048u
#define HT_RATE_CHANGES	   16u /* the latest are kept; automatic control makes some now and then */
#define HT_BUILD_ID_MAX	   32u
#define HT_COMMAND_MAX	   4096u
#define HT_PATH_MAX	   1024u
#define HT_WHY_MAX	   128u
#define HT_COMMITTED_WORDS 1440u /* 92,160 units: 6.0 GB, all regions but the pieces */
#define HT_UNMAPPED_MAX	   64u /* of a forked child; few unmap more than some arenas */
#define HT_PARENT_MAX	   96u /* of a segment's name (preload/segment_name.h) */
#define HT_DEPTH_MAX	   1024u
#define HT_DEPTH_DEFAULT   128u

#define HT_NONE UINT32_MAX

#define HT_SETTLE_LEAST 4096u /* bytes: some tens of small blocks to one locked add */
#define HT_SETTLE_PART	64u /* of the peak: 1.6 % */

enum ht_state {
	HT_STATE_PREPARED = 1, /* prepared by the viewer for a program not yet started */
	HT_STATE_RUNNING = 2,
	HT_STATE_EXITED = 3, /* the library's destructor ran */
	HT_STATE_STOPPED = 4, /* the library switched itself off; header.why gives the reason */
};
/* header.why, with HT_STATE_STOPPED, after a viewer has detached from the program. */
#define HT_WHY_DETACHED "heaptop was detached from it"
/* The same with HT_STATE_PREPARED: no library will come; a viewer alone fills and reads it. */
#define HT_WHY_OUTSIDE "it is watched from outside"

enum ht_region_id {
	HT_REGION_THREADS,
	HT_REGION_MODULES,
	HT_REGION_STRINGS,
	HT_REGION_INDEX,
	HT_REGION_NODES,
	HT_REGION_SITES,
	HT_REGION_COUNTERS,
	HT_REGION_OWNERS,
	HT_REGION_HISTS,
	HT_REGION_VARIANCES,
	HT_REGION_AT_PEAK,
	HT_REGION_LIVE,
	HT_REGION_PATCHED,
	HT_REGION_MAPPED,
	HT_REGION_MAPPINGS,
	HT_REGION_NOTES,
	HT_REGION_WRONG_FREES,
	HT_REGION_BEFORE,
	HT_REGION_RINGS,
	HT_REGION_PIECES,
	HT_REGION_COUNT
};

struct ht_region {
	uint64_t offset; /* from the start of the file, multiple of HT_COMMIT_BYTES */
	uint64_t bytes;
};

/* One for each size bucket, and one for blocks of unknown size. */
#define HT_BEFORE_CLASSES (HT_SIZE_BUCKETS + 1)

/* The function that allocated or, from HT_FN_FREE to HT_FN_DELETE_ARRAY_ALIGNED, that freed
 * wrongly: the pc of a leaf node. Names: ht_function_name(). */
enum ht_function {
	HT_FN_NONE,
	HT_FN_MALLOC,
	HT_FN_CALLOC,
	HT_FN_REALLOC,
	HT_FN_REALLOCARRAY,
	HT_FN_POSIX_MEMALIGN,
	HT_FN_ALIGNED_ALLOC,
	HT_FN_MEMALIGN,
	HT_FN_VALLOC,
	HT_FN_PVALLOC,
	HT_FN_NEW,
	HT_FN_NEW_ARRAY,
	HT_FN_NEW_NOTHROW,
	HT_FN_NEW_ARRAY_NOTHROW,
	HT_FN_NEW_ALIGNED,
	HT_FN_NEW_ARRAY_ALIGNED,
	HT_FN_NEW_ALIGNED_NOTHROW,
	HT_FN_NEW_ARRAY_ALIGNED_NOTHROW,
	/* Memory from the kernel: sites with ht_site.mapped. */
	HT_FN_MMAP,
	HT_FN_MREMAP,
	HT_FN_BRK,
	HT_FN_SBRK,
	HT_FN_SHMAT,
	/* Blocks that the program reports by heaptop.h: the same. */
	HT_FN_POOL,
	HT_FN_FREE,
	HT_FN_DELETE,
	HT_FN_DELETE_ARRAY,
	HT_FN_DELETE_ALIGNED,
	HT_FN_DELETE_ARRAY_ALIGNED,
	/* Blocks from before the recording, by class. */
	HT_FN_BEFORE,
	HT_FN_BEFORE_LAST = HT_FN_BEFORE + HT_BEFORE_CLASSES - 1,
	/* Blocks of sites that a viewer ignores (ht_site.ignored): plus the enum ht_family. */
	HT_FN_IGNORED,
	HT_FN_IGNORED_LAST = HT_FN_IGNORED + 5,
	HT_FUNCTION_COUNT,
	/* From here on: the name is that of a ht_patched, whose number follows by subtraction. */
	HT_FN_NAMED = 1024
};

/* Whether a function's blocks are mappings, or a pool's, which are counted as they are. */
static inline int ht_function_maps(uint32_t function)
{
	return function >= HT_FN_MMAP && function <= HT_FN_POOL;
}

/* Whether a function stands for the blocks from before the recording. */
static inline int ht_function_is_before(uint32_t function)
{
	return function >= HT_FN_BEFORE && function <= HT_FN_BEFORE_LAST;
}

/* Whether a function stands for the blocks of ignored sites. */
static inline int ht_function_is_ignored(uint32_t function)
{
	return function >= HT_FN_IGNORED && function <= HT_FN_IGNORED_LAST;
}

/* Functions that belong together: a block of one family must be freed by the same. */
enum ht_family {
	HT_FAMILY_ANY, /* unknown, as at the catch-all site */
	HT_FAMILY_MALLOC,
	HT_FAMILY_NEW,
	HT_FAMILY_NEW_ARRAY,
	HT_FAMILY_NEW_ALIGNED,
	HT_FAMILY_NEW_ARRAY_ALIGNED,
	HT_FAMILY_COUNT
};

/* The family of a function that allocates or frees. Inline: the hooks' is a constant. */
static inline uint32_t ht_family(uint32_t function)
{
	switch (function) {
	case HT_FN_NONE:
		return HT_FAMILY_ANY;
	case HT_FN_NEW:
	case HT_FN_NEW_NOTHROW:
	case HT_FN_DELETE:
		return HT_FAMILY_NEW;
	case HT_FN_NEW_ARRAY:
	case HT_FN_NEW_ARRAY_NOTHROW:
	case HT_FN_DELETE_ARRAY:
		return HT_FAMILY_NEW_ARRAY;
	case HT_FN_NEW_ALIGNED:
	case HT_FN_NEW_ALIGNED_NOTHROW:
	case HT_FN_DELETE_ALIGNED:
		return HT_FAMILY_NEW_ALIGNED;
	case HT_FN_NEW_ARRAY_ALIGNED:
	case HT_FN_NEW_ARRAY_ALIGNED_NOTHROW:
	case HT_FN_DELETE_ARRAY_ALIGNED:
		return HT_FAMILY_NEW_ARRAY_ALIGNED;
	case HT_FN_IGNORED ... HT_FN_IGNORED_LAST:
		return function - HT_FN_IGNORED;
	default:
		return HT_FAMILY_MALLOC;
	}
}

#define HT_LEAF_FUNCTION  0xffffu /* of a leaf's pc: enum ht_function */
#define HT_LEAF_TRUNCATED 0x10000u /* of a leaf's pc: the stack is missing outer frames */
#define HT_LEAF_END	  0x20000u /* a leaf's pc is below this, and no frame's is */
#define HT_NODE_UNPINNED                                                                           \
	0x80000000u /* of a node's module: it may be unloaded, or is no object file */

#define HT_NODES_MAX	 (HT_INDEX_NODE + 1)
#define HT_NODE_CHILDREN 3u /* fills half a line of the cache; most nodes have fewer */

/* A node of the calling-context tree. Written once, then only `site` and `child` change. */
struct ht_node {
	uint64_t pc; /* return address, or HT_LEAF_* in a leaf */
	uint32_t parent; /* node index; 0: outermost */
	uint32_t module; /* module index (0: none, JIT), and HT_NODE_UNPINNED */
	uint32_t site; /* of a leaf; of others: for stacks beyond it that found no room; 0: none yet
			*/
	/* For the library. As slots of the index: its first children, in order; 0: free. A leaf has
	 * none: its child[0] is the leaf of the stack that some thread had next, as a guess. */
	uint32_t child[HT_NODE_CHILDREN];
};

#define HT_SITE_TRUNCATED 1u /* the stack is missing outer frames */
/* The site is for all stacks through `node` that found no room: inner frames and function are
 * missing (shm/stack_ancestor.h). */
#define HT_SITE_ANCESTOR 2u

struct ht_site {
	uint32_t node; /* leaf; with HT_SITE_ANCESTOR the innermost frame's, 0: none */
	uint32_t flags;
	uint32_t counters; /* the newest of its counters, without slot 0's; 0: none */
	uint32_t shared; /* the counter of slot 0; 0: none */
	uint64_t live_bytes; /* the settled part of it */
	uint32_t mapped; /* the number of its ht_mapped; 0: none */
	/* By viewers: from now on its blocks count at the site of HT_FN_IGNORED instead. 0: they do
	 * not; else 1 + the number of the frame that decides so, the innermost being 0, whatever is
	 * further out; or HT_IGNORED_WHOLE, the whole stack. */
	uint32_t ignored;
};

#define HT_IGNORED_WHOLE  UINT32_MAX
#define HT_IGNORE_NOTHING 1u /* of ht_header.ignore_round: no more */

/* A writer's share of a sum of live bytes. An event reads only the first two: within them, nothing
 * changes. Bytes here may be negative (a thread may free more than it allocates). All zeros is a
 * share that settles at its first event. */
struct ht_share {
	uint64_t low; /* settle when own live bytes are below this; of a slot whose last event made
			 a new maximum, these bytes: a trip wire (shm/counter_peak.h) */
	uint64_t high; /* peak of own live bytes, not above `ceiling` */
	uint64_t ceiling; /* settle when they are above this */
	uint64_t settled; /* their part of the shared word */
	uint64_t others; /* the rest of the shared word, at that time */
	uint64_t peak; /* peak of `high` + `others` until then */
};

/* A counter's owner. */
#define HT_SITES_LOG2 22u
#define HT_SITES_MAX  (1u << HT_SITES_LOG2)
#define HT_SLOTS_MAX  (1u << (32 - HT_SITES_LOG2))
static inline uint32_t ht_owner(uint32_t site, uint32_t slot)
{
	return site | slot << HT_SITES_LOG2;
}

static inline uint32_t ht_owner_site(uint32_t owner)
{
	return owner & (HT_SITES_MAX - 1);
}

static inline uint32_t ht_owner_slot(uint32_t owner)
{
	return owner >> HT_SITES_LOG2;
}

/* The same with the family of the site's function, in the table of owners. One comparison shows
 * that a block is the thread's own, and freed by a function of its family. */
#define HT_OWNER_FAMILY_SHIFT 32u
#define HT_OWNER_NONE	      (1ull << 63) /* in no word */
static inline uint64_t ht_owner_word(uint32_t site, uint32_t slot, uint32_t family)
{
	return ht_owner(site, slot) | (uint64_t)family << HT_OWNER_FAMILY_SHIFT;
}

/* A counter's owner; above it the size bucket of all blocks allocated or freed there, and the peak
 * epoch of its last event. The upper half is one word, so that one comparison shows that an event
 * only needs counting. Its epoch is in the form of header.peak_epoch. Slot 0's counters have no
 * epoch there. */
#define HT_SIZE_BITS  5u
#define HT_SIZE_NONE  31u /* size bucket of a counter without blocks */
#define HT_SIZE_MIXED 30u /* of one with blocks of several buckets */
#define HT_SIZE_ANY   29u /* of slot 0's, which begins with a histogram */
#define HT_SIZE_FEW   28u /* of one with few blocks, of several buckets: in few_* */
#define HT_EPOCH_BITS (32 - HT_SIZE_BITS)
#define HT_EPOCH_LAST ((1u << HT_EPOCH_BITS) - 1)
static inline uint64_t ht_counter_key(uint32_t site, uint32_t slot, uint32_t size_bucket)
{
	return ht_owner(site, slot) | (uint64_t)size_bucket << 32;
}

static inline uint32_t ht_counter_site(uint64_t key)
{
	return ht_owner_site((uint32_t)key);
}

static inline uint32_t ht_counter_slot(uint64_t key)
{
	return ht_owner_slot((uint32_t)key);
}

static inline uint32_t ht_counter_size(uint64_t key)
{
	return (uint32_t)(key >> 32) & ((1u << HT_SIZE_BITS) - 1);
}

/* The counts of a slot's owner at a site. The first line is all that most events touch. Counts
 * never decrease; the slot's next owner takes the counter over. */
struct ht_counter {
	uint64_t key; /* ht_counter_key */
	uint64_t allocs;
	uint64_t frees;
	uint64_t alloc_bytes;
	uint64_t free_bytes;
	uint64_t temporary;
	struct ht_share share; /* of the site's live bytes */
	uint32_t next; /* of the site's counters, 0: end */
	uint32_t hist; /* HT_HIST_FEW: needs none; 0: none was available */
	/* Four bits for each of the buckets 0 to 15, without a histogram: of sizes, while the size
	 * bucket is HT_SIZE_FEW; and of lifetimes. */
	uint64_t few_allocs, few_frees, few_lives;
};

#define HT_HIST_FEW    UINT32_MAX
#define HT_FEW_BUCKETS 16u
#define HT_FEW_MOST    15u
static inline uint64_t ht_few(uint64_t word, uint32_t bucket)
{
	return word >> 4 * bucket & HT_FEW_MOST;
}

/* The upper half of its key, for its owner. */
static inline uint32_t ht_counter_kept(const struct ht_counter *c)
{
	uint32_t kept;

	__builtin_memcpy(&kept, (const char *)&c->key + 4, sizeof(kept));
	return kept;
}

/* What a counter had live at the start of an epoch. Both may be negative: a thread may free more
 * than it allocated. All zeros: it has saved nothing yet. */
struct ht_at_peak {
	uint64_t bytes;
	uint64_t blocks; /* 37 bits, the epoch above */
};

#define HT_AT_PEAK_BITS (64 - HT_EPOCH_BITS)
static inline uint64_t ht_at_peak_word(uint32_t epoch, uint64_t blocks)
{
	return (uint64_t)epoch << HT_AT_PEAK_BITS | (blocks & ((1ull << HT_AT_PEAK_BITS) - 1));
}

static inline uint32_t ht_at_peak_epoch(uint64_t word)
{
	return (uint32_t)(word >> HT_AT_PEAK_BITS);
}

static inline uint64_t ht_at_peak_blocks(uint64_t word)
{
	return (uint64_t)((int64_t)(word << HT_EPOCH_BITS) >> HT_EPOCH_BITS);
}

/* Variances of a counter's counts, by poisson_weight: of blocks and bytes allocated, and freed.
 * Those of live blocks are the difference. Exactly recorded blocks add nothing. */
struct ht_variance {
	uint64_t blocks, bytes;
	uint64_t free_blocks, free_bytes;
};

/* `size_*` is kept while the counter's size bucket is HT_SIZE_MIXED or HT_SIZE_ANY. Lives of bucket
 * 0 are not counted: they are the frees of no other bucket. */
struct ht_hist {
	uint64_t size_allocs[HT_SIZE_BUCKETS];
	uint64_t size_frees[HT_SIZE_BUCKETS];
	uint64_t life[HT_LIFE_BUCKETS];
};

#define HT_MODULE_READY	 1u /* all fields are written */
#define HT_MODULE_PINNED 2u /* loaded at start: cannot be unloaded */

struct ht_module {
	uint64_t start, end; /* mapped range */
	uint64_t bias; /* add to ELF addresses */
	uint64_t key; /* hash of range, path and build-id; 0: entry unused */
	uint64_t seen_ns; /* clock when it was first met */
	uint32_t path; /* offset in strings */
	uint32_t path_bytes; /* without the NUL */
	uint32_t flags;
	uint32_t build_id_bytes;
	uint8_t build_id[HT_BUILD_ID_MAX];
	uint64_t reserved[5];
};

enum ht_thread_state { HT_THREAD_FREE = 0, HT_THREAD_USED = 1 };

/* A thread's slot. Only its owner writes it (slot 0 is shared by all threads without a slot and is
 * written with atomic adds). Counts never decrease: a slot that passes to another thread keeps
 * counting, so the sum over slots is the program's total. */
struct ht_thread {
	uint64_t live_bytes; /* allocated less freed, of all buckets; slot 0: not kept */
	uint64_t temporary;
	struct ht_share share; /* of the program's live bytes */

	uint32_t state;
	uint32_t tid; /* as the thread sees itself; 0: unowned, HT_NONE: being freed */
	uint64_t since_ns; /* when this owner took the slot */
	uint64_t ring_head; /* events so far while a viewer wanted them; event i is in record
			       i % HT_RING_EVENTS */
	uint64_t reallocs;
	uint64_t failed; /* allocations that returned NULL */
	uint64_t unknown_frees; /* frees of blocks not in the live table */
	uint64_t owners; /* the number of owners so far */
	uint64_t peak_ns; /* clock_ns when the share had its peak */

	struct ht_thread_size {
		uint64_t allocs, alloc_bytes, frees, free_bytes;
	} size[HT_SIZE_BUCKETS];
	uint64_t life[HT_LIFE_BUCKETS]; /* of bucket 0: not counted, as in ht_hist */
	/* The frees of blocks that another slot allocated. Slot 0's have no certain owner. */
	uint64_t foreign_frees, foreign_bytes;
	/* The blocks that sampled ones stood for when they were allocated or freed, beyond
	 * themselves. */
	uint64_t weights;
	uint64_t reserved[60]; /* 128 slots fill whole commit units */
	/* Written by a viewer for whom the slot's owner waits: events below this one were read. */
	uint64_t ring_tail;
};

/* 0: a record that was never written. */
enum ht_event_kind { HT_EVENT_ALLOC = 1, HT_EVENT_FREE = 2 };

#define HT_EVENT_KIND	3u /* of a record's kind; the rest is 0, but in slot 0 a mark */
#define HT_RING_WAIT_NS 500000000ull /* the longest wait for a viewer that reads nothing */

struct ht_event {
	uint64_t addr;
	uint64_t size;
	uint64_t tick;
	uint32_t site;
	uint32_t kind;
};

/* `kind` of event `index` of slot 0's ring. A record that two writers have mixed, one of them late
 * by a whole lap, does not have it, but for one in 2^30. */
static inline uint32_t ht_event_mark(const struct ht_event *e, uint64_t index)
{
	uint64_t x = e->addr * 0x9e3779b97f4a7c15ull ^ e->size * 0xc2b2ae3d27d4eb4full ^
		     e->tick * 0x165667b19e3779f9ull ^ (e->site + index) * 0xd6e8feb86659fd93ull;

	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
	return (uint32_t)(x >> 32 & ~(uint64_t)HT_EVENT_KIND) | (e->kind & HT_EVENT_KIND);
}

#define HT_LINE_BYTES	 64u
#define HT_GRANULE_BYTES 16u
#define HT_PIECE_BYTES	 (1ull << HT_PIECE_SHIFT)
#define HT_PIECE_LINES	 ((uint32_t)(HT_PIECE_BYTES / HT_LINE_BYTES))
#define HT_PAGE_ENTRIES	 512u /* of 8 bytes: 4 KB, for 32 KB of address space */
#define HT_PAGE_SPAN	 (HT_PAGE_ENTRIES * HT_LINE_BYTES)
#define HT_PIECE_PAGES	 (HT_PIECE_LINES / HT_PAGE_ENTRIES)
#define HT_GROUP_PAGES                                                                             \
	(HT_PIECE_PAGES < 16u ? HT_PIECE_PAGES                                                     \
			      : 16u) /* populated together: 64 KB, as everywhere else */
#define HT_PIECE_SPARE 8u /* entries after the last line; two are used */

/* The state of 32 KB of address space, in state[]. */
#define HT_PAGE_FIRST  1u /* this page of first[] and the one after it are populated */
#define HT_PAGE_SECOND 2u /* the page of second[] is populated, too; only with HT_PAGE_FIRST */
#define HT_PAGE_MIXED  4u /* blocks that start there may be in the overflow, or the odd piece */
/*
 * A viewer may watch pages, to learn later which are unchanged. It changes their state from s, with
 * HT_PAGE_FIRST, to s << HT_PAGE_WATCHED_SHIFT | HT_PAGE_MIXED, while all threads are stopped. In
 * such a state every insertion and removal takes the slow path, which restores it before an entry
 * is written. The two entries after a page of first[] count as its own, too.
 */
#define HT_PAGE_WATCHED_SHIFT 4u
static inline uint8_t ht_page_watched(uint8_t state)
{
	return (uint8_t)(state << HT_PAGE_WATCHED_SHIFT | HT_PAGE_MIXED);
}

static inline int ht_page_is_watched(uint8_t state)
{
	return state >> HT_PAGE_WATCHED_SHIFT != 0;
}

/* The state without watching. */
static inline uint8_t ht_page_state(uint8_t state)
{
	return ht_page_is_watched(state) ? state >> HT_PAGE_WATCHED_SHIFT : state;
}

/* The tag of a piece: the address where it starts, HT_PIECE_USED, and HT_PIECE_ODD in one for
 * granules 1 and 3. */
#define HT_PIECE_USED 1ull
#define HT_PIECE_ODD                                                                               \
	8ull /* above the bits that live_pieces_is_home ignores in an aligned address */

struct ht_piece {
	uint64_t first[HT_PIECE_LINES + HT_PIECE_SPARE];
	uint8_t state[HT_PIECE_PAGES]; /* populated with the spare entries when the piece is claimed
					*/
	uint8_t reserved[HT_COMMIT_BYTES - HT_PIECE_SPARE * 8 - HT_PIECE_PAGES];
	uint64_t second[HT_PIECE_LINES];
};

/*
 * An entry. Its upper 22 bits, followed by bit 0, are the counter, which identifies the site and
 * the allocating slot: so one rotation extracts it. Bits 1 and 2 tell a block from the other kinds.
 * Then 3 bits of position, the block's start in 64 bytes, in units of 8: the address's own bits; 7
 * of size, HT_ENTRY_SIZE where the next entry holds it; 29 of birth (live_birth). So an address's
 * low six bits, plus HT_ENTRY_BLOCK, are an entry's, except the counter's one. The other kinds are
 * an extension, which holds a size in its upper 48 bits, and a block that was freed.
 */
#define HT_ENTRY_KIND	       6ull /* mask of the kinds; 0: free, and the rest tells whose it was */
#define HT_ENTRY_BLOCK	       4ull /* set in a block's */
#define HT_ENTRY_EXTENSION     2ull
#define HT_ENTRY_WHICH	       0x3cull /* kind and position of a block */
#define HT_ENTRY_SIZE_SHIFT    6u
#define HT_ENTRY_SIZE	       127u
#define HT_ENTRY_LONG_SHIFT    16u
#define HT_ENTRY_BIRTH_SHIFT   13u
#define HT_ENTRY_COUNTER_SHIFT 42u /* to the right, with wrap-around */
#define HT_ENTRY_BIRTH_BITS    29u

struct ht_live_payload {
	uint64_t size_rate; /* size in the low 48 bits, poisson_weight's log2 above */
	uint64_t counter_tick; /* birth tick in the low 40 bits, counter above (24 bits) */
};

#define HT_LIVE_SIZE_BITS 48u
#define HT_LIVE_TICK_BITS 40u
#define HT_COUNTERS_MAX	  (1u << 23)
/* Counter of a block in the live table that does not count: our unwinder's, or one whose allocation
 * could not be recorded (and was counted as such). Its free counts nowhere; readers skip it. */
#define HT_COUNTER_HIDDEN (HT_COUNTERS_MAX - 1)

/* What became of a function of an allocator inside the program, which does not pass our hooks. */
enum ht_patched_state {
	HT_PATCHED_NONE, /* not written yet */
	HT_PATCHED_RECORDED, /* its entry is patched */
	HT_PATCHED_REFUSED, /* it could not be: see the reason */
	HT_PATCHED_UNLOADED, /* it was, and its module is unloaded */
	HT_PATCHED_STATES
};

struct ht_patched {
	uint32_t name, name_bytes; /* the function's, in the strings */
	uint32_t reason, reason_bytes; /* why it was refused, likewise */
	uint32_t module; /* index of its module; 0: none */
	uint32_t function; /* enum ht_function of the blocks that it returns; 0: it returns none */
	uint32_t state; /* enum ht_patched_state, written last */
	uint32_t reserved;
};

/* What a site has mapped. Exact: written under header.mapping_lock. Counts never decrease. */
struct ht_mapped {
	uint32_t site;
	uint32_t reserved;
	uint64_t maps; /* blocks: calls that mapped memory */
	uint64_t unmaps; /* blocks that are gone entirely */
	uint64_t map_bytes;
	uint64_t unmap_bytes;
	uint64_t peak_bytes; /* of map_bytes less unmap_bytes */
	uint64_t reserved_too[2];
};

enum ht_mapping_kind {
	HT_MAPPING_NONE, /* the entry is free */
	HT_MAPPING_MMAP, /* mmap and mremap */
	HT_MAPPING_BRK, /* brk and sbrk */
	HT_MAPPING_SHM, /* shmat */
	HT_MAPPING_ALLOCATOR, /* the next allocator's: no site */
	HT_MAPPING_POOL, /* a block of a pool, at its address + HT_POOL_SPACE */
	HT_MAPPING_KINDS
};

/* Blocks of pools lie inside blocks of the heap or mappings, so they have a space of their own:
 * user space ends below. */
#define HT_POOL_SPACE (1ull << 63)

#define HT_MAPPING_LEAVING 0x80u /* of an entry's kind: it is being unmapped; readers skip it */

/* A range of mapped memory: one piece of a block. */
struct ht_mapping {
	uint64_t start, end;
	uint64_t tick; /* when the block was mapped */
	uint64_t block; /* number of the block, from 1; never reused */
	uint32_t site; /* 0: none */
	uint32_t kind; /* enum ht_mapping_kind, and HT_MAPPING_LEAVING */
	uint32_t mark; /* ht_mapping_mark */
	/* For the library: children in the treap; neighbours in the ring of the block's pieces. In
	 * a free entry `left` is the next free one. One that a queued call was in stays for those,
	 * and `after` is the next one. */
	uint32_t left, right, before, after;
	uint32_t pool; /* number of the pool that the block is of, for the library; 0: none */
};

/* Follows from what a reader takes from an entry, so that a mixture of two does not have it, but
 * for one in 2^32. */
static inline uint32_t ht_mapping_mark(const struct ht_mapping *m)
{
	uint64_t x = m->start * 0x9e3779b97f4a7c15ull ^ m->end * 0xc2b2ae3d27d4eb4full ^
		     m->tick * 0x165667b19e3779f9ull ^ m->block * 0xd6e8feb86659fd93ull ^
		     ((uint64_t)m->kind << 32 | m->site) * 0xff51afd7ed558ccdull;

	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
	return (uint32_t)(x >> 32);
}

#define HT_KEY_FREE    0ull
#define HT_KEY_CLAIMED 1ull

struct ht_bucket {
	uint64_t overflow; /* blocks that passed over this bucket and live further on */
	uint64_t key[HT_BUCKET_SLOTS];
	struct ht_live_payload payload[HT_BUCKET_SLOTS];
	uint64_t reserved[2];
};

/* ---- wrong frees ---- */

enum ht_wrong_kind {
	HT_WRONG_UNKNOWN, /* of an address that no function has returned */
	HT_WRONG_INSIDE, /* of an address inside a live block */
	HT_WRONG_DOUBLE, /* of a block that was freed before */
	HT_WRONG_MISMATCHED, /* by a function of another family */
	HT_WRONG_SIZED, /* with another size than the block's */
	HT_WRONG_KINDS
};

/* Frees of one kind, by one stack, of blocks of one site: a hash, at most HT_WRONG_PROBES from
 * home. The key is written first, once; the counts are added to it. Sites of frees have no
 * counters. */
struct ht_wrong_free {
	uint64_t key; /* ht_wrong_key; 0: unused */
	uint64_t count;
	uint64_t bytes; /* of the blocks; 0 where no block is known */
	uint64_t addr; /* the address that was freed last */
	uint64_t offset; /* HT_WRONG_INSIDE: its distance from the block's start */
	uint64_t want; /* HT_WRONG_SIZED: the size that was passed last */
	uint64_t first_site; /* HT_WRONG_DOUBLE: of the free before the last one; 0: unknown */
	uint64_t reserved;
};

#define HT_WRONG_MOST	     1022u /* fill a unit; a program with more has a pattern of them */
#define HT_WRONG_PROBES	     64u
#define HT_WRONG_USED	     (1ull << 63)
#define HT_WRONG_ALLOC_SHIFT HT_SITES_LOG2
#define HT_WRONG_KIND_SHIFT  (2 * HT_SITES_LOG2)
#define HT_WRONG_KIND_BITS   3u
struct ht_wrong_frees {
	uint64_t count[8]; /* by ht_wrong_kind: all of them */
	uint64_t refused[8]; /* of these: no entry was free */
	struct ht_wrong_free entry[HT_WRONG_MOST];
};

static inline uint64_t ht_wrong_key(uint32_t kind, uint32_t site, uint32_t alloc_site)
{
	return HT_WRONG_USED | (uint64_t)kind << HT_WRONG_KIND_SHIFT |
	       (uint64_t)alloc_site << HT_WRONG_ALLOC_SHIFT | site;
}

/* ---- before ---- */

/* What there was, of each class: the blocks of a walk through the heap, and those freed until then.
 * So a class has this much less what its site counts as freed. */
struct ht_before_class {
	uint64_t blocks, bytes; /* usable bytes */
};

struct ht_before {
	uint64_t ns; /* CLOCK_MONOTONIC, of the walk; written last (edge BEFORE). 0: none yet */
	uint64_t reserved[7];
	struct ht_before_class of[HT_BEFORE_CLASSES];
};

/* Live bytes over time: point i is the largest value in [i, i+1) * step_ns since start. When all
 * points are used, neighbours merge and step_ns doubles. */
struct ht_history {
	uint64_t writer; /* the writer, and since when (history.c); 0: none */
	uint64_t sequence; /* odd while points move (compaction) */
	uint64_t step_ns;
	uint32_t points; /* used */
	/* While points move: the number before, the number already in their new place, and the new
	 * step. The next writer continues an unfinished merge. */
	uint32_t merging, merged;
	uint32_t reserved;
	uint64_t merged_step_ns;
	uint64_t point[HT_HISTORY_POINTS];
};

/* A change of the sampling rate, at `ns`. `ns` is written last; 0: not yet. */
struct ht_rate_change {
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t sample_bytes;
};

/* What a program says through heaptop.h. */
enum ht_note_kind {
	HT_NOTE_MARK = 1, /* this moment has a name */
	HT_NOTE_SCAN, /* a leak scan, please */
	HT_NOTE_SNAPSHOT, /* a snapshot in a file, please */
	HT_NOTE_THREAD, /* the name of the thread `tid` */
};

#define HT_NOTES     256u /* kept; readers come once a second */
#define HT_NOTE_TEXT 184u

/* Note i is in record i % HT_NOTES. */
struct ht_note {
	uint64_t number; /* i + 1; written last (edge NOTE). 0: being written, or none */
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t live_bytes; /* of the program, then */
	uint32_t kind; /* enum ht_note_kind */
	uint32_t tid; /* of the thread that said it */
	uint64_t reserved[5];
	char text[HT_NOTE_TEXT]; /* ends with NUL, in the record */
};

/* A block that the program does not free, and means to: the one that contained `addr` then. */
struct ht_intended {
	uint64_t addr;
	uint64_t tick; /* 1 + the tick when it said so; written last (edge INTEND) */
};

/* header.leak_ask: which processes wait at their end for a leak scan. */
enum ht_leak_ask {
	HT_LEAK_ASK_NONE,
	HT_LEAK_ASK_ALL, /* this one, its forked children and its later images */
	HT_LEAK_ASK_ONE, /* this process, whatever its image */
};

/* The fields before `region` are the same in every format of this version, so that a heaptop of
 * another format can find out whose segment it is. */
/* Memory that a forked child had from its parent and has unmapped: it names nothing any more. */
struct ht_unmapped {
	uint64_t start, end;
};

struct ht_header {
	uint64_t magic; /* written last (edge MAGIC) */
	uint32_t version;
	uint32_t signature; /* HT_SIGNATURE: sizes of every struct above */
	uint64_t segment_bytes; /* virtual size of the file */
	uint32_t state;
	uint32_t pid; /* as the program sees itself, in its pid namespace */
	uint64_t start_ticks; /* field 22 of /proc/PID/stat */
	uint32_t exec_gen; /* 0 for the first image of the pid that was recorded */
	uint32_t ppid;
	uint32_t uid;
	uint32_t depth; /* frames kept per stack */
	uint64_t created_realtime_ns;
	uint64_t created_ns; /* CLOCK_MONOTONIC: time 0 of uptime and history */
	uint8_t boot_id[16];
	uint64_t family; /* the same in all segments of one launch; 0 without a viewer */
	uint32_t forked; /* 1: the process was forked from a recorded one: blocks inherited from
			    that are not here */
	uint32_t viewer; /* in the first segment of a launch: its viewer's thread, a robust futex,
			    to which the kernel adds FUTEX_OWNER_DIED when that thread ends in any
			    way; 0: unknown */
	uint64_t pid_namespace; /* inode of the namespace of `pid`; 0: unknown */
	struct ht_region region[HT_REGION_COUNT];
	uint32_t live_log2; /* buckets of level 0 */
	uint32_t live_levels_max;
	uint32_t index_log2, index_levels; /* lines of level 0 */
	uint32_t live_pieces_max; /* a power of two, or 0 */
	char exe[HT_PATH_MAX];
	char why[HT_WHY_MAX]; /* why nothing, or not all, is recorded; empty: no reason */
	uint32_t command_bytes; /* argv, each argument terminated by NUL */
	uint32_t page_bytes;
	char command[HT_COMMAND_MAX];

	/* Changing words, away from the ones above. */
	uint64_t clock_ns __attribute__((aligned(64)));
	uint64_t sample_bytes; /* mean distance between samples, a power of two; 0: exact */
	/* Read together. */
	union {
		struct {
			uint32_t measure; /* 1: the library measures its own cost */
			uint32_t coop_ask; /* enum ht_coop_ask */
		};
		uint64_t asked;
	};
	uint64_t sample_most; /* largest sample_bytes applied; 0: everything was recorded */
	uint32_t rate_changes; /* so far; number i is rate_change[i % HT_RATE_CHANGES] */
	uint32_t clock_birth; /* that of a block born at clock_ns */
	uint64_t events_until; /* CLOCK_MONOTONIC: until then threads write events; 0: never */
	/* The epoch of the program's peak, shifted by HT_SIZE_BITS: as in a counter's key. */
	uint32_t peak_epoch;
	uint32_t ignore_round; /* a viewer has changed some ht_site.ignored; or HT_IGNORE_NOTHING;
				  0: never */
	uint64_t peak_least; /* a total above this starts an epoch when it falls */
	uint64_t live_bytes __attribute__((aligned(64))); /* the settled part of it */
	uint64_t peak_state; /* the newest epoch, and its total (shm/counter_peak.c) */
	uint32_t live_levels __attribute__((aligned(64))); /* in use */
	uint32_t live_unmarked; /* 1: the overflow has had blocks on pages without a piece */
	uint32_t nodes; /* used, node 0 included */
	uint32_t sites; /* used, site 0 included */
	uint32_t counters; /* used, counter 0 included */
	uint32_t hists; /* used, number 0 included */
	uint32_t modules; /* used, module 0 included */
	uint32_t strings_bytes; /* used */
	uint32_t threads; /* highest slot ever used + 1 */
	/* Losses: events that could not be recorded, and why. Never reset. */
	uint64_t untracked_blocks __attribute__((aligned(64))); /* allocated, but in no table */
	uint64_t untracked_bytes;
	uint64_t untracked_busy; /* those allocated while the thread was inside a hook (signal) */
	uint64_t missed_frees; /* blocks whose address the allocator returned again while live */
	uint64_t nodes_refused; /* stacks that went to an ancestor's site: no room in the tree, */
	uint64_t sites_refused; /* or for sites */
	uint64_t modules_refused;
	uint64_t counters_refused; /* events counted at site 0: no memory for a counter */
	uint64_t hists_refused; /* counters whose histogram is missing: no room */
	/* Stacks taken by both unwinders (HEAPTOP_UNWINDER=check), and how they compared. */
	uint64_t unwinds_checked, unwinds_wrong, unwinds_shorter, unwinds_longer;
	/* The threads' memory of stacks, which is private: its bytes, and how often one of them
	 * forgot all that was there. */
	uint64_t stacks_bytes, stacks_forgotten;
	/* Allocated between heaptop_pause and heaptop_resume. */
	uint64_t paused_blocks, paused_bytes;
	uint64_t notes; /* written so far */
	uint64_t notes_taken; /* by viewers, which act on each once */
	uint32_t intended; /* used */
	uint32_t intended_refused; /* for lack of room */
	uint64_t commit_failed; /* units that could not be populated */
	uint64_t space_refused; /* those that could not be mapped */
	uint32_t commit_streak; /* failures in a row */
	uint32_t commit_pass; /* requests still to refuse without asking the kernel */
	/* A sample of the events recorded while `measure` was set, and their duration. */
	uint64_t timed_events, timed_ns;
	/* A leak scan at the end: requested by the viewer (HT_LEAK_ASK_*); the thread that waits
	 * for it there (its tid; 0: none); set by the viewer when it is over; and a heartbeat that
	 * the viewer changes. */
	uint32_t leak_ask, leak_wait, leak_done, leak_beat;
	/* The waiting thread's stack pointer where the program's part of the stack begins, when
	 * main has returned; 0: it may be all. */
	uint64_t leak_stack;
	/* The distance from a thread's thread pointer of a byte that is 1 while it is inside
	 * realloc: then a block is missing here. 0: unknown. */
	int64_t in_realloc_at;
	/* The same of 8 bytes that are not 0 while it is inside a hook, and may change the live
	 * table; unknown when that one is. */
	int64_t busy_at;
	/* 1: forked children are left alone: the program has forbidden itself system calls that the
	 * library would need (set by a viewer). */
	uint32_t fork_alone;
	uint32_t patched; /* used, number 0 included */
	/* The address of the process's struct ht_copy (copy.h); 0: it has none. */
	uint64_t copy_at;
	/* CLOCK_MONOTONIC: until then a thread whose ring is full may wait for the viewer; 0:
	 * never. And how often that has happened, and for how long. */
	uint64_t events_wait;
	uint64_t events_waits, events_waited_ns;
	struct ht_rate_change rate_change[HT_RATE_CHANGES];
	/* The sum of the bytes in ht_before; and the first site of what was there before, 0: the
	 * program was recorded from its start. */
	uint64_t before_bytes;
	uint32_t before_site;
	/* The tick by which all calls of libc's malloc that began before the recording had ended,
	 * as a viewer saw; 0: unknown. */
	uint32_t before_settled;
	/* What the statistics of another allocator than libc's said as the recording began; 0:
	 * unknown. By the library. */
	uint64_t before_other_blocks, before_other_bytes;
	/* Mappings (shm/mappings.h): entries for queued calls that are free, a list by `after`,
	 * from the number in the lower half on; the upper half counts its changes. */
	uint64_t mapping_spare;
	/* The rest is written under the lock. */
	uint64_t mapping_changes __attribute__((aligned(64))); /* odd while the table changes */
	uint32_t mapped, mappings; /* used, number 0 included */
	uint32_t mapping_lock; /* 1: held */
	uint32_t mapping_root, mapping_free, mapping_queue; /* entries; 0: none */
	uint64_t mapping_blocks; /* made so far: the number of the newest */
	uint64_t maps, unmaps, map_bytes, unmap_bytes; /* the sums over ht_mapped */
	uint64_t mapped_peak_bytes, mapped_peak_ns; /* of map_bytes less unmap_bytes; its time, as
						       clock_ns */
	uint64_t allocator_mapped_bytes; /* mapped now by the next allocator */
	/* Losses. Never reset. */
	uint64_t unknown_unmap_bytes; /* unmapped, but in no entry: mapped before the recording, by
					 a parent, or in a way that is not seen */
	uint64_t missed_unmap_bytes; /* in an entry, but mapped anew: the unmapping was not seen */
	uint64_t untracked_maps, untracked_map_bytes; /* mapped, but there was no room */
	uint64_t untracked_unmap_bytes; /* unmapped while the lock was held and the queue full:
					   such ranges may still be in entries */
	/* Blocks of pools, which none of the words above includes: all ever reported, and those
	 * that are gone. */
	uint64_t pool_blocks, pool_gone_blocks, pool_bytes, pool_gone_bytes, pool_peak_bytes;
	uint64_t pool_untracked, pool_untracked_bytes; /* calls that could not be recorded */
	/*
	 * A forked child's parent: the name of its segment, in the same directory; when that was
	 * created, 0: unknown; and a number of blocks that it had mapped before the fork. Those up
	 * to it which are still in its table were inherited by the child, except what that has
	 * unmapped: `unmapped`, of which so many are used. UINT32_MAX: there are more.
	 */
	uint64_t parent_created_ns, parent_blocks;
	char parent[HT_PARENT_MAX];
	uint32_t unmapped_used;
	struct ht_history history __attribute__((aligned(64)));
	/* Long tables; readers of the words above skip them. */
	uint64_t committed[HT_COMMITTED_WORDS]; /* bit i: unit i is populated */
	uint64_t
		pieces[HT_PIECES_MAX]; /* tag of piece i; 0: this piece and all after it are free */
	struct ht_unmapped unmapped[HT_UNMAPPED_MAX];
	struct ht_coop coop __attribute__((aligned(64)));
};

/* The beginning of the library's private memory, at a page of the program's address space: a leak
 * scan skips it. Not in the segment. */
#define HT_PRIVATE_MAGIC 0x767270706f746868ull

struct ht_private {
	uint64_t magic;
	uint64_t self; /* the address it is at */
	uint64_t bytes; /* including this header; whole pages */
	uint64_t reserved[5]; /* up to the end of a line of the cache */
};

#define HT_SIGNATURE                                                                               \
	((uint32_t)(sizeof(struct ht_header) * 2654435761u ^ sizeof(struct ht_thread) * 40503u ^   \
		    sizeof(struct ht_module) * 2246822519u ^                                       \
		    sizeof(struct ht_node) * 3266489917u ^ sizeof(struct ht_site) * 668265263u ^   \
		    sizeof(struct ht_hist) * 374761393u ^                                          \
		    sizeof(struct ht_counter) * 2166136261u ^                                      \
		    sizeof(struct ht_variance) * 709607u ^ sizeof(struct ht_event) * 97u ^         \
		    sizeof(struct ht_at_peak) * 65599u ^ HT_SIZE_BITS * 8191u ^                    \
		    sizeof(struct ht_wrong_free) * 127u ^ HT_ENTRY_BIRTH_BITS * 61u ^              \
		    sizeof(struct ht_bucket) * 31u ^ sizeof(struct ht_piece) * 13u ^               \
		    sizeof(struct ht_patched) * 53u ^ sizeof(struct ht_mapped) * 37u ^             \
		    sizeof(struct ht_mapping) * 41u ^                                              \
		    offsetof(struct ht_header, mapping_changes) * 43u ^                            \
		    offsetof(struct ht_node, child) * 40487u ^ sizeof(struct ht_note) * 10007u ^   \
		    sizeof(struct ht_intended) * 30011u ^                                          \
		    offsetof(struct ht_header, notes) * 47u ^ sizeof(struct ht_before) * 101u ^    \
		    offsetof(struct ht_header, clock_ns) * 7u ^                                    \
		    offsetof(struct ht_header, clock_birth) * 17u ^                                \
		    offsetof(struct ht_header, events_until) * 11u ^                               \
		    offsetof(struct ht_header, events_wait) * 19u ^ HT_RING_EVENTS * 23u ^         \
		    offsetof(struct ht_header, peak_epoch) * 29u ^                                 \
		    offsetof(struct ht_header, untracked_blocks) * 5u ^                            \
		    offsetof(struct ht_header, rate_change) * 3u ^                                 \
		    (unsigned)HT_FUNCTION_COUNT << 20))

static_assert(offsetof(struct ht_header, pid) == 28, "ht_header: whose it is");
static_assert(offsetof(struct ht_header, start_ticks) == 32, "ht_header: whose it is");
static_assert(offsetof(struct ht_header, boot_id) == 72, "ht_header: whose it is");
static_assert(offsetof(struct ht_header, pid_namespace) == 104, "ht_header: whose it is");
static_assert(offsetof(struct ht_header, region) == 112, "ht_header: whose it is");
static_assert(sizeof(struct ht_node) == 32, "ht_node");
static_assert(sizeof(struct ht_site) == 32, "ht_site");
static_assert(sizeof(struct ht_counter) == 128, "ht_counter: two lines");
static_assert(offsetof(struct ht_counter, share.ceiling) == 64, "what each event needs is in one");
static_assert(offsetof(struct ht_thread, state) == 64, "what each event needs is in one line");
static_assert(sizeof(struct ht_at_peak) == 16, "ht_at_peak");
static_assert(sizeof(struct ht_note) == 256, "ht_note");
static_assert(HT_SIZE_BUCKETS <= HT_SIZE_FEW, "size buckets fit the key");
static_assert(sizeof(struct ht_hist) == 512, "ht_hist");
static_assert(sizeof(struct ht_patched) == 32, "ht_patched");
static_assert((unsigned)HT_FUNCTION_COUNT <= HT_FN_NAMED, "names of functions");
static_assert(HT_FN_IGNORED + (int)HT_FAMILY_COUNT - 1 == (int)HT_FN_IGNORED_LAST, "its families");
static_assert(sizeof(struct ht_mapped) == 64, "ht_mapped");
static_assert(sizeof(struct ht_mapping) == 64, "ht_mapping");
static_assert(sizeof(struct ht_module) == 128, "ht_module");
static_assert(128 * sizeof(struct ht_thread) % HT_COMMIT_BYTES == 0, "ht_thread");
static_assert(sizeof(struct ht_event) == 32, "ht_event");
static_assert(sizeof(struct ht_wrong_frees) == HT_COMMIT_BYTES, "ht_wrong_frees: one unit");
static_assert(sizeof(struct ht_before) <= HT_COMMIT_BYTES, "ht_before: one unit");
static_assert(sizeof(struct ht_bucket) == 192, "ht_bucket: three lines");
static_assert(sizeof(struct ht_piece) == 2 * 8ull * HT_PIECE_LINES + HT_COMMIT_BYTES, "ht_piece");
static_assert(sizeof(struct ht_piece) % HT_COMMIT_BYTES == 0 || HT_PIECE_SHIFT < 22, "ht_piece");
static_assert(offsetof(struct ht_bucket, payload) == 64, "keys fill the first line");
static_assert(sizeof(struct ht_private) == 64, "ht_private: what follows is aligned as it was");
static_assert(sizeof(struct ht_header) <= HT_HEADER_BYTES, "ht_header");
static_assert(offsetof(struct ht_header, version) == 8, "readable by every version");
static_assert(offsetof(struct ht_header, clock_ns) % 64 == 0, "own line");
static_assert(offsetof(struct ht_header, live_bytes) == offsetof(struct ht_header, clock_ns) + 64,
	"what each event reads is in one line");
static_assert(offsetof(struct ht_header, viewer) < 4096, "the page that a whole launch maps");

/* "malloc", "operator new[]", ...; "?" for a number that is no function, or one of HT_FN_NAMED.
 * Static. */
const char *ht_function_name(uint32_t function);

#endif
