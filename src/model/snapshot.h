/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of a program at one moment, as screen, batch frames and reports take it. The model
 * makes it once a tick, on the viewer's main thread; after that it never changes, except that names
 * in `struct stack` are filled in between ticks as the symboliser answers. All text in it is clean
 * (no control bytes). Sizes are bytes, times nanoseconds. Long because everything that is shown or
 * written is declared here.
 */
#ifndef SRC_MODEL_SNAPSHOT_H
#define SRC_MODEL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/model/allocator_state.h"
#include "src/util/units.h"

#define SNAP_TREND_POINTS   16 /* samples of a site's live bytes: a 16-cell sparkline */
#define SNAP_TREND_TICKS    2 /* ticks between two samples */
#define SNAP_SIZE_BUCKETS   24 /* = HT_SIZE_BUCKETS; bucket i holds sizes up to snap_size_le(i) */
#define SNAP_LIFE_BUCKETS   16 /* = HT_LIFE_BUCKETS */
#define SNAP_HISTORY_POINTS 256 /* = HT_HISTORY_POINTS */
#define SNAP_RATE_CHANGES   16 /* = HT_RATE_CHANGES */

/* Largest size in bucket i: 8, 16, 32, ... ; UINT64_MAX for the last. */
uint64_t snap_size_le(unsigned bucket);
/* Largest lifetime in bucket i, ns: 65536, 262144, ... (times 4); UINT64_MAX for the last. */
uint64_t snap_life_le_ns(unsigned bucket);
/* The buckets of a size, and of a lifetime in ns. */
unsigned snap_size_bucket(uint64_t size);
unsigned snap_life_bucket(uint64_t ns);

enum snap_state {
	SNAP_STARTING, /* launched, the library has not reported yet */
	SNAP_RUNNING,
	SNAP_EXITED, /* ended by exit: exit_status is valid, -1 if unknown */
	SNAP_KILLED, /* ended by a signal: signal is valid */
	SNAP_GONE, /* gone; how it ended is unknown */
	SNAP_COPY, /* a copy of the segment, made while the program ran */
};

struct snap_module {
	const char *path; /* "" for code outside any object (JIT); as the program was started */
	const char *name; /* last component of path */
	const char *build_id; /* lower-case hex, "" if it has none */
	const char *file; /* as the kernel names it, if that differs; or NULL */
};

struct frame {
	uint64_t pc; /* return address in the program, 0 for the inlined frames above it */
	uint64_t offset; /* pc - load bias */
	const struct snap_module *module; /* never NULL */
	const char *function; /* demangled; NULL while pending or unknown */
	const char *mangled; /* the same as in the object file, or NULL */
	const char *file; /* NULL: unknown */
	uint32_t line; /* 0: unknown */
	bool inlined; /* inlined into the frame that follows */
	bool hidden; /* belongs to an allocator or a standard library (rule of src/sym) */
};

/* The frames that a stack lacks. */
#define SNAP_MISSING_OUTER 1u
#define SNAP_MISSING_INNER 2u

/*
 * A call stack with inlined frames, innermost first. Valid as long as the snapshots' owner. Only
 * snapshot_frame reads the frames: where stacks are many, they share them.
 */
struct stack {
	const struct frame *frames; /* in one piece; NULL: see `shared` */
	uint32_t nframes; /* at least 1 */
	uint32_t title; /* the frame that names the site (snapshot_frame_names) */
	bool truncated; /* outer frames are missing: depth limit, or the unwinder stopped */
	bool resolved; /* all names are resolved */
	/* Inner frames are missing: it stands for all stacks through its innermost frame that found
	 * no room. */
	bool ancestor;
	const struct frame *const *shared; /* the frames one by one; with `frames`, NULL */
};

/* Frame `i` of a stack, below nframes. Neighbours need not be neighbours in memory. */
static inline const struct frame *snapshot_frame(const struct stack *s, uint32_t i)
{
	return s->frames ? &s->frames[i] : s->shared[i];
}

/* Whether a frame has a name for its site: stack.title is the first that does, or 0. */
static inline bool snapshot_frame_names(const struct frame *f)
{
	return !f->hidden && (f->function || f->module->path[0]);
}

/*
 * Margins of error of figures estimated by sampling: half the width of their 95 % intervals. All 0
 * if every block was recorded.
 */
struct snap_error {
	uint64_t live_bytes, live_blocks, allocs, alloc_bytes;
};

/* The C++ class of a call site's blocks, by the vtables in their first words. Memory that is reused
 * may keep an old one, so it is that of most blocks. */
struct snap_type {
	const char *name; /* "Session", "Conn (make_shared)"; NULL: most blocks have none */
	uint64_t blocks, of; /* so many of the site's blocks have it */
};

