/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a segment, trusting nothing in it: every index and length is checked against the sizes in
 * the header, which were checked against the file when it was opened. Reads go through pread, so a
 * file that shrinks meanwhile is a failed read, not a SIGBUS. Nothing here interprets or displays
 * what it reads. Main thread.
 */
#ifndef SRC_READ_READ_H
#define SRC_READ_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm/layout.h"

#define READ_MESSAGE_MAX 256

struct read_segment;

/* The parts of the header that do not change, checked: strings end, numbers are in range. */
struct read_identity {
	uint32_t version;
	uint32_t state; /* enum ht_state when it was read */
	int32_t pid, ppid;
	uint32_t uid;
	uint64_t start_ticks;
	uint32_t exec_gen;
	uint32_t depth;
	uint64_t created_realtime_ns, created_ns;
	uint8_t boot_id[16];
	uint64_t family, pid_namespace;
	bool forked; /* by a recorded process; blocks it inherited are not in this segment */
	char parent[HT_PARENT_MAX]; /* its segment's name, in the same directory; "": unknown */
	char exe[HT_PATH_MAX];
	char why[HT_WHY_MAX];
	char command[HT_COMMAND_MAX]; /* argv, NUL after each argument */
	uint32_t command_bytes;
};

/*
 * Opens a segment: O_NOFOLLOW, a regular file of this user (of anyone if we are root) that no other
 * user may write, with correct magic, version, signature and sizes. The library creates segments
 * with mode 0600; a copy that others may read is accepted ("-r FILE"). On failure NULL, and one
 * line in `message` (READ_MESSAGE_MAX): what failed and why.
 */
struct read_segment *read_open(const char *path, char *message);
/* Another reader of the same file, whatever became of its name, for another thread. NULL and one
 * line in `message`. */
struct read_segment *read_open_again(const struct read_segment *s, char *message);
void read_close(struct read_segment *s);
const char *read_path(const struct read_segment *s);
/* Rereads the identity. 0, or -EIO if the file was cut short. */
int read_identity(struct read_segment *s, struct read_identity *out);
/* Whether the segment is that of a forked child. */
bool read_is_forked(const struct read_segment *s);
/* Reads a file's identity, for lists: opens, fills, closes. 0, or -errno and a message. */
int read_identity_of_file(const char *path, struct read_identity *out, char *message);
/*
 * Reads the beginning of the identity, up to pid_namespace, of a segment of any format of this
 * version: all that is known of one that read_open refuses for its format. The rest is empty. 0;
 * -EPROTO: it is no such file of this user; or -errno.
 */
int read_owner_of_file(const char *path, struct read_identity *out);
/* Nothing is written into this segment from now on: what would be fails with -EROFS. */
void read_freeze(struct read_segment *s);
bool read_is_frozen(const struct read_segment *s);
/* Takes the shared lock by which others see that a viewer is here. */
int read_viewer_lock(struct read_segment *s);
/* Tells the library not to record children that the program forks from now on. 0 or -errno. */
int read_forks_ignore(struct read_segment *s);
/* Asks the program to wait at its exit until it was scanned for leaks. `who`: HT_LEAK_ASK_*. 0 or
 * -errno. */
int read_exit_scan_request(struct read_segment *s, uint32_t who);
/* Whether it waits for the scan. */
bool read_exit_scan_waits(struct read_segment *s);
/* The same, and signals that the viewer is alive. */
bool read_exit_scan_is_waiting(struct read_segment *s);
/* Where the program's part of the waiting thread's stack begins; 0: unknown. */
uint64_t read_exit_scan_stack(struct read_segment *s);
/* Lets the waiting program exit. */
void read_exit_scan_done(struct read_segment *s);
/* Offset from a thread pointer to the byte that is 1 while the thread is inside realloc. 0:
 * unknown. */
int64_t read_in_realloc_at(struct read_segment *s);
/* The same for the 8 bytes that are not 0 while the thread is inside a hook and may change the live
 * table. */
