/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A leak scan's result as part of a snapshot (leak_summary.h). */
#include "src/scan/leak_summary.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/layout.h"
#include "src/leak/scan.h"
#include "src/model/site_index.h"
#include "src/scan/leak_rows.h"
#include "src/scan/scan_far.h"

struct leak_summary {
	struct snap_leaks leaks;
	struct leak_rows rows;
	struct snap_leak_site *gone;
	struct snap_leak_block *blocks;
	struct snap_leak_step *steps;
	struct snap_holder *holders;
	struct snap_cycle *cycles;
	struct snap_contents *contents;
	char *text; /* of steps and holders */
	char why[TRACE_MESSAGE_MAX];
	char no_copy[LEAK_REASON_MAX];
};

static struct snap_leak_sum sum_of(struct leak_sum s)
{
	return (struct snap_leak_sum){ s.blocks, s.bytes };
}

static uint64_t birth_ns(uint32_t birth)
{
	return read_tick_unpack(birth) << HT_TICK_SHIFT;
}

static void row_copy(struct leak_summary *c, const struct leak_row *r, struct snap_leak_site *out)
{
	*out = (struct snap_leak_site){
		.class = (enum snap_leak_class)r->class,
		.site = r->site,
		.sum = sum_of(r->sum),
		.indirect = sum_of(r->indirect),
		.retained = sum_of(r->retained),
		.cyclic = sum_of(r->cyclic),
		.cyclic_retained = sum_of(r->cyclic_retained),
		.type = r->type ? c->text + r->type : NULL,
		.type_blocks = r->type_blocks,
		.oldest_ns = birth_ns(r->oldest),
	};
	if (!c->blocks)
		return;
	out->blocks = c->blocks + r->first_block;
	out->nblocks = r->blocks;
}

static void block_copy(
	struct leak_summary *c, const struct leak_shown *b, struct snap_leak_block *out)
{
	*out = (struct snap_leak_block){ .addr = b->addr,
		.size = b->size,
		.birth_ns = birth_ns(b->birth),
		.holders = b->holders,
		.left_out = b->left_out,
		.inside = b->inside,
		.steps = c->steps + b->first_step,
		.nsteps = b->steps,
		.retained = sum_of(b->retained),
		.through = c->steps + b->first_holder,
		.nthrough = b->holder_steps,
		.through_left_out = b->holders_left_out };
}

static int holders_copy(struct leak_summary *c, const struct leak_result *r)
{
	c->holders = calloc(r->holders + 1, sizeof(*c->holders));
	for (size_t i = 0; c->holders && i < r->holders; i++) {
		const struct leak_result_holder *h = &r->holder[i];

		c->holders[i] = (struct snap_holder){ .parent = h->parent,
			.depth = h->parent == LEAK_NONE ? 0 : c->holders[h->parent].depth + 1,
			.root = h->root ? c->text + h->root : NULL,
			.site = h->site,
			.own = sum_of(h->own),
			.all = sum_of(h->all) };
	}
	return c->holders ? 0 : -1;
}

static int cycles_copy(struct leak_summary *c, const struct leak_result *r)
{
	static_assert(SNAP_CYCLE_SITES == LEAK_CYCLE_SITES, "a cycle has as many in either");
	c->cycles = calloc(r->cycles + 1, sizeof(*c->cycles));
	for (size_t i = 0; c->cycles && i < r->cycles; i++) {
		const struct leak_cycle *from = &r->cycle[i];

		c->cycles[i] = (struct snap_cycle){ .sites = from->sites,
			.times = from->times,
			.sum = { from->blocks, from->bytes },
			.retained = { from->retained_blocks, from->retained_bytes } };
		memcpy(c->cycles[i].site, from->site, sizeof(from->site));
	}
	return c->cycles ? 0 : -1;
}

static struct snap_contents contents_of(const struct leak_site_contents *c)
{
	return (struct snap_contents){ .site = c->site,
		.read = { c->read.blocks, c->read.bytes },
		.zero = { c->zero.blocks, c->zero.bytes },
		.tail = { c->tail.blocks, c->tail.bytes },
		.copies = { c->copies.blocks, c->copies.bytes } };
}

