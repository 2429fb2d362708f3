/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text report at the end of a run: how the program ended, what it did not free, the sizes of
 * its blocks, and the call sites, stack by stack. Written by --report and the screen's `x`, on the
 * main thread; no escapes, no locale.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "src/export/allocators.h"
#include "src/export/at_peak.h"
#include "src/export/launch.h"
#include "src/export/mapped.h"
#include "src/export/memory.h"
#include "src/export/site_title.h"
#include "src/export/marks.h"
#include "src/export/text.h"
#include "src/model/growth.h"
#include "src/model/site_type.h"
#include "src/util/clock.h"
#include "src/util/units.h"

#define TEXT_BAR_CELLS 20

static enum glyphs text_glyphs(const struct export_options *o)
{
	return o->ascii ? GLYPHS_ASCII : GLYPHS_BLOCKS;
}

/* Writes nothing if every block was recorded and the cost was not measured. */
static void text_sampling(
	struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	const struct snap_sampling *m = &s->sampling;
	char buf[SNAP_SAMPLING_MAX], when[UNITS_MAX], rate[UNITS_MAX];

	if (m->most)
		strbuf_printf(out, "sampling  %s; figures are estimates\n",
			snapshot_sampling_text(s, o->ascii, buf));
	for (unsigned i = 0; m->most && i < m->marks; i++)
		strbuf_printf(out, "          from %s on %s%s\n",
			units_duration(when, m->mark[i].ns),
			m->mark[i].bytes ? "one block in " : "every block",
			m->mark[i].bytes ? snapshot_rate_text(m->mark[i].bytes, rate) : "");
	if (m->measured)
		strbuf_printf(out, "cost      recording takes %.1f%% of the program's own time",
			m->overhead * 100);
	if (m->measured && m->most)
		strbuf_printf(out, ", of which unrecorded calls %.1f%%", m->passing * 100);
	if (m->measured)
		strbuf_putc(out, '\n');
}

/* A program that was attached to had started long before its time 0. */
static bool is_attached(const struct snapshot *s)
{
	return s->totals.has_before || s->attach.how == SNAP_ATTACH_DONE ||
	       s->attach.how == SNAP_ATTACH_ENDED;
}

static void text_when(struct strbuf *out, const struct snapshot *s)
{
	char buf[48], when[32], age[UNITS_MAX];
	bool attached = is_attached(s);

	if (s->processes)
		strbuf_printf(out, "process   all %u of the launch, summed", s->processes);
	else
		strbuf_printf(out, "process   pid %d", (int)s->pid);
	strbuf_printf(out, ", %s%s%s\n", snapshot_state_text(s, buf),
		attached ? ", recorded for " : " after ", units_duration(age, s->uptime_ns));
	strbuf_printf(out, "%s  %s\n", attached ? "attached" : "started ",
		clock_iso8601(when, s->start_realtime_ns));
}

static void text_head(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	char moment[SNAP_MOMENT_MAX];

	strbuf_printf(out, "heaptop %s report\n\n", o->version ? o->version : "");
	strbuf_printf(out, "command   %s\n", s->command ? s->command : "?");
	text_when(out, s);
	if (s->moment != SNAP_NOW)
		strbuf_printf(out, "moment    %s\n", snapshot_moment_text(s, moment));
	text_sampling(out, s, o);
	if (o->filter && o->group == GROUP_STACK && o->sites)
		strbuf_printf(out, "filter    %s: %zu of %zu call sites\n", o->filter, s->nsites,
			o->sites);
	else if (o->filter)
		strbuf_printf(out, "filter    %s\n", o->filter);
	if (s->notice)
		strbuf_printf(out, "notice    %s\n", s->notice);
	strbuf_putc(out, '\n');
}

/* " +-1,234" after an estimate, nothing after an exact figure. */
static void text_error(struct strbuf *out, uint64_t error, const struct export_options *o)
{
	char exact[UNITS_MAX + 8];

	if (error)
		strbuf_printf(out, " %s%s", o->ascii ? "+-" : "±", units_exact(exact, error));
}