int64_t read_in_hook_at(struct read_segment *s);
/* Address of the process's struct ht_copy (shm/copy.h), as it reports; 0: none. */
uint64_t read_copy_at(struct read_segment *s);
/*
 * Publishes the time in the segment's clock word, which the program uses between its own readings
 * of the clock. Only for a program known to run: for a dead one, the word says how long it lived.
 */
void read_publish_clock(struct read_segment *s, uint64_t now_ns);
/*
 * Sets how a running or starting program records from now on, and whether it measures the cost. The
 * program acts at its next allocations. 0 or -errno.
 */
int read_control(struct read_segment *s, uint64_t sample_bytes, bool measure);
/* Whether the program is to count a site's blocks at that of ignored ones: `ignored` is
 * ht_site.ignored. It acts after read_ignore_publish; `any`: some are ignored. 0 or -errno. */
int read_site_ignore(struct read_segment *s, uint32_t site, uint32_t ignored);
void read_ignore_publish(struct read_segment *s, bool any);
/* Removes the file if no viewer holds the segment. True: removed. */
bool read_remove_if_unused(struct read_segment *s);
/* The same for the file of an ended process, which is not open here, whatever its format. */
bool read_remove_file(const char *path);
/* Memory that the file takes now, in bytes. */
uint64_t read_memory_bytes(const struct read_segment *s);

/* What the program had allocated before it was recorded (shm/layout.h), by class. */
struct read_before {
	uint32_t site; /* of class 0, the others follow; 0: recorded from its start */
	bool is_known; /* else `of` has only what has been freed since */
	uint64_t ns; /* CLOCK_MONOTONIC, when it was found out */
	uint64_t blocks, bytes; /* the sums */
	struct ht_before_class of[HT_BEFORE_CLASSES];
};
/* 0, -EINVAL or -EIO. */
int read_before(struct read_segment *s, struct read_before *out);
/* Those of them that have been freed, by class; before.site is not 0. 0, -EINVAL or -EIO. */
int read_before_freed(
	struct read_segment *s, const struct read_before *before, struct ht_before_class *out);
/* What statistics of another allocator said that it had, as the library has noted. 0 or -EIO. */
int read_before_other(struct read_segment *s, struct ht_before_class *out);
/* Writes what was there, for all readers, once. 0, -EEXIST: it is there already, or -errno. */
int read_before_publish(struct read_segment *s, const struct ht_before *b);
/* Tells the program that no thread was inside libc's malloc at some time since the recording began
 * and before `ns`. 0 or -errno. */
int read_before_settle(struct read_segment *s, uint64_t ns);
/* The same, again and again, in a segment that no program has. 0 or -errno. */
int read_before_replace(struct read_segment *s, const struct ht_before *b);

