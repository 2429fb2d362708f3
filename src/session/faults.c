/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Page faults by call site (faults.h). Main thread. */
#include "src/session/faults.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/proc/fault_events.h"
#include "src/util/array.h"
#include "src/util/clock.h"
#include "src/util/sorted.h"

#define SHARE	     20u /* counting takes 1/20 of the time: it is a pass over all blocks */
#define PENDING_MOST (1u << 20) /* faults that wait for that */
#define HEADER_BYTES 16u /* an allocator's own words before a block */

static const char *why_not(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "the kernel does not allow it (see /proc/sys/kernel/perf_event_paranoid)";
	case EMFILE:
		return "the process has too many threads";
	case ENOSYS:
	case ENOENT:
	case EOPNOTSUPP:
		return "the kernel cannot report them";
	default:
		return strerror(error);
	}
}

void faults_start(struct faults *f, pid_t pid)
{
	errno = ESRCH;
	f->events = pid ? fault_events_new(pid) : NULL;
	if (!f->events)
		snprintf(f->why, sizeof(f->why), "page faults by call site are not known: %s",
			why_not(errno));
}

/* ---- new faults ---- */

struct adding {
	struct faults *f;
	uint64_t failed; /* faults that there was no room for */
};

static void fault_visit(void *ctx, uint64_t addr)
{
	struct adding *a = ctx;
	struct faults *f = a->f;
	void *grown = f->naddr < PENDING_MOST
			      ? array_grow(f->addr, f->naddr, &f->room, sizeof(*f->addr))
			      : NULL;

	if (grown)
		f->addr = grown;
	if (grown)
		f->addr[f->naddr++] = addr;
	else
		a->failed++;
}

static int by_address(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

struct address {
	uint64_t at;
};

/* Number of new faults below an address. */
static size_t faults_before(const struct faults *f, uint64_t addr)
{
	const struct address *all = (const struct address *)(const void *)f->addr;

	return sorted_before(SORTED_BY(all, f->naddr, at), addr);
}

/* Those in [start, end) are of `site`, in place of what they are of so far. */
static void range_take(struct faults *f, uint64_t start, uint64_t end, uint32_t site)
{
	for (size_t i = faults_before(f, start); i < f->naddr && f->addr[i] < end; i++)
		f->site[i] = site;
}

static void block_visit(void *ctx, const struct read_block *b)
{
	range_take(ctx, b->addr - HEADER_BYTES, b->addr + b->size, b->site);
}

/* Mappings first: blocks of the heap may lie in them. */
static void sites_find(struct faults *f, struct read_segment *segment)
{
	struct read_mapping *m = NULL;
	bool whole;
	ssize_t n = read_mappings(segment, &m, &whole);

	memset(f->site, 0, f->naddr * sizeof(*f->site));
	for (ssize_t i = 0; i < n; i++)
		if (m[i].kind != HT_MAPPING_POOL)
			range_take(f, m[i].start, m[i].end, m[i].site);
	free(m);
	(void)read_blocks(segment, block_visit, f);
}

static bool counts_grow(struct faults *f, uint32_t sites)
{
	uint64_t *more = f->count;

	if (sites > f->sites) {
		more = realloc(f->count, sites * sizeof(*more));
		if (!more)
			return false;
		memset(more + f->sites, 0, (sites - f->sites) * sizeof(*more));
		f->count = more;
		f->sites = sites;
	}
	return more != NULL;
}

/* Those of a site that is newer than `sites` wait for the next count, unless this is the last. */
static void faults_count(
	struct faults *f, struct read_segment *segment, uint32_t sites, bool is_last)
{
	size_t left = 0;

	if (f->naddr == 0)
		return;
	f->site = malloc(f->naddr * sizeof(*f->site));
	if (!f->site || !counts_grow(f, sites)) {
		f->elsewhere += f->naddr;
		f->naddr = 0;
		free(f->site);
		f->site = NULL;
		return;
	}
	qsort(f->addr, f->naddr, sizeof(*f->addr), by_address);
	sites_find(f, segment);
	for (size_t i = 0; i < f->naddr; i++)
		if (f->site[i] != 0 && f->site[i] < f->sites)
			f->count[f->site[i]]++;
		else if (f->site[i] != 0 && !is_last)
			f->addr[left++] = f->addr[i];
		else
			f->elsewhere++;
	free(f->site);
	f->site = NULL;
	f->naddr = left;
}

/* ---- in a snapshot ---- */

static void sites_fill(const struct faults *f, const struct snap_site *sites, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sites[i].id < f->sites)
			((struct snap_site *)(uintptr_t)&sites[i])->faults = f->count[sites[i].id];
}

void faults_update(
	struct faults *f, struct read_segment *segment, uint32_t sites, struct snapshot *made)
{
	struct adding a = { .f = f };
	uint64_t now = clock_monotonic_ns();

	if (!f->events)
		return;
	f->lost += fault_events_read(f->events, fault_visit, &a);
	f->lost += a.failed;
	if (f->lost)
		snprintf(f->why, sizeof(f->why),
			"%llu page faults came too fast to be read: FAULTS is too low",
			(unsigned long long)f->lost);
	if (now >= f->due_ns || snapshot_ended(made)) {
		faults_count(f, segment, sites, snapshot_ended(made));
		f->due_ns = now + (clock_monotonic_ns() - now) * SHARE;
	}
	sites_fill(f, made->sites, made->nsites);
	sites_fill(f, made->mapped, made->nmapped);
	made->totals.has_faults = true;
	made->totals.faults_elsewhere = f->elsewhere;
	made->totals.faults_lost = f->lost;
}

const char *faults_notice(const struct faults *f)
{
	return f->why[0] ? f->why : NULL;
}

void faults_free(struct faults *f)
{
	fault_events_free(f->events);
	free(f->addr);
	free(f->count);
}
