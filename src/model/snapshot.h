/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one picture of a program that everything downstream takes: screen, batch frames, reports. The
 * model makes it, once a tick, on the viewer's main thread; after that it never changes, except
 * that the names inside `struct stack` fill in between ticks as the symboliser answers. All text in
 * it is already clean (no control bytes). Sizes are bytes, times nanoseconds.
 */
#ifndef SRC_MODEL_SNAPSHOT_H
#define SRC_MODEL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "src/util/units.h"

#define SNAP_TREND_POINTS   16 /* samples of a site's live bytes: a 16-cell sparkline */
#define SNAP_TREND_TICKS    2 /* ticks from one to the next */
#define SNAP_SIZE_BUCKETS   24 /* = HT_SIZE_BUCKETS; bucket i holds sizes up to snap_size_le(i) */
#define SNAP_LIFE_BUCKETS   16 /* = HT_LIFE_BUCKETS */
#define SNAP_HISTORY_POINTS 256 /* = HT_HISTORY_POINTS */
#define SNAP_MARKS	    16 /* = HT_RATE_CHANGES */

/* Largest size in bucket i: 8, 16, 32, ... ; UINT64_MAX for the last. */
uint64_t snap_size_le(unsigned bucket);
/* Largest lifetime in bucket i, ns: 65536, 262144, ... (times 4); UINT64_MAX for the last. */
uint64_t snap_life_le_ns(unsigned bucket);

enum snap_state {
	SNAP_STARTING, /* launched, the library has not reported yet */
	SNAP_RUNNING,
	SNAP_EXITED, /* ended by exit: exit_status holds, -1 when nobody could tell us */
	SNAP_KILLED, /* ended by a signal: signal holds */
	SNAP_GONE, /* no longer there, and nobody could tell us how it ended */
	SNAP_COPY, /* it goes on, but what we have is as it was when somebody copied its segment */
};