/* The program-wide words. */
struct read_totals {
	uint64_t clock_ns, live_bytes, peak_bytes, peak_ns;
	uint64_t allocs, frees, reallocs, alloc_bytes, free_bytes;
	uint64_t temporary, failed, unknown_frees;
	uint64_t untracked_blocks, untracked_bytes, missed_frees;
	uint64_t paused_blocks, paused_bytes; /* allocated while the program had paused recording */
	bool cramped; /* recording is incomplete: no address space was left */
	uint64_t commit_failed; /* number of times that the segment could not grow */
	uint64_t stacks_bytes, stacks_forgotten; /* the threads' memory of stacks */
	uint64_t unwinds_checked, unwinds_wrong, unwinds_shorter, unwinds_longer;
	uint64_t events; /* recorded: a sampled block is one, whatever it stands for */
	uint64_t size_allocs[HT_SIZE_BUCKETS], size_frees[HT_SIZE_BUCKETS];
	uint64_t size_alloc_bytes[HT_SIZE_BUCKETS], size_free_bytes[HT_SIZE_BUCKETS];
	uint64_t life[HT_LIFE_BUCKETS];
	uint32_t sites, nodes, modules, live_levels;
	uint32_t state;
	/* Sampling: as requested, and the coarsest in use so far. */
	uint64_t sample_bytes, sample_most;
	uint64_t timed_events, timed_ns; /* the measured events, and their time */
	struct ht_rate_change
		mark[HT_RATE_CHANGES]; /* the latest, oldest first; times since the start */
	uint32_t marks;
	struct ht_history history;
	/* Its blocks are in `allocs`, its bytes in alloc_bytes and peak_bytes. */
	struct read_before before;
	uint64_t before_frees, before_free_bytes; /* of these */
	/* Mapped memory, which none of the other counts includes (shm/layout.h). */
	struct read_mapped_totals {
		uint32_t sites; /* for read_mapped */
		uint64_t maps, unmaps, map_bytes, unmap_bytes;
		uint64_t peak_bytes, peak_ns; /* its time since the start */
		uint64_t allocator_bytes; /* mapped now by the next allocator, for the heap */
		uint64_t unknown_unmap_bytes, missed_unmap_bytes;
		uint64_t untracked_maps, untracked_map_bytes, untracked_unmap_bytes;
		/* Blocks of pools, in none of the others. */
		uint64_t pool_blocks, pool_gone_blocks, pool_bytes, pool_gone_bytes;
		uint64_t pool_peak_bytes, pool_untracked, pool_untracked_bytes;
	} mapped;
};
int read_totals(struct read_segment *s, struct read_totals *out);

/* A call site: the sums over its counters. */
struct read_site {
	uint32_t node; /* for read_stack; 0: the stack is unknown */
	uint32_t flags; /* HT_SITE_* */
	uint64_t live_bytes, allocs, frees, alloc_bytes, temporary;
	uint64_t peak_bytes; /* exact if one thread counted there; otherwise see shm/layout.h */
	uint64_t at_peak_bytes, at_peak_blocks; /* live when the newest peak epoch began */
	bool is_before; /* its blocks are from before the recording */
	struct ht_variance spread; /* of sampled blocks */
};
/*
 * Sums up sites [first, first + count) into `out`; returns the number in use, or -errno. Costs a
 * pass over all counters, whatever the window.
 */
ssize_t read_sites(struct read_segment *s, uint32_t first, struct read_site *out, uint32_t count);
/* Turns at_peak_* of all sites of a program into what was live at its peak of `peak_bytes` (of
 * read_totals, called before the sites were read), which may be now. Exact if one thread counted;
 * otherwise see shm/counter_peak.h. */
void read_at_peak_choose(struct read_site *sites, size_t count, uint64_t peak_bytes);
/* A site's node, for read_stack, and flags (HT_SITE_*), alone. 0, -EINVAL or -EIO. */
int read_site_node(struct read_segment *s, uint32_t site, uint32_t *node, uint32_t *flags);
/* The histograms of a site, all buckets. 0, -EINVAL for a malformed chain of counters, -EIO. */
int read_hist(struct read_segment *s, uint32_t site, struct ht_hist *out);

/* The counts of a thread slot. A slot passes from thread to thread and keeps its counts. */
struct read_thread {
	uint32_t slot; /* 0: shared by threads that found no slot of their own */
	uint32_t tid; /* of the thread that has it now, in its own pid namespace; 0: none */
	uint64_t owners; /* number of threads that have had it */
	uint64_t allocs, alloc_bytes, frees, free_bytes, reallocs, temporary;
	uint64_t foreign_frees, foreign_bytes; /* frees of blocks that other threads allocated */
};
/* Fills in at most `max` used slots; returns their number, or -errno. */
ssize_t read_threads(struct read_segment *s, struct read_thread *out, uint32_t max);

/* Number of counters in use; 0 on a read error. */
uint32_t read_counters(const struct read_segment *s);

