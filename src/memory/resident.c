/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resident memory for reports (resident.h). */
#include "src/memory/resident.h"

#include <stdlib.h>
#include <string.h>

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

void resident_update(struct resident *r, const struct map_reader_of *of)
{
	uint64_t now = clock_monotonic_ns(), cpu_ns = clock_process_cpu_ns(), every = EVERY_NS;
	struct map *m;

	if (now < r->due_ns)
		return;
	m = map_reader_read(of, resident_last(r, of->path));
	r->cost_ns = clock_process_cpu_ns() - cpu_ns;
	if (m) {
		every = map_reader_every_ns(&m->account, EVERY_NS, clock_monotonic_ns() - now);
		resident_take(r, of->path, &m->account);
	}
	map_unref(m);
	r->due_ns = now + every;
}

void resident_read_last(struct resident *r, const struct map_reader_of *of)
{
	if (resident_last(r, of->path) && r->cost_ns > QUICK_NS)
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