/* Several call sites in one row (groups.h). */
struct snap_group {
	unsigned by; /* enum group_by */
	uint32_t sites;
	uint64_t key; /* the key they share */
	const struct snap_thread *thread; /* by thread: the thread that allocated; otherwise NULL */
};

/* The figures of a call site at a mark. */
struct snap_mark_site {
	uint32_t id;
	uint64_t live_bytes, live_blocks, allocs, alloc_bytes;
};

#define SNAP_MARK_NAME 64

/*
 * A mark: a moment that the user marked. It never changes, except its name, which may be set later,
 * and alive_*: the live ones of the blocks allocated between the previous mark and this one, as of
 * the last walk over the blocks.
 */
struct snap_mark {
	const struct snap_mark *before; /* NULL: the first */
	unsigned number; /* from 1 */
	char name[SNAP_MARK_NAME]; /* clean; "" for none */
	uint64_t ns; /* since the program's start */
	uint64_t live_bytes, live_blocks, allocs, alloc_bytes;
	uint64_t alive_blocks, alive_bytes;
	const struct snap_mark_site *sites; /* by id; the sites that had allocated by then */
	size_t nsites;
};

/* The changes between two marks, or between a mark and now. */
struct snap_since {
	int64_t bytes, blocks; /* change of the live bytes and blocks */
	uint64_t allocs, alloc_bytes; /* allocated between them */
	uint64_t kept_blocks, kept_bytes; /* of these, still live at the last walk, */
	uint64_t kept_of; /* out of this number of blocks */
};

/* Bytes freed between them: what was allocated and did not add to the live bytes. */
uint64_t snapshot_since_freed(const struct snap_since *since);

/* Adds a site's change to a sum. What a hostile file makes too large for the type wraps round. */
void snapshot_change_add(int64_t *sum, int64_t change);

/* The same for each figure of `s`. */
void snapshot_since_add(struct snap_since *sum, const struct snap_since *s);

#define SNAP_GROWTH_PARTS 8

/* The gain of a growing site in a part of its growth. */
struct snap_gain {
	uint64_t oldest_ns, youngest_ns; /* current ages of the blocks of that time */
	uint64_t bytes; /* lasting gain in that time */
};

/* The growth of a call site (growth.h). */
struct snap_growth {
	double sure; /* 0: no growth; below 1: certainty that growth continues */
	double bytes_per_s; /* lasting rise per second */
	uint64_t over_ns; /* duration of the rise, up to now */
	unsigned parts; /* number of the duration's SNAP_GROWTH_PARTS equal parts with a rise */
	uint64_t fell_bytes; /* the deepest fall that counts against it */
	struct snap_gain old, middle; /* in the first half, and the quarter after it */
	bool has_kept; /* `kept` is valid: the live blocks were walked (src/session/retention.h) */
	double kept; /* live share of the first half's gain */
};

/* A thread that allocated at a site. */
struct snap_share {
	uint32_t site;
	const char *thread; /* its name, "" if unknown */
	uint32_t slot; /* as snap_thread.slot */
	uint32_t counter; /* number of its counter; for the code that fills in live_* */
	uint64_t allocs, alloc_bytes;
	uint64_t live_blocks, live_bytes; /* of these blocks; with snapshot.has_alive */
};

/* What kind of memory a site takes. */
enum snap_kind {
	SNAP_HEAP, /* blocks of the program's allocator */
	SNAP_MMAP, /* mapped from the kernel: by mmap or mremap, */
	SNAP_BRK, /* brk or sbrk, */
	SNAP_SHM, /* shmat */
	SNAP_POOL, /* blocks that the program reports itself */
	SNAP_KINDS
};
/* "heap", "mmap", "brk", "shm", "pool". Static. */
const char *snapshot_kind_word(enum snap_kind kind);

