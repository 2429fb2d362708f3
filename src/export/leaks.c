/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The leaks in the text report: by class, then those to examine, stack by stack. */
#include <inttypes.h>

#include "src/export/holders.h"
#include "src/export/text.h"
#include "src/model/site_index.h"
#include "src/model/suspects.h"
#include "src/util/units.h"

static void leaks_sum(struct strbuf *out, const struct snap_leak_sum *sum)
{
	char bytes[UNITS_MAX + 8], blocks[UNITS_MAX + 8];

	strbuf_printf(out, "%s byte%s in %s block%s", units_exact(bytes, sum->bytes),
		units_plural(sum->bytes), units_exact(blocks, sum->blocks),
		units_plural(sum->blocks));
}

static void leaks_class(
	struct strbuf *out, const char *label, const char *class, const struct snap_leak_sum *sum)
{
	strbuf_printf(out, "%-10s%-11s", label, class);
	leaks_sum(out, sum);
	strbuf_putc(out, '\n');
}

/* Blocks that are reachable only by rules: memcheck might report them as possible, so name them. */
static void leaks_rules(struct strbuf *out, const struct snap_leaks *l)
{
	char blocks[UNITS_MAX + 8];
	bool any = false;

	for (unsigned i = 0; i < SNAP_LEAK_HEURISTICS; i++) {
		if (l->heuristic[i].blocks == 0)
			continue;
		strbuf_printf(
			out, any ? ", %s " : "          by rule    %s ", l->heuristic_name[i]);
		leaks_sum(out, &l->heuristic[i]);
		any = true;
	}
	if (l->moved.blocks)
		strbuf_printf(out, "; %s of these by rules that memcheck does not have",
			units_exact(blocks, l->moved.blocks));
	if (any)
		strbuf_putc(out, '\n');
}

/* The classes should add up to the live or unfreed blocks; the line gives the difference and its
 * cause. */
static void leaks_rest(struct strbuf *out, const struct snapshot *s)
{
	struct snap_leak_rest rest = snapshot_leak_rest(s);
	bool fewer = rest.blocks < 0 || (rest.blocks == 0 && rest.bytes < 0);
	struct snap_leak_sum sum = { (uint64_t)(fewer ? -rest.blocks : rest.blocks),
		(uint64_t)(fewer ? -rest.bytes : rest.bytes) };
	bool mixed = (int64_t)sum.bytes < 0; /* some were allocated, some freed */

	if (rest.blocks == 0 && rest.bytes == 0)
		return;
	strbuf_puts(out, "          unclassed  ");
	if (!mixed)
		leaks_sum(out, &sum);
	strbuf_printf(out, "%s%s\n", mixed ? "some blocks" : "",
		s->leaks->at_exit ? ": threads were killed inside malloc or free"
		: mixed		  ? ": allocated and freed after the scan"
		: fewer		  ? ", freed after the scan"
				  : ", allocated after the scan");
}

static void leaks_classes(struct strbuf *out, const struct snapshot *s)
{
	const struct snap_leaks *l = s->leaks;

	for (unsigned i = 0; i < SNAP_LEAK_CLASSES; i++)
		leaks_class(out, i == 0 ? "leaks" : "", snapshot_leak_word((enum snap_leak_class)i),
			&l->sum[i]);
	leaks_rules(out, l);
	if (l->suppressed.blocks)
		leaks_class(out, "", "suppressed", &l->suppressed);
	leaks_rest(out, s);
}

/* How the scan was made, and the limits of its figures. */
static void leaks_scan(struct strbuf *out, const struct snap_leaks *l)
{
	char stop[UNITS_MAX], bytes[UNITS_MAX];

	strbuf_printf(out, "scan      %s%s: ", l->at_exit ? "at the program's last instant, " : "",
		l->how);
	if (l->stop_ns) /* a core file's process cannot be stopped */
		strbuf_printf(
			out, "the program was stopped for %s, ", units_duration(stop, l->stop_ns));
	strbuf_printf(out, "%s read\n", units_bytes(bytes, l->scanned_bytes));
	if (l->before_exit)
		strbuf_puts(out,
			"          it was made before the program had ended: stale words on the "
			"stack may hide leaks\n");
	if (l->nrounds)
		strbuf_printf(out, "          it is the last of %u, %s after the start\n",
			l->rounds[l->nrounds - 1].number, units_duration(stop, l->at_ns));
	if (l->no_copy)
		strbuf_printf(out, "          no copy could be read instead: %s\n", l->no_copy);
	if (l->copy_left)
		strbuf_puts(out,
			"          its copy has ended but remains as a zombie: no process waited "
			"for it\n");
	if (l->refused)
		strbuf_printf(out, "          ptrace is not allowed (%s); ", l->refused);
	if (l->refused && l->snapshots == 1)
		strbuf_puts(out, "it made a copy, and none of its threads ran meanwhile\n");
	else if (l->refused)
		strbuf_printf(out, "lost means lost in each of %u copies\n", l->snapshots);
	if (l->let)
		strbuf_puts(out, "          its library allowed ptrace for this scan\n");
	if (l->unknown)
		strbuf_puts(out,
			"          some blocks are not recorded, such as those from before "
			"a fork: words between blocks count as roots\n");
	if (l->devices)
		strbuf_printf(out, "          %u device mappings were not read\n", l->devices);
	if (l->unread_bytes)
		strbuf_printf(out, "          %s could not be read\n",
			units_bytes(bytes, l->unread_bytes));
	if (l->running && l->snapshots)
		strbuf_printf(out, "          registers of %u of %u threads were not read\n",
			l->running, l->threads);
	else if (l->running)
		strbuf_printf(out,
			"          %u of %u threads did not stop: their registers are "
			"unknown\n",
			l->running, l->threads);
	if (l->busy)
		strbuf_printf(out,
			"          %u of %u threads were always inside realloc: blocks that they "
			"move may be missing\n",
			l->busy, l->threads);
}

