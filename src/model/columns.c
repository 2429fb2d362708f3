/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cells of the site table: the name of each column, and its text for a site. The screen, batch
 * frames and the report all print through here, on the main thread. The order is in sites_sort.c,
 * graphs are in graphs.c, names in site_name.c and frame_name.c.
 */
#include <stdio.h>
#include <string.h>
#include "src/model/columns.h"
#include "src/model/growth.h"
#include "src/model/site_type.h"
#include "src/model/value.h"
#include "src/util/text.h"
#include "src/util/units.h"

const struct column_info column_table[COL_COUNT] = {
	[COL_LIVE] = { "live", "LIVE", "live bytes: allocated and not freed", 6, true, true },
	[COL_ERROR] = { "error", "ERROR",
		"margin of error of LIVE (95 %), if sampled; noise: LIVE may be 0", 6, true, true },
	[COL_PERCENT] = { "percent", "%", "share of all live bytes", 5, true, true },
	[COL_RATE] = { "rate", "RATE", "growth of live bytes per second, over 10 s", 9, true,
		true },
	[COL_BEFORE] = { "before", "A", "in a diff: the compared figure in A", 6, true, true },
	[COL_AFTER] = { "after", "B", "in a diff: the compared figure in B", 6, true, true },
	[COL_DELTA] = { "delta", "DELTA", "in a diff: what B has more of it than A", 7, true,
		true },
	[COL_SINCE] = { "since", "SINCE", "growth of live bytes since the mark, or in the range", 7,
		true, true },
	[COL_SINCE_BLOCKS] = { "new", "NEW",
		"growth of live blocks since the mark, or in the range", 7, true, true },
	[COL_SINCE_ALLOC] = { "taken", "ALLOC", "bytes allocated since the mark, or in the range",
		6, true, true },
	[COL_SINCE_FREED] = { "freed", "FREED", "bytes freed since the mark, or in the range", 6,
		true, true },
	[COL_KEPT] = { "kept", "KEPT",
		"percentage of blocks allocated since the mark that are live", 5, true, true },
	[COL_TREND] = { "trend", "TREND",
		"live bytes over time, from the row's least to its most; two ticks a cell", 10,
		false, true },
	[COL_BLOCKS] = { "blocks", "BLOCKS", "live blocks", 6, true, true },
	[COL_AVG] = { "avg", "AVG", "average size of a live block", 6, true, true },
	[COL_PEAK] = { "peak", "PEAK", "most live bytes this site ever had", 6, true, true },
	[COL_AT_PEAK] = { "atpeak", "AT-PEAK", "live bytes when the program had most", 7, true,
		true },
	[COL_AT_PEAK_SHARE] = { "peakshare", "PEAK%", "share of the bytes at that time", 5, true,
		true },
	[COL_ALLOCS] = { "allocs", "ALLOCS", "blocks allocated since start", 6, true, true },
	[COL_TEMP] = { "temp", "TEMP", "blocks freed by the thread's very next event", 6, true,
		true },
	[COL_ALLOC_RATE] = { "allocs/s", "ALLOC/S", "blocks allocated per second, over 10 s", 8,
		true, true },
	[COL_BYTE_RATE] = { "bytes/s", "BYTES/S", "bytes allocated per second, over 10 s", 8, true,
		true },
	[COL_TEMP_RATE] = { "temp/s", "TEMP/S",
		"blocks per second that the thread's next event freed", 8, true, true },
	[COL_TEMP_SHARE] = { "tempshare", "TEMP%", "share of its blocks that are temporary", 5,
		true, true },
	[COL_FREED_SHARE] = { "freedshare", "FREED%", "share of its blocks that are freed", 6, true,
		true },
	[COL_RETAINED] = { "retained", "RETAINED",
		"bytes that its blocks kept alive at the last leak scan", 8, true, true },
	[COL_TYPE] = { "type", "TYPE",
		"C++ class of most of its blocks by their vtables, at the last leak scan", 20,
		false, false },
	[COL_AGE] = { "age", "AGE", "age of the oldest live block", 6, true, true },
	[COL_FAULTS] = { "faults", "FAULTS", "page faults in its memory, with --faults", 6, true,
		true },
	[COL_SITES] = { "sites", "SITES", "call sites in the row, when it sums up several", 6, true,
		true },
	[COL_GROWTH] = { "growth", "GROWS",
		"how certain it is to keep growing; then the fastest first", 6, true, true },
	[COL_SITE] = { "site", "CALL SITE", "the function that allocates", 0, false, false },
	[COL_LINE] = { "line", "FILE:LINE", "source position, or object file", 20, false, false },
};

