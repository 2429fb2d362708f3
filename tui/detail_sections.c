/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sections of the site detail: the share of blocks still alive by age, the threads that allocate
 * and free here, and the other sites reached through the same call. Main thread.
 */
#include "tui/detail_sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/site_twins.h"

#define LABEL_CELLS   15
#define NUMBER_CELLS  26
#define NARROW	      56 /* with fewer cells, some numbers are left out: */
#define NUMBER_NARROW 17
#define THREAD_CELLS  38 /* numbers of a thread */
#define THREAD_NARROW 18
#define BAR_MOST      30
#define MARGIN	      2

/* ---- ages --------------------------------------------------------------------------------- */

static size_t ages_lines(const struct ui *ui, const struct snap_site *site)
{
	const struct snap_detail *d = &ui->detail.histograms;

	return 1 + (d->has_ages && d->nages ? d->nages : 1);
}

static void age_label(const struct snap_age *age, char *label, size_t cap)
{
	char a[UNITS_MAX], b[UNITS_MAX];

	if (age->is_before)
		snprintf(label, cap, "before heaptop");
	else if (age->youngest_ns == 0)
		snprintf(label, cap, "%s%s old", draw_glyph(GLYPH_AT_MOST),
			units_duration(a, age->oldest_ns));
	else
		snprintf(label, cap, "%s - %s", units_duration(a, age->youngest_ns),
			units_duration(b, age->oldest_ns));
}

/* A bar of the share still alive, and its numbers. */
static void age_draw(const struct snap_age *age, int y, int x, unsigned cells)
{
	char label[UNITS_MAX * 3], bar[BAR_MOST * 4 + 1], numbers[UNITS_MAX * 4], a[UNITS_MAX],
		b[UNITS_MAX], c[UNITS_MAX];
	bool narrow = cells < NARROW;
	unsigned number = narrow ? NUMBER_NARROW : NUMBER_CELLS, most = LABEL_CELLS + number + 3;
	unsigned room = cells > most ? cells - most : 0, pad;

	age_label(age, label, sizeof(label));
	pad = (unsigned)text_cells(label);
	pad = pad < LABEL_CELLS ? LABEL_CELLS - pad : 0;
	draw_text(y, x + (int)pad, LABEL_CELLS, STYLE_PLAIN, label);
	if (room > BAR_MOST)
		room = BAR_MOST;
	bar_text(age->alive_blocks, age->allocs, room, draw_glyph_set(), bar, sizeof(bar));
	draw_text(y, x + LABEL_CELLS + 1, room, STYLE_WARN, bar);
	units_percent(a, age->alive_blocks, age->allocs);
	units_count(b, age->alive_blocks);
	units_count(c, age->allocs);
	if (!age->allocs)
		snprintf(numbers, sizeof(numbers), "%*s", (int)number, "nothing");
	else if (narrow)
		snprintf(numbers, sizeof(numbers), "%6s%% of %6s", a, c);
	else
		snprintf(numbers, sizeof(numbers), "%6s%% %8s of %6s", a, b, c);
	draw_text(y, x + (int)(cells - number - 1), number, STYLE_PLAIN, numbers);
}

static void ages_draw(
	const struct ui *ui, const struct snap_site *site, size_t i, int y, int x, unsigned cells)
{
	const struct snap_detail *d = &ui->detail.histograms;

	if (i == 0)
		draw_rule(y, x, cells, "AGE: share still alive");
	else if (i <= d->nages && d->has_ages)
		age_draw(&d->age[i - 1], y, x, cells);
	else
		draw_text(y, x + MARGIN, cells - MARGIN, STYLE_DIM,
			ui->detail.has_histograms ? "counting live blocks" : "unknown");
}

/* ---- threads ------------------------------------------------------------------------------ */

static size_t threads_lines(const struct ui *ui, const struct snap_site *site)
{
	const struct snap_detail *d = &ui->detail.histograms;

	return 2 + (d->nthreads ? d->nthreads : 1) + (d->more_threads > 0);
}

