/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Maps a segment and copies it out, trusting nothing in it: every index and length is checked
 * against the header's sizes, which are checked against the file, once, when it is opened; a file
 * that is shrunk while mapped costs a failed read, not a SIGBUS (bulk reads go through pread). Main
 * thread.
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
	uint32_t state; /* enum ht_state at the time of reading */
	int32_t pid, ppid;
	uint32_t uid;
	uint64_t start_ticks;
	uint32_t exec_gen;
	uint32_t depth;
	uint64_t created_realtime_ns, created_ns;
	uint8_t boot_id[16];
	uint64_t family, pid_namespace;
	bool forked; /* by a process that was recorded: what it had from there is not told here */
	char exe[HT_PATH_MAX];
	char why[HT_WHY_MAX];
	char command[HT_COMMAND_MAX]; /* argv, NUL after each argument */
	uint32_t command_bytes;
};

/*
 * Opens a segment: O_NOFOLLOW, a regular file of this user (or of anyone when we are root) that
 * nobody else may write, magic, version, signature and sizes right. The library makes them 0600; a
 * copy that others may read is as good ("-r FILE"). On failure NULL, and one line in `message`
 * (READ_MESSAGE_MAX): what failed, why.
 */
struct read_segment *read_open(const char *path, char *message);
void read_close(struct read_segment *s);
const char *read_path(const struct read_segment *s);
/* Identity, read afresh. 0 or -EIO when the file was cut off. */
int read_identity(struct read_segment *s, struct read_identity *out);
/* Whether it is that of a forked child. */
bool read_is_forked(const struct read_segment *s);
/* Cheap look at a file for listings: opens, fills, closes. 0 or -errno with a message. */
int read_peek(const char *path, struct read_identity *out, char *message);
/* Takes/drops the shared lock that tells others a viewer is here. */
int read_hold(struct read_segment *s);
/* From now on children that the program forks are to be left alone. 0 or -errno. */
int read_fork_alone(struct read_segment *s);
/* Asks the program to wait at its end until it was scanned for leaks. `who`: HT_LEAK_ASK_*. 0 or
 * -errno. */
int read_leak_ask(struct read_segment *s, uint32_t who);
/* Whether it waits for that; and gives it a sign that somebody is here. */
bool read_leak_waits(struct read_segment *s);
/* Where the stack of the waiting thread begins to be the program's; 0: not known. */
uint64_t read_leak_stack(struct read_segment *s);
/* Lets it end. */
void read_leak_done(struct read_segment *s);
/* Where a thread, from its thread pointer, has the byte that is 1 while it is inside realloc. 0:
 * not known. */
int64_t read_in_realloc_at(struct read_segment *s);
/* The same of 8 bytes that are not 0 while it is inside a hook, and may change the live table. */
int64_t read_busy_at(struct read_segment *s);
/* Where in the process its struct ht_copy is, as it says (shm/copy.h); 0: nowhere. */
uint64_t read_copy_at(struct read_segment *s);
/*
 * Publishes the time in the segment's clock word, which the program goes by between its own looks
 * at the clock. Only for a program known to run: the word is how long a dead one is known to have
 * lived.
 */
void read_publish_clock(struct read_segment *s, uint64_t now_ns);
/*
 * Switches a program that runs, or is about to: how to record from now on, and whether to measure
 * what that costs. It acts on it at its next allocations. 0 or -errno.
 */
int read_control(struct read_segment *s, uint64_t sample_bytes, bool measure);
/* True when no viewer holds the segment and, if so, removes the file. */
bool read_remove_if_unused(struct read_segment *s);
/* The same with a file that nobody has opened: that of a process that has ended. */
bool read_remove_file(const char *path);
/* Memory the file takes now, bytes. */
uint64_t read_memory_bytes(const struct read_segment *s);