const struct column_set_info column_sets[COLUMNS_SETS] = {
	[COLUMNS_MEMORY] = { "memory", COL_LIVE, 0, { 0 } },
	[COLUMNS_GROWTH] = { "growth", COL_GROWTH, 11,
		{ COL_LIVE, COL_RATE, COL_GROWTH, COL_TREND, COL_SINCE, COL_LINE, COL_PEAK,
			COL_BLOCKS, COL_SINCE_BLOCKS, COL_KEPT, COL_FREED_SHARE } },
	[COLUMNS_CHURN] = { "churn", COL_ALLOC_RATE, 11,
		{ COL_LIVE, COL_ALLOC_RATE, COL_BYTE_RATE, COL_TEMP_RATE, COL_LINE, COL_TEMP_SHARE,
			COL_ALLOCS, COL_TEMP, COL_FREED_SHARE, COL_AVG, COL_RATE } },
	[COLUMNS_PEAK] = { "peak", COL_PEAK, 8,
		{ COL_LIVE, COL_PEAK, COL_AT_PEAK, COL_AT_PEAK_SHARE, COL_LINE, COL_BLOCKS,
			COL_TREND, COL_RATE } },
	[COLUMNS_LEAKS] = { "leaks", COL_GROWTH, 10,
		{ COL_LIVE, COL_BLOCKS, COL_FREED_SHARE, COL_AGE, COL_GROWTH, COL_LINE, COL_RATE,
			COL_KEPT, COL_ALLOCS, COL_AVG } },
	[COLUMNS_TURNOVER] = { "turnover", COL_FREED_SHARE, 8,
		{ COL_LIVE, COL_FREED_SHARE, COL_BLOCKS, COL_ALLOCS, COL_LINE, COL_RATE, COL_AVG,
			COL_TREND } },
};

int column_find(const char *key)
{
	for (int i = 0; i < COL_COUNT; i++) {
		if (strcmp(column_table[i].key, key) == 0)
			return i;
	}
	return -1;
}

/* One cell: its site and its width, which only the text columns use. */
struct cell {
	const struct snapshot *snap;
	const struct snap_site *site;
	const struct row_style *style;
	unsigned cells;
};

/* The error of one thread's part is unknown. */
static bool cell_is_noise(const struct cell *c)
{
	return !c->site->of_thread &&
	       snapshot_is_noise(c->snap, c->site->live_bytes, c->site->error.live_bytes);
}

static void cell_live(const struct cell *c, char *out)
{
	if (cell_is_noise(c))
		snapshot_noise_text(c->site->live_bytes, c->site->error.live_bytes, out);
	else
		units_bytes(out, c->site->live_bytes);
}

static void cell_error(const struct cell *c, char *out)
{
	/* The error of one thread's part is unknown, and that of another moment than now. */
	if ((c->site->of_thread || c->snap->moment != SNAP_NOW) && c->snap->sampling.most)
		strcpy(out, "-");
	else if (cell_is_noise(c))
		strcpy(out, "noise");
	else
		units_bytes(out, c->site->error.live_bytes);
}

static void cell_percent(const struct cell *c, char *out)
{
	units_percent(out, c->site->live_bytes, c->snap->totals.live_bytes);
}

static void cell_rate(const struct cell *c, char *out)
{
	if ((c->site->of_thread && !c->site->group) || c->snap->moment == SNAP_PEAK)
		strcpy(out, "-");
	else
		snapshot_growth_text(c->snap, c->site->rate_bytes_per_s, out);
}

static void cell_compared(const struct cell *c, uint64_t value, char *out)
{
	if (!c->snap->compared)
		strcpy(out, "-");
	else if (c->snap->compared->bytes)
		units_bytes(out, value);
	else
		units_count(out, value);
}

static void cell_before(const struct cell *c, char *out)
{
	cell_compared(c, c->site->compared[0], out);
}

static void cell_after(const struct cell *c, char *out)
{
	cell_compared(c, c->site->compared[1], out);
}

static void cell_delta(const struct cell *c, char *out)
{
	if (c->snap->compared)
		units_signed(out, snapshot_delta(c->site),
			c->snap->compared->bytes ? units_bytes : units_count);
	else
		strcpy(out, "-");
}

static void cell_since(const struct cell *c, char *out)
{
	if (c->site->of_thread)
		strcpy(out, "-");
	else
		units_signed(out, c->site->since.bytes, units_bytes);
}

static void cell_since_blocks(const struct cell *c, char *out)
{
	if (c->site->of_thread)
		strcpy(out, "-");
	else
		units_signed(out, c->site->since.blocks, units_count);
}

static void cell_since_alloc(const struct cell *c, char *out)
{
	if (c->site->of_thread)
		strcpy(out, "-");
	else
		units_bytes(out, c->site->since.alloc_bytes);
}

