/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of Leaks (leak_list.h). */
#include "tui/leak_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/growth.h"
#include "src/model/suspects.h"

#define LOST	   (1u << KIND_DEFINITE | 1u << KIND_INDIRECT | 1u << KIND_POSSIBLE)
#define SUSPECT	   (1u << KIND_SUSPECT)
#define GROWING	   (1u << KIND_GROWING)
#define SUPPRESSED (1u << KIND_COUNT)
#define HEADS	   (1u << (KIND_COUNT + 1)) /* what was lost by itself, and cycles as one */

/* The choices of key K, by the key after it. no_scan: the name if no scan was possible; NULL: then
 * it is no choice. */
static const struct {
	char key;
	const char *name, *no_scan;
	unsigned kinds;
} choices[] = {
	{ 'K', "lost, growing", "suspects, growing", LOST | SUSPECT | GROWING },
	{ 'd', "definite", NULL, 1u << KIND_DEFINITE },
	{ 'i', "indirect", NULL, 1u << KIND_INDIRECT },
	{ 'p', "possible", NULL, 1u << KIND_POSSIBLE },
	{ 's', NULL, "suspects", SUSPECT },
	{ 'g', "growing", "growing", GROWING },
	{ 'r', "reachable", NULL, 1u << KIND_REACHABLE },
	{ 's', "suppressed", NULL, SUPPRESSED },
	{ 'a', "all", NULL, LOST | GROWING | 1u << KIND_REACHABLE | SUPPRESSED },
	{ 'h', "by head", NULL, HEADS },
};

static enum leaks_kind kind_of(enum snap_leak_class class)
{
	static const enum leaks_kind kinds[] = { [SNAP_LEAK_DEFINITE] = KIND_DEFINITE,
		[SNAP_LEAK_INDIRECT] = KIND_INDIRECT,
		[SNAP_LEAK_POSSIBLE] = KIND_POSSIBLE,
		[SNAP_LEAK_REACHABLE] = KIND_REACHABLE };

	return kinds[class];
}

static const char *choice_name(const struct ui *ui, unsigned choice)
{
	return leak_list_state(ui)->by_age ? choices[choice].no_scan : choices[choice].name;
}

const char *leak_list_choice(const struct ui *ui)
{
	const char *name = choice_name(ui, ui->leaks.choice);

	if (!name) /* chosen when a scan was possible, or was not */
		name = choices[ui->leaks.choice].name;
	return name ? name : choices[ui->leaks.choice].no_scan;
}

void leak_list_choices(const struct ui *ui, char *text, size_t cap)
{
	unsigned n = sizeof(choices) / sizeof(choices[0]);
	size_t len = (size_t)snprintf(text, cap, "show");

	/* The usual one is the last. */
	for (unsigned i = 1; i <= n && len < cap; i++)
		if (choice_name(ui, i % n))
			len += (size_t)snprintf(text + len, cap - len, "  %c %s",
				choices[i % n].key, choice_name(ui, i % n));
}

bool leak_list_choose(struct ui *ui, int key)
{
	for (unsigned i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		if (choices[i].key != key || !choice_name(ui, i))
			continue;
		ui->leaks.choice = i;
		return true;
	}
	return false;
}

const struct leaks *leak_list_state(const struct ui *ui)
{
	static const struct leaks none; /* the tab says why (tui_source.no_leaks) */

	return ui->source->leaks ? ui->source->leaks(ui->source->ctx) : &none;
}

const struct leaks_row *leak_list_selected(const struct ui *ui)
{
	const struct leaks_state *st = &ui->leaks;

	return st->list.cursor < st->list.count && !st->is_gone ? &st->row[st->list.cursor] : NULL;
}

/* ---- what is known of a row ---- */

bool leak_list_is_found(const struct leaks_row *row)
{
	return row->kind != KIND_GROWING && row->kind != KIND_SUSPECT;
}

const char *leak_list_kind(const struct leaks_row *row)
{
	if (!leak_list_is_found(row))
		return row->kind == KIND_GROWING ? "growing" : "suspect";
	return row->leak->suppressed ? "suppressed" : snapshot_leak_word(row->leak->class);
}