struct snap_site {
	uint32_t id; /* the same for the life of the program */
	enum snap_kind kind;
	const struct snap_share *share; /* threads that allocated there, if requested */
	uint32_t shares;
	const struct snap_group *group; /* not NULL: the row sums up several sites */
	/*
	 * One thread's part: only live_*, allocs, alloc_bytes and frees are valid, and count the
	 * blocks that this thread allocated. For a group by thread, `rate_bytes_per_s` is valid,
	 * too.
	 */
	bool of_thread;
	const char *alloc_function; /* "malloc", "operator new[]", ... */
	const struct stack *stack;
	uint64_t live_bytes, live_blocks;
	uint64_t allocs, frees, alloc_bytes;
	uint64_t peak_live_bytes;
	uint64_t at_peak_bytes, at_peak_blocks; /* live at the program's peak; with
						   snapshot.totals.has_at_peak */
	uint64_t temporary; /* freed by the same thread as its next event */
	uint64_t faults; /* page faults in its memory; with snapshot.totals.has_faults */
	bool has_ages; /* ages are valid: they were requested, and it has live blocks */
	uint64_t oldest_ns, youngest_ns; /* ages of its live blocks */
	struct snap_error error;
	double rate_bytes_per_s; /* growth of live bytes over the last ticks (about 10 s) */
	double allocs_per_s;
	double alloc_bytes_per_s, temporary_per_s; /* below 0: unknown */
	uint64_t trend[SNAP_TREND_POINTS]; /* live bytes, SNAP_TREND_TICKS ticks apart, oldest
					      first; the last is now */
	uint8_t trend_points; /* number of valid entries, at the end of `trend` */
	struct snap_growth growth;
	struct snap_since since; /* between snapshot.since and .until */
	uint64_t retained_bytes; /* at the last leak scan: snap_leak_site.retained of all classes */
	struct snap_type type; /* at the last leak scan */
	uint64_t compared[2]; /* in a diff: the figure that snapshot.compared is, of A and of B */
};

/* Ids of a parent's sites (snapshot.inherited) are none of the program's own. */
#define SNAP_INHERITED_FIRST (1u << 22) /* = HT_SITES_MAX */
#define SNAP_INHERITED_MAX   (1u << 16)

static inline bool snapshot_is_inherited(uint32_t id)
{
	return id - SNAP_INHERITED_FIRST < SNAP_INHERITED_MAX;
}

/* Kinds of wrong frees: of an address that no function returned, inside a block, of a block freed
 * before, by a function of another family, with another size. */
enum snap_wrong_kind {
	SNAP_WRONG_UNKNOWN,
	SNAP_WRONG_INSIDE,
	SNAP_WRONG_DOUBLE,
	SNAP_WRONG_MISMATCHED,
	SNAP_WRONG_SIZED,
	SNAP_WRONG_KINDS
};

/* Wrong frees of one kind, by one call stack, of blocks of one call stack. */
struct snap_wrong_free {
	enum snap_wrong_kind kind;
	uint64_t count, bytes; /* bytes: of the blocks, 0 where no block is known */
	uint64_t addr; /* the last one */
	uint64_t offset; /* SNAP_WRONG_INSIDE: its distance from the block's start */
	uint64_t want; /* SNAP_WRONG_SIZED: the size that was passed */
	uint32_t site, alloc_site; /* ids; 0: unknown */
	uint32_t first_site; /* SNAP_WRONG_DOUBLE: that freed the last one before; 0: unknown */
	const struct stack *stack, *alloc_stack, *first_stack; /* NULL: unknown */
	const char *freed_by, *allocated_by, *first_freed_by; /* functions; NULL: unknown */
};
/* "unknown", "inside", "double", "mismatched", "sized". Static. */
const char *snapshot_wrong_word(enum snap_wrong_kind kind);

struct snap_totals {
	uint64_t allocs, frees, reallocs, alloc_bytes, free_bytes;
	bool no_reallocs; /* they are not known: a recording of all events has them as frees and
			     allocations alone */
	bool no_peak_time; /* peak_ns is not known: of several processes */
	uint64_t live_blocks, live_bytes, peak_live_bytes;
	uint64_t peak_ns; /* time of the peak, since start */
	/* The sums of the sites' at_peak_*. With one thread at_peak_bytes is peak_live_bytes. */
	uint64_t at_peak_bytes, at_peak_blocks;
	bool has_at_peak; /* at_peak_* are valid, here and in sites */
	uint64_t temporary, failed, unknown_frees;
	bool has_faults; /* page faults are known by call site, */
	uint64_t faults_elsewhere, faults_lost; /* in no block or mapping; and of unknown place */
	bool has_wrong; /* wrong_frees are known */
	uint64_t wrong_frees[SNAP_WRONG_KINDS]; /* all of them, */
	uint64_t wrong_unlisted; /* of which these are in no snap_wrong_free */
	uint64_t missed_frees; /* detected, and counted, when the block's address was reused */
	uint64_t lost_events; /* ring records that a reader missed; sessions read none */
	uint64_t untracked_blocks, untracked_bytes; /* not recorded: the tables were full */
	uint64_t paused_blocks, paused_bytes; /* allocated while the program had paused recording */
	/* Blocks that an attached program had before: those found then, and those still live.
	 * They are in the figures above. */
	bool has_before; /* these are valid */
	uint64_t before_found_blocks, before_found_bytes, before_blocks, before_bytes;
	uint64_t truncated_stacks;
	uint64_t ancestor_allocs, ancestor_live_bytes; /* counted at ancestors, for lack of room */
	/*
	 * With HEAPTOP_UNWINDER=check: stacks compared with the reference, and their differences.
	 */
	uint64_t stacks_bytes, stacks_forgotten; /* the threads' memory of stacks */
	uint64_t unwinds_checked, unwinds_wrong, unwinds_shorter, unwinds_longer;
	double allocs_per_s, frees_per_s, reallocs_per_s, growth_bytes_per_s;
	struct snap_error error;
	/*
	 * Memory mapped from the kernel (kinds mmap, brk, shm): in none of the figures above. A
	 * block is one call that mapped; it is unmapped when nothing of it is left, its bytes as
	 * they go.
	 */
	bool has_mapped; /* these are valid, and so is snapshot.mapped */
	uint64_t mapped_bytes, mapped_blocks;
	uint64_t mapped_peak_bytes, mapped_peak_ns;
	uint64_t maps, unmaps, map_bytes, unmap_bytes;
	double mapped_per_s; /* growth of mapped_bytes */
	/* Mapped now by the program's allocator, where that is not libc's: the heap's blocks are
	 * there, so this is in no other figure. */
	uint64_t allocator_mapped_bytes;
	uint64_t unknown_unmap_bytes; /* unmapped, but its mapping was not recorded */
	uint64_t missed_unmap_bytes; /* its unmapping was not seen, only that it was mapped anew */
	uint64_t untracked_maps, untracked_map_bytes; /* not recorded */
	uint64_t untracked_unmap_bytes;
	uint64_t pool_bytes, pool_blocks, pool_peak_bytes; /* of kind pool: in no other figure */
	uint64_t pool_untracked, pool_untracked_bytes; /* calls that could not be recorded */
};

