/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of the site table. Every tick sorts all sites, up to 100,000, so each row's key is
 * extracted once and numbers are radix sorted; only names are compared. Main thread.
 */
#include <stdlib.h>
#include <string.h>
#include "src/model/columns.h"
#include "src/model/groups.h"
#include "src/model/growth.h"

#define SITES_DIGIT_BITS 10 /* 1024 counters: 4 KB of stack; seven passes cover 64 bits */
#define SITES_DIGITS	 (1u << SITES_DIGIT_BITS)
#define SITES_PASSES	 ((64 + SITES_DIGIT_BITS - 1) / SITES_DIGIT_BITS)

/* A row with one 64-bit key; smaller comes first. */
struct keyed {
	uint64_t key;
	uint32_t index;
};

/* Doubles as integers of the same order: sign bit flipped, negatives inverted. NaN sorts as 0. */
static uint64_t key_of_double(double value)
{
	uint64_t bits;

	if (!(value == value))
		value = 0;
	memcpy(&bits, &value, sizeof(bits));
	return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static uint64_t key_live(const struct snap_site *s)
{
	return s->live_bytes;
}

/* An estimate counts as much as is certain, so that noise comes last. */
static uint64_t key_certain(const struct snap_site *s)
{
	return s->live_bytes > s->error.live_bytes ? s->live_bytes - s->error.live_bytes : 0;
}

static uint64_t key_error(const struct snap_site *s)
{
	return s->error.live_bytes;
}

static uint64_t key_rate(const struct snap_site *s)
{
	return key_of_double(s->rate_bytes_per_s);
}

static uint64_t key_retained(const struct snap_site *s)
{
	return s->group || s->of_thread ? 0 : s->retained_bytes;
}

static uint64_t key_before(const struct snap_site *s)
{
	return s->compared[0];
}

static uint64_t key_after(const struct snap_site *s)
{
	return s->compared[1];
}

/* Signed numbers as unsigned ones of the same order. */
static uint64_t key_delta(const struct snap_site *s)
{
	return (uint64_t)snapshot_delta(s) ^ 1ull << 63;
}

static uint64_t key_since(const struct snap_site *s)
{
	return (uint64_t)s->since.bytes ^ 1ull << 63;
}

static uint64_t key_since_blocks(const struct snap_site *s)
{
	return (uint64_t)s->since.blocks ^ 1ull << 63;
}

static uint64_t key_since_alloc(const struct snap_site *s)
{
	return s->since.alloc_bytes;
}

static uint64_t key_since_freed(const struct snap_site *s)
{
	return snapshot_since_freed(&s->since);
}

static uint64_t key_kept(const struct snap_site *s)
{
	return key_of_double(
		s->since.kept_of ? (double)s->since.kept_blocks / (double)s->since.kept_of : -1);
}

/* The visible trend of a sparkline: right end minus left end. */
static uint64_t key_trend(const struct snap_site *s)
{
	unsigned n = s->trend_points < SNAP_TREND_POINTS ? s->trend_points : SNAP_TREND_POINTS;

	if (n == 0)
		return key_of_double(0);
	return key_of_double(
		(double)s->trend[SNAP_TREND_POINTS - 1] - (double)s->trend[SNAP_TREND_POINTS - n]);
}

static uint64_t key_blocks(const struct snap_site *s)
{
	return s->live_blocks;
}

static uint64_t key_average(const struct snap_site *s)
{
	return s->live_blocks ? s->live_bytes / s->live_blocks : 0;
}

static uint64_t key_peak(const struct snap_site *s)
{
	return s->peak_live_bytes;
}

static uint64_t key_at_peak(const struct snap_site *s)
{
	return s->at_peak_bytes;
}

static uint64_t key_allocs(const struct snap_site *s)
{
	return s->allocs;
}

static uint64_t key_temporary(const struct snap_site *s)
{
	return s->temporary;
}

static uint64_t key_alloc_rate(const struct snap_site *s)
{
	return key_of_double(s->allocs_per_s);
}

static uint64_t key_byte_rate(const struct snap_site *s)
{
	return key_of_double(s->alloc_bytes_per_s);
}

static uint64_t key_temp_rate(const struct snap_site *s)
{
	return key_of_double(s->temporary_per_s);
}

static uint64_t key_share(uint64_t part, uint64_t whole)
{
	return key_of_double(whole ? (double)part / (double)whole : -1);
}

static uint64_t key_temp_share(const struct snap_site *s)
{
	return key_share(s->temporary, s->allocs);
}

static uint64_t key_freed_share(const struct snap_site *s)
{
	return key_share(s->frees, s->allocs);
}

static uint64_t key_age(const struct snap_site *s)
{
	return s->has_ages ? s->oldest_ns : 0;
}

static uint64_t key_faults(const struct snap_site *s)
{
	return s->faults;
}

static uint64_t key_sites(const struct snap_site *s)
{
	return s->group ? s->group->sites : 1;
}

static uint64_t key_growth(const struct snap_site *s)
{
	return growth_rank_key(&s->growth);
}

/* NULL: the column is sorted by text. */
static uint64_t (*const key_of[COL_COUNT])(const struct snap_site *s) = {
	[COL_LIVE] = key_live,
	[COL_ERROR] = key_error,
	[COL_PERCENT] = key_live,
	[COL_RATE] = key_rate,
	[COL_BEFORE] = key_before,
	[COL_AFTER] = key_after,
	[COL_DELTA] = key_delta,
	[COL_SINCE] = key_since,
	[COL_SINCE_BLOCKS] = key_since_blocks,
	[COL_SINCE_ALLOC] = key_since_alloc,
	[COL_SINCE_FREED] = key_since_freed,
	[COL_KEPT] = key_kept,
	[COL_TREND] = key_trend,
	[COL_BLOCKS] = key_blocks,
	[COL_AVG] = key_average,
	[COL_PEAK] = key_peak,
	[COL_AT_PEAK] = key_at_peak,
	[COL_AT_PEAK_SHARE] = key_at_peak,
	[COL_ALLOCS] = key_allocs,
	[COL_TEMP] = key_temporary,
	[COL_ALLOC_RATE] = key_alloc_rate,
	[COL_BYTE_RATE] = key_byte_rate,
	[COL_TEMP_RATE] = key_temp_rate,
	[COL_TEMP_SHARE] = key_temp_share,
	[COL_FREED_SHARE] = key_freed_share,
	[COL_RETAINED] = key_retained,
	[COL_AGE] = key_age,
	[COL_FAULTS] = key_faults,
	[COL_SITES] = key_sites,
	[COL_GROWTH] = key_growth,
};

/*
 * Stable, ascending. Passes over digits that are the same in all keys (most, as sizes are small)
 * are left out. `spare` holds n rows; the result is in `rows`.
 */
static void sites_radix(struct keyed *rows, struct keyed *spare, size_t n)
{
	struct keyed *from = rows, *to = spare, *swap;
	uint64_t differ = 0;

	for (size_t i = 1; i < n; i++)
		differ |= rows[i].key ^ rows[0].key;
	for (unsigned pass = 0; pass < SITES_PASSES; pass++) {
		unsigned shift = pass * SITES_DIGIT_BITS;
		uint32_t start[SITES_DIGITS + 1] = { 0 };

		if ((differ >> shift & (SITES_DIGITS - 1)) == 0)
			continue;
		for (size_t i = 0; i < n; i++)
			start[(from[i].key >> shift & (SITES_DIGITS - 1)) + 1]++;
		for (unsigned d = 1; d < SITES_DIGITS; d++)
			start[d] += start[d - 1];
		for (size_t i = 0; i < n; i++)
			to[start[from[i].key >> shift & (SITES_DIGITS - 1)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != rows)
		memcpy(rows, from, n * sizeof(*rows));
}

/* Sorts by another key; the sort is stable, so sort by the least significant key first. */
static void sites_by(const struct snapshot *snap, struct keyed *rows, struct keyed *spare,
	uint64_t (*key)(const struct snap_site *), bool descending)
{
	for (size_t i = 0; i < snap->nsites; i++) {
		uint64_t k = key(&snap->sites[rows[i].index]);

		rows[i].key = descending ? ~k : k;
	}
	sites_radix(rows, spare, snap->nsites);
}

static uint64_t key_id(const struct snap_site *s)
{
	return s->id;
}

/* A row and its text. `text` NULL: no name; sorts after all names. */
struct worded {
	const char *text;
	const char *more; /* decides between equal texts */
	uint64_t number; /* decides after `more` */
	uint32_t rank, index;
};

static const char *sites_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Sets the text of rows by file or module. False: use a site's text. */
static bool group_word(struct worded *w, const struct snap_site *site, const struct frame *f)
{
	unsigned by = site->group ? site->group->by : GROUP_STACK;

	if (by != GROUP_FILE && by != GROUP_MODULE && by != GROUP_TYPE)
		return false;
	w->text = by == GROUP_FILE ? f->file : by == GROUP_TYPE ? site->type.name : f->module->path;
	w->more = by == GROUP_TYPE ? "" : f->module->path;
	w->number = 0;
	return true;
}

static void sites_word(struct worded *w, const struct snap_site *site, enum column column)
{
	const struct stack *stack = site->stack;
	const struct frame *f =
		snapshot_frame(stack, stack->title < stack->nframes ? stack->title : 0);
	bool known = column == COL_SITE ? f->function != NULL : f->file != NULL;

	if (column == COL_TYPE) {
		*w = (struct worded){ .text = site->type.name, .more = "" };
		return;
	}
	if (group_word(w, site, f))
		return;
	w->text = NULL;
	w->more = f->module->name;
	w->number = f->offset;
	if (!known)
		return;
	w->text = column == COL_SITE ? f->function : sites_basename(f->file);
	w->more = "";
	w->number = column == COL_SITE ? 0 : f->line;
}

static int worded_compare(const void *pa, const void *pb, void *ctx)
{
	const struct worded *a = pa, *b = pb;
	int sign = *(const bool *)ctx ? -1 : 1, order = 0;

	if (!a->text != !b->text)
		return a->text ? -1 : 1;
	if (a->text && a->text != b->text)
		order = strcmp(a->text, b->text);
	if (order == 0 && a->more != b->more)
		order = strcmp(a->more, b->more);
	if (order == 0)
		order = (a->number > b->number) - (a->number < b->number);
	if (order)
		return order * sign;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* `rows` come in the order for ties, which `rank` keeps. */
static void sites_by_word(
	const struct snapshot *snap, struct keyed *rows, enum column column, bool descending)
{
	struct worded *words = malloc(snap->nsites * sizeof(*words));

	if (!words)
		return;
	for (size_t i = 0; i < snap->nsites; i++) {
		sites_word(&words[i], &snap->sites[rows[i].index], column);
		words[i].index = rows[i].index;
		words[i].rank = (uint32_t)i;
	}
	qsort_r(words, snap->nsites, sizeof(*words), worded_compare, &descending);
	for (size_t i = 0; i < snap->nsites; i++)
		rows[i].index = words[i].index;
	free(words);
}

void sites_sort(const struct snapshot *snap, enum column column, bool reverse, uint32_t *order)
{
	size_t n = snap->nsites;
	struct keyed *rows = malloc((n ? 2 * n : 1) * sizeof(*rows));
	bool descending = column_table[column].descending != reverse;

	/* When out of memory, the table stays in the segment's order. */
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	if (!rows || n < 2) {
		free(rows);
		return;
	}
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct keyed){ .index = (uint32_t)i };
	sites_by(snap, rows, rows + n, key_id, false);
	sites_by(snap, rows, rows + n, key_live, true);
	if (!key_of[column])
		sites_by_word(snap, rows, column, descending);
	else if (key_of[column] == key_live && snap->sampling.most)
		sites_by(snap, rows, rows + n, key_certain, descending);
	else if (key_of[column] != key_live || !descending)
		sites_by(snap, rows, rows + n, key_of[column], descending);
	for (size_t i = 0; i < n; i++)
		order[i] = rows[i].index;
	free(rows);
}