/* "unfreed   96.4M in 1,204 blocks" with the exact bytes, as valgrind's users compare them. */
static void text_bytes(struct strbuf *out, const char *label, uint64_t bytes, uint64_t error,
	const struct export_options *o)
{
	char exact[UNITS_MAX + 8];

	strbuf_printf(out, "%-10s%s", label, units_exact(exact, bytes));
	text_error(out, error, o);
	strbuf_printf(out, " byte%s", units_plural(bytes));
}

static void text_live(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	const struct snap_totals *t = &s->totals;
	char blocks[UNITS_MAX + 8], when[UNITS_MAX];

	text_bytes(out, snapshot_ended(s) && s->state != SNAP_COPY ? "unfreed" : "live",
		t->live_bytes, t->error.live_bytes, o);
	strbuf_printf(out, " in %s", units_exact(blocks, t->live_blocks));
	text_error(out, t->error.live_blocks, o);
	strbuf_printf(out, " block%s\n", units_plural(t->live_blocks));
	text_bytes(out, "peak", t->peak_live_bytes, 0, o);
	strbuf_printf(out, " at %s", units_duration(when, t->peak_ns));
	if (t->has_at_peak && t->at_peak_bytes == t->peak_live_bytes)
		strbuf_printf(out, ", in %s block%s", units_exact(blocks, t->at_peak_blocks),
			units_plural(t->at_peak_blocks));
	strbuf_putc(out, '\n');
}

static void text_before(struct strbuf *out, const struct snapshot *s)
{
	const struct snap_totals *t = &s->totals;
	char found[UNITS_MAX + 8], blocks[UNITS_MAX + 8], rest[UNITS_MAX + 8], share[UNITS_MAX];
	uint64_t freed = t->before_found_bytes > t->before_bytes
				 ? t->before_found_bytes - t->before_bytes
				 : 0;

	if (!t->has_before || s->attach.how == SNAP_ATTACH_OUTSIDE)
		return;
	strbuf_printf(out, "before    %s byte%s in %s block%s were there at attach; ",
		units_exact(found, t->before_found_bytes), units_plural(t->before_found_bytes),
		units_exact(blocks, t->before_found_blocks), units_plural(t->before_found_blocks));
	strbuf_printf(out, "%s in %s still are (%s%% freed since)\n",
		units_exact(rest, t->before_bytes), units_exact(blocks, t->before_blocks),
		units_percent(share, freed, t->before_found_bytes));
}

static void text_traffic(
	struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	const struct snap_totals *t = &s->totals;
	char allocs[UNITS_MAX + 8], frees[UNITS_MAX + 8];
	char bytes[UNITS_MAX + 8], share[UNITS_MAX];

	strbuf_printf(out, "traffic   %s", units_exact(allocs, t->allocs));
	text_error(out, t->error.allocs, o);
	strbuf_printf(out, " alloc%s, %s free%s, %s", units_plural(t->allocs),
		units_exact(frees, t->frees), units_plural(t->frees),
		units_exact(bytes, t->alloc_bytes));
	text_error(out, t->error.alloc_bytes, o);
	strbuf_printf(out, " byte%s allocated", units_plural(t->alloc_bytes));
	if (!t->no_reallocs)
		strbuf_printf(out, ", %s realloc%s", units_exact(frees, t->reallocs),
			units_plural(t->reallocs));
	strbuf_puts(out, s->moment == SNAP_PEAK && !s->peak_then ? " (until the end)\n" : "\n");
	strbuf_printf(out, "temporary %s alloc%s (%s%%)\n", units_exact(allocs, t->temporary),
		units_plural(t->temporary), units_percent(share, t->temporary, t->allocs));
}

/* What a range is about; the other totals are of its end. */
static void text_range(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	const struct snapshot *all = o->whole ? o->whole : s;
	char allocated[UNITS_MAX + 8], freed[UNITS_MAX + 8], change[UNITS_MAX + 8];
	struct snap_since sum = { 0 };
	uint64_t bytes;

	if (s->moment != SNAP_RANGE)
		return;
	for (size_t i = 0; i < all->nsites; i++)
		snapshot_since_add(&sum, &all->sites[i].since);
	bytes = sum.bytes < 0 ? -(uint64_t)sum.bytes : (uint64_t)sum.bytes;
	strbuf_printf(out, "range     %s bytes allocated in %s block%s, ",
		units_exact(allocated, sum.alloc_bytes), units_exact(freed, sum.allocs),
		units_plural(sum.allocs));
	strbuf_printf(out, "%s freed: %s%s\n", units_exact(freed, snapshot_since_freed(&sum)),
		sum.bytes < 0 ? "-" : "+", units_exact(change, bytes));
}