static void cell_since_freed(const struct cell *c, char *out)
{
	if (c->site->of_thread)
		strcpy(out, "-");
	else
		units_bytes(out, snapshot_since_freed(&c->site->since));
}

static void cell_kept(const struct cell *c, char *out)
{
	const struct snap_since *s = &c->site->since;

	if (c->snap->kept && s->kept_of && !c->site->of_thread)
		units_percent(
			out, s->kept_blocks < s->kept_of ? s->kept_blocks : s->kept_of, s->kept_of);
	else
		strcpy(out, "-");
}

unsigned column_trend(const struct snap_site *site, unsigned cells, const uint64_t **values)
{
	unsigned n = site->trend_points < cells ? site->trend_points : cells;

	n = n < SNAP_TREND_POINTS ? n : SNAP_TREND_POINTS;
	*values = site->trend + SNAP_TREND_POINTS - n;
	return n;
}

static void cell_trend(const struct cell *c, char *out)
{
	unsigned width = c->cells < SNAP_TREND_POINTS ? c->cells : SNAP_TREND_POINTS;
	const uint64_t *values;
	unsigned n = column_trend(c->site, width, &values), pad = width - n;

	/* The newest point is at the right edge, however few there are. */
	memset(out, ' ', pad);
	spark_text(values, n, c->style->glyphs, out + pad, COLUMN_TEXT_MAX - pad);
}

static void cell_blocks(const struct cell *c, char *out)
{
	units_count(out, c->site->live_blocks);
}

static void cell_average(const struct cell *c, char *out)
{
	if (c->site->live_blocks)
		units_bytes(out, c->site->live_bytes / c->site->live_blocks);
	else
		strcpy(out, "-");
}

static void cell_peak(const struct cell *c, char *out)
{
	if (c->site->of_thread || (c->site->group && c->site->group->sites > 1))
		strcpy(out, "-"); /* its sites peaked at different times */
	else
		units_bytes(out, c->site->peak_live_bytes);
}

/* What one thread had at the peak is not kept. */
static bool at_peak_is_known(const struct cell *c)
{
	return c->snap->totals.has_at_peak && !c->site->of_thread;
}

static void cell_at_peak(const struct cell *c, char *out)
{
	if (at_peak_is_known(c))
		units_bytes(out, c->site->at_peak_bytes);
	else
		strcpy(out, "-");
}

static void cell_at_peak_share(const struct cell *c, char *out)
{
	if (at_peak_is_known(c))
		units_percent(out, c->site->at_peak_bytes, c->snap->totals.at_peak_bytes);
	else
		strcpy(out, "-");
}

static void cell_allocs(const struct cell *c, char *out)
{
	units_count(out, c->site->allocs);
}

static void cell_temporary(const struct cell *c, char *out)
{
	if (c->site->of_thread)
		strcpy(out, "-");
	else
		units_count(out, c->site->temporary);
}

static void cell_freq(const struct cell *c, double per_s, char *out)
{
	if (c->site->of_thread || per_s < 0 || c->snap->moment == SNAP_PEAK)
		strcpy(out, "-");
	else
		units_freq(out, per_s);
}

static void cell_alloc_rate(const struct cell *c, char *out)
{
	cell_freq(c, c->site->allocs_per_s, out);
}

static void cell_byte_rate(const struct cell *c, char *out)
{
	double per_s = c->site->alloc_bytes_per_s;

	cell_freq(c, per_s, out);
	if (per_s >= 0 && *out != '-')
		strcat(units_bytes(out, per_s < 1e18 ? (uint64_t)(per_s + 0.5) : UINT64_MAX), "/s");
}

static void cell_temp_rate(const struct cell *c, char *out)
{
	cell_freq(c, c->site->temporary_per_s, out);
}

static void cell_temp_share(const struct cell *c, char *out)
{
	if (c->site->of_thread || !c->site->allocs)
		strcpy(out, "-");
	else
		units_percent(out, c->site->temporary, c->site->allocs);
}

static void cell_freed_share(const struct cell *c, char *out)
{
	if (!c->site->allocs)
		strcpy(out, "-");
	else
		units_percent(out, c->site->frees, c->site->allocs);
}

static void cell_age(const struct cell *c, char *out)
{
	if (c->site->has_ages)
		units_duration(out, c->site->oldest_ns);
	else
		strcpy(out, "-");
}

static void cell_faults(const struct cell *c, char *out)
{
	if (c->snap->totals.has_faults && !c->site->of_thread)
		units_count(out, c->site->faults);
	else
		strcpy(out, "-");
}

static void cell_sites(const struct cell *c, char *out)
{
	units_count(out, c->site->group ? c->site->group->sites : 1);
}