/* The counts of one slot at a site. */
struct read_site_thread {
	uint32_t slot;
	uint32_t counter; /* number of the counter of this slot and site */
	uint64_t allocs, alloc_bytes, frees, free_bytes;
};
/* Fills in at most `max`, in chain order; returns their total number, -EINVAL for a malformed
 * chain, -EIO. */
ssize_t read_site_threads(
	struct read_segment *s, uint32_t site, struct read_site_thread *out, uint32_t max);

/*
 * The same for all sites with ids below `sites`: calls `visit` for each slot that counted there, in
 * no order. 0, or -errno. Costs a pass over all counters.
 */
int read_shares(struct read_segment *s, uint32_t sites,
	void (*visit)(void *ctx, uint32_t site, const struct read_site_thread *t), void *ctx);

/* What one site has mapped. */
struct read_mapped {
	uint32_t site; /* as in read_site_node */
	uint64_t maps, unmaps; /* blocks; see shm/layout.h for what a block is */
	uint64_t map_bytes, unmap_bytes, peak_bytes;
};
/*
 * Reads the sites that have mapped memory: numbers [first, first + count), from 1 on, in no order.
 * A number whose site is not written yet has site 0. Returns the number read, or -errno.
 */
ssize_t read_mapped(
	struct read_segment *s, uint32_t first, struct read_mapped *out, uint32_t count);

/* A range of mapped memory: a piece of a block, with gaps where parts were unmapped. Or a block of
 * a pool (HT_MAPPING_POOL), which lies in a range of another kind, or in the heap. */
struct read_mapping {
	uint64_t start, end;
	uint64_t tick; /* when the block was mapped */
	uint64_t block; /* the same for the pieces of one block */
	uint32_t site; /* 0: none, as for the next allocator's */
	enum ht_mapping_kind kind;
};
/*
 * Reads the ranges mapped now, sorted by address, a pool's blocks after all others; skips an entry
 * that changes meanwhile. The caller frees *out. *whole: they are of one moment. Returns their
 * number, or -errno. Costs a pass over all entries ever in use at once.
 */
ssize_t read_mappings(struct read_segment *s, struct read_mapping **out, bool *whole);
/* The parent of a forked child. */
struct read_parent {
	char name[HT_PARENT_MAX]; /* of its segment's file, in the child's directory */
	uint64_t created_ns; /* of that segment: another one may have taken its name */
	uint64_t blocks; /* read_mapping.block of the newest mapping that the child inherited */
};
/* 0; -ENOENT: the process was not forked, or its parent is unknown; or another -errno. */
int read_parent(struct read_segment *s, struct read_parent *out);
/* Memory that a forked child had from its parent and has unmapped. */
struct read_unmapped {
	uint64_t start, end;
};
/* Returns their number, in no order; -ENODATA: not all are known; or another -errno. */
ssize_t read_unmapped(struct read_segment *s, struct read_unmapped out[HT_UNMAPPED_MAX]);
/* Wrong frees: of one kind, by one site, of blocks of one site. */
struct read_wrong_free {
	enum ht_wrong_kind kind;
	uint32_t site, alloc_site, first_site; /* for read_site_node; 0: unknown */
	uint64_t count, bytes, addr, offset, want; /* as in struct ht_wrong_free */
};
struct read_wrong_frees {
	uint64_t count[HT_WRONG_KINDS]; /* all of them */
	uint64_t refused; /* of these: counted in no entry */
	uint32_t entries;
	struct read_wrong_free entry[HT_WRONG_MOST];
};
/* Sites have ids below `sites`. Reads the entries only if there are wrong frees. 0 or -EIO. */
int read_wrong_frees(struct read_segment *s, uint32_t sites, struct read_wrong_frees *out);

struct read_frame {
	uint64_t pc;
	uint32_t module; /* an index in the module table; 0: none */
};
/*
 * The stack of a site's node, innermost first: of a leaf, without the leaf itself; of an ancestor
 * (HT_SITE_ANCESTOR), from its own frame on. Returns the number of frames, or -EINVAL for a
 * malformed chain; *function gets the leaf's ht_function, or HT_FN_NONE.
 */