/* The program-wide words. */
struct read_totals {
	uint64_t clock_ns, live_bytes, peak_bytes, peak_ns;
	uint64_t allocs, frees, reallocs, alloc_bytes, free_bytes;
	uint64_t temporary, failed, unknown_frees;
	uint64_t untracked_blocks, untracked_bytes, missed_frees;
	bool cramped; /* no address space was left, and so not all is recorded */
	uint64_t commit_failed; /* times that the segment could not grow */
	uint64_t unwinds_checked, unwinds_wrong, unwinds_shorter, unwinds_longer;
	uint64_t events; /* written to all rings */
	uint64_t size_allocs[HT_SIZE_BUCKETS], size_frees[HT_SIZE_BUCKETS];
	uint64_t size_alloc_bytes[HT_SIZE_BUCKETS], size_free_bytes[HT_SIZE_BUCKETS];
	uint64_t life[HT_LIFE_BUCKETS];
	uint32_t sites, nodes, modules, live_levels;
	uint32_t state;
	/* Sampling: as asked for, and as acted on. */
	uint64_t sample_bytes, sample_most;
	uint64_t timed_events, timed_ns; /* some of the events, measured */
	struct ht_rate_change
		mark[HT_RATE_CHANGES]; /* the latest, oldest first; times since the start */
	uint32_t marks;
	struct ht_history history;
};
int read_totals(struct read_segment *s, struct read_totals *out);

/* A call site: the sums over its counters. */
struct read_site {
	uint32_t node; /* leaf, for read_stack */
	uint32_t flags; /* HT_SITE_* */
	uint64_t live_bytes, allocs, frees, alloc_bytes, temporary;
	uint64_t peak_bytes; /* exact when one thread counted there, else shm/layout.h tells */
	struct ht_variance spread; /* of what was sampled */
};
/*
 * Adds up sites [first, first + count) into `out`; returns how many are in use, or -errno. Costs a
 * pass over all counters, whatever the window.
 */
ssize_t read_sites(struct read_segment *s, uint32_t first, struct read_site *out, uint32_t count);
/* The histograms of a site, all buckets. 0, -EINVAL for a broken chain of counters, -EIO. */
int read_hist(struct read_segment *s, uint32_t site, struct ht_hist *out);

/* What a thread slot counted; slots pass from thread to thread, and go on counting. */
struct read_thread {
	uint32_t slot; /* 0: shared by threads that found no slot of their own */
	uint32_t tid; /* of the thread that has it now, as it sees itself; 0: none */
	uint64_t owners; /* how many threads have had it */
	uint64_t allocs, alloc_bytes, frees, free_bytes, reallocs, temporary;
	uint64_t foreign_frees, foreign_bytes; /* of its frees: of blocks that others allocated */
};
/* Fills at most `max` slots that were used; returns how many, or -errno. */
ssize_t read_threads(struct read_segment *s, struct read_thread *out, uint32_t max);

/* How many counters are in use; 0 where that cannot be read. */
uint32_t read_counters(const struct read_segment *s);

/* What one slot counted at a site. */
struct read_site_thread {
	uint32_t slot;
	uint32_t counter; /* its number: of this slot at this site */
	uint64_t allocs, alloc_bytes, frees, free_bytes;
};
/* Fills at most `max`, as they come; returns how many there are, -EINVAL for a broken chain, -EIO.
 */
ssize_t read_site_threads(
	struct read_segment *s, uint32_t site, struct read_site_thread *out, uint32_t max);

/*
 * The same of all sites that ids below `sites` have: calls `visit` for each slot that counted
 * there, in no order. 0, or -errno. Costs a pass over all counters.
 */
int read_shares(struct read_segment *s, uint32_t sites,
	void (*visit)(void *ctx, uint32_t site, const struct read_site_thread *t), void *ctx);

struct read_frame {
	uint64_t pc;
	uint32_t module; /* an index in the module table; 0: none */
};
/*
 * The stack of a leaf node, innermost first, without the leaf itself. Returns the number of frames,
 * or -EINVAL for a broken chain; *function is the leaf's ht_function.
 */
