/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several processes as one: a snapshot whose call sites are those of all, where those of one
 * program that have the same call stack are one. It has rates, trends and growth of its own, so a
 * merged snapshot is like any other. What a process that has ended allocated stays counted; what it
 * held is freed with it. Pure; main thread.
 */
#ifndef SRC_MODEL_MERGED_H
#define SRC_MODEL_MERGED_H

#include "src/model/snapshot.h"

struct merged;

/* NULL on allocation failure. */
struct merged *merged_new(void);
/* Drops the caller's reference: its snapshots may outlive it. */
void merged_close(struct merged *m);
/* One tick: begin, an add for each process, end. */
void merged_begin(struct merged *m);
/*
 * Adds a process by its newest snapshot. `gone`: it has ended, and its memory with it; the next
 * tick need not add it. 0 or -ENOMEM: then it is missing in this tick.
 */
int merged_add(struct merged *m, struct snapshot *s, bool gone);
/*
 * The snapshot: one reference, the caller's. `head` says who it is of, and when; its strings are
 * copied. Without the marks, threads and leaks of the processes. NULL on allocation failure.
 */
struct snapshot *merged_end(struct merged *m, const struct snapshot *head, uint64_t now_ns);
/* Calls `visit` with each call site of a process of the last tick that is in `site`. */
void merged_visit(const struct merged *m, uint32_t site,
	void (*visit)(void *ctx, const struct snapshot *of, uint32_t site), void *ctx);
/* The rules for naming sites changed: takes the names anew. */
void merged_hide_again(struct merged *m);

#endif
