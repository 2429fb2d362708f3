/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * valgrind's massif format, for ms_print and massif-visualizer: live bytes over time, with a tree
 * of callers for the snapshot's moment and, where its composition is known, for the peak. The
 * format has one process a file, so that children are left out.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "src/export/formats.h"
#include "src/export/past.h"
#include "src/export/stack_tree.h"
#include "src/util/units.h"

#define POINTS_MOST 98 /* massif itself writes at most 100 snapshots */
#define DEPTH_MOST  90 /* levels of a tree: perl warns of ms_print's recursion from 100 on */
#define THRESHOLD                                                                                  \
	1000 /* nodes below one part in this of the whole are summed up; ms_print                  \
		shows one in a hundred */
#define THRESHOLD_SHARE "0.10%"
#define NS_PER_MS	1000000u

struct massif {
	struct strbuf *out;
	struct profile profile;
	unsigned number; /* of the next snapshot */
};

/* ms_print takes '#' for the beginning of a comment. */
static void text_put(struct strbuf *out, const char *text)
{
	for (; *text; text++)
		strbuf_putc(out, *text == '#' ? '.' : *text);
}

static void snapshot_put(struct massif *m, uint64_t ns, uint64_t bytes, const char *tree)
{
	strbuf_printf(m->out,
		"#-----------\nsnapshot=%u\n#-----------\ntime=%" PRIu64 "\nmem_heap_B=%" PRIu64
		"\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
		m->number++, ns / NS_PER_MS, bytes, tree);
}

static bool is_small(const struct stack_tree *t, uint32_t node)
{
	return t->node[node].total < t->node[STACK_TREE_ROOT].total / THRESHOLD;
}

/* Children in the file: the large ones, and one for all small ones. Siblings are sorted. */
static unsigned children_of(
	const struct stack_tree *t, uint32_t node, unsigned *small, uint64_t *small_bytes)
{
	unsigned large = 0;

	*small = 0;
	*small_bytes = 0;
	for (uint32_t c = t->node[node].child; c; c = t->node[c].next) {
		bool is = is_small(t, c);

		large += !is;
		*small += is;
		*small_bytes += is ? t->node[c].total : 0;
	}
	return large;
}

static void frame_put(struct strbuf *out, const struct profile_frame *f)
{
	strbuf_printf(out, "0x%" PRIX64 ": ", f->pc);
	text_put(out, f->name);
	if (!f->frame)
		return;
	if (f->frame->file && f->frame->line) {
		const char *slash = strrchr(f->frame->file, '/');

		strbuf_puts(out, " (");
		text_put(out, slash ? slash + 1 : f->frame->file);
		strbuf_printf(out, ":%" PRIu32 ")", f->frame->line);
	} else if (f->frame->module->path[0]) {
		strbuf_puts(out, " (in ");
		text_put(out, f->frame->module->path);
		strbuf_putc(out, ')');
	}
}

static void small_put(struct strbuf *out, unsigned depth, unsigned places, uint64_t bytes)
{
	if (!places)
		return;
	strbuf_fill(out, ' ', depth);
	strbuf_printf(out, "n0: %" PRIu64 " in %u place%s, %sbelow massif's threshold (%s)\n",
		bytes, places, units_plural(places), places == 1 ? "" : "all ", THRESHOLD_SHARE);
}

/* A node's line; true: its children follow. The small ones come at once, which ms_print allows. */
static bool node_put(struct massif *m, const struct stack_tree *t, uint32_t node, unsigned depth)
{
	unsigned small, large;
	uint64_t bytes;

	large = children_of(t, node, &small, &bytes);
	if (depth >= DEPTH_MOST)
		large = small = 0;
	strbuf_fill(m->out, ' ', depth);
	strbuf_printf(m->out, "n%u: %" PRIu64 " ", large + (small > 0), t->node[node].total);
	frame_put(m->out, &m->profile.frames[t->node[node].frame]);
	strbuf_putc(m->out, '\n');
	small_put(m->out, depth + 1, small, bytes);
	return large > 0;
}

