/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call graph for graphviz, as pprof draws it: a node for each function with the weight
 * allocated there and below it, an edge for each pair of caller and callee. Only what matters is
 * drawn. An edge is dotted where functions between its ends were left out.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "src/export/formats.h"
#include "src/export/profile.h"
#include "src/util/array.h"
#include "src/util/units.h"

#define NODES_MOST 80 /* more are no picture any more; pprof has the same limit */
#define NODE_LEAST 200 /* nodes below one part in this of the total are left out */
#define EDGE_LEAST 1000

struct node {
	uint64_t self, total;
	uint32_t seen; /* the last stack that counted it: recursion counts once */
	bool shown;
};

struct edge {
	uint64_t weight;
	uint32_t seen;
	bool skips; /* of some stack, functions between its ends are not shown */
};

struct graph {
	struct strbuf *out;
	struct profile profile;
	enum snap_value value;
	struct node *node; /* by number of frame */
	size_t node_capacity, nodes;
	struct numbering edges; /* pairs of frames */
	struct edge *edge;
	size_t edge_capacity, nedges;
	uint64_t total;
	uint32_t stack; /* number of the present one, from 1 */
};

typedef void stack_function(struct graph *g, const uint32_t *path, uint32_t len, uint64_t weight);

static void each_stack(struct graph *g, stack_function *f)
{
	for (size_t n = 0; n < g->profile.nprocesses; n++) {
		const struct snapshot *s = g->profile.processes[n];

		for (size_t i = 0; i < s->nsites; i++) {
			int64_t weight = profile_weight(s, &s->sites[i], g->value);
			const uint32_t *path;
			uint32_t len;

			if (weight <= 0)
				continue;
			path = profile_path(&g->profile, n, &s->sites[i], &len);
			g->stack++;
			if (!g->profile.failed)
				f(g, path, len, (uint64_t)weight);
		}
	}
}

static bool nodes_grow(struct graph *g)
{
	while (g->nodes < g->profile.nframes) {
		struct node *node =
			array_grow(g->node, g->nodes, &g->node_capacity, sizeof(*g->node));

		if (!node)
			return false;
		g->node = node;
		node[g->nodes++] = (struct node){ 0 };
	}
	return true;
}

static void count_nodes(struct graph *g, const uint32_t *path, uint32_t len, uint64_t weight)
{
	if (!nodes_grow(g)) {
		g->profile.failed = true;
		return;
	}
	g->total += weight;
	for (uint32_t i = 0; i < len; i++) {
		struct node *n = &g->node[path[i]];

		if (n->seen != g->stack)
			n->total += weight;
		n->seen = g->stack;
	}
	if (len)
		g->node[path[len - 1]].self += weight;
}

static const struct node *compared; /* for by_weight */

static int by_weight(const void *a, const void *b)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct node *x = &compared[i], *y = &compared[j];

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return i < j ? -1 : i > j;
}

static void choose_nodes(struct graph *g)
{
	uint32_t *order = malloc((g->nodes + 1) * sizeof(*order));

	if (!order) {
		g->profile.failed = true;
		return;
	}
	for (uint32_t i = 0; i < g->nodes; i++)
		order[i] = i;
	compared = g->node;
	if (g->nodes)
		qsort(order, g->nodes, sizeof(*order), by_weight);
	for (size_t i = 0; i < g->nodes && i < NODES_MOST; i++)
		g->node[order[i]].shown = g->node[order[i]].total >= g->total / NODE_LEAST;
	free(order);
}

static struct edge *edge_of(struct graph *g, uint32_t from, uint32_t to)
{
	const uint32_t key[2] = { from, to };
	bool is_new;
	uint32_t n = numbering_add(&g->edges, key, sizeof(key), &is_new);
	struct edge *edge;

	if (g->edges.failed)
		return NULL;
	if (!is_new)
		return &g->edge[n];
	edge = array_grow(g->edge, g->nedges, &g->edge_capacity, sizeof(*g->edge));
	if (!edge) {
		g->edges.failed = true;
		return NULL;
	}
	g->edge = edge;
	edge[g->nedges++] = (struct edge){ 0 };
	return &edge[n];
}

static void count_edges(struct graph *g, const uint32_t *path, uint32_t len, uint64_t weight)
{
	uint32_t from = UINT32_MAX;
	bool skips = false;

	for (uint32_t i = 0; i < len; i++) {
		struct edge *e;

		if (!g->node[path[i]].shown) {
			skips = true;
			continue;
		}
		e = from == UINT32_MAX ? NULL : edge_of(g, from, path[i]);
		if (e && e->seen != g->stack) {
			e->weight += weight;
			e->seen = g->stack;
			e->skips |= skips;
		}
		from = path[i];
		skips = false;
	}
}