static const struct snap_thread *thread_of(const struct ui *ui, uint32_t slot)
{
	for (size_t i = 0; i < ui->shown->nthreads; i++)
		if (ui->shown->threads[i].slot == slot)
			return &ui->shown->threads[i];
	return NULL;
}

static void thread_name(const struct ui *ui, uint32_t slot, char *out, size_t cap)
{
	const struct snap_thread *t = thread_of(ui, slot);
	const char *many = t && t->owners > 1 ? ", and others before" : "";

	if (slot == 0)
		snprintf(out, cap, "(other threads)");
	else if (!t || t->tid == 0)
		snprintf(out, cap, "(ended)");
	else if (t->name[0])
		snprintf(out, cap, "%s %" PRIu32 "%s", t->name, t->tid, many);
	else
		snprintf(out, cap, "tid %" PRIu32 "%s", t->tid, many);
}

static void thread_draw(
	const struct ui *ui, const struct snap_site_thread *t, int y, int x, unsigned cells)
{
	char name[96], cut[96], numbers[UNITS_MAX * 4], a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX],
		d[UNITS_MAX];
	unsigned used = cells < NARROW ? THREAD_NARROW : THREAD_CELLS;

	strcpy(a, "-");
	strcpy(c, "-");
	if (ui->detail.histograms.has_alive) {
		units_bytes(a, t->live_bytes);
		units_percent(c, t->live_bytes, ui->detail.histograms.alive_bytes);
	}
	if (cells < NARROW)
		snprintf(numbers, sizeof(numbers), "%9s %6s%%", a, c);
	else
		snprintf(numbers, sizeof(numbers), "%9s %6s%% %9s %9s", a, c,
			units_bytes(b, t->alloc_bytes), units_count(d, t->frees));
	draw_text(y, x, used, STYLE_PLAIN, numbers);
	thread_name(ui, t->slot, name, sizeof(name));
	text_elide(cut, sizeof(cut), name, cells - used - 1, false, draw_is_ascii());
	draw_text(y, x + (int)used, cells - used - 1, STYLE_PLAIN, cut);
}

static void threads_draw(
	const struct ui *ui, const struct snap_site *site, size_t i, int y, int x, unsigned cells)
{
	const struct snap_detail *d = &ui->detail.histograms;
	char text[64];

	if (i == 0)
		draw_rule(y, x, cells, "THREADS that allocate or free here");
	else if (i == 1)
		draw_text(y, x, cells, STYLE_DIM,
			cells < NARROW ? "     live   share thread"
				       : "     live   share allocated     frees thread");
	else if (i - 2 < d->nthreads)
		thread_draw(ui, &d->thread[i - 2], y, x, cells);
	else if (d->nthreads == 0)
		draw_text(y, x + MARGIN, cells - MARGIN, STYLE_DIM, "unknown");
	else {
		snprintf(text, sizeof(text), "and %u more that allocated less", d->more_threads);
		draw_text(y, x + MARGIN, cells - MARGIN, STYLE_DIM, text);
	}
}

/* ---- siblings ----------------------------------------------------------------------------- */

/* The caller of the frame that names the site, or NULL. */
static const struct frame *caller_of(const struct snap_site *site)
{
	const struct stack *st = site->stack;
	uint32_t i = st->title;

	while (i < st->nframes && !snapshot_frame(st, i)->pc)
		i++;
	for (i++; i < st->nframes; i++)
		if (snapshot_frame(st, i)->pc)
			return snapshot_frame(st, i);
	return NULL;
}

static bool passes(const struct stack *st, uint64_t pc)
{
	for (uint32_t i = 0; i < st->nframes; i++)
		if (snapshot_frame(st, i)->pc == pc)
			return true;
	return false;
}