/* A group's sites may keep each other's blocks alive, so they have no sum. */
static void cell_retained(const struct cell *c, char *out)
{
	if (!c->snap->has_retained || c->site->group || c->site->of_thread)
		strcpy(out, "-");
	else
		units_bytes(out, c->site->retained_bytes);
}

/* Only in a row of one type: the sites of a group may have several. */
static void cell_type(const struct cell *c, char *out)
{
	if (!c->site->type.name || c->site->of_thread)
		strcpy(out, "-");
	else
		site_type_text(&c->site->type, c->cells, c->style->glyphs == GLYPHS_ASCII, out);
}

static void cell_growth(const struct cell *c, char *out)
{
	strcpy(out, c->site->growth.sure > 0 ? growth_word_text(&c->site->growth) : "-");
}

static void cell_site(const struct cell *c, char *out)
{
	struct row_style fitted = *c->style;

	fitted.site_cells = c->cells;
	site_name(c->site, &fitted, out, COLUMN_TEXT_MAX);
}

static void cell_line(const struct cell *c, char *out)
{
	struct row_style fitted = *c->style;

	fitted.line_cells = c->cells;
	site_place(c->site, &fitted, out, COLUMN_TEXT_MAX);
}

/* Each writes at most COLUMN_TEXT_MAX bytes. */
static void (*const column_format[COL_COUNT])(const struct cell *c, char *out) = {
	[COL_LIVE] = cell_live,
	[COL_ERROR] = cell_error,
	[COL_PERCENT] = cell_percent,
	[COL_RATE] = cell_rate,
	[COL_BEFORE] = cell_before,
	[COL_AFTER] = cell_after,
	[COL_DELTA] = cell_delta,
	[COL_SINCE] = cell_since,
	[COL_SINCE_BLOCKS] = cell_since_blocks,
	[COL_SINCE_ALLOC] = cell_since_alloc,
	[COL_SINCE_FREED] = cell_since_freed,
	[COL_KEPT] = cell_kept,
	[COL_TREND] = cell_trend,
	[COL_BLOCKS] = cell_blocks,
	[COL_AVG] = cell_average,
	[COL_PEAK] = cell_peak,
	[COL_AT_PEAK] = cell_at_peak,
	[COL_AT_PEAK_SHARE] = cell_at_peak_share,
	[COL_ALLOCS] = cell_allocs,
	[COL_TEMP] = cell_temporary,
	[COL_ALLOC_RATE] = cell_alloc_rate,
	[COL_BYTE_RATE] = cell_byte_rate,
	[COL_TEMP_RATE] = cell_temp_rate,
	[COL_TEMP_SHARE] = cell_temp_share,
	[COL_FREED_SHARE] = cell_freed_share,
	[COL_RETAINED] = cell_retained,
	[COL_TYPE] = cell_type,
	[COL_AGE] = cell_age,
	[COL_FAULTS] = cell_faults,
	[COL_SITES] = cell_sites,
	[COL_GROWTH] = cell_growth,
	[COL_SITE] = cell_site,
	[COL_LINE] = cell_line,
};

static unsigned column_width(enum column c, const struct row_style *style)
{
	if (c == COL_SITE)
		return style->site_cells;
	if (c == COL_LINE)
		return style->line_cells;
	return column_table[c].cells;
}

void column_text(enum column c, const struct snapshot *snap, const struct snap_site *site,
	const struct row_style *style, char out[COLUMN_TEXT_MAX])
{
	out[0] = '\0';
	if ((unsigned)c < COL_COUNT)
		column_format[c](&(struct cell){ snap, site, style, column_width(c, style) }, out);
}

size_t column_cell(enum column c, const struct snapshot *snap, const struct snap_site *site,
	const struct row_style *style, unsigned cells, char out[COLUMN_TEXT_MAX])
{
	char text[COLUMN_TEXT_MAX];
	size_t used, len, pad, left;

	out[0] = text[0] = '\0';
	if ((unsigned)c >= COL_COUNT || cells == 0)
		return 0;
	column_format[c](&(struct cell){ snap, site, style, cells }, text);
	/* A truncated number would be a wrong number: show '#' instead, as a spreadsheet does. */
	if (column_table[c].right && strlen(text) > cells) {
		memset(text, '#', cells);
		text[cells] = '\0';
	}
	used = text_elide(out, COLUMN_TEXT_MAX, text, cells, false, style->glyphs == GLYPHS_ASCII);
	len = strlen(out);
	pad = used < cells ? cells - used : 0;
	if (pad > COLUMN_TEXT_MAX - 1 - len)
		pad = COLUMN_TEXT_MAX - 1 - len;
	left = column_table[c].right ? pad : 0;
	memmove(out + left, out, len);
	memset(out, ' ', left);
	memset(out + left + len, ' ', pad - left);
	out[len + pad] = '\0';
	return len + pad;
}