static void text_proc(struct strbuf *out, const struct snap_proc *p)
{
	char hwm[UNITS_MAX], minor[UNITS_MAX + 8], major[UNITS_MAX + 8];

	if (!p->valid)
		return;
	strbuf_printf(out, "memory    peak RSS %s; faults %s minor, %s major\n",
		units_bytes(hwm, p->hwm), units_exact(minor, p->minor_faults),
		units_exact(major, p->major_faults));
}

/* What the figures above do not include; nothing if they are complete. */
static void text_losses(struct strbuf *out, const struct snapshot *s)
{
	const struct snap_totals *t = &s->totals;
	const struct {
		uint64_t count;
		const char *what;
	} loss[] = {
		{ t->failed, "allocations failed (the program got an error)" },
		{ t->unknown_frees, s->forked ? "frees of blocks from before the fork"
					      : "frees of blocks unknown to heaptop" },
		{ t->missed_frees, "frees were missed, until the address was reused" },
		{ t->untracked_blocks,
			"blocks could not be recorded and are not in these figures" },
		{ t->truncated_stacks, "stacks are missing outer frames" },
		{ t->ancestor_allocs,
			"allocations are counted at a caller: no room for more stacks" },
	};
	char count[UNITS_MAX + 8];

	for (size_t i = 0; i < sizeof(loss) / sizeof(loss[0]); i++) {
		if (loss[i].count)
			strbuf_printf(out, "loss      %s %s\n", units_exact(count, loss[i].count),
				loss[i].what);
	}
	if (t->paused_blocks)
		strbuf_printf(out,
			"paused    %s allocation%s while the program had paused recording\n",
			units_exact(count, t->paused_blocks), units_plural(t->paused_blocks));
	if (t->untracked_bytes)
		strbuf_printf(out, "loss      %s bytes in blocks that could not be recorded\n",
			units_exact(count, t->untracked_bytes));
}

static bool text_size_used(const struct snap_size *b)
{
	return b->allocs || b->live_blocks;
}

/* Writes a bar without trailing blanks, and ends the line. */
static void text_bar(struct strbuf *out, uint64_t part, uint64_t whole, enum glyphs glyphs)
{
	char bar[TEXT_BAR_CELLS * 4 + 1];
	size_t len;

	bar_text(part, whole, TEXT_BAR_CELLS, glyphs, bar, sizeof(bar));
	for (len = strlen(bar); len && bar[len - 1] == ' '; len--)
		;
	if (len)
		strbuf_puts(out, "  ");
	strbuf_add(out, bar, len);
	strbuf_putc(out, '\n');
}

static void text_size_row(
	struct strbuf *out, const struct snapshot *s, unsigned i, uint64_t most, enum glyphs glyphs)
{
	const struct snap_size *b = &s->sizes[i];
	char le[UNITS_MAX], blocks[UNITS_MAX], bytes[UNITS_MAX], allocs[UNITS_MAX];
	bool last = i == SNAP_SIZE_BUCKETS - 1;

	units_bytes(le, last ? snap_size_le(i - 1) : snap_size_le(i));
	strbuf_printf(out, "  %2s %6s  %6s  %6s  %6s", last ? ">" : "<=", le,
		units_count(blocks, b->live_blocks), units_bytes(bytes, b->live_bytes),
		units_count(allocs, b->allocs));
	text_bar(out, b->allocs, most, glyphs);
}

/* Skips empty buckets. */
static void text_sizes(struct strbuf *out, const struct snapshot *s, enum glyphs glyphs)
{
	uint64_t most = 0;
	bool any = false;

	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++) {
		any |= text_size_used(&s->sizes[i]);
		most = s->sizes[i].allocs > most ? s->sizes[i].allocs : most;
	}
	if (any)
		strbuf_puts(out, "\nsize       blocks   bytes  allocs\n");
	for (unsigned i = 0; i < SNAP_SIZE_BUCKETS; i++) {
		if (text_size_used(&s->sizes[i]))
			text_size_row(out, s, i, most, glyphs);
	}
}