/* A change of the sampling rate: from `ns` after the start, one block per `bytes` bytes was
 * recorded on average; 0: every block. */
struct snap_rate_change {
	uint64_t ns, bytes;
};

struct snap_sampling {
	uint64_t bytes; /* the current rate, as in the last mark */
	uint64_t most; /* the coarsest rate so far; 0: figures are exact */
	struct snap_rate_change mark[SNAP_RATE_CHANGES]; /* the latest changes, oldest first */
	unsigned marks;
	double limit; /* target share of the cost; 0: not controlled */
	bool measured;
	double overhead; /* current cost of recording, as a share of the program's own time, */
	double passing; /* of which unrecorded calls */
};

struct snap_proc {
	uint64_t rss, hwm, pss, swap;
	bool have_pss;
	uint64_t minor_faults, major_faults;
	double minor_faults_per_s, major_faults_per_s;
	uint32_t threads;
	bool valid; /* false: never read (the process was already gone) */
};

/* Classes of a leak scan, as memcheck's. */
enum snap_leak_class {
	SNAP_LEAK_DEFINITE,
	SNAP_LEAK_INDIRECT,
	SNAP_LEAK_POSSIBLE,
	SNAP_LEAK_REACHABLE,
	SNAP_LEAK_CLASSES
};

/* Rules by which a block with only interior pointers counts as reachable: memcheck's first, then
 * heaptop's. */
#define SNAP_LEAK_HEURISTICS 11
#define SNAP_LEAK_MEMCHECKS  4

struct snap_leak_sum {
	uint64_t blocks, bytes;
};

/* What the sites' types cover, as of a leak scan. */
struct snap_typed {
	bool known; /* there was a scan */
	struct snap_leak_sum typed, of; /* blocks with a type, of all that were live */
};

/* One step of the path of pointers to a block. */
struct snap_leak_step {
	uint64_t addr; /* of the pointing block, or of the root's word; 0: a register */
	uint64_t size; /* of that block */
	uint32_t site; /* the block's site */
	const char *root; /* the root's name; NULL: a block */
};

/* One block and the path to it: from a root, or for an indirect one from the definite block that it
 * was lost with. */
struct snap_leak_block {
	uint64_t addr, size;
	uint64_t birth_ns; /* since the program's start; accurate to some milliseconds */
	uint32_t holders; /* number of pointers to it in blocks */
	uint32_t left_out; /* steps omitted in the middle of the path */
	bool inside; /* the last step is an interior pointer */
	/* What it keeps alive, itself included; bytes 0 with blocks 0: not known. */
	struct snap_leak_sum retained;
	/* What every way to it goes through, from the root on. */
	const struct snap_leak_step *through;
	uint32_t nthrough, through_left_out;
	const struct snap_leak_step *steps; /* each points to the next one, the last to the block */
	uint32_t nsteps;
};

