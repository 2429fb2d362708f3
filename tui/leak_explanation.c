/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The explanation of a row of Leaks (leak_explanation.h). */
#include "tui/leak_explanation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "src/model/growth.h"
#include "src/model/leaks.h"
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/leak_list.h"

#define INDENT		"  " /* of a sentence's further lines */
#define CONTENT_LINES	4u
#define CONTENT_BYTES	16u /* of a line */
#define NAME_CELLS	40u /* of functions in stacks; a longer name moves its place, */
#define NAME_CELLS_WIDE 56u /* and from WIDE cells on */
#define WIDE		120u

static void say(struct leak_explanation *w, enum draw_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void line_add(struct leak_explanation *w, enum draw_style style, const char *indent,
	const char *text, size_t len)
{
	if (w->count == LEAK_EXPLANATION_LINES)
		return;
	w->line[w->count].style = style;
	snprintf(w->line[w->count].text, LEAK_EXPLANATION_TEXT, "%s%.*s", indent, (int)len, text);
	w->count++;
}

/* Wraps a sentence, but not a line of a table, which begins with a blank. */
static void say(struct leak_explanation *w, enum draw_style style, const char *fmt, ...)
{
	char all[LEAK_EXPLANATION_TEXT];
	const char *text = all, *indent = "";
	size_t cells = w->cells > strlen(INDENT) ? w->cells : SIZE_MAX;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(all, sizeof(all), fmt, ap);
	va_end(ap);
	while (*all != ' ' && text_cells(text) + strlen(indent) > cells) {
		size_t n = text_line(text, cells - strlen(indent));

		line_add(w, style, indent, text, n);
		text += n + (text[n] == ' ');
		indent = INDENT;
	}
	line_add(w, style, indent, text, strlen(text));
}

/* ---- why ---- */

static void say_class(struct leak_explanation *w, const struct snap_leak_site *row)
{
	char blocks[UNITS_MAX + 8], bytes[UNITS_MAX];
	const char *n = units_exact(blocks, row->sum.blocks);
	bool one = row->sum.blocks == 1;

	switch (row->class) {
	case SNAP_LEAK_DEFINITE:
		say(w, STYLE_PLAIN,
			"No root, stack, register or reachable block points to %s %s block%s.",
			one ? "this" : "these", n, units_plural(row->sum.blocks));
		if (row->indirect.blocks)
			say(w, STYLE_PLAIN,
				"%s block%s (%s) reachable only through %s %s lost as well.",
				units_exact(blocks, row->indirect.blocks),
				units_plural(row->indirect.blocks),
				units_bytes(bytes, row->indirect.bytes), one ? "it" : "them",
				row->indirect.blocks == 1 ? "is" : "are");
		break;
	case SNAP_LEAK_INDIRECT:
		say(w, STYLE_PLAIN, "Only lost blocks point to %s %s block%s.",
			one ? "this" : "these", n, units_plural(row->sum.blocks));
		break;
	case SNAP_LEAK_POSSIBLE:
		say(w, STYLE_PLAIN, "No pointer to the start of %s %s block%s was found,",
			one ? "this" : "these", n, units_plural(row->sum.blocks));
		say(w, STYLE_PLAIN, "only interior ones, which may be coincidence.");
		break;
	case SNAP_LEAK_REACHABLE:
	case SNAP_LEAK_CLASSES:
		say(w, STYLE_PLAIN, "The program can still reach %s %s block%s.",
			one ? "this" : "these", n, units_plural(row->sum.blocks));
		break;
	}
}

static void say_growth(struct leak_explanation *w, const struct snap_growth *g)
{
	char rate[UNITS_MAX], over[UNITS_MAX], evidence[GROWTH_EVIDENCE_MAX];
	size_t rose = strcspn(growth_evidence(g, evidence), ";");

	say(w, STYLE_WARN, "Grows %s over %s, %s: %.*s.", units_rate(rate, g->bytes_per_s),
		units_duration(over, g->over_ns), growth_word_text(g), (int)rose, evidence);
	if (evidence[rose])
		say(w, STYLE_WARN, "Over this time, %s.", evidence + rose + 2);
}

/* About a suspect: no scan was possible. */
static void say_suspect(struct leak_explanation *w, const struct leaks_row *row)
{
	char blocks[UNITS_MAX + 8];

	say(w, STYLE_PLAIN, "Not a known leak, but a suspect by age: no scan was possible,");
	say(w, STYLE_PLAIN, "so what points to %s %s block%s is unknown.",
		row->site->live_blocks == 1 ? "this" : "these",
		units_exact(blocks, row->site->live_blocks), units_plural(row->site->live_blocks));
}

/* About a site that only grows. `l`: the last scan, or NULL. */
static void say_grower(
	struct leak_explanation *w, const struct snap_leaks *l, const struct leaks_row *row)
{
	char blocks[UNITS_MAX + 8];
	uint64_t then = row->leak ? row->leak->sum.blocks : 0;

	say(w, STYLE_PLAIN, "Growth alone is not a leak: caches and buffers in use grow, too.");
	if (!l)
		say(w, STYLE_PLAIN, "What points to these blocks is unknown: L scans.");
	else if (then)
		say(w, STYLE_PLAIN, "The last scan could reach all of them; there were %s then.",
			units_exact(blocks, then));
	else
		say(w, STYLE_PLAIN, "None of them existed at the last scan.");
}

static void say_site(struct leak_explanation *w, const struct snap_site *site)
{
	char allocs[UNITS_MAX + 8], percent[UNITS_MAX];

	if (!site)
		return;
	if (site->frees == 0)
		say(w, STYLE_PLAIN, "No block of this call site was ever freed: %s allocated.",
			units_exact(allocs, site->allocs));
	else
		say(w, STYLE_PLAIN, "%s%% of the %s block%s allocated here %s freed.",
			units_percent(percent, site->frees, site->allocs),
			units_exact(allocs, site->allocs), units_plural(site->allocs),
			site->allocs == 1 ? "was" : "were");
}

static void say_since(struct leak_explanation *w, const struct snap_leak_site *row)
{
	uint64_t now = row->sum.bytes, then = row->before.bytes;
	char bytes[UNITS_MAX];

	if (row->seen < 2)
		return;
	if (now == then)
		say(w, STYLE_PLAIN, "Found by %u scans in a row; as much as at the previous one.",
			row->seen);
	else
		say(w, STYLE_PLAIN, "Found by %u scans in a row; %s %s than at the previous one.",
			row->seen, units_bytes(bytes, now > then ? now - then : then - now),
			now > then ? "more" : "less");
}

static void say_how(struct leak_explanation *w, const struct snap_leaks *l)
{
	char bytes[UNITS_MAX], stop[UNITS_MAX];

	if (l->snapshots)
		say(w, STYLE_DIM,
			"Read: %s from %u cop%s made by the library in the program: no ptrace "
			"(%s).",
			units_bytes(bytes, l->scanned_bytes), l->snapshots,
			l->snapshots == 1 ? "y" : "ies", l->refused ? l->refused : "?");
	else if (leaks_is_whole(l))
		say(w, STYLE_DIM, "Read: %s, registers of %u thread%s, in %s (%s).",
			units_bytes(bytes, l->scanned_bytes), l->threads, units_plural(l->threads),
			units_duration(stop, l->stop_ns), l->how);
	if (l->running && l->snapshots)
		say(w, STYLE_WARN, "The registers of %u of %u threads were not read.", l->running,
			l->threads);
	else if (l->running)
		say(w, STYLE_WARN, "%u of %u threads did not stop: their registers are unknown.",
			l->running, l->threads);
	if (l->busy)
		say(w, STYLE_WARN,
			"%u threads were inside realloc: the blocks they move may be missing.",
			l->busy);
	if (l->unread_bytes)
		say(w, STYLE_WARN, "%s of the program's memory could not be read.",
			units_bytes(bytes, l->unread_bytes));
	if (l->unknown)
		say(w, STYLE_DIM,
			"Some blocks are not recorded, such as those from before a fork: the "
			"memory between recorded blocks counts as roots.");
	if (l->devices)
		say(w, STYLE_DIM, "Not read: %u device mapping%s.", l->devices,
			units_plural(l->devices));
}

/* Cycles that blocks of this site are in. */
static void say_cycles(struct leak_explanation *w, const struct ui *ui, const struct snap_leaks *l,
	const struct snap_leak_site *row)
{
	char text[LEAKS_CYCLE_MAX];

	if (row->class != SNAP_LEAK_DEFINITE && row->class != SNAP_LEAK_INDIRECT)
		return;
	for (size_t i = 0; i < l->ncycles; i++)
		for (uint32_t k = 0; k < l->cycles[i].sites && k < SNAP_CYCLE_SITES; k++)
			if (l->cycles[i].site[k] == row->site) {
				say(w, STYLE_BOLD, "Cycle: %s.",
					leaks_cycle_text(l, &l->cycles[i], ui->shown, text));
				break;
			}
}

static void say_type(struct leak_explanation *w, const struct snap_leak_site *row)
{
	char blocks[UNITS_MAX + 8];

	if (row->type)
		say(w, STYLE_PLAIN, "Class, by the vtable of %s block%s of this call site: %s.",
			units_exact(blocks, row->type_blocks), units_plural(row->type_blocks),
			row->type);
}

/* What goes when these blocks do. */
static void say_retained(struct leak_explanation *w, const struct snap_leak_site *row)
{
	char blocks[UNITS_MAX + 8], bytes[UNITS_MAX];

	if (row->retained.blocks <= row->sum.blocks)
		return;
	say(w, STYLE_PLAIN, "%s alive: %s in %s blocks, %s included.",
		row->sum.blocks == 1 ? "It keeps" : "They keep",
		units_bytes(bytes, row->retained.bytes), units_exact(blocks, row->retained.blocks),
		row->sum.blocks == 1 ? "itself" : "themselves");
}

/* ---- blocks ---- */

/* The current contents: the program keeps running, so the block may have been reused since the
 * scan. */
static void say_contents(
	struct leak_explanation *w, const struct ui *ui, const struct snap_leak_block *b)
{
	unsigned char bytes[CONTENT_LINES * CONTENT_BYTES];
	size_t n = b->size < sizeof(bytes) ? b->size : sizeof(bytes);
	long got = ui->source->bytes ? ui->source->bytes(ui->source->ctx, b->addr, bytes, n) : -1;

	if (got <= 0 && n > 0)
		say(w, STYLE_DIM, "      %s",
			got == -EAGAIN ? "the contents are on the way"
				       : "the contents cannot be read");
	for (size_t at = 0; (long)at < got; at += CONTENT_BYTES) {
		char hex[3 * CONTENT_BYTES + 1], text[CONTENT_BYTES + 1];
		size_t end = (size_t)got - at < CONTENT_BYTES ? (size_t)got - at : CONTENT_BYTES;

		for (size_t i = 0; i < end; i++) {
			unsigned char c = bytes[at + i];

			sprintf(hex + 3 * i, "%02x ", c);
			text[i] = c >= ' ' && c <= '~' ? (char)c : '.';
		}
		text[end] = '\0';
		say(w, STYLE_PLAIN, "      %-48s %s", hex, text);
	}
}

static void say_step(
	struct leak_explanation *w, const struct ui *ui, const struct snap_leak_step *step)
{
	const struct snap_site *site = step->root ? NULL : ui_any_site(ui, step->site);
	struct row_style style = ui_style(ui);
	char name[256] = "a call site not known yet", size[UNITS_MAX];

	if (site)
		site_name(site, &style, name, sizeof(name));
	if (step->root && step->addr)
		say(w, STYLE_PLAIN, "      0x%012" PRIx64 "  %s", step->addr, step->root);
	else if (step->root)
		say(w, STYLE_PLAIN, "      %s", step->root);
	else
		say(w, STYLE_PLAIN, "      0x%012" PRIx64 "  %6s of %s", step->addr,
			units_bytes(size, step->size), name);
}

/* Steps from the root on, with those left out after `before` of them. */
static void say_steps(struct leak_explanation *w, const struct ui *ui,
	const struct snap_leak_step *step, uint32_t count, uint32_t before, uint32_t left_out)
{
	char left[UNITS_MAX + 8];

	for (uint32_t i = 0; i < count; i++) {
		if (i == before && left_out)
			say(w, STYLE_DIM, "      ... %s more block%s ...",
				units_exact(left, left_out), units_plural(left_out));
		say_step(w, ui, &step[i]);
	}
}

/* Is the shortest path what every path goes through? */
static bool is_only_way(const struct snap_leak_block *b)
{
	if (b->nthrough == 0 || b->nthrough != b->nsteps || b->left_out || b->through_left_out)
		return false;
	for (uint32_t i = 0; i < b->nsteps; i++)
		if (!b->steps[i].root && b->steps[i].addr != b->through[i].addr)
			return false;
	return true;
}

/* What every path to the block goes through; a lost block has no root, and of those that only lost
 * ones point to, the first step is none. */
static void say_through(struct leak_explanation *w, const struct ui *ui,
	const struct snap_leak_block *b, bool is_lost)
{
	uint32_t nearest = b->nthrough / 2;

	if (is_lost && b->nthrough > 1)
		say(w, STYLE_DIM, "    every path to it goes through these lost blocks");
	if (is_lost && b->nthrough > 1)
		say_steps(w, ui, b->through + 1, b->nthrough - 1,
			b->nthrough > nearest ? b->nthrough - 1 - nearest : 0, b->through_left_out);
	if (is_lost)
		return;
	if (b->retained.blocks && b->nthrough == 0)
		say(w, STYLE_DIM, "    held by several roots: none of them alone keeps it alive");
	if (b->nthrough > 0)
		say(w, STYLE_DIM, "    every path from the roots goes through");
	say_steps(w, ui, b->through, b->nthrough, b->nthrough - nearest, b->through_left_out);
}

/* The chain of pointers to the block, from the root. */
static void say_way(
	struct leak_explanation *w, const struct ui *ui, const struct snap_leak_block *b)
{
	if (b->nsteps > 0)
		say(w, STYLE_DIM, "    reached, from the root down, %sthrough",
			is_only_way(b) ? "only " : "");
	say_steps(w, ui, b->steps, b->nsteps, b->nsteps > 4 ? b->nsteps - 4 : 0, b->left_out);
	if (b->inside)
		say(w, STYLE_WARN, "      by a pointer into the block, not to its start");
}

static void say_block(struct leak_explanation *w, const struct ui *ui,
	const struct snap_leak_block *b, enum snap_leak_class class)
{
	uint64_t now = ui->shown ? ui->shown->uptime_ns : 0;
	char size[UNITS_MAX], age[UNITS_MAX], retained[UNITS_MAX];
	bool retains = b->retained.blocks > 1;

	say(w, STYLE_BOLD, "  0x%012" PRIx64 "  %6s  %s old%s%s%s", b->addr,
		units_bytes(size, b->size),
		units_duration(age, now > b->birth_ns ? now - b->birth_ns : 0),
		retains ? "  keeps alive " : "",
		retains ? units_bytes(retained, b->retained.bytes) : "",
		b->holders > 1 ? "  (several holders)" : "");
	if (ui->leaks.contents)
		say_contents(w, ui, b);
	if (!is_only_way(b))
		say_through(w, ui, b, class == SNAP_LEAK_DEFINITE || class == SNAP_LEAK_INDIRECT);
	say_way(w, ui, b);
}

static void say_blocks(
	struct leak_explanation *w, const struct ui *ui, const struct snap_leak_site *row)
{
	char all[UNITS_MAX + 8];

	if (!row->nblocks && ui->leaks.last && ui->leaks.last->blocks_cut)
		say(w, STYLE_DIM, "Single blocks of this call site are not in the recording.");
	if (!row->nblocks)
		return;
	if (row->sum.blocks > row->nblocks)
		say(w, STYLE_PLAIN, "The %u oldest of %s blocks%s:", row->nblocks,
			units_exact(all, row->sum.blocks),
			ui->leaks.contents ? ", with their contents now" : "");
	else
		say(w, STYLE_PLAIN,
			"The blocks%s:", ui->leaks.contents ? ", with their contents now" : "");
	for (uint32_t i = 0; i < row->nblocks; i++)
		say_block(w, ui, &row->blocks[i], row->class);
}

static void say_frame(
	struct leak_explanation *w, const struct ui *ui, const struct stack *stack, uint32_t i)
{
	size_t cells = w->cells < WIDE ? NAME_CELLS : NAME_CELLS_WIDE, used;
	const struct frame *f = snapshot_frame(stack, i);
	char name[256], place[128];

	frame_name(f, ui->names, 200, draw_is_ascii(), name, sizeof(name));
	frame_place(f, 100, draw_is_ascii(), place, sizeof(place));
	used = text_cells(name);
	say(w, i == stack->title ? STYLE_BOLD : STYLE_PLAIN, "%4u %s%s%*s  %s", i,
		i == stack->title ? "> " : "  ", name, used < cells ? (int)(cells - used) : 0, "",
		place);
}

static void say_stack(struct leak_explanation *w, const struct ui *ui, const struct snap_site *site)
{
	say(w, STYLE_PLAIN, "%s", "");
	say(w, STYLE_PLAIN, "Allocated with %s by:", site ? site->alloc_function : "?");
	for (uint32_t i = 0; site && i < site->stack->nframes; i++)
		say_frame(w, ui, site->stack, i);
}

void leak_explanation_make(struct leak_explanation *w, unsigned cells, const struct ui *ui,
	const struct snap_leaks *l, const struct leaks_row *row)
{
	w->count = 0;
	w->cells = cells;
	if (row->leak && row->leak->suppressed)
		say(w, STYLE_WARN, "Suppressed: not counted in its class.");
	if (row->kind == KIND_SUSPECT)
		say_suspect(w, row);
	else if (leak_list_is_found(row))
		say_class(w, row->leak);
	if (leak_list_is_found(row)) {
		say_cycles(w, ui, l, row->leak);
		say_retained(w, row->leak);
		say_type(w, row->leak);
	}
	if (leak_list_grows(row))
		say_growth(w, &row->site->growth);
	if (row->kind == KIND_GROWING)
		say_grower(w, l, row);
	else if (leak_list_is_found(row))
		say_since(w, row->leak);
	say_site(w, row->site);
	if (row->leak) {
		say_how(w, l);
		say_blocks(w, ui, row->leak);
	}
	say_stack(w, ui, row->site);
}
