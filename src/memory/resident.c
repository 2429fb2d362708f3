/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resident memory for reports (resident.h). */
#include "src/memory/resident.h"

#include <stdlib.h>
#include <string.h>

#include "src/proc/proc.h"
#include "src/read/read.h"
#include "src/util/clock.h"

/* The shortest interval (map_reader_every_ns makes it longer); also the delay of the first reading,
 * since there is nothing to see at the start. */
#define EVERY_NS UINT64_C(1000000000)
#define FIRST_NS UINT64_C(200000000)
/* A delay that nobody notices at the end of a program; of our own processor time, so that the
 * reading does not depend on what else the machine does. */
#define QUICK_NS UINT64_C(250000000)

void resident_start(struct resident *r, uint64_t started_ns)
{
	r->due_ns = started_ns + FIRST_NS;
}

/* The last successful reading stays, since a program that is gone has none. A reading during which
 * the program ended does not count. */
static void resident_take(struct resident *r, const char *path, const struct map_account *a)
{
	if (!a->known && (a->gone || resident_last(r, path)))
		return;
	free(r->path);
	r->path = strdup(path);
	r->account = *a;
}

static uint64_t live_blocks(const char *path)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *s = read_open(path, message);
	struct read_totals *t = malloc(sizeof(*t));
	uint64_t live = 0;

	if (s && t && read_totals(s, t) == 0 && t->allocs > t->frees)
		live = t->allocs - t->frees;
	free(t);
	read_close(s);
	return live;
}

/* What a reading takes its time for. 0: unknown, as of a process of another machine. */
static uint64_t units_of(const struct map_reader_of *of)
{
	struct proc_reading p;

	if (of->pid == 0 || of->far || of->core || proc_read(of->pid, false, &p) != 0)
		return 0;
	return live_blocks(of->path) + p.rss_bytes / PROC_PAGE_BYTES + 1;
}

void resident_update(struct resident *r, const struct map_reader_of *of)
{
	uint64_t now = clock_monotonic_ns(), cpu_ns, every = EVERY_NS;
	struct map *m;

	if (now < r->due_ns)
		return;
	r->units = units_of(of);
	cpu_ns = clock_thread_cpu_ns();
	m = map_reader_read(of, resident_last(r, of->path));
	r->cost_ns = clock_thread_cpu_ns() - cpu_ns;
	if (m) {
		every = map_reader_every_ns(&m->account, EVERY_NS, clock_monotonic_ns() - now);
		resident_take(r, of->path, &m->account);
	}
	map_unref(m);
	r->due_ns = now + every;
}

/* A program may have had a hundred times the blocks when it was read last, or a hundredth. */
static bool is_quick(const struct resident *r, const struct map_reader_of *of)
{
	uint64_t units = r->units ? units_of(of) : 0;

	if (units == 0)
		return r->cost_ns <= QUICK_NS;
	return (double)r->cost_ns * (double)units <= (double)QUICK_NS * (double)r->units;
}

void resident_read_last(struct resident *r, const struct map_reader_of *of)
{
	if (resident_last(r, of->path) && !is_quick(r, of))
		return;
	r->due_ns = 0;
	resident_update(r, of);
}

const struct map_account *resident_last(const struct resident *r, const char *path)
{
	return r->path && strcmp(r->path, path) == 0 ? &r->account : NULL;
}

void resident_free(struct resident *r)
{
	free(r->path);
	*r = (struct resident){ 0 };
}