/* The blocks of one call site and one class. */
struct snap_leak_site {
	enum snap_leak_class class;
	uint32_t site; /* id */
	struct snap_leak_sum sum;
	struct snap_leak_sum indirect; /* lost with them, for class definite */
	/* What they keep alive, themselves included, each block by itself; 0 blocks: not known. */
	struct snap_leak_sum retained;
	/* For class definite: those that lead a cycle of snap_leaks.cycles, and what they keep
	 * alive. The others are each the head of what is lost with it. */
	struct snap_leak_sum cyclic, cyclic_retained;
	/* The C++ class of most of the site's blocks, in all classes of leaks; NULL: none is known.
	 * And how many have it. */
	const char *type;
	uint64_t type_blocks;
	bool suppressed;
	uint64_t oldest_ns; /* creation of the oldest block, since the program's start */
	unsigned seen; /* consecutive scans with such blocks, up to this one; 0: single scan */
	struct snap_leak_sum before; /* of the previous scan, if seen > 1 */
	const struct snap_leak_block *blocks; /* the oldest few, if requested */
	uint32_t nblocks;
};

/*
 * What holds the heap: roots by name, below them the call sites of the blocks that nothing else
 * keeps alive, and so on. A site that is above already, as in a list, counts in that one.
 */
struct snap_holder {
	uint32_t parent; /* index of an earlier one; UINT32_MAX: a root */
	uint32_t depth; /* 0: a root */
	const char *root; /* its name; NULL: a call site */
	uint32_t site; /* id */
	struct snap_leak_sum own; /* of a site: its blocks here */
	struct snap_leak_sum all; /* with those below it */
};

#define SNAP_CYCLE_SITES 4u

/* Lost blocks that keep each other alive, and that nothing else leads to: those of these sites. */
struct snap_cycle {
	uint32_t site[SNAP_CYCLE_SITES]; /* ids */
	uint32_t sites; /* how many; those beyond are not named */
	uint64_t times; /* number of cycles */
	struct snap_leak_sum sum; /* of their blocks */
	struct snap_leak_sum retained; /* what would go with them, themselves included */
};

/* What is in a call site's blocks. Never exported: it says something of contents. */
struct snap_contents {
	uint32_t site; /* id; 0 in a sum */
	struct snap_leak_sum read; /* the blocks that were read */
	struct snap_leak_sum zero; /* nothing but zeros */
	struct snap_leak_sum tail; /* blocks that end in many zeros, and the bytes of these */
	struct snap_leak_sum copies; /* equal to a block before, of whichever site */
};

/* One of a series of scans. */
struct snap_leak_round {
	unsigned number; /* from 1 on */
	uint64_t ns; /* when it began, since the program's start */
	struct snap_leak_sum sum[SNAP_LEAK_CLASSES];
	uint64_t stop_ns;
};

struct snap_leaks {
	const char *failed; /* why the scan failed; NULL: it succeeded, and the rest is valid */
	const char *how; /* how memory was read; static */
	bool copy_left; /* the copy remains as a zombie */
	const char *no_copy; /* why no copy was used, or NULL; static */
	const char *refused; /* why ptrace is not allowed, or NULL; static */
	unsigned snapshots; /* number of copies that lent their memory; lost: in each of them */
	bool let; /* its library allowed ptrace */
	bool at_exit; /* made at the program's end, after all destructors */
	bool before_exit; /* made just before its end, because ptrace is not allowed */
	struct snap_leak_sum sum[SNAP_LEAK_CLASSES]; /* without suppressed blocks */
	struct snap_leak_sum suppressed;
	struct snap_leak_sum heuristic[SNAP_LEAK_HEURISTICS]; /* reachable only by this rule */
	struct snap_leak_sum behind[SNAP_LEAK_HEURISTICS]; /* of these: through other such blocks */
	const char *heuristic_name[SNAP_LEAK_HEURISTICS];
	struct snap_leak_sum moved; /* of these: by rules that memcheck does not have */
	const struct snap_leak_site *sites; /* by class, then most bytes first */
	size_t nsites;
	bool blocks_cut; /* a recording's: only the first sites have their blocks */
	const struct snap_leak_site *gone; /* lost in the previous scan, but not in this one */
	size_t ngone;
	const struct snap_holder *holders; /* depth first, siblings with most bytes first */
	size_t nholders; /* small ones are left out */
	struct snap_leak_sum held; /* by all roots; 0 blocks: not known */
	const char *no_holders; /* why not, or NULL; static */
	struct snap_leak_sum typed; /* blocks with a vtable, by which their class is known */
	const struct snap_cycle *cycles; /* most bytes first */
	size_t ncycles;
	const struct snap_contents *contents; /* by site, if requested */
	size_t ncontents;
	struct snap_contents all_contents;
	bool contents_whole; /* of all blocks */
	const char *no_contents; /* requested, but: why not */
	const struct snap_leak_round *rounds; /* all scans so far, in a series */
	size_t nrounds;
	uint64_t stop_ns, scan_ns;
	uint64_t scanned_bytes, unread_bytes;
	unsigned devices; /* device mappings, which are not read */
	bool unknown; /* it has unrecorded blocks: what they point to counts as reachable */
	unsigned threads, running; /* of `threads`, could not be stopped */
	unsigned busy; /* of `threads`, were inside realloc at every check */
	uint64_t at_ns; /* when the scan began, since the program's start */
};
/* Live blocks minus the blocks that the scan has classed: allocated or, if negative, freed after
 * it. */