static struct snap_leak_sum without(struct snap_leak_sum all, struct snap_leak_sum some)
{
	return (struct snap_leak_sum){ all.blocks - some.blocks, all.bytes - some.bytes };
}

struct snap_leak_sum leak_list_sum(const struct leaks_row *row)
{
	if (!leak_list_is_found(row))
		return (struct snap_leak_sum){ row->site->live_blocks, row->site->live_bytes };
	if (row->cycle)
		return row->cycle->sum;
	return row->is_head ? without(row->leak->sum, row->leak->cyclic) : row->leak->sum;
}

struct snap_leak_sum leak_list_keeps(const struct leaks_row *row)
{
	bool lost = row->kind == KIND_DEFINITE || row->kind == KIND_INDIRECT ||
		    row->kind == KIND_POSSIBLE;

	if (!lost || !row->leak)
		return (struct snap_leak_sum){ 0, 0 };
	if (row->cycle)
		return row->cycle->retained;
	return row->is_head ? without(row->leak->retained, row->leak->cyclic_retained)
			    : row->leak->retained;
}

bool leak_list_grows(const struct leaks_row *row)
{
	return row->site && row->site->growth.sure > 0;
}

bool leak_list_since(const struct ui *ui, const struct leaks_row *row, double *bytes)
{
	bool found = leak_list_is_found(row);
	uint64_t then;

	if (found ? row->leak->seen < 2 : !ui->leaks.last)
		return false;
	then = found ? row->leak->before.bytes : row->leak ? row->leak->sum.bytes : 0;
	*bytes = (double)leak_list_sum(row).bytes - (double)then;
	return true;
}

bool leak_list_oldest(const struct ui *ui, const struct leaks_row *row, uint64_t *ns)
{
	uint64_t now = ui->shown ? ui->shown->uptime_ns : 0;

	if (!leak_list_is_found(row)) {
		*ns = row->site->oldest_ns;
		return row->site->has_ages;
	}
	*ns = now > row->leak->oldest_ns ? now - row->leak->oldest_ns : 0;
	return true;
}

enum leaks_confidence leak_list_confidence(const struct ui *ui, const struct leaks_row *row)
{
	return leak_list_is_found(row) ? leaks_confidence(ui->leaks.last, row->leak) : LEAKS_NONE;
}

/* By heads, the blocks of a row and those lost with them are what it keeps. */
static uint64_t indirect_bytes(const struct leaks_row *row)
{
	if (row->is_head)
		return without(leak_list_keeps(row), leak_list_sum(row)).bytes;
	return leak_list_is_found(row) ? row->leak->indirect.bytes : 0;
}

/* The rows of a site's blocks in all classes have the same. */
static const char *type_of(const struct leaks_row *row)
{
	return row->cycle || !row->leak || !row->leak->type ? "" : row->leak->type;
}

/* Those without a type come last. */
static int by_type(const struct leaks_row *a, const struct leaks_row *b)
{
	int known = !*type_of(a) - !*type_of(b);

	return known ? known : strcmp(type_of(a), type_of(b));
}

static uint64_t growth_key(const struct leaks_row *row)
{
	return row->site ? growth_rank_key(&row->site->growth) : 0;
}

/* ---- order ---- */

static int down(double a, double b)
{
	return (a < b) - (a > b);
}

static int by_name(const struct ui *ui, const struct leaks_row *a, const struct leaks_row *b)
{
	struct row_style style = ui_style(ui);
	char x[256] = "", y[256] = "";

	if (a->site)
		site_name(a->site, &style, x, sizeof(x));
	if (b->site)
		site_name(b->site, &style, y, sizeof(y));
	return strcmp(x, y);
}

static double since(const struct ui *ui, const struct leaks_row *row)
{
	double bytes;

	return leak_list_since(ui, row, &bytes) ? bytes : 0;
}

static double oldest(const struct ui *ui, const struct leaks_row *row)
{
	uint64_t ns;

	return leak_list_oldest(ui, row, &ns) ? (double)ns : 0;
}

