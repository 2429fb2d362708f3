/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of facts on a site (detail_facts.h). What is not known of the moment on the screen is
 * left out. Called by view_detail.c for each frame, on the main thread.
 */
#include "tui/detail_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/model/growth.h"
#include "src/model/mark_list.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/infoline.h"

static void facts_live(const struct ui *ui, const struct snap_site *site, struct infoline *s)
{
	char a[UNITS_MAX], b[UNITS_MAX + 8];

	infoline_left(s, 90, STYLE_BOLD, "live %s", units_bytes(a, site->live_bytes));
	if (site->error.live_bytes)
		infoline_join(s, STYLE_WARN, " %s%s", draw_is_ascii() ? "+-" : "±",
			units_bytes(a, site->error.live_bytes));
	infoline_left(s, 85, STYLE_PLAIN, "in %s block%s", units_exact(b, site->live_blocks),
		units_plural(site->live_blocks));
	if (site->error.live_blocks)
		infoline_join(s, STYLE_WARN, " %s%s", draw_is_ascii() ? "+-" : "±",
			units_count(a, site->error.live_blocks));
	infoline_left(s, 60, STYLE_PLAIN, "average %s",
		units_bytes(a, site->live_blocks ? site->live_bytes / site->live_blocks : 0));
	infoline_left(s, 70, STYLE_PLAIN, "peak %s", units_bytes(a, site->peak_live_bytes));
	infoline_left(s, 50, STYLE_PLAIN, "%s%% of all live bytes",
		units_percent(a, site->live_bytes, ui->shown->totals.live_bytes));
	if (ui_moment(ui) != SNAP_PEAK)
		infoline_right(s, 87, site->rate_bytes_per_s > 0 ? STYLE_WARN : STYLE_PLAIN,
			"growth %s", snapshot_growth_text(ui->shown, site->rate_bytes_per_s, a));
}

static const char *facts_sign(int64_t bytes)
{
	return bytes < 0 ? "-" : bytes > 0 ? "+" : "";
}

/* What was allocated and freed in the range. */
static void facts_range(const struct snap_since *since, struct infoline *s)
{
	uint64_t bytes = since->bytes < 0 ? -(uint64_t)since->bytes : (uint64_t)since->bytes;
	char grew[UNITS_MAX], taken[UNITS_MAX], freed[UNITS_MAX];

	infoline_right(s, 92, STYLE_WARN, "range %s%s", facts_sign(since->bytes),
		units_bytes(grew, bytes));
	infoline_join(s, STYLE_PLAIN, ": allocated %s, freed %s",
		units_bytes(taken, since->alloc_bytes),
		units_bytes(freed, snapshot_since_freed(since)));
}

/* The growth between the compared marks, and the share of new blocks still alive. */
static void facts_since(
	const struct snapshot *snap, const struct snap_site *site, struct infoline *s)
{
	const struct snap_since *since = &site->since;
	char text[UNITS_MAX], from[MARK_LIST_TEXT];
	uint64_t bytes = since->bytes < 0 ? -(uint64_t)since->bytes : (uint64_t)since->bytes;

	if (snap->moment == SNAP_RANGE)
		facts_range(since, s);
	if (!snap->since || snap->moment != SNAP_NOW)
		return;
	if (snap->since->number)
		snprintf(from, sizeof(from), "mark %u", snap->since->number);
	else
		mark_list_text(snap->since, from);
	infoline_right(s, 75, STYLE_WARN, "since %s: %s%s", from, facts_sign(since->bytes),
		units_bytes(text, bytes));
	if (snap->kept && since->kept_of)
		infoline_join(s, STYLE_PLAIN, ", %s%% of %" PRIu64 " new blocks alive",
			units_percent(text,
				since->kept_blocks < since->kept_of ? since->kept_blocks
								    : since->kept_of,
				since->kept_of),
			since->kept_of);
}

static void facts_total(const struct ui *ui, const struct snap_site *site, struct infoline *s)
{
	char a[UNITS_MAX], b[UNITS_MAX];

	if (ui_moment(ui) == SNAP_PEAK && !ui->shown->peak_then)
		infoline_left(s, 95, STYLE_MOMENT, " until now ");
	infoline_left(s, 90, STYLE_PLAIN, "allocated %s", units_bytes(a, site->alloc_bytes));
	infoline_left(s, 80, STYLE_PLAIN, "in %s block%s", units_count(a, site->allocs),
		units_plural(site->allocs));
	infoline_left(s, 70, STYLE_PLAIN, "freed %s (%s%%)", units_count(a, site->frees),
		units_percent(b, site->frees, site->allocs));
	infoline_left(s, 50, STYLE_PLAIN, "temporary %s%%",
		units_percent(a, site->temporary, site->allocs));
	infoline_right(s, 60, STYLE_PLAIN, "%s", units_freq(a, site->allocs_per_s));
	facts_since(ui->shown, site, s);
}

/* Known only if a column or a filter asked for ages. */
static void facts_ages(const struct snap_site *site, struct infoline *s)
{
	char a[UNITS_MAX], b[UNITS_MAX];

	if (site->has_ages)
		infoline_left(s, 70, STYLE_PLAIN, "live blocks are %s to %s old",
			units_duration(a, site->youngest_ns), units_duration(b, site->oldest_ns));
}

/* How long blocks last is shown only after how the site rose. */
static void facts_evidence(const struct snap_growth *g, struct infoline *s)
{
	char evidence[GROWTH_EVIDENCE_MAX];
	size_t rose = strcspn(growth_evidence(g, evidence), ";");

	infoline_left(s, 65, STYLE_PLAIN, "%.*s", (int)rose, evidence);
	infoline_tight(s);
	if (evidence[rose])
		infoline_left(s, 55, STYLE_PLAIN, "%s", evidence + rose + 2);
}

static void facts_trend(const struct ui *ui, const struct snap_site *site, struct infoline *s)
{
	unsigned n =
		site->trend_points < SNAP_TREND_POINTS ? site->trend_points : SNAP_TREND_POINTS;
	char graph[SNAP_TREND_POINTS * 4 + 1], rate[UNITS_MAX], over[UNITS_MAX];

	spark_text(site->trend + SNAP_TREND_POINTS - n, n, draw_glyph_set(), graph, sizeof(graph));
	infoline_left(s, 90, STYLE_PLAIN, "trend");
	infoline_left(s, 90, STYLE_INFO, "%s", n ? graph : "unknown");
	if (n)
		infoline_left(s, 48, STYLE_DIM, "live bytes, last %u ticks", n * SNAP_TREND_TICKS);
	if (site->growth.sure > 0) {
		infoline_left(s, 70, STYLE_WARN, "grows %s over %s",
			units_rate(rate, site->growth.bytes_per_s),
			units_duration(over, site->growth.over_ns));
		infoline_join(s, STYLE_WARN, ", %s:", growth_word_text(&site->growth));
		facts_evidence(&site->growth, s);
	} else if (ui_moment(ui) == SNAP_NOW) {
		infoline_left(s, 50, STYLE_DIM, "no steady growth");
	}
	facts_ages(site, s);
	infoline_right(s, 52, STYLE_PLAIN, "by %s", site->alloc_function);
}

void detail_facts_draw(
	const struct ui *ui, const struct snap_site *site, unsigned i, int y, unsigned cells)
{
	static void (*const facts[DETAIL_FACTS_LINES])(const struct ui *, const struct snap_site *,
		struct infoline *) = { facts_live, facts_total, facts_trend };
	struct infoline s = INFOLINE_INIT;

	facts[i](ui, site, &s);
	infoline_draw(&s, y, 1, cells - 2);
}