struct snap_leak_rest {
	int64_t blocks, bytes;
};
struct snapshot;
struct snap_leak_rest snapshot_leak_rest(const struct snapshot *s);
/* "definite", ... Static. */
const char *snapshot_leak_word(enum snap_leak_class class);
/* An allocation function's linker name: _Znwm for "operator new". */
const char *snapshot_alloc_symbol(const char *alloc_function);

struct snap_size {
	uint64_t live_blocks, live_bytes, allocs;
}; /* live_bytes is 0 if not recorded */

/* The name of the first thread, if it ended before that was read. */
#define SNAP_FIRST_THREAD "(main thread)"

/* The counts of a thread slot. After a thread ends, its slot passes to another one and keeps its
 * counts. */
struct snap_thread {
	uint32_t slot; /* 0: shared by threads without a slot of their own */
	uint32_t tid; /* 0: no thread has the slot now */
	uint64_t owners; /* number of threads that have had it */
	char name[32]; /* clean; "" if unknown */
	uint64_t allocs, frees, alloc_bytes, free_bytes; /* by this thread */
	uint64_t foreign_frees, foreign_bytes; /* certainly of other threads' blocks */
	double allocs_per_s, frees_per_s;
	/* With snapshot.has_alive: of the blocks that this thread allocated. */
	uint64_t live_blocks, live_bytes;
	double live_bytes_per_s;
	bool has_rate; /* that is known: live bytes were counted twice */
};

/* What happened in a range of time, beside the sites' `since`. */
struct snap_range {
	struct snap_size sizes[SNAP_SIZE_BUCKETS]; /* only allocs */
	uint64_t lifetimes[SNAP_LIFE_BUCKETS]; /* frees */
	/* By index as snapshot.threads: their counts in it. NULL: unknown. */
	const struct snap_thread *threads;
};

/* The other side of a diff, beside the sites' `compared`. */
struct snap_versus {
	const struct snap_size *sizes; /* SNAP_SIZE_BUCKETS */
	const uint64_t *lifetimes; /* SNAP_LIFE_BUCKETS */
	uint64_t live_blocks, allocs; /* totals */
	/* By index as snapshot.threads: the sums of the threads of that name; zeros where it has
	 * none.
	 */
	const struct snap_thread *threads;
};

/* The moment that a snapshot is of. */
enum snap_moment {
	SNAP_NOW,
	SNAP_PEAK, /* live_* of its sites and totals are those of the program's peak; what else it
		      has is of now or of the end, unless snapshot.peak_then is set */
	SNAP_PAST, /* an earlier tick */
	SNAP_RANGE, /* the same, and the sites' `since` is from `range_from_ns` to it */
};

/* How the recording of a process that was not started under heaptop came about. */
enum snap_attach_how {
	SNAP_ATTACH_NOT, /* by this viewer, at least */
	SNAP_ATTACH_DONE, /* this viewer attached to it: the recording begins then */
	SNAP_ATTACH_ENDED, /* it was detached from, by whomever: figures are those of then */
	SNAP_ATTACH_OUTSIDE, /* it is not recorded: only what the kernel says is known */
};

/* What attaching has cost the process: all of its threads stood still meanwhile. */
struct snap_attach {
	enum snap_attach_how how;
	uint32_t pauses;
	uint64_t longest_ns, total_ns;
	uint32_t others; /* processes beside it that this viewer attached to, and is still */
};

/* The other processes of its launch, those that run and those that have ended. */
struct snap_launch {
	uint32_t running, ended;
	uint64_t live_bytes; /* of the running ones */
	uint64_t peak_bytes; /* of the whole launch, at least: the highest sum at a refresh */
};

struct value_info; /* value.h */