static int leaks_by(const struct ui *ui, const struct leaks_row *a, const struct leaks_row *b)
{
	switch (ui->leaks.order.sort) {
	case BY_BYTES:
		return down((double)leak_list_sum(a).bytes, (double)leak_list_sum(b).bytes);
	case BY_BLOCKS:
		return down((double)leak_list_sum(a).blocks, (double)leak_list_sum(b).blocks);
	case BY_INDIRECT:
		return down((double)indirect_bytes(a), (double)indirect_bytes(b));
	case BY_KEEPS:
		return down((double)leak_list_keeps(a).bytes, (double)leak_list_keeps(b).bytes);
	case BY_TYPE:
		return by_type(a, b);
	case BY_OLDEST:
		return down(oldest(ui, a), oldest(ui, b));
	case BY_SINCE:
		return down(since(ui, a), since(ui, b));
	case BY_CONFIDENCE:
		return down(leak_list_confidence(ui, a), leak_list_confidence(ui, b));
	case BY_GROWTH:
		return (growth_key(a) < growth_key(b)) - (growth_key(a) > growth_key(b));
	case BY_SITE:
		return by_name(ui, a, b);
	default:
		return (int)a->kind - (int)b->kind;
	}
}

/* Tells the rows of one call site apart: by kind, suppressed or not, and a cycle of which sites. */
static unsigned nth_of(const struct leaks_row *row)
{
	unsigned nth = 2 * row->kind + (row->leak && row->leak->suppressed);

	for (uint32_t i = 0; row->cycle && i < row->cycle->sites && i < SNAP_CYCLE_SITES; i++)
		nth = nth * 31 + row->cycle->site[i];
	return row->cycle ? nth | 1u << 31 : nth;
}

static uint32_t site_of(const struct leaks_row *row)
{
	return leak_list_is_found(row) ? row->leak->site : row->site->id;
}

/*
 * Ties are resolved by kind, then by the bytes lost with the blocks or by growth, and at last by
 * id, so that rows keep their order.
 */
static int leaks_compare(const void *pa, const void *pb, void *ctx)
{
	const struct leaks_row *a = pa, *b = pb;
	const struct ui *ui = ctx;
	int by = leaks_by(ui, a, b);

	if (ui->leaks.order.reverse)
		by = -by;
	if (!by)
		by = (int)a->kind - (int)b->kind;
	if (!by && a->kind == KIND_GROWING)
		by = (growth_key(a) < growth_key(b)) - (growth_key(a) > growth_key(b));
	if (!by)
		by = down((double)(leak_list_sum(a).bytes + indirect_bytes(a)),
			(double)(leak_list_sum(b).bytes + indirect_bytes(b)));
	if (!by)
		by = (site_of(a) > site_of(b)) - (site_of(a) < site_of(b));
	return by ? by : (int)nth_of(a) - (int)nth_of(b);
}

/* ---- rows ---- */

/* What is known about one call site while the rows are made. */
struct known {
	const struct snap_site *site;
	const struct snap_leak_site *reachable; /* its reachable blocks in the last scan */
	bool has_row, suppressed, lost; /* lost: by a class that is not suppressed */
};

/* Indexed by site id; NULL if out of memory. */
static struct known *known_make(const struct ui *ui, uint32_t *count)
{
	const struct snapshot *s = ui->shown;
	struct known *by;
	uint32_t most = 0;

	for (size_t i = 0; s && i < s->nsites; i++)
		if (s->sites[i].id > most)
			most = s->sites[i].id;
	by = calloc(most + (size_t)1, sizeof(*by));
	for (size_t i = 0; by && s && i < s->nsites; i++)
		if (!ignored_is_row(&s->sites[i]))
			by[s->sites[i].id].site = &s->sites[i];
	*count = by ? most + 1 : 0;
	return by;
}