/* Sum of the definite leaks of the other processes, whose reports follow. */
static void leaks_children(struct strbuf *out, const struct snapshot *s)
{
	struct snap_leak_sum sum = { 0 };
	size_t scanned = 0, lossy = 0;

	for (size_t i = 0; i < s->nchildren; i++) {
		const struct snap_leaks *l = s->children[i]->leaks;

		if (!l || l->failed)
			continue;
		scanned++;
		lossy += l->sum[SNAP_LEAK_DEFINITE].blocks > 0;
		sum.blocks += l->sum[SNAP_LEAK_DEFINITE].blocks;
		sum.bytes += l->sum[SNAP_LEAK_DEFINITE].bytes;
	}
	if (scanned == 0)
		return;
	strbuf_printf(out, "below     %-11s", snapshot_leak_word(SNAP_LEAK_DEFINITE));
	leaks_sum(out, &sum);
	strbuf_printf(
		out, ", in %zu of %zu other process%s\n", lossy, scanned, scanned == 1 ? "" : "es");
}

static bool leaks_is_shown(const struct snap_leak_site *l)
{
	return !l->suppressed && (l->class == SNAP_LEAK_DEFINITE || l->class == SNAP_LEAK_POSSIBLE);
}

/* As many frames as valgrind's --num-callers: enough to distinguish call sites. */
#define RULE_FRAMES 12u

static void rule_text(struct strbuf *out, const struct snap_site *site, enum snap_leak_class class)
{
	suppression_text(out, site,
		&(struct suppression){ .name = "<a name for it>",
			.kinds = snapshot_leak_word(class),
			.frames = RULE_FRAMES });
}

/* `site` may be NULL. */
static void leaks_site(struct strbuf *out, const struct snap_leak_site *l,
	const struct snap_site *site, size_t rank, const struct export_options *o)
{
	strbuf_printf(out, "\n%3zu. %s: ", rank, snapshot_leak_word(l->class));
	leaks_sum(out, &l->sum);
	if (l->indirect.blocks) {
		strbuf_puts(out, ", with ");
		leaks_sum(out, &l->indirect);
		strbuf_puts(out, " lost indirectly");
	}
	strbuf_putc(out, '\n');
	if (site)
		text_stack(out, site, o);
	if (site && o->suppressions)
		rule_text(out, site, l->class);
}

static void leaks_sites(
	struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	const struct snap_leaks *l = s->leaks;
	char left[UNITS_MAX + 8];
	size_t rank = 0, out_of = 0;
	struct site_index by_id;

	site_index_make(&by_id, o->whole ? o->whole : s);
	for (size_t i = 0; i < l->nsites; i++)
		out_of += leaks_is_shown(&l->sites[i]);
	for (size_t i = 0; i < l->nsites && (o->top == 0 || rank < o->top); i++)
		if (leaks_is_shown(&l->sites[i]))
			leaks_site(out, &l->sites[i], site_index_find(&by_id, l->sites[i].site),
				++rank, o);
	site_index_free(&by_id);
	if (rank < out_of)
		strbuf_printf(out, "\n%s more call sites of definite and possible leaks\n",
			units_exact(left, out_of - rank));
}

static void suspect_put(struct strbuf *out, const struct snap_site *site)
{
	const struct row_style style = { .glyphs = GLYPHS_BLOCKS, .names = NAMES_FULL };
	char bytes[UNITS_MAX + 8], blocks[UNITS_MAX + 8], name[COLUMN_TEXT_MAX];

	site_name(site, &style, name, sizeof(name));
	strbuf_printf(out, "  %s byte%s in %s block%s, none was freed%s: %s, by %s\n",
		units_exact(bytes, site->live_bytes), units_plural(site->live_bytes),
		units_exact(blocks, site->live_blocks), units_plural(site->live_blocks),
		site->growth.sure > 0 ? ", and it grows" : "", site->alloc_function, name);
}

/* Suspects by age, if memory could not be scanned. */
static void suspects_text(struct strbuf *out, const struct snapshot *s)
{
	uint32_t index[SUSPECTS_MAX];
	size_t n = suspects_find(s, index);

	if (n)
		strbuf_puts(out, "suspects  by age alone; pointers to them were not "
				 "checked:\n");
	for (size_t i = 0; i < n; i++)
		suspect_put(out, &s->sites[index[i]]);
}

void leaks_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	if (!s->leaks)
		return;
	strbuf_putc(out, '\n');
	if (s->leaks->failed) {
		strbuf_printf(out, "leaks     %s\n", s->leaks->failed);
		if (suspects_wanted(s->leaks))
			suspects_text(out, s);
		leaks_children(out, s);
		return;
	}
	leaks_classes(out, s);
	holders_text(out, s->leaks);
	holders_text_cycles(out, o->whole ? o->whole : s, s->leaks);
	leaks_scan(out, s->leaks);
	leaks_children(out, s);
	leaks_sites(out, s, o);
}