struct snap_module {
	const char *path; /* "" for code outside any object (JIT) */
	const char *name; /* last component of path */
	const char *build_id; /* lower-case hex, "" when it has none */
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

/* A call stack with inlined frames, innermost first. Lives as long as the snapshots' owner. */
struct stack {
	const struct frame *frames;
	uint32_t nframes; /* at least 1 */
	uint32_t title; /* the frame that names the site: the first one not hidden, else 0 */
	bool truncated; /* outer frames are missing: depth limit, or the unwinder stopped */
	bool resolved; /* all names are in */
};

/*
 * How far figures may be off that sampling estimated: half the width of their 95 % intervals. All 0
 * where everything was recorded.
 */
struct snap_error {
	uint64_t live_bytes, live_blocks, allocs, alloc_bytes;
};

/* Several call sites in one row (groups.h). */
struct snap_group {
	unsigned by; /* enum group_by */
	uint32_t sites;
	uint64_t key; /* what they have in common */
	const struct snap_thread *thread; /* it is what this one allocated; NULL: not by thread */
};

/* What a call site had at a marked moment. */
struct snap_moment_site {
	uint32_t id;
	uint64_t live_bytes, live_blocks, allocs, alloc_bytes;
};

#define SNAP_MOMENT_NAME 64

/*
 * A moment that the user marked. It stays as it is, but for its name, which may come later, and for
 * what is told of the blocks allocated between the moment before and this one: how many of them are
 * still alive, as of the last time that was looked at.
 */
struct snap_moment {
	const struct snap_moment *before; /* NULL: the first */
	unsigned number; /* from 1 */
	char name[SNAP_MOMENT_NAME]; /* clean; "" for none */
	uint64_t ns; /* since the program's start */
	uint64_t live_bytes, live_blocks, allocs, alloc_bytes;
	uint64_t alive_blocks, alive_bytes;
	const struct snap_moment_site *sites; /* by id; those that had allocated by then */
	size_t nsites;
};

/* What changed between two moments, the later of which may be now. */
struct snap_since {
	int64_t bytes, blocks; /* of what is live */
	uint64_t allocs, alloc_bytes; /* allocated between them */
	uint64_t kept_blocks, kept_bytes; /* of that, still alive when that was looked at, */
	uint64_t kept_of; /* and of so many blocks */
};

#define SNAP_GROWTH_PARTS 8

/* What a growing site gained in a part of the time that it grows in. */
struct snap_gain {
	uint64_t oldest_ns, youngest_ns; /* so old are the blocks of that time now */
	uint64_t bytes; /* what it gained then, and never came down from again */
};

/* What src/model/growth.h says of a call site. */
struct snap_growth {
	double sure; /* 0: it does not grow; below 1: how sure it is that it will go on */
	double bytes_per_s; /* by so much it rose, of what never came down again */
	uint64_t over_ns; /* in so long a time, up to now */
	unsigned parts; /* of that time's SNAP_GROWTH_PARTS equal parts, in so many */
	uint64_t fell_bytes; /* the deepest fall that counts against it */
	struct snap_gain old, middle; /* of the first half of that time, and the quarter after it */
	bool has_kept; /* it was looked how much of that lasts (src/session/retention.h) */
	double kept; /* what blocks of the first half are still alive, as a part of that gain */
};

/* A thread that allocated at a site. */
struct snap_share {
	uint32_t site;
	const char *thread; /* its name, "" when not known */
	uint32_t slot; /* as snap_thread.slot */
	uint32_t counter; /* where it was counted; for who fills in the rest */
	uint64_t allocs, alloc_bytes;
	uint64_t live_blocks, live_bytes; /* of those; with snapshot.has_alive */
};

struct snap_site {
	uint32_t id; /* the same for the life of the program */
	const struct snap_share *share; /* who allocated there, if that was asked for */
	uint32_t shares;
	const struct snap_group *group; /* the row sums up sites; NULL: it is one */
	/* Only live_*, allocs, alloc_bytes and frees are known, and they are those of the blocks
	 * that one thread allocated. Of a group by thread `rate_bytes_per_s` is, too. */
	bool of_thread;
	const char *alloc_function; /* "malloc", "operator new[]", ... */
	const struct stack *stack;
	uint64_t live_bytes, live_blocks;
	uint64_t allocs, frees, alloc_bytes;
	uint64_t peak_live_bytes;
	uint64_t temporary; /* freed by the same thread as its very next event */
	bool has_ages; /* of its live blocks: they were asked for, and there are such blocks */
	uint64_t oldest_ns, youngest_ns; /* ages, where known */
	struct snap_error error;
	double rate_bytes_per_s; /* growth of live bytes over the last ticks (about 10 s) */
	double allocs_per_s;
	uint64_t trend[SNAP_TREND_POINTS]; /* live bytes, SNAP_TREND_TICKS apart, oldest first; the
					      last is now */
	uint8_t trend_points; /* how many of the last entries are filled */
	struct snap_growth growth;
	struct snap_since since; /* as snapshot.since and .until say */
};

struct snap_totals {
	uint64_t allocs, frees, reallocs, alloc_bytes, free_bytes;
	uint64_t live_blocks, live_bytes, peak_live_bytes;
	uint64_t peak_ns; /* when the peak was, since start */
	uint64_t temporary, failed, unknown_frees;
	uint64_t missed_frees; /* told by the block's address coming back; counted then */
	uint64_t lost_events; /* ring records that a reader wanted and missed; sessions read none */
	uint64_t untracked_blocks, untracked_bytes; /* could not be placed in the tables */
	uint64_t truncated_stacks;
	/* Of HEAPTOP_UNWINDER=check: stacks compared with the reference, and how they differed. */
	uint64_t unwinds_checked, unwinds_wrong, unwinds_shorter, unwinds_longer;
	double allocs_per_s, frees_per_s, reallocs_per_s, growth_bytes_per_s;
	struct snap_error error;
};

/* From `ns` after the start on, one block in `bytes` bytes was recorded, on average; 0: each. */
struct snap_mark {
	uint64_t ns, bytes;
};

struct snap_sampling {
	uint64_t bytes; /* as in the last mark: how it is now */
	uint64_t most; /* the coarsest so far; 0: every block was recorded, figures are exact */
	struct snap_mark mark[SNAP_MARKS]; /* when it changed, oldest first; the latest */
	unsigned marks;
	double limit; /* recording is steered to cost less than this part; 0: not steered */
	bool measured;
	double overhead; /* what recording costs now, as a part of the program's own time, */
	double passing; /* and of that what calls cost that are passed through unrecorded */
};

struct snap_proc {
	uint64_t rss, hwm, pss, swap;
	bool have_pss;
	uint64_t minor_faults, major_faults;
	double minor_faults_per_s, major_faults_per_s;
	uint32_t threads;
	bool valid; /* false: never read (the process was already gone) */
};

/* What a leak scan found: classes are memcheck's. */
enum snap_leak_class {
	SNAP_LEAK_DEFINITE,
	SNAP_LEAK_INDIRECT,
	SNAP_LEAK_POSSIBLE,
	SNAP_LEAK_REACHABLE,
	SNAP_LEAK_CLASSES
};

/* The rules by which blocks are reachable to which only pointers inside lead: memcheck's first,
 * then ours. */
#define SNAP_LEAK_HEURISTICS 11
#define SNAP_LEAK_MEMCHECKS  4

struct snap_leak_sum {
	uint64_t blocks, bytes;
};

/* What points to a block, or to what points to it. */
struct snap_leak_step {
	uint64_t addr; /* of a block that points; of a root's word, 0: a register */
	uint64_t size; /* of that block */
	uint32_t site; /* where that was allocated */
	const char *root; /* what root it is; NULL: it is a block */
};

/* One block, and why it is alive: the way to it from a root, or, if it is indirect, from the
 * definite one that it was lost with. */
struct snap_leak_block {
	uint64_t addr, size;
	uint64_t birth_ns; /* since the program's start; to some milliseconds */
	uint32_t holders; /* pointers to it in blocks */
	uint32_t left_out; /* steps in the middle of the way */
	bool inside; /* the last step points inside it */
	const struct snap_leak_step *steps; /* the first one points to the second, the last to it */
	uint32_t nsteps;
};

/* The blocks of one call site that are of one class. */
struct snap_leak_site {
	enum snap_leak_class class;
	uint32_t site; /* id */
	struct snap_leak_sum sum;
	struct snap_leak_sum indirect; /* lost with them, if definite */
	bool suppressed;
	uint64_t oldest_ns; /* birth of the oldest block, since the program's start */
	unsigned seen; /* scans in a row that found such blocks, this one included; 0: only one
			  scan is made */
	struct snap_leak_sum before; /* of the scan before; if seen > 1 */
	const struct snap_leak_block *blocks; /* the oldest few, if they were asked for */
	uint32_t nblocks;
};

/* One of many scans. */
struct snap_leak_round {
	unsigned number; /* from 1 on */
	uint64_t ns; /* when it began, since the program's start */
	struct snap_leak_sum sum[SNAP_LEAK_CLASSES];
	uint64_t stop_ns;
};

struct snap_leaks {
	const char *failed; /* why there was no scan; NULL: there was, and the rest holds */
	const char *how; /* the way it was done; static */
	bool copy_left; /* a zombie is left of the copy that was read */
	const char *no_copy; /* why the program had to stand still all the time; static, or NULL */
	const char *refused; /* why we may not trace it, so that its library had to help; static */
	unsigned snapshots; /* it did by so many copies that gave us their memory, and what is lost
			       was so in each; 0: another way */
	bool let; /* it let us trace it */
	bool at_exit; /* made at the program's last instant, after all destructors */
	bool before_exit; /* made at its end, but it may not be traced, and ran on a little */
	struct snap_leak_sum sum[SNAP_LEAK_CLASSES]; /* without what is suppressed */
	struct snap_leak_sum suppressed;
	struct snap_leak_sum heuristic[SNAP_LEAK_HEURISTICS]; /* reachable by it alone */
	struct snap_leak_sum behind[SNAP_LEAK_HEURISTICS]; /* of these: by way of others */
	const char *heuristic_name[SNAP_LEAK_HEURISTICS];
	struct snap_leak_sum moved; /* of these: by rules that memcheck does not have */
	const struct snap_leak_site *sites; /* class by class; most bytes first */
	size_t nsites;
	const struct snap_leak_site *gone; /* that were lost in the scan before */
	size_t ngone;
	const struct snap_leak_round *rounds; /* those until now, if there are to be many */
	size_t nrounds;
	uint64_t stop_ns, scan_ns;
	uint64_t scanned_bytes, unread_bytes;
	unsigned devices; /* mappings of devices: not read */
	bool unknown; /* it has blocks that nobody recorded: what they point to counts as reachable
		       */
	unsigned threads, running; /* of them, could not be stopped */
	unsigned busy; /* of them, were inside realloc whenever they were looked at */
	uint64_t at_ns; /* when the scan began, since the program's start */
};
/* Live blocks less those that a scan has classed: what came, or, if negative, went after it. */
struct snap_leak_rest {
	int64_t blocks, bytes;
};
struct snapshot;
struct snap_leak_rest snapshot_leak_rest(const struct snapshot *s);
/* "definite", ... Static. */
const char *snapshot_leak_word(enum snap_leak_class class);
/* An allocation function as the linker calls it: _Znwm for "operator new". */
const char *snapshot_alloc_symbol(const char *alloc_function);

struct snap_size {
	uint64_t live_blocks, live_bytes, allocs;
}; /* live_bytes 0 where not kept */

/* What one thread did; a place of threads that ended passes to the next, and goes on counting. */
struct snap_thread {
	uint32_t slot; /* 0: all that found no place of their own */
	uint32_t tid; /* 0: no thread has the place now */
	uint64_t owners; /* threads that have had it */
	char name[32]; /* clean; "" when not known */
	uint64_t allocs, frees, alloc_bytes,
		free_bytes; /* done by it, whoever did the other half */
	uint64_t foreign_frees, foreign_bytes; /* of its frees: blocks of other threads, for sure */
	double allocs_per_s, frees_per_s;
	/* With snapshot.has_alive: of the blocks that it allocated, whoever may free them. */
	uint64_t live_blocks, live_bytes;
	double live_bytes_per_s;
};

struct snapshot {
	unsigned refs; /* snapshot_ref, snapshot_unref: main thread only */
	/* Holds all that the pointers below point to. Two snapshots are of one image of the program
	 * exactly if they have the same owner. Told by `release` (may be NULL) when this one goes.
	 */
	void *owner;
	void (*release)(void *owner);
	/* who */
	pid_t pid;
	const char *command; /* argv joined by spaces, cleaned */
	const char *const *argv; /* cleaned, argc entries */
	unsigned argc;
	const char *exe;
	enum snap_state state;
	int exit_status; /* -1: ended by exit, but it was not our child: unknown */
	int signal;
	const char *signal_name; /* "SIGSEGV", NULL unless killed */
	/* when */
	uint64_t start_realtime_ns, now_realtime_ns, uptime_ns;
	uint64_t tick_ns; /* distance from the snapshot before, 0 for the first */
	uint64_t rates_ns; /* the time that all rates are over; 0: there are none, and they are 0 */
	/* what */
	struct snap_totals totals;
	struct snap_proc proc;
	struct snap_sampling sampling;
	uint64_t segment_bytes; /* memory the segment takes now */
	uint64_t viewer_cpu_ns;
	double viewer_cpu_percent;
	uint64_t viewer_rss;
	struct snap_size sizes[SNAP_SIZE_BUCKETS];
	uint64_t lifetimes[SNAP_LIFE_BUCKETS]; /* frees */
	uint64_t history[SNAP_HISTORY_POINTS]; /* live bytes, oldest first */
	unsigned history_points;
	uint64_t history_step_ns; /* time between two points */
	const struct snap_site *sites; /* in no order */
	size_t nsites;
	const struct snap_thread *threads;
	size_t nthreads;
	const struct snap_share *shares; /* by site; NULL: not asked for */
	size_t nshares;
	bool has_alive; /* live_* of threads and shares were counted, */
	uint64_t alive_bytes; /* and so were all live bytes then: what their shares are of */
	const struct snap_leaks *leaks; /* NULL: not asked for */
	const struct snap_moment *moments; /* the latest that was marked, or NULL */
	/* What `since` of the sites counts from, and to. NULL: from nothing, so it is 0; to now. */
	const struct snap_moment *since, *until;
	bool kept; /* it was looked what is still alive: kept_* of sites and alive_* of moments */
	struct snap_since newest; /* since the latest moment; of all that is not in any alive_* */
	bool forked; /* by a recorded process: unknown_frees are mostly of what it had from there */
	const char *notice; /* one line the user must see ("tracking ended: ..."), or NULL */
	const struct snapshot *const
		*children; /* followed children and earlier images, same shape */
	size_t nchildren;
};

/* What the threads of one place (snap_thread) did at a site. */
struct snap_site_thread {
	uint32_t slot;
	uint64_t allocs, alloc_bytes;
	uint64_t frees, free_bytes; /* of the site's blocks, whoever had allocated them */
	uint32_t counter; /* as snap_share.counter */
	uint64_t live_blocks, live_bytes; /* with snap_detail.has_alive */
};

/* A site's blocks that were allocated in one span of time. */
struct snap_age {
	uint64_t youngest_ns, oldest_ns; /* so old are they now */
	bool is_before; /* the rest: before anybody looked, at a program that had run by then */
	uint64_t allocs; /* so many were allocated, as of the ticks around that time, */
	uint64_t alive_blocks, alive_bytes; /* and these are alive */
};

#define SNAP_AGES	  8
#define SNAP_SITE_THREADS 32 /* those that allocated most */

/* One site in depth, made on request. */
struct snap_detail {
	uint32_t id;
	struct snap_size sizes[SNAP_SIZE_BUCKETS];
	uint64_t lifetimes[SNAP_LIFE_BUCKETS];
	bool has_ages; /* they were counted; youngest first */
	struct snap_age age[SNAP_AGES];
	unsigned nages;
	struct snap_site_thread thread[SNAP_SITE_THREADS]; /* most allocated bytes first */
	unsigned nthreads, more_threads; /* more: besides these */
	bool has_alive; /* live_* of them were counted, */
	uint64_t alive_bytes; /* and the site's: what their shares are of */
};

void snapshot_ref(struct snapshot *s);
/* Frees with the last reference, and tells the owner. snapshot_unref(NULL) is fine. */
void snapshot_unref(struct snapshot *s);
/* "running", "exited 0", "killed by SIGSEGV", "starting", "gone", "copied": for screen and text. */
const char *snapshot_state_text(const struct snapshot *s, char buf[48]);
/* A power of two, whole: "512k", "1M". */
const char *snapshot_rate_text(uint64_t bytes, char buf[UNITS_MAX]);
/*
 * How the figures came about: "exact"; "sampled 1/512k +-3%" while one block in 512 KiB is
 * recorded, with the error of all live bytes; "exact, was sampled +-3%" after that. At most
 * SNAP_SAMPLING_MAX bytes; `ascii`: no sign beyond ASCII.
 */
#define SNAP_SAMPLING_MAX 64
const char *snapshot_sampling_text(
	const struct snapshot *s, bool ascii, char buf[SNAP_SAMPLING_MAX]);
/* What a row of threads is called: places of threads that have ended, and the one for all the rest,
 * which NULL is too, say so. */
void snapshot_thread_name(const struct snap_thread *t, char *out, size_t cap);
/* The site of that id, or NULL. */
const struct snap_site *snapshot_site(const struct snapshot *s, uint32_t id);
/* Its program does nothing any more. */
bool snapshot_ended(const struct snapshot *s);
/* "starting|running|exited|killed|gone" as JSON's process.state spells it (killed = "exited"). */
const char *snapshot_state_word(const struct snapshot *s);

#endif