ssize_t read_stack(struct read_segment *s, uint32_t node, struct read_frame *out, size_t max,
	uint32_t *function);

struct read_module {
	uint64_t start, end, bias;
	char path[HT_PATH_MAX];
	uint8_t build_id[HT_BUILD_ID_MAX];
	uint32_t build_id_bytes;
};
/* 0, -EAGAIN while it is being written (forever if its writer was killed), -EINVAL, -EIO. */
int read_module(struct read_segment *s, uint32_t module, struct read_module *out);

/* A function of an allocator inside the program (shm/layout.h). */
struct read_patched {
	char name[256];
	char reason[HT_WHY_MAX]; /* why it is not recorded; empty: it is, or was */
	uint32_t module; /* 0: none */
	uint32_t state; /* enum ht_patched_state */
};
/* The number of the last one + 1; they begin at 1. */
uint32_t read_patched_count(struct read_segment *s);
/* 0, -EAGAIN while it is being written, -EINVAL, -EIO. */
int read_patched(struct read_segment *s, uint32_t number, struct read_patched *out);
/* The name of a function number, as read_stack returns it. Valid until the next call. */
const char *read_function_name(struct read_segment *s, uint32_t function);

/*
 * Asks a running program to write events until `until_ns` (CLOCK_MONOTONIC). Repeat it before that;
 * without a repetition, also after a viewer's death, the program stops. Each of its threads obeys
 * within 32 of its events. The first call skips what an earlier viewer asked for. 0 or -errno.
 */
int read_events_request(struct read_segment *s, uint64_t until_ns);
/* Instead of the first of those calls, for an image that was asked before it began: nothing is
 * skipped. 0. */
int read_events_continue(struct read_segment *s);
/*
 * Asks the threads of a running program to wait, until `until_ns` (CLOCK_MONOTONIC) at most, before
 * they overwrite events that this reader has not read; 0: no longer. After read_events_request.
 * Renew it only as events are read: it is what bounds the program's delay when we are killed. One
 * reader at a time. 0 or -errno.
 */
int read_events_hold(struct read_segment *s, uint64_t until_ns);
/* How often threads have waited, and for how long in all. 0 or -EIO. */
int read_events_waits(struct read_segment *s, uint64_t *waits, uint64_t *waited_ns);
/* Number of thread slots in use, for read_events_of, or -errno. */
ssize_t read_events_slots(struct read_segment *s);
/*
 * Copies new events of one slot's ring, in order, at most `max`, and adds the number of overwritten
 * ones to *lost. Slot 0's events may come late, when their writer was interrupted: `give_up` counts
 * such a one as lost and goes on, else it is -EAGAIN. Returns their number, or -errno.
 */
ssize_t read_events_of(struct read_segment *s, uint32_t slot, struct ht_event *out, uint32_t max,
	bool give_up, uint64_t *lost);
/*
 * Reads the new events of every ring: calls `visit` for each, in order per thread, and adds the
 * number of overwritten ones to *lost. Returns the number visited, or -errno.
 */
ssize_t read_events(struct read_segment *s,
	void (*visit)(void *ctx, uint32_t thread, const struct ht_event *e), void *ctx,
	uint64_t *lost);

/* What the program said through heaptop.h. */
struct read_note {
	uint64_t number; /* 1 is the first */
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t live_bytes; /* of the program, then */
	uint32_t kind; /* enum ht_note_kind */
	uint32_t tid; /* as the program sees it */
	char text[HT_NOTE_TEXT]; /* as it was said: not clean */
};
/* The number of notes so far; 0 on a read error. */
uint64_t read_notes_count(struct read_segment *s);
/*
 * Visits the notes after number *seen that are still there, in order, and raises *seen to the last
 * one's number. A note that is being written ends this; the next call continues there. Returns how
 * many it visited, or -errno. Costs one read where there are none.
 */