/* `requested`: they were. */
static void contents_copy(struct leak_summary *c, const struct leak_result *r, bool requested)
{
	struct snap_leaks *l = &c->leaks;

	if (r->has_contents)
		c->contents = calloc(r->contents.sites + 1, sizeof(*c->contents));
	for (size_t i = 0; c->contents && i < r->contents.sites; i++)
		c->contents[i] = contents_of(&r->contents.site[i]);
	l->contents = c->contents;
	l->ncontents = c->contents ? r->contents.sites : 0;
	l->all_contents = contents_of(&r->contents.all);
	l->contents_whole = r->contents.is_whole;
	if (requested && !c->contents)
		l->no_contents = r->has_contents || r->access.copied ? "out of memory"
				 : *c->no_copy			     ? c->no_copy
					       : "no copy of the program could be read";
}

static int blocks_copy(struct leak_summary *c, const struct leak_result *r)
{
	if (!r->block)
		return 0;
	c->blocks = calloc(r->block_count + 1, sizeof(*c->blocks));
	c->steps = calloc(r->step_count + 1, sizeof(*c->steps));
	if (!c->blocks || !c->steps)
		return -1;
	for (size_t i = 0; i < r->step_count; i++)
		c->steps[i] = (struct snap_leak_step){ r->step[i].addr, r->step[i].size,
			r->step[i].site, r->step[i].root ? c->text + r->step[i].root : NULL };
	for (size_t i = 0; i < r->block_count; i++)
		block_copy(c, &r->block[i], &c->blocks[i]);
	return 0;
}

/* Takes over the text of `r`, and the graph of lost blocks. */
static int rows_copy(struct leak_summary *c, struct leak_result *r)
{
	c->text = r->text;
	r->text = NULL;
	if (blocks_copy(c, r) != 0 || holders_copy(c, r) != 0 || cycles_copy(c, r) != 0 ||
		leak_rows_make(&c->rows, r) != 0)
		return -1;
	for (size_t i = 0; i < r->rows; i++)
		row_copy(c, &r->row[i], &c->rows.found[i]);
	c->rows.blocks = c->blocks;
	leak_rows_show(&c->rows, &c->leaks);
	return 0;
}

/* The name of ptrace's refusal; NULL: another error, or none. */
static const char *error_name(int rc)
{
	return rc == -EACCES ? "EACCES" : rc == -EPERM ? "EPERM" : NULL;
}

static void access_copy(struct leak_summary *c, const struct leak_access_report *a)
{
	struct snap_leaks *l = &c->leaks;

	snprintf(c->no_copy, sizeof(c->no_copy), "%s", a->no_copy);
	l->how = a->how;
	l->at_exit = a->at_exit;
	l->refused = error_name(a->refused);
	l->snapshots = a->snapshots;
	l->let = a->consented;
	l->no_copy = *c->no_copy ? c->no_copy : NULL;
	l->copy_left = a->copy_left;
	l->stop_ns = a->stop_ns;
	l->busy = a->busy;
}

static void result_copy(struct leak_summary *c, const struct leak_result *r)
{
	struct snap_leaks *l = &c->leaks;

	for (unsigned i = 0; i < SNAP_LEAK_CLASSES; i++)
		l->sum[i] = sum_of(r->sum[i]);
	for (unsigned i = 0; i < SNAP_LEAK_HEURISTICS; i++) {
		l->heuristic[i] = sum_of(r->heuristic[i + 1]);
		l->behind[i] = sum_of(r->heuristic_indirect[i + 1]);
		if (i >= SNAP_LEAK_MEMCHECKS) {
			l->moved.blocks += l->heuristic[i].blocks;
			l->moved.bytes += l->heuristic[i].bytes;
		}
		l->heuristic_name[i] = leak_heuristics_name((enum leak_heuristic)(i + 1));
	}
	l->holders = c->holders;
	l->nholders = r->holders;
	l->held = sum_of(r->held);
	l->typed = sum_of(r->typed);
	l->cycles = c->cycles;
	l->ncycles = r->cycles;
	l->no_holders = r->no_holders == 0	  ? NULL
			: r->no_holders == -E2BIG ? "too many words of roots point to blocks"
						  : "out of memory";
	l->scan_ns = r->scan_ns;
	l->scanned_bytes = r->scanned_bytes;
	l->unread_bytes = r->unread_bytes;
	l->devices = r->devices;
	l->unknown = r->unknown;
	l->threads = r->threads;
	l->running = r->running;
}