struct snapshot {
	unsigned refs; /* snapshot_ref, snapshot_unref: main thread only */
	/*
	 * Owns everything that the pointers below refer to. Two snapshots are of the same program
	 * image exactly if they have the same owner. `release` (may be NULL) is called with it when
	 * this snapshot is freed.
	 */
	void *owner;
	void (*release)(void *owner);
	/*
	 * The snapshot from which this one was derived, of which it holds a reference; NULL: none.
	 * With one, `release` is not called: the owner lives as long as `base`.
	 */
	struct snapshot *base;
	enum snap_moment moment;
	bool peak_then; /* SNAP_PEAK: the other figures are of that time, too */
	/* Which kinds of memory its sites and totals are of (enum kinds, src/model/kinds.h); 0: the
	 * heap. */
	unsigned kinds;
	uint64_t range_from_ns; /* since the program's start */
	const struct snap_range *range; /* SNAP_RANGE: NULL: unknown */
	const struct snap_versus *versus; /* a diff's: A, where the rest is B; else NULL */
	uint64_t newest_ns; /* uptime at the last moment known; 0: that of `base`, or this one */
	struct snap_attach attach;
	struct snap_launch launch;
	uint32_t processes; /* the sum of several processes, which have ended or run; 0: it is of
			       one */
	/* who */
	pid_t pid;
	const char *host; /* the machine that it runs on, clean; NULL: this one */
	const char *command; /* argv joined by spaces, cleaned */
	const char *const *argv; /* cleaned, argc entries */
	unsigned argc;
	const char *exe;
	enum snap_state state;
	int exit_status; /* -1: unknown, because it was not our child */
	int signal;
	const char *signal_name; /* "SIGSEGV"; NULL unless killed */
	/* when */
	uint64_t start_realtime_ns, now_realtime_ns, uptime_ns;
	uint64_t tick_ns; /* time since the previous snapshot, 0 for the first */
	uint64_t rates_ns; /* the time span of all rates; 0: no rates, all are 0 */
	/* what */
	struct snap_totals totals;
	struct snap_proc proc;
	struct snap_sampling sampling;
	uint64_t segment_bytes; /* current memory of the segment */
	uint64_t viewer_cpu_ns;
	double viewer_cpu_percent;
	uint64_t viewer_rss;
	struct snap_size sizes[SNAP_SIZE_BUCKETS];
	uint64_t lifetimes[SNAP_LIFE_BUCKETS]; /* frees */
	uint64_t history[SNAP_HISTORY_POINTS]; /* live bytes, oldest first */
	unsigned history_points;
	uint64_t history_step_ns; /* time between two points */
	const struct snap_site *sites; /* of kind heap, in no order */
	size_t nsites;
	/*
	 * Sites of the other kinds, in no order. Here maps are `allocs`, unmaps `frees`, and so on;
	 * `temporary`, `at_peak_*`, ages, shares and marks are 0.
	 */
	const struct snap_site *mapped;
	size_t nmapped;
	/* What a forked child inherited: its parent's sites that had mapped it, by id from
	 * SNAP_INHERITED_FIRST on, with the bytes mapped at the fork. For names only: they are in
	 * no total. */
	const struct snap_site *inherited;
	size_t ninherited;
	const struct snap_allocator *allocators; /* in the order found */
	size_t nallocators;
	const struct snap_thread *threads;
	size_t nthreads;
	const struct snap_share *shares; /* by site; NULL: not requested */
	size_t nshares;
	bool has_alive; /* live_* of threads and shares are valid, */
	uint64_t alive_bytes; /* as is this sum of all live bytes at that time */
	uint64_t alive_age_ns; /* how long before the snapshot that was */
	const struct snap_leaks *leaks; /* NULL: not requested */
	const struct snap_wrong_free *wrong; /* most frequent first */
	size_t nwrong;
	const struct snap_mark *moments; /* the latest mark, or NULL */
	/* Start and end of the sites' `since`. Start NULL: `since` is 0; end NULL: now. */
	const struct snap_mark *since, *until;
	/* A diff: what its sites' `compared` is (value.h). NULL: it is none. */
	const struct value_info *compared;
	bool has_retained; /* retained_bytes are valid; but those of groups */
	struct snap_typed typed; /* what the sites' types are known of */
	bool kept; /* kept_* of sites and alive_* of marks are valid, */
	const struct snap_mark *kept_until; /* of marks up to this one: mark_list_is_counted */
	struct snap_since newest; /* since the latest mark: blocks in no alive_* */
	bool forked; /* by a recorded process: unknown_frees are mostly of inherited blocks */
	const char *notice; /* one line the user must see ("tracking ended: ..."), or NULL */
	const struct snapshot *const
		*children; /* followed children and earlier images, same shape */
	size_t nchildren;
};

/* The counts of one thread slot at a site. */
struct snap_site_thread {
	uint32_t slot;
	uint64_t allocs, alloc_bytes;
	uint64_t frees, free_bytes; /* of the site's blocks, whichever thread allocated them */
	uint32_t counter; /* as snap_share.counter */
	uint64_t live_blocks, live_bytes; /* with snap_detail.has_alive */
};

