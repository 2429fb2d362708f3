/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A leak scan's result for snapshots (leakcheck.h). */
#include "src/leakcheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/scan.h"

struct leakcheck {
	struct snap_leaks leaks;
	struct snap_leak_site *sites;
	char why[LEAK_MESSAGE_MAX];
};

static struct snap_leak_sum sum_of(struct leak_sum s)
{
	return (struct snap_leak_sum){ s.blocks, s.bytes };
}

static int rows_copy(struct leakcheck *c, const struct leak_result *r)
{
	c->sites = calloc(r->rows + 1, sizeof(*c->sites));
	if (!c->sites)
		return -1;
	for (size_t i = 0; i < r->rows; i++)
		c->sites[i] = (struct snap_leak_site){
			.class = (enum snap_leak_class)r->row[i].class,
			.site = r->row[i].site,
			.sum = sum_of(r->row[i].sum),
			.indirect = sum_of(r->row[i].indirect),
		};
	c->leaks.sites = c->sites;
	c->leaks.nsites = r->rows;
	return 0;
}

static void result_copy(struct snap_leaks *l, const struct leak_result *r)
{
	l->how = "stop and read";
	for (unsigned i = 0; i < SNAP_LEAK_CLASSES; i++)
		l->sum[i] = sum_of(r->sum[i]);
	for (unsigned i = 0; i < SNAP_LEAK_HEURISTICS; i++) {
		l->heuristic[i] = sum_of(r->heuristic[i + 1]);
		l->heuristic_name[i] = leak_heuristic_name((enum leak_heuristic)(i + 1));
	}
	l->stop_ns = r->stop_ns;
	l->scan_ns = r->scan_ns;
	l->scanned_bytes = r->scanned_bytes;
	l->unread_bytes = r->unread_bytes;
	l->devices = r->devices;
	l->threads = r->threads;
	l->running = r->running;
	l->busy = r->busy;
}

/* Pointers to a block that was not recorded cannot be found in it. NULL: all were. */
static const char *not_recorded(struct read_segment *s)
{
	struct read_totals t;

	if (read_totals(s, &t) != 0)
		return "no leak scan: the segment cannot be read";
	if (t.sample_most != 0)
		return "no leak scan: blocks were sampled, and a scan must know all of them";
	return NULL;
}

struct leakcheck *leakcheck_failed(const char *why)
{
	struct leakcheck *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	snprintf(c->why, sizeof(c->why), "%s", why);
	c->leaks.failed = c->why;
	return c;
}

struct leakcheck *leakcheck_run(struct read_segment *s, pid_t pid, unsigned roots)
{
	const struct leak_wish wish = { .pid = pid, .roots = roots };
	const char *why = not_recorded(s);
	char message[LEAK_MESSAGE_MAX];
	struct leak_result r;
	struct leakcheck *c;

	if (why)
		return leakcheck_failed(why);
	if (leak_scan(s, &wish, &r, message) != 0)
		return leakcheck_failed(message);
	c = calloc(1, sizeof(*c));
	if (c && rows_copy(c, &r) != 0) {
		free(c);
		c = NULL;
	}
	if (c)
		result_copy(&c->leaks, &r);
	leak_result_free(&r);
	return c;
}

#define FRAMES_MAX 1024u /* as deep as stacks are recorded, with most inlined ones */

static bool is_suppressed(
	const struct snap_leak_site *l, const struct snap_site *site, const struct suppress *rules)
{
	struct suppress_frame frame[FRAMES_MAX];
	size_t n = 0;

	frame[n++] = (struct suppress_frame){ .function = site->alloc_function,
		.symbol = snapshot_alloc_symbol(site->alloc_function) };
	for (uint32_t i = 0; i < site->stack->nframes && n < FRAMES_MAX; i++) {
		const struct frame *f = &site->stack->frames[i];

		frame[n++] = (struct suppress_frame){ f->function, f->mangled, f->module->path,
			f->file };
	}
	return suppress_matches(rules, 1u << l->class, frame, n);
}

void leakcheck_suppress(struct leakcheck *c, const struct snapshot *s, const struct suppress *rules)
{
	struct snap_leaks *l = &c->leaks;

	for (size_t i = 0; i < l->nsites; i++) {
		struct snap_leak_site *row = &c->sites[i];
		const struct snap_site *site = snapshot_site(s, row->site);

		if (row->suppressed || !site || !is_suppressed(row, site, rules))
			continue;
		row->suppressed = true;
		l->sum[row->class].blocks -= row->sum.blocks;
		l->sum[row->class].bytes -= row->sum.bytes;
		l->suppressed.blocks += row->sum.blocks;
		l->suppressed.bytes += row->sum.bytes;
	}
}

const struct snap_leaks *leakcheck_result(const struct leakcheck *c)
{
	return &c->leaks;
}

void leakcheck_free(struct leakcheck *c)
{
	if (c)
		free(c->sites);
	free(c);
}
