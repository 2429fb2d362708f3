/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes to choose from (candidates.h). Main thread. */
#include "src/run/candidates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/target/processes.h"
#include "src/util/clock.h"

#define READINGS 10u /* that a rate spans: ten seconds, like a site's */
/* A rate over less is noise. */
#define RATE_LEAST_NS UINT64_C(50000000)

/* The resident bytes of a process at its last readings. */
struct readings {
	uint64_t id;
	unsigned count; /* so far; the last READINGS are kept */
	uint64_t rss[READINGS], ns[READINGS];
	bool seen;
};

struct candidates {
	const char *name;
	struct target_process found[PROCESSES_LIST_MAX];
	struct process_row row[PROCESSES_MAX];
	struct readings readings[PROCESSES_MAX];
	size_t nreadings;
};

struct candidates *candidates_new(const char *name)
{
	struct candidates *c = calloc(1, sizeof(*c));

	if (c)
		c->name = name;
	return c;
}

void candidates_free(struct candidates *c)
{
	free(c);
}

static struct readings *readings_of(struct candidates *c, uint64_t id)
{
	for (size_t i = 0; i < c->nreadings; i++)
		if (c->readings[i].id == id)
			return &c->readings[i];
	if (c->nreadings == PROCESSES_MAX)
		return NULL;
	c->readings[c->nreadings] = (struct readings){ .id = id };
	return &c->readings[c->nreadings++];
}

static void row_rate(struct candidates *c, struct process_row *row, uint64_t now)
{
	struct readings *r = readings_of(c, row->id);
	unsigned oldest, at;

	if (!r)
		return;
	r->seen = true;
	oldest = r->count >= READINGS ? r->count % READINGS : 0;
	row->has_rate = r->count > 0 && now - r->ns[oldest] > RATE_LEAST_NS;
	if (row->has_rate)
		row->rate_bytes_per_s = ((double)row->rss_bytes - (double)r->rss[oldest]) /
					((double)(now - r->ns[oldest]) / 1e9);
	at = r->count++ % READINGS;
	r->rss[at] = row->rss_bytes;
	r->ns[at] = now;
}

static void readings_forget(struct candidates *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->nreadings; i++)
		if (c->readings[i].seen)
			c->readings[kept++] = c->readings[i];
	c->nreadings = kept;
	for (size_t i = 0; i < kept; i++)
		c->readings[i].seen = false;
}

static int by_size(const void *left, const void *right)
{
	const struct target_process *a = left, *b = right;

	if (a->rss_bytes != b->rss_bytes)
		return a->rss_bytes < b->rss_bytes ? 1 : -1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

size_t candidates_rows(void *candidates, const struct process_row **rows, size_t *more)
{
	struct candidates *c = candidates;
	ssize_t found = target_processes(c->name, c->found, PROCESSES_LIST_MAX);
	size_t n = found > 0 ? (size_t)found : 0, shown = n < PROCESSES_MAX ? n : PROCESSES_MAX;
	uint64_t now = clock_monotonic_ns();

	if (n)
		qsort(c->found, n, sizeof(c->found[0]), by_size);
	for (size_t i = 0; i < shown; i++) {
		const struct target_process *p = &c->found[i];

		c->row[i] = (struct process_row){ .id = processes_id(p->pid, p->start_ticks, 0),
			.pid = p->pid,
			.parent = p->ppid,
			.state = processes_state(p->state),
			.rss_bytes = p->rss_bytes,
			.has_rss = true,
			.has_live = p->recorded };
		snprintf(c->row[i].command, sizeof(c->row[i].command), "%s", p->command);
		row_rate(c, &c->row[i], now);
	}
	readings_forget(c);
	*rows = c->row;
	*more = n - shown;
	return shown;
}