/* Text in quotes. Graphviz takes a backslash for an escape and an ampersand for an entity. */
static void dot_text(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_putc(out, '\\');
		if (*text == '&')
			strbuf_puts(out, "&amp;");
		else
			strbuf_putc(out, *text);
	}
}

static void dot_weight(struct graph *g, uint64_t weight)
{
	char text[UNITS_MAX];

	strbuf_puts(g->out, value_table[g->value].bytes ? units_bytes(text, weight)
							: units_count(text, weight));
}

static void dot_share(struct graph *g, uint64_t weight)
{
	char share[UNITS_MAX];

	dot_weight(g, weight);
	strbuf_printf(g->out, " (%s%%)", units_percent(share, weight, g->total));
}

/* From a light grey to red by the share of the total. */
static void dot_color(struct graph *g, uint64_t weight)
{
	double share = g->total ? (double)weight / (double)g->total : 0;
	unsigned other = 0xee - (unsigned)(sqrt(share) * 0x70);

	strbuf_printf(g->out, "fillcolor=\"#f2%02x%02x\"", other, other);
}

static void node_put(struct graph *g, uint32_t number)
{
	const struct node *n = &g->node[number];
	const struct profile_frame *f = &g->profile.frames[number];
	double share = g->total ? (double)n->self / (double)g->total : 0;

	strbuf_printf(g->out, "\tn%" PRIu32 " [label=\"", number);
	dot_text(g->out, f->name);
	strbuf_puts(g->out, "\\n");
	if (n->self)
		dot_share(g, n->self);
	if (n->total != n->self) {
		strbuf_puts(g->out, n->self ? "\\nof " : "");
		dot_share(g, n->total);
	}
	strbuf_printf(g->out, "\" self=%" PRIu64 " total=%" PRIu64 " fontsize=%u ", n->self,
		n->total, 8 + (unsigned)(sqrt(share) * 24));
	dot_color(g, n->total);
	strbuf_puts(g->out, " tooltip=\"");
	dot_text(g->out, f->name);
	if (f->frame && f->frame->file) {
		strbuf_puts(g->out, " ");
		dot_text(g->out, f->frame->file);
	} else if (f->frame && f->frame->module->path[0]) {
		strbuf_puts(g->out, " ");
		dot_text(g->out, f->frame->module->path);
	}
	strbuf_puts(g->out, "\"]\n");
}

static void edge_put(struct graph *g, size_t number)
{
	const struct edge *e = &g->edge[number];
	uint32_t ends[2];

	if (e->weight < g->total / EDGE_LEAST)
		return;
	memcpy(ends, numbering_key(&g->edges, (uint32_t)number, NULL), sizeof(ends));
	strbuf_printf(g->out, "\tn%" PRIu32 " -> n%" PRIu32 " [label=\" ", ends[0], ends[1]);
	dot_weight(g, e->weight);
	strbuf_printf(g->out, "\" total=%" PRIu64 " weight=%u penwidth=%.1f%s]\n", e->weight,
		1 + (unsigned)((double)e->weight / (double)g->total * 100),
		1 + 4 * (double)e->weight / (double)g->total, e->skips ? " style=dotted" : "");
}

static void head_put(struct graph *g, const struct snapshot *s)
{
	char total[UNITS_MAX + 8];

	strbuf_puts(g->out,
		"digraph heap {\n\tnode [shape=box style=filled fontname=\"sans-serif\" "
		"color=\"#888888\"]\n"
		"\tedge [fontname=\"sans-serif\" fontsize=8 color=\"#666666\"]\n"
		"\ttitle [shape=note fillcolor=\"#f8f8f8\" fontsize=16 label=\"");
	dot_text(g->out, s->command ? s->command : "?");
	strbuf_printf(g->out, "\\l%s: %s\\l\"]\n", value_table[g->value].title,
		units_exact(total, g->total));
}

static void graph_free(struct graph *g)
{
	numbering_free(&g->edges);
	free(g->node);
	free(g->edge);
	profile_free(&g->profile);
}

void export_dot(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	struct graph g = { .out = out, .value = o->value };

	profile_open(&g.profile, s, o, PROFILE_MODULE, NAMES_SHORT);
	each_stack(&g, count_nodes);
	choose_nodes(&g);
	if (!g.profile.failed)
		each_stack(&g, count_edges);
	head_put(&g, s);
	for (uint32_t i = 0; i < g.nodes; i++)
		if (g.node[i].shown)
			node_put(&g, i);
	for (size_t i = 0; i < g.nedges; i++)
		edge_put(&g, i);
	strbuf_puts(out, "}\n");
	out->failed |= g.profile.failed || g.edges.failed;
	graph_free(&g);
}