struct leak_summary *leak_summary_failed(const char *why)
{
	struct leak_summary *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	snprintf(c->why, sizeof(c->why), "%s", why);
	c->leaks.failed = c->why;
	return c;
}

static struct leak_summary *succeeded(struct scan_outcome *o, bool contents)
{
	struct leak_summary *c = calloc(1, sizeof(*c));

	if (c && rows_copy(c, &o->result) != 0) {
		leak_summary_free(c);
		c = NULL;
	}
	if (!c)
		return NULL;
	access_copy(c, &o->result.access);
	result_copy(c, &o->result);
	contents_copy(c, &o->result, contents);
	return c;
}

struct leak_summary *leak_summary_of(struct scan_outcome *o, bool contents)
{
	struct leak_summary *c =
		o->failed[0] ? leak_summary_failed(o->failed) : succeeded(o, contents);

	if (c && o->failed[0])
		c->leaks.refused = error_name(o->refused);
	if (c) {
		c->leaks.before_exit = o->before_exit;
		c->leaks.at_ns = o->at_ns;
	}
	scan_outcome_free(o);
	return c;
}

struct leak_summary *leak_summary_run(
	struct read_segment *s, const struct leak_scan_options *request)
{
	struct scan_outcome o;

	if (request->far)
		scan_far_run(request->far, request, &o);
	else
		scan_outcome_make(&o, s, request);
	return leak_summary_of(&o, request->contents);
}

/* ---- since the scan before ---- */

static int site_order(const void *left, const void *right)
{
	const struct snap_leak_site *a = left, *b = right;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return (a->site > b->site) - (a->site < b->site);
}

/* The rows, sorted; the two rows of a split one are joined. NULL: out of memory. */
static struct snap_leak_site *rows_joined(const struct snap_leak_site *rows, size_t *count)
{
	struct snap_leak_site *out = calloc(*count + 1, sizeof(*out));
	size_t n = 0;

	if (!out)
		return NULL;
	if (*count) /* else there may be no rows to point at */
		memcpy(out, rows, *count * sizeof(*out));
	qsort(out, *count, sizeof(*out), site_order);
	for (size_t i = 0; i < *count; i++) {
		if (n == 0 || site_order(&out[n - 1], &out[i]) != 0) {
			out[n++] = out[i];
			continue;
		}
		out[n - 1].sum.blocks += out[i].sum.blocks;
		out[n - 1].sum.bytes += out[i].sum.bytes;
		out[n - 1].suppressed &= out[i].suppressed;
	}
	*count = n;
	return out;
}

/* Notes the leaks of `old` that are not in `now`. Reachable rows were no leaks. */
static void gone_note(struct leak_summary *c, const struct snap_leak_site *old, size_t count,
	const struct snap_leak_site *now, size_t found)
{
	size_t n = 0;

	c->gone = calloc(count + 1, sizeof(*c->gone));
	for (size_t i = 0; c->gone && i < count; i++)
		if (old[i].class != SNAP_LEAK_REACHABLE &&
			!bsearch(&old[i], now, found, sizeof(*now), site_order)) {
			c->gone[n] = old[i];
			c->gone[n].blocks = NULL; /* they belong to that scan */
			c->gone[n++].nblocks = 0;
		}
	c->leaks.gone = c->gone;
	c->leaks.ngone = n;
}

/* A row, first for site_order, and how it was suppressed. */
struct how_of {
	struct snap_leak_site row;
	enum suppressions_how how;
};

/* Suppressed rows stay so until the rules are matched again: their names are known. */
static void how_inherit(struct leak_summary *c, const struct leak_summary *before)
{
	struct how_of *old = calloc(before->rows.count + 1, sizeof(*old)), *was;
	size_t n = 0;

	for (size_t i = 0; old && i < before->rows.count; i++)
		if (before->rows.how[i])
			old[n++] = (struct how_of){ before->rows.found[i], before->rows.how[i] };
	if (n > 0)
		qsort(old, n, sizeof(*old), site_order);
	for (size_t k = 0; n > 0 && k < c->rows.count; k++) {
		was = bsearch(&c->rows.found[k], old, n, sizeof(*old), site_order);
		if (was)
			c->rows.how[k] = was->how;
	}
	free(old);
}