static void root_put(struct massif *m, const struct stack_tree *t, uint64_t whole)
{
	uint64_t sum = t->node[STACK_TREE_ROOT].total, bytes;
	unsigned small, large = children_of(t, STACK_TREE_ROOT, &small, &bytes);

	strbuf_printf(m->out,
		"n%u: %" PRIu64
		" (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n",
		large + (small > 0) + (whole > sum), whole);
	small_put(m->out, 1, small, bytes);
	if (whole > sum)
		strbuf_printf(m->out, " n0: %" PRIu64 " of %s\n", whole - sum,
			m->profile.options->filter ? "call sites that the filter leaves out"
						   : "no recorded call site");
}

/* A snapshot with its tree of `value`, which is `bytes` in total. */
static void detailed_put(
	struct massif *m, uint64_t ns, uint64_t bytes, enum snap_value value, const char *kind)
{
	struct stack_tree t;
	uint32_t n = STACK_TREE_ROOT;
	unsigned depth = 0;
	bool inside = true;

	if (stack_tree_make(&t, &m->profile, value, true) != 0) {
		m->out->failed = true;
		return;
	}
	if (bytes < t.node[STACK_TREE_ROOT].total)
		bytes = t.node[STACK_TREE_ROOT].total;
	snapshot_put(m, ns, bytes, kind);
	root_put(m, &t, bytes);
	while ((n = stack_tree_after(&t, n, !inside)) != 0) {
		inside = false;
		if (is_small(&t, n))
			continue;
		depth = 0;
		for (uint32_t up = n; up != STACK_TREE_ROOT; up = t.node[up].parent)
			depth++;
		inside = node_put(m, &t, n, depth);
	}
	stack_tree_free(&t);
}

static void head_put(struct massif *m, const struct snapshot *s)
{
	strbuf_puts(m->out, "desc: heaptop " HEAPTOP_VERSION "\ncmd: ");
	text_put(m->out, s->command ? s->command : "?");
	strbuf_puts(m->out, "\ntime_unit: ms\n");
}

/* Whether the moment of the snapshot's tree is the peak, so that one tree shows both. */
static bool is_at_peak(const struct snapshot *s)
{
	return s->moment == SNAP_PEAK || !s->totals.has_at_peak;
}

/* A range has only changes, which are no part of what is live. */
static bool has_trees(const struct snapshot *s)
{
	return s->moment != SNAP_RANGE;
}

static void points_put(struct massif *m, const struct snapshot *s)
{
	const struct snap_totals *t = &s->totals;
	const char *kind = s->moment == SNAP_PEAK ? "peak" : "detailed";
	bool peak_done = is_at_peak(s) || !has_trees(s);
	size_t n;
	struct timeline_point *p = past_points(s, m->profile.options->timeline, POINTS_MOST, &n);

	m->out->failed |= !p;
	for (size_t i = 0; i < n; i++) {
		if (!peak_done && t->peak_ns <= p[i].ns) {
			detailed_put(m, t->peak_ns, t->peak_live_bytes, VALUE_PEAK, "peak");
			peak_done = true;
		}
		if (p[i].ns == s->uptime_ns && has_trees(s))
			detailed_put(m, p[i].ns, t->live_bytes, VALUE_LIVE, kind);
		else
			snapshot_put(m, p[i].ns, p[i].live_bytes, "empty");
	}
	free(p);
}

void export_massif(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	struct massif m = { .out = out };

	profile_open(&m.profile, s, o, PROFILE_MODULE | PROFILE_LINE | PROFILE_PC, NAMES_FULL);
	m.profile.nprocesses = m.profile.nprocesses ? 1 : 0;
	head_put(&m, s);
	points_put(&m, s);
	out->failed |= m.profile.failed;
	profile_free(&m.profile);
}