/* Keeps the largest sites, in order; smaller ones are only counted. */
static void sibling_take(struct detail_siblings *s, const struct snap_site *site)
{
	unsigned at = s->kept;

	s->count++;
	s->bytes += site->live_bytes;
	while (at > 0 && s->live[at - 1] < site->live_bytes)
		at--;
	if (at == DETAIL_SIBLINGS)
		return;
	s->kept += s->kept < DETAIL_SIBLINGS;
	memmove(s->site + at + 1, s->site + at, (s->kept - at - 1) * sizeof(*s->site));
	memmove(s->live + at + 1, s->live + at, (s->kept - at - 1) * sizeof(*s->live));
	s->site[at] = site->id;
	s->live[at] = site->live_bytes;
}

void detail_sections_find_siblings(struct ui *ui, const struct snap_site *site)
{
	struct detail_siblings *s = &ui->detail.siblings;
	const struct frame *caller = site ? caller_of(site) : NULL;

	*s = (struct detail_siblings){ .has_caller = caller != NULL };
	for (size_t i = 0; caller && i < ui->shown->nsites; i++)
		if (ui->shown->sites[i].id != site->id &&
			passes(ui->shown->sites[i].stack, caller->pc))
			sibling_take(s, &ui->shown->sites[i]);
}

static size_t siblings_lines(const struct ui *ui, const struct snap_site *site)
{
	const struct detail_siblings *s = &ui->detail.siblings;

	return 1 + (s->kept ? s->kept : 1) + (s->count > s->kept);
}

static void sibling_draw(const struct ui *ui, size_t i, int y, int x, unsigned cells)
{
	uint32_t id = ui->detail.siblings.site[i];
	const struct snap_site *site = ui_site(ui, id);
	struct row_style style = ui_style(ui);
	char text[COLUMN_TEXT_MAX], live[UNITS_MAX], number[96], differs[TWINS_TEXT];
	unsigned place = cells / 3, used;

	if (!site)
		return;
	snprintf(number, sizeof(number), "%9s  site %-6" PRIu32,
		units_bytes(live, site->live_bytes), id);
	used = 1 + draw_text(y, x, cells, STYLE_PLAIN, number);
	style.line_cells = place;
	site_place(site, &style, text, sizeof(text));
	place = (unsigned)text_cells(text);
	if (cells < used + place + 8)
		return;
	draw_text(y, x + (int)(cells - place - 1), place, STYLE_DIM, text);
	style.site_cells = cells - used - place - 2;
	style.twin = site_twins_text(ui, i, differs);
	site_name(site, &style, text, sizeof(text));
	draw_text(y, x + (int)used, style.site_cells, STYLE_PLAIN, text);
}

static void siblings_draw(
	const struct ui *ui, const struct snap_site *site, size_t i, int y, int x, unsigned cells)
{
	const struct detail_siblings *s = &ui->detail.siblings;
	const struct frame *caller = caller_of(site);
	char name[COLUMN_TEXT_MAX], text[COLUMN_TEXT_MAX + 64], live[UNITS_MAX];

	if (i == 0) {
		name[0] = 0;
		if (caller)
			frame_name(caller, ui->names, cells > 40 ? cells - 40 : 1, draw_is_ascii(),
				name, sizeof(name));
		snprintf(text, sizeof(text), "SIBLINGS through the call in %s", name);
		draw_rule(y, x, cells, caller ? text : "SIBLINGS");
	} else if (i - 1 < s->kept) {
		sibling_draw(ui, i - 1, y, x, cells);
	} else if (s->kept) {
		snprintf(text, sizeof(text), "%" PRIu32 " in all, %s live", s->count,
			units_bytes(live, s->bytes));
		draw_text(y, x + MARGIN, cells - MARGIN, STYLE_DIM, text);
	} else {
		draw_text(y, x + MARGIN, cells - MARGIN, STYLE_DIM,
			s->has_caller ? "no other site is reached through this call"
				      : "the caller of this function is unknown");
	}
}

const struct detail_section detail_sections_ages = { ages_lines, ages_draw, 1 };
const struct detail_section detail_sections_threads = { threads_lines, threads_draw, 2 };
const struct detail_section detail_sections_siblings = { siblings_lines, siblings_draw, 1 };