void leak_summary_compare(struct leak_summary *c, const struct leak_summary *before)
{
	size_t n = before ? before->leaks.nsites : 0, found = c->rows.count;
	struct snap_leak_site *old = rows_joined(before ? before->leaks.sites : NULL, &n);
	struct snap_leak_site *now = rows_joined(c->rows.found, &found);

	for (size_t i = 0; i < c->rows.count; i++) {
		struct snap_leak_site *row = &c->rows.found[i], *was = NULL;

		if (old)
			was = bsearch(row, old, n, sizeof(*old), site_order);
		row->seen = was ? was->seen + 1 : 1;
		row->before = was ? was->sum : (struct snap_leak_sum){ 0, 0 };
	}
	if (old && now)
		gone_note(c, old, n, now, found);
	if (before && before->rows.how)
		how_inherit(c, before);
	leak_rows_show(&c->rows, &c->leaks);
	free(old);
	free(now);
}

/* ---- suppressions ---- */

/* Out of memory, nothing is suppressed. */
static enum suppressions_how how_suppressed(const struct snap_leak_site *l,
	const struct snap_site *site, const struct suppressions *rules)
{
	struct suppressions_frame *frame = calloc(site->stack->nframes + 1, sizeof(*frame));
	enum suppressions_how how;
	size_t n = 0;

	if (!frame)
		return SUPPRESSIONS_NONE;
	frame[n++] = (struct suppressions_frame){ .function = site->alloc_function,
		.symbol = snapshot_alloc_symbol(site->alloc_function) };
	for (uint32_t i = 0; i < site->stack->nframes; i++) {
		const struct frame *f = snapshot_frame(site->stack, i);

		frame[n++] = (struct suppressions_frame){ f->function, f->mangled,
			f->module->file ? f->module->file : f->module->path, f->file, f->line };
	}
	how = suppressions_matches(rules, 1u << l->class, frame, n);
	free(frame);
	return how;
}

void leak_summary_match(const struct leak_summary *c, const struct snapshot *s,
	const struct suppressions *rules, uint32_t site, struct leak_summary_matched *out)
{
	struct site_index by_id;

	site_index_make(&by_id, s);
	*out = (struct leak_summary_matched){ 0 };
	for (size_t i = 0; i < c->rows.count; i++) {
		const struct snap_leak_site *row = &c->rows.found[i];
		const struct snap_site *at = site_index_find(&by_id, row->site);

		if (!at || c->rows.how[i] != SUPPRESSIONS_NONE ||
			how_suppressed(row, at, rules) == SUPPRESSIONS_NONE)
			continue;
		out->own += row->site == site;
		out->others += row->site != site;
	}
	site_index_free(&by_id);
}

bool leak_summary_suppress(
	struct leak_summary *c, const struct snapshot *s, const struct suppressions *rules)
{
	struct site_index by_id;
	bool any = false;

	site_index_make(&by_id, s);
	for (size_t i = 0; i < c->rows.count; i++) {
		const struct snap_leak_site *row = &c->rows.found[i];
		const struct snap_site *site = site_index_find(&by_id, row->site);
		enum suppressions_how how = c->rows.how[i];

		if (site && how != SUPPRESSIONS_WITH_INDIRECT)
			how = how_suppressed(row, site, rules);
		if (how > c->rows.how[i]) {
			c->rows.how[i] = how;
			any = true;
		}
	}
	site_index_free(&by_id);
	if (any)
		leak_rows_show(&c->rows, &c->leaks);
	return any;
}

const struct snap_leaks *leak_summary_result(const struct leak_summary *c)
{
	return &c->leaks;
}

void leak_summary_free(struct leak_summary *c)
{
	if (!c)
		return;
	leak_rows_free(&c->rows);
	free(c->gone);
	free(c->blocks);
	free(c->steps);
	free(c->holders);
	free(c->cycles);
	free(c->contents);
	free(c->text);
	free(c);
}