static void text_life_row(
	struct strbuf *out, const struct snapshot *s, unsigned i, uint64_t all, enum glyphs glyphs)
{
	bool last = i == SNAP_LIFE_BUCKETS - 1;
	char le[UNITS_MAX], frees[UNITS_MAX], share[UNITS_MAX];

	units_duration(le, last ? snap_life_le_ns(i - 1) : snap_life_le_ns(i));
	strbuf_printf(out, "  %2s %6s  %6s  %5s%%", last ? ">" : "<", le,
		units_count(frees, s->lifetimes[i]), units_percent(share, s->lifetimes[i], all));
	text_bar(out, s->lifetimes[i], all, glyphs);
}

static void text_lifetimes(struct strbuf *out, const struct snapshot *s, enum glyphs glyphs)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++)
		all += s->lifetimes[i];
	if (all)
		strbuf_puts(out, "\nlifetime    frees\n");
	for (unsigned i = 0; i < SNAP_LIFE_BUCKETS; i++) {
		if (s->lifetimes[i])
			text_life_row(out, s, i, all, glyphs);
	}
}

/* " by f(int) (file.c:12)", with the module if the line is unknown. */
static void text_frame(struct strbuf *out, const struct frame *f, const struct export_options *o)
{
	char name[COLUMN_TEXT_MAX * 4], place[COLUMN_TEXT_MAX];

	frame_name(f, o->names, 0, o->ascii, name, sizeof(name));
	frame_place(f, 0, o->ascii, place, sizeof(place));
	strbuf_printf(out, "      by %s", name);
	/* The name of an unnamed frame already has the module. */
	if (place[0] && (f->function || f->file))
		strbuf_printf(out, " (%s)", place);
	strbuf_puts(out, f->inlined ? " [inlined]\n" : "\n");
}

void text_stack(struct strbuf *out, const struct snap_site *site, const struct export_options *o)
{
	strbuf_printf(out, "      at %s\n", site->alloc_function);
	for (uint32_t i = 0; i < site->stack->nframes; i++)
		text_frame(out, snapshot_frame(site->stack, i), o);
	if (site->stack->truncated)
		strbuf_puts(out, "      .. (outer frames are missing)\n");
}

/* A group has no stack, but a name. */
static void text_group(
	struct strbuf *out, const struct snap_site *site, const struct export_options *o)
{
	const struct row_style style = site_title_style(o);
	char count[UNITS_MAX + 8];

	strbuf_printf(out, "     %s call site%s\n", units_exact(count, site->group->sites),
		units_plural(site->group->sites));
	strbuf_puts(out, "      in ");
	site_title(out, site, &style);
}

static void text_site(struct strbuf *out, const struct snapshot *s, const struct snap_site *site,
	size_t rank, const struct export_options *o)
{
	char live[UNITS_MAX + 8], blocks[UNITS_MAX + 8], share[UNITS_MAX], allocs[UNITS_MAX + 8];
	char frees[UNITS_MAX + 8], peak[COLUMN_TEXT_MAX], temporary[UNITS_MAX + 8];
	char evidence[GROWTH_EVIDENCE_MAX];
	struct row_style style = { .glyphs = text_glyphs(o) };

	strbuf_printf(out, "\n%3zu. %s", rank, units_exact(live, site->live_bytes));
	text_error(out, site->error.live_bytes, o);
	strbuf_printf(out, " byte%s in %s", units_plural(site->live_bytes),
		units_exact(blocks, site->live_blocks));
	text_error(out, site->error.live_blocks, o);
	strbuf_printf(out, " block%s (%s%%)\n", units_plural(site->live_blocks),
		units_percent(share, site->live_bytes, s->totals.live_bytes));
	column_text(COL_PEAK, s, site, &style, peak);
	strbuf_printf(out, "     peak %s, %s alloc%s, %s free%s, %s temporary\n", peak,
		units_exact(allocs, site->allocs), units_plural(site->allocs),
		units_exact(frees, site->frees), units_plural(site->frees),
		units_exact(temporary, site->temporary));
	at_peak_text_site(out, s, site);
	if (site->growth.sure > 0)
		strbuf_printf(out, "     grows %s over %s, %s: %s\n",
			units_rate(peak, site->growth.bytes_per_s),
			units_duration(share, site->growth.over_ns),
			growth_word_text(&site->growth), growth_evidence(&site->growth, evidence));
	marks_text_site(out, s, site);
	if (site->has_ages)
		strbuf_printf(out, "     live blocks are %s to %s old\n",
			units_duration(frees, site->youngest_ns),
			units_duration(allocs, site->oldest_ns));
	if (site->group)
		text_group(out, site, o);
	else
		text_stack(out, site, o);
}