/* A site's blocks allocated in one span of time. */
struct snap_age {
	uint64_t youngest_ns, oldest_ns; /* their current ages */
	bool is_before; /* the rest: before heaptop attached to the running program */
	uint64_t allocs; /* number allocated, by the ticks around that time, */
	uint64_t alive_blocks, alive_bytes; /* of which these are live */
};

#define SNAP_AGES	  8
#define SNAP_SITE_THREADS 32 /* the threads that allocated most */

/* One site in depth, made on request. */
struct snap_detail {
	uint32_t id;
	struct snap_size sizes[SNAP_SIZE_BUCKETS];
	uint64_t lifetimes[SNAP_LIFE_BUCKETS];
	bool has_ages; /* `age` is valid; youngest first */
	struct snap_age age[SNAP_AGES];
	unsigned nages;
	struct snap_site_thread thread[SNAP_SITE_THREADS]; /* most allocated bytes first */
	unsigned nthreads, more_threads; /* more_threads: number of further ones */
	bool has_alive; /* live_* of the threads are valid, */
	uint64_t alive_bytes; /* as is this sum of the site */
};

void snapshot_ref(struct snapshot *s);
/* Frees it with the last reference, and calls `release`. snapshot_unref(NULL) is fine. */
void snapshot_unref(struct snapshot *s);
/* "attached: 3 pauses, longest 400us, 900us in all"; "" if nothing was attached to. Returns `buf`.
 */
#define SNAP_ATTACH_MAX 96
const char *snapshot_attach_text(const struct snapshot *s, char buf[SNAP_ATTACH_MAX]);
/* "running", "exited 0", "killed by SIGSEGV", "starting", "gone", "copied": for screen and text. */
const char *snapshot_state_text(const struct snapshot *s, char buf[48]);
/* A sampling rate, as a whole power of two if it is one: "512k", "1M". */
const char *snapshot_rate_text(uint64_t bytes, char buf[UNITS_MAX]);
/*
 * The accuracy of the figures: "exact"; "sampled 1/512k +-3%" while one block per 512 KiB is
 * recorded, with the error of all live bytes; "exact, was sampled +-3%" after that. At most
 * SNAP_SAMPLING_MAX bytes; `ascii`: only ASCII.
 */
#define SNAP_SAMPLING_MAX 64
const char *snapshot_sampling_text(
	const struct snapshot *s, bool ascii, char buf[SNAP_SAMPLING_MAX]);
/* The name of a thread row; says so for slots of ended threads and for the shared slot, which NULL
 * also means. */
void snapshot_thread_name(const struct snap_thread *t, char *out, size_t cap);
/* The site of that id, of any kind, or NULL. */
const struct snap_site *snapshot_site(const struct snapshot *s, uint32_t id);
/* Whether it is watched from outside and its heap could not be read: its live blocks are unknown.
 */
bool snapshot_unread(const struct snapshot *s);
/* Whether the program has ended. */
bool snapshot_ended(const struct snapshot *s);
/* Whether child `i` has ended, and no later image of its process is known: what it had live it left
 * unfreed. */
bool snapshot_child_left(const struct snapshot *s, size_t i);
/* "now", "peak", "past" or "range". Static. */
const char *snapshot_moment_word(const struct snapshot *s);
/* What the histograms of `to` have more than those of `from`. */
void snapshot_range_histograms(
	const struct snapshot *from, const struct snapshot *to, struct snap_range *out);
/* The change of the compared figure, in a diff. */
int64_t snapshot_delta(const struct snap_site *site);
/* Which moment it is of, for text: "the peak, at 11s of 2m30s"; "" for now. */
#define SNAP_MOMENT_MAX 80
const char *snapshot_moment_text(const struct snapshot *s, char buf[SNAP_MOMENT_MAX]);
/* "starting|running|exited|killed|gone" as JSON's process.state spells it (killed = "exited"). */
const char *snapshot_state_word(const struct snapshot *s);

/* Is an estimate of live bytes no larger than its error, so that it may be of nothing? */
bool snapshot_is_noise(const struct snapshot *s, uint64_t live_bytes, uint64_t error);
/* Such an estimate: "<2.1M", where its interval ends; at most six characters. */
char *snapshot_noise_text(uint64_t live_bytes, uint64_t error, char out[UNITS_MAX]);
/* Do the rates cover less than the usual time, or the first second of the program? Then what it
 * allocates as it starts makes up much of them. */
bool snapshot_is_young(const struct snapshot *s);
/* A rate per second; "~" before it while it is young. */
char *snapshot_growth_text(const struct snapshot *s, double bytes_per_s, char out[UNITS_MAX]);

#endif