/* A lost site that grows also belongs to the growing ones. */
static bool is_chosen(const struct ui *ui, const struct snap_leak_site *l, const struct known *k)
{
	unsigned kinds = choices[ui->leaks.choice].kinds, kind = 1u << kind_of(l->class);

	if (l->suppressed)
		return kinds & SUPPRESSED;
	if (k && k->site && k->site->growth.sure > 0 && (kind & LOST))
		kind |= GROWING;
	return kinds & kind;
}

static void leak_row(struct leaks_state *st, const struct ui *ui, const struct snap_leak_site *l,
	struct known *k)
{
	if (is_chosen(ui, l, k)) {
		st->row[st->list.count++] = (struct leaks_row){
			.kind = kind_of(l->class), .leak = l, .site = k ? k->site : NULL
		};
		if (k)
			k->has_row = true;
	}
	if (!k)
		return;
	k->suppressed |= l->suppressed;
	k->lost |= !l->suppressed && l->class != SNAP_LEAK_REACHABLE;
	if (!l->suppressed && l->class == SNAP_LEAK_REACHABLE)
		k->reachable = l;
}

/* ---- by heads ---- */

/* The row of a cycle: that of one of its sites of which blocks are definite. NULL: they are
 * suppressed. */
static const struct snap_leak_site *cycle_leak(
	const struct snap_leaks *l, const struct snap_cycle *c)
{
	for (size_t i = 0; i < l->nsites && l->sites[i].class == SNAP_LEAK_DEFINITE; i++)
		for (uint32_t k = 0; k < c->sites && k < SNAP_CYCLE_SITES; k++)
			if (l->sites[i].site == c->site[k] && !l->sites[i].suppressed &&
				l->sites[i].cyclic.blocks)
				return &l->sites[i];
	return NULL;
}

static const struct snap_site *site_in(const struct known *by, uint32_t ids, uint32_t site)
{
	return site < ids ? by[site].site : NULL;
}

/* What one free each would give back: each lost block that no other leads to, by call site, and
 * each kind of cycle. */
static void head_rows(struct leaks_state *st, const struct known *by, uint32_t ids)
{
	const struct snap_leaks *l = st->last;

	if (!l || !(choices[st->choice].kinds & HEADS))
		return;
	for (size_t i = 0; i < l->nsites; i++) {
		const struct snap_leak_site *at = &l->sites[i];

		if (at->class == SNAP_LEAK_DEFINITE && !at->suppressed &&
			at->cyclic.blocks < at->sum.blocks)
			st->row[st->list.count++] = (struct leaks_row){ .kind = KIND_DEFINITE,
				.leak = at,
				.site = site_in(by, ids, at->site),
				.is_head = true };
	}
	for (size_t i = 0; i < l->ncycles; i++) {
		const struct snap_leak_site *at = cycle_leak(l, &l->cycles[i]);

		if (at)
			st->row[st->list.count++] = (struct leaks_row){ .kind = KIND_DEFINITE,
				.leak = at,
				.site = site_in(by, ids, at->site),
				.is_head = true,
				.cycle = &l->cycles[i] };
	}
}

/* The suspects, if no scan was possible. */
static void suspect_rows(struct leaks_state *st, const struct ui *ui, struct known *by)
{
	const struct snapshot *s = ui->shown;
	uint32_t index[SUSPECTS_MAX];

	st->suspects = by && s && leak_list_state(ui)->by_age ? suspects_find(s, index) : 0;
	for (size_t i = 0; i < st->suspects; i++) {
		const struct snap_site *site = &s->sites[index[i]];
		unsigned kinds = SUSPECT | (site->growth.sure > 0 ? GROWING : 0);

		if (!(choices[st->choice].kinds & kinds))
			continue;
		st->row[st->list.count++] =
			(struct leaks_row){ .kind = KIND_SUSPECT, .site = site };
		by[site->id].has_row = true;
	}
}

