/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads and their names (threads.h). A name costs one to three system calls, and programs name
 * their threads soon after the start, so a known name is read again only now and then. Main thread.
 */
#include "src/session/threads.h"

#include <stdlib.h>
#include <string.h>

#include "src/proc/proc.h"
#include "src/util/array.h"

#define NAMES_AGAIN 16u /* ticks */

static void thread_name(pid_t pid, struct snap_thread *t)
{
	if (pid == 0 || t->tid == 0)
		return; /* it has ended: its last name stays */
	t->name[0] = 0;
	proc_thread_name(pid, (pid_t)t->tid, t->name, sizeof(t->name));
}

/* The thread ended before its name was read; the first thread is known all the same. */
static void thread_unseen(struct snap_thread *t, pid_t pid, pid_t first)
{
	if (pid == 0 && !t->name[0] && t->owners == 1 && first > 0 && t->tid == (uint32_t)first)
		strcpy(t->name, SNAP_FIRST_THREAD);
}

static void thread_fill(struct snap_thread *t, const struct read_thread *in, pid_t pid, bool again)
{
	struct snap_thread before = *t;

	*t = (struct snap_thread){ .slot = in->slot,
		.tid = in->tid,
		.owners = in->owners,
		.allocs = in->allocs,
		.frees = in->frees,
		.alloc_bytes = in->alloc_bytes,
		.free_bytes = in->free_bytes,
		.foreign_frees = in->foreign_frees,
		.foreign_bytes = in->foreign_bytes };
	/* A free slot still belongs to its last owner. */
	if (before.slot == t->slot && before.owners == t->owners)
		memcpy(t->name, before.name, sizeof(t->name));
	if (again || before.tid != t->tid || before.slot != t->slot || !t->name[0])
		thread_name(pid, t);
}

void threads_read(struct threads *t, struct read_segment *segment, pid_t pid, struct snapshot *head)
{
	struct read_thread *read = malloc(THREADS_MAX * sizeof(*read));
	bool again = t->looks++ % NAMES_AGAIN == 0;
	ssize_t count = 0;

	if (!t->thread)
		t->thread = calloc(THREADS_MAX, sizeof(*t->thread));
	if (read && t->thread)
		count = read_threads(segment, read, THREADS_MAX);
	for (ssize_t i = 0; i < count; i++) {
		thread_fill(&t->thread[i], &read[i], pid, again);
		thread_unseen(&t->thread[i], pid, head->pid);
	}
	head->threads = t->thread;
	head->nthreads = count > 0 ? (size_t)count : 0;
	free(read);
}

static int more_bytes(const void *a, const void *b)
{
	const struct read_site_thread *x = a, *y = b;

	if (x->alloc_bytes != y->alloc_bytes)
		return x->alloc_bytes < y->alloc_bytes ? 1 : -1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

void threads_of_site(struct read_segment *segment, uint32_t site, struct snap_detail *out)
{
	struct read_site_thread *all = malloc(THREADS_MAX * sizeof(*all));
	ssize_t count = all ? read_site_threads(segment, site, all, THREADS_MAX) : 0;
	size_t read = count < 0 ? 0 : count < THREADS_MAX ? (size_t)count : THREADS_MAX;

	if (read > 0)
		qsort(all, read, sizeof(*all), more_bytes);
	out->nthreads = read < SNAP_SITE_THREADS ? (unsigned)read : SNAP_SITE_THREADS;
	out->more_threads = count > 0 ? (unsigned)count - out->nthreads : 0;
	for (unsigned i = 0; i < out->nthreads; i++)
		out->thread[i] = (struct snap_site_thread){ .slot = all[i].slot,
			.counter = all[i].counter,
			.allocs = all[i].allocs,
			.alloc_bytes = all[i].alloc_bytes,
			.frees = all[i].frees,
			.free_bytes = all[i].free_bytes };
	free(all);
}

static bool wanted_by_someone;

void threads_want(bool wanted)
{
	wanted_by_someone = wanted;
}

bool threads_wanted(void)
{
	return wanted_by_someone;
}

struct shares {
	struct threads *t;
	const struct snapshot *head;
};

static void counter_batch_add(void *ctx, uint32_t site, const struct read_site_thread *in)
{
	struct shares *s = ctx;
	struct threads *t = s->t;
	struct snap_share *grown;

	size_t last = in->slot < s->head->nthreads ? in->slot + 1 : s->head->nthreads;

	/* Rows are in the order of slots, of which few have none: so the row is there, or a little
	 * before. */
	for (size_t i = last; in->allocs && i-- > 0 && t->thread[i].slot >= in->slot;) {
		const struct snap_thread *thread = &t->thread[i];

		if (thread->slot != in->slot)
			continue;
		grown = array_grow(t->share, t->shares, &t->room, sizeof(*grown));
		if (!grown)
			return;
		t->share = grown;
		grown[t->shares++] = (struct snap_share){ .site = site,
			.thread = thread->name,
			.slot = in->slot,
			.counter = in->counter,
			.allocs = in->allocs,
			.alloc_bytes = in->alloc_bytes };
		return;
	}
}

static int by_site(const void *a, const void *b)
{
	const struct snap_share *x = a, *y = b;

	return x->site < y->site ? -1 : x->site > y->site;
}

void threads_read_shares(
	struct threads *t, struct read_segment *segment, uint32_t sites, struct snapshot *head)
{
	struct shares s = { t, head };

	t->shares = 0;
	if (!wanted_by_someone || read_shares(segment, sites, counter_batch_add, &s) != 0)
		return;
	if (t->shares > 0)
		qsort(t->share, t->shares, sizeof(*t->share), by_site);
	head->shares = t->share;
	head->nshares = t->shares;
}

void threads_free(struct threads *t)
{
	free(t->share);
	free(t->thread);
}