ssize_t read_notes(struct read_segment *s, uint64_t *seen,
	void (*visit)(void *ctx, const struct read_note *n), void *ctx);
/* Claims the notes up to number `to` for this viewer to act on: raises what viewers have taken.
 * Returns the number of the last one that was taken before; `to` or more if all were. In a frozen
 * segment nothing is claimed: returns the last one that the segment says is taken. */
uint64_t read_notes_claim(struct read_segment *s, uint64_t to);

/* The blocks that the program means not to free: by an address in each, and when it said so (a
 * block allocated later there is another one). 0 or -errno. */
int read_intended(
	struct read_segment *s, void (*visit)(void *ctx, uint64_t addr, uint64_t tick), void *ctx);

/*
 * Walks the live table: calls `visit` for each block; skips a block that changes meanwhile. Returns
 * the number of blocks. O(size of the table): for tests, leak scan and post-mortem, not for the
 * tick.
 */
struct read_block {
	uint64_t addr, size, tick;
	uint32_t site;
	uint32_t slot; /* of the thread that allocated it; 0: unknown. Below HT_SLOTS_MAX */
	uint32_t counter; /* of that slot at that site; below the current read_counters */
	uint32_t rate; /* if sampled, poisson_weight's log2; 0: the block represents itself */
	uint64_t at[2], word[2]; /* where its entry is in the segment, and the entry's words:
				    read_block_is_unchanged */
};
ssize_t read_blocks(
	struct read_segment *s, void (*visit)(void *ctx, const struct read_block *b), void *ctx);
/* Whether a visited block's entry is unchanged: then it has been live since. */
bool read_block_is_unchanged(const struct read_segment *s, const struct read_block *b);
/*
 * Packs a tick in 32 bits, as in the live table, and unpacks it. Rounds down after the first hours.
 */
uint32_t read_tick_pack(uint64_t tick);
uint64_t read_tick_unpack(uint32_t birth);
/*
 * Tracks which pages of the live table change. Call `new` while all threads of the program are
 * stopped; changes by a hook in which a thread is stopped (read_in_hook_at) are not tracked, so
 * read the table after that. NULL: not possible, for example because another viewer tracks. Costs
 * the program less than a microsecond per changed page, once.
 */
struct read_live_changes;
struct read_live_changes *read_live_changes_new(struct read_segment *s);
void read_live_changes_free(struct read_live_changes *w);
/* As read_blocks, but only blocks on tracked pages: those that read_blocks_changed updates. */
ssize_t read_blocks_paged(
	struct read_segment *s, void (*visit)(void *ctx, const struct read_block *b), void *ctx);
/*
 * While the program is stopped: updates what read_blocks_paged visited since `w` was made. Calls
 * `gone` for address ranges, in no order, whose blocks are out of date; and `visit` for the blocks
 * there now, and for all blocks that read_blocks_paged leaves out. Returns the number visited, or
 * -errno.
 */
struct read_changes {
	void *ctx;
	void (*gone)(void *ctx, uint64_t start, uint64_t end);
	void (*visit)(void *ctx, const struct read_block *b);
};
ssize_t read_blocks_changed(const struct read_live_changes *w, const struct read_changes *changes);
/*
 * A copy of the live table's bytes as of the last `take`, for read_blocks to read while the program
 * runs on. The segment must outlive it. NULL or -errno on failure.
 */
struct read_live_copy;
struct read_live_copy *read_live_copy_new(const struct read_segment *s);
int read_live_copy_take(struct read_live_copy *f, const struct read_segment *s);
/* The same after a `take` since `w` was made: copies only changed pages. While the program is
 * stopped. */
int read_live_copy_update(
	struct read_live_copy *f, const struct read_segment *s, const struct read_live_changes *w);
struct read_segment *read_live_copy_segment(struct read_live_copy *f);
void read_live_copy_free(struct read_live_copy *f);

#endif