/* The growing sites, except those that were suppressed. */
static void growing_rows(struct leaks_state *st, const struct ui *ui, const struct known *by)
{
	const struct snapshot *s = ui->shown;

	st->growing = 0;
	st->growing_bytes_per_s = 0;
	for (size_t i = 0; by && s && i < s->nsites; i++) {
		const struct snap_site *site = &s->sites[i];
		const struct known *k = &by[site->id];

		if (site->growth.sure <= 0 || (k->suppressed && !k->lost))
			continue;
		st->growing++;
		st->growing_bytes_per_s += site->growth.bytes_per_s;
		if (!k->has_row && (choices[st->choice].kinds & GROWING))
			st->row[st->list.count++] = (struct leaks_row){
				.kind = KIND_GROWING, .leak = k->reachable, .site = site
			};
	}
}

static bool capacity_grow(struct leaks_state *st, size_t n)
{
	void *p = n > st->capacity ? realloc(st->row, n * sizeof(*st->row)) : st->row;

	if (n > st->capacity && !p)
		return false;
	st->row = p;
	st->capacity = n > st->capacity ? n : st->capacity;
	return true;
}

static void rows_make(struct ui *ui)
{
	struct leaks_state *st = &ui->leaks;
	size_t n = st->last ? st->last->nsites : 0, cycles = st->last ? st->last->ncycles : 0;
	size_t grow = ui->shown ? growth_rank(ui->shown, NULL, 0) : 0;
	struct known *by;
	uint32_t ids;

	st->list.count = 0;
	if (!capacity_grow(st, n + cycles + SUSPECTS_MAX + grow))
		return;
	by = known_make(ui, &ids);
	for (size_t i = 0; i < n; i++) {
		const struct snap_leak_site *l = &st->last->sites[i];

		leak_row(st, ui, l, l->site < ids ? &by[l->site] : NULL);
	}
	head_rows(st, by, ids);
	suspect_rows(st, ui, by);
	growing_rows(st, ui, by);
	if (st->list.count)
		qsort_r(st->row, st->list.count, sizeof(*st->row), leaks_compare, ui);
	free(by);
}

void leak_list_select_cursor(struct ui *ui)
{
	const struct leaks_row *row = leak_list_selected(ui);

	ui->leaks.has_selected = row != NULL;
	if (!row)
		return;
	ui->leaks.selected = site_of(row);
	ui->leaks.selected_nth = nth_of(row);
}

/* The selected row, or another one of its call site, since a growing site may be lost by now. -1:
 * none. */
static long selected_find(const struct leaks_state *st)
{
	long at = -1;

	for (size_t i = 0; st->has_selected && i < st->list.count; i++)
		if (site_of(&st->row[i]) == st->selected &&
			(at < 0 || nth_of(&st->row[i]) == st->selected_nth))
			at = (long)i;
	return at;
}

void leak_list_update(struct ui *ui)
{
	struct leaks_state *st = &ui->leaks;
	long at;

	if (!ui->source->leaks)
		return;
	st->last = leak_list_state(ui)->last;
	st->version = leak_list_state(ui)->version;
	rows_make(ui);
	at = st->list.moved ? selected_find(st) : 0;
	if (st->list.moved && at >= 0)
		list_follow(&st->list, (size_t)at);
	list_recount(&st->list, st->list.count);
	/* Why must not switch to another row while it is read. */
	st->is_gone = at < 0 && st->has_selected && ui_view(ui) == view_table[VIEW_WHY];
	if (!st->is_gone)
		leak_list_select_cursor(ui);
}

/* A result may arrive between two ticks, and then the previous one is no longer valid. */
void leak_list_catch_up(struct ui *ui)
{
	if (ui->source->leaks && leak_list_state(ui)->version != ui->leaks.version)
		leak_list_update(ui);
}

bool leak_list_wants_ages(const struct ui *ui)
{
	return (ui_view(ui)->scope & (IN_LEAKS | IN_WHY)) &&
	       (ui->leaks.suspects || ui->leaks.growing);
}

void leak_list_reset(struct ui *ui)
{
	free(ui->leaks.row);
	free(ui->leaks.explanation);
	ui->leaks = (struct leaks_state){ .list.height = ui->leaks.list.height,
		.choice = ui->leaks.choice,
		.order = ui->leaks.order };
}