ssize_t read_stack(struct read_segment *s, uint32_t node, struct read_frame *out, size_t max,
	uint32_t *function);

struct read_module {
	uint64_t start, end, bias;
	char path[HT_PATH_MAX];
	uint8_t build_id[HT_BUILD_ID_MAX];
	uint32_t build_id_bytes;
};
/* 0, -EAGAIN while it is being written (for ever, if its writer was killed), -EINVAL, -EIO. */
int read_module(struct read_segment *s, uint32_t module, struct read_module *out);

/*
 * Reads new events of every ring: calls `visit` for each, in order per thread, and adds what was
 * overwritten before we came to *lost. Returns how many were visited, or -errno.
 */
ssize_t read_events(struct read_segment *s,
	void (*visit)(void *ctx, uint32_t thread, const struct ht_event *e), void *ctx,
	uint64_t *lost);

/*
 * Walks the live table: calls `visit` for each block; a block that changes under us is skipped.
 * Returns how many. O(memory of the table): for tests, leak scan and post-mortem, not for the tick.
 */
struct read_block {
	uint64_t addr, size, tick;
	uint32_t site;
	uint32_t slot; /* of the thread that allocated it; 0: not known. Below HT_SLOTS_MAX */
	uint32_t counter; /* of that slot at that site; below read_counters of now */
	uint32_t rate; /* it was sampled: poisson_weight's log2; 0: it stands for itself */
	uint64_t at[2], word[2]; /* where in the segment it is noted, and how: read_block_stays */
};
ssize_t read_blocks(
	struct read_segment *s, void (*visit)(void *ctx, const struct read_block *b), void *ctx);
/* Whether a block that was just told is noted there as it was: so it was live all the while. */
bool read_block_stays(const struct read_segment *s, const struct read_block *b);
/* A tick as the live table has it, in 32 bits, and back: rounded down, after the first hours. */
uint32_t read_birth(uint64_t tick);
uint64_t read_birth_tick(uint32_t birth);
/*
 * Tells which parts of the live table have changed. `new` is called while all threads of the
 * program stand still; what is noted by a hook in which one of them stands then (read_busy_at) is
 * not told, so the table is to be read after that. NULL: it cannot be told, as when another viewer
 * has this under way. The program is slowed down by less than a microsecond for each part that it
 * changes, once.
 */
struct read_watch;
struct read_watch *read_watch_new(struct read_segment *s);
void read_watch_free(struct read_watch *w);
/* As read_blocks, but blocks that are noted by pages only, which read_blocks_changed tells of. */
ssize_t read_blocks_paged(
	struct read_segment *s, void (*visit)(void *ctx, const struct read_block *b), void *ctx);
/*
 * While the program stands still: what is to be changed in what read_blocks_paged has told since
 * `w` is there. Calls `gone` for parts of the address space, in no order: blocks that start there
 * are to be forgotten; and `visit` for those that are there, and for all that read_blocks_paged
 * leaves out. How many these are, or -errno.
 */
struct read_changes {
	void *ctx;
	void (*gone)(void *ctx, uint64_t start, uint64_t end);
	void (*visit)(void *ctx, const struct read_block *b);
};
ssize_t read_blocks_changed(const struct read_watch *w, const struct read_changes *changes);
/*
 * A copy of the live table's bytes, to be read by read_blocks after the program has gone on: of the
 * segment, which must outlive it, as of the last `take`. NULL and -errno on failure.
 */
struct read_frozen;
struct read_frozen *read_frozen_new(const struct read_segment *s);
int read_frozen_take(struct read_frozen *f, const struct read_segment *s);
/* The same where one was taken since `w` is there: what has not changed is not copied again. While
 * the program stands still. */
int read_frozen_retake(
	struct read_frozen *f, const struct read_segment *s, const struct read_watch *w);
struct read_segment *read_frozen_segment(struct read_frozen *f);
void read_frozen_free(struct read_frozen *f);

#endif