/* Of how much of the heap types are known, where rows are types or sorted by them. */
static void text_typed(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	char share[SITE_TYPE_MAX];

	if (o->group != GROUP_TYPE && o->sort != COL_TYPE)
		strbuf_putc(out, '\n');
	else if (s->typed.known)
		strbuf_printf(out, " (%s)\n", site_type_share(&s->typed, share));
	else
		strbuf_puts(out, " (types are known after a leak scan: --leak-check)\n");
}

void text_sites(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	size_t shown = o->top && o->top < s->nsites ? o->top : s->nsites;
	uint32_t *order = malloc((s->nsites ? s->nsites : 1) * sizeof(*order));
	char all[UNITS_MAX + 8], part[UNITS_MAX + 8];

	if (!order) {
		out->failed = true;
		return;
	}
	sites_sort(s, o->sort, o->reverse, order);
	strbuf_printf(out, "\n%s of %s %s, by %s%s", units_exact(part, shown),
		units_exact(all, s->nsites),
		o->group == GROUP_STACK ? "call sites" : group_table[o->group].many,
		column_table[o->sort].key, o->reverse ? ", reversed" : "");
	text_typed(out, s, o);
	for (size_t i = 0; i < shown; i++)
		text_site(out, s, &s->sites[order[i]], i + 1, o);
	free(order);
}

struct export_options export_child_options(const struct export_options *o, size_t i)
{
	struct export_options child = *o;

	child.groups = NULL;
	child.sites = 0; /* the number of their sites without the filter is unknown */
	child.memory = NULL; /* not read for children */
	child.launch = NULL; /* it has them all */
	child.verdict = NULL; /* the verdict covers all processes */
	child.nlimits = 0; /* so do the limits */
	child.whole = o->whole && i < o->whole->nchildren ? o->whole->children[i] : NULL;
	return child;
}

/* All processes as one. */
static void text_launch_sum(struct strbuf *out, const struct export_options *o)
{
	const struct snapshot *sum = o->launch ? o->launch->sum : NULL;
	char live[UNITS_MAX + 8], blocks[UNITS_MAX + 8], allocs[UNITS_MAX + 8];
	struct export_options own = *o;

	if (!sum)
		return;
	strbuf_printf(out,
		"\nall as one: %s byte%s in %s block%s live at their ends, %s allocation%s;\n"
		"call sites of one program with the same call stack are one\n",
		units_exact(live, sum->totals.live_bytes), units_plural(sum->totals.live_bytes),
		units_exact(blocks, sum->totals.live_blocks), units_plural(sum->totals.live_blocks),
		units_exact(allocs, sum->totals.allocs), units_plural(sum->totals.allocs));
	own.whole = sum;
	text_sites(out, o->launch->sum_rows, &own);
}

static void text_process(
	struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	text_head(out, s, o);
	text_live(out, s, o);
	text_before(out, s);
	text_traffic(out, s, o);
	text_range(out, s, o);
	text_proc(out, &s->proc);
	mapped_text(out, s);
	text_losses(out, s);
	allocators_text(out, s);
	memory_text(out, s, o);
	leaks_text(out, s, o);
	wrong_frees_text(out, s, o);
	marks_text(out, s);
	/* Those of the peak are not known. */
	if (s->moment != SNAP_PEAK) {
		text_sizes(out, s, text_glyphs(o));
		text_lifetimes(out, s, text_glyphs(o));
	}
	at_peak_text(out, s, o);
	text_sites(out, s, o);
	mapped_text_sites(out, s, o);
	launch_text(out, o);
	text_launch_sum(out, o);
	for (size_t i = 0; i < s->nchildren; i++) {
		const struct export_options child = export_child_options(o, i);

		strbuf_puts(out, "\n----\n\n");
		text_process(out, s->children[i], &child);
	}
}

void export_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	text_process(out, s, o);
	if (o->verdict)
		strbuf_printf(out, "\nverdict   %s\n", o->verdict);
}
