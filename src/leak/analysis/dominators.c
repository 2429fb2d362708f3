/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lengauer and Tarjan's algorithm (dominators.h). All arrays but `number` are by a node's number in
 * the depth-first search.
 */
#include "src/leak/analysis/dominators.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/array.h"

#define NONE	   LEAK_NO_NODE
#define STOP_EVERY 65536u /* nodes: some milliseconds */

/* An edge that is not of the search's tree, in the list of those to one node. */
struct cross {
	uint32_t from;
	uint32_t next; /* in work.cross; NONE: the last */
};

struct work {
	const struct leak_flow *f;
	struct leak_dominators *d;
	uint32_t *parent; /* in the tree of the search */
	struct cross *cross;
	size_t crosses, cross_capacity;
	uint32_t *first; /* of a node's list of edges; NONE: only its parent leads to it */
	uint32_t *semi, *label, *ancestor;
	uint32_t *bucket,
		*other; /* nodes with this semidominator: the first, and the next of each */
	uint32_t *stack;
};

static uint32_t *numbers(size_t count)
{
	return array_large(malloc(count * sizeof(uint32_t)), count * sizeof(uint32_t));
}

static bool is_stopped(const struct work *w, uint32_t i)
{
	return i % STOP_EVERY == 0 && *w->f->stop;
}

/* ---- the search ---- */

static void number_give(struct work *w, uint32_t node, uint32_t parent)
{
	struct leak_dominators *d = w->d;

	d->number[node] = d->count;
	d->node[d->count] = node;
	w->first[d->count] = NONE;
	w->parent[d->count++] = parent;
}

/* Most edges of a heap are the tree's, so they are not kept. */
static int cross_add(struct work *w, uint32_t from, uint32_t to)
{
	struct cross *p;

	if (to == from || to == 0 || w->parent[to] == from)
		return 0;
	if (w->crosses == NONE)
		return -E2BIG;
	p = array_grow(w->cross, w->crosses, &w->cross_capacity, sizeof(*p));
	if (!p)
		return -ENOMEM;
	w->cross = p;
	p[w->crosses] = (struct cross){ from, w->first[to] };
	w->first[to] = (uint32_t)w->crosses++;
	return 0;
}

/* The parents are the stack; `label` has the cursors. */
static int search(struct work *w)
{
	uint32_t at = 0, next;
	int rc = 0;

	memset(w->d->number, 0xff, w->f->nodes * sizeof(*w->d->number));
	memset(w->label, 0, w->f->nodes * sizeof(*w->label));
	number_give(w, 0, NONE);
	while (at != NONE && rc == 0) {
		next = w->f->next(w->f->ctx, w->d->node[at], &w->label[at]);
		if (next == NONE) {
			at = w->parent[at];
		} else if (w->d->number[next] != NONE) {
			rc = cross_add(w, at, w->d->number[next]);
		} else {
			if (is_stopped(w, w->d->count))
				return -ECANCELED;
			number_give(w, next, at);
			at = w->d->number[next];
		}
	}
	return rc;
}

/* ---- dominators ---- */

/* Shortens the ways up in the forest of linked nodes, and passes the best labels on. */
static void compress(struct work *w, uint32_t v)
{
	uint32_t n = 0;

	for (; w->ancestor[w->ancestor[v]] != NONE; v = w->ancestor[v])
		w->stack[n++] = v;
	while (n-- > 0) {
		uint32_t i = w->stack[n], a = w->ancestor[i];

		if (w->semi[w->label[a]] < w->semi[w->label[i]])
			w->label[i] = w->label[a];
		w->ancestor[i] = w->ancestor[a];
	}
}

/* The node of least semidominator on the way from `v` to its tree's root, without that. */
static uint32_t eval(struct work *w, uint32_t v)
{
	if (w->ancestor[v] == NONE)
		return v;
	compress(w, v);
	return w->label[v];
}

/* A node whose semidominator is its parent has it for its dominator, too. */
static void semi_find(struct work *w, uint32_t i)
{
	uint32_t least = w->parent[i];

	for (uint32_t e = w->first[i]; e != NONE; e = w->cross[e].next) {
		uint32_t semi = w->semi[eval(w, w->cross[e].from)];

		if (semi < least)
			least = semi;
	}
	w->semi[i] = least;
	w->d->dominator[i] = least;
	if (least != w->parent[i]) {
		w->other[i] = w->bucket[least];
		w->bucket[least] = i;
	}
}

static void bucket_empty(struct work *w, uint32_t parent)
{
	for (uint32_t v = w->bucket[parent]; v != NONE; v = w->other[v]) {
		uint32_t u = eval(w, v);

		w->d->dominator[v] = w->semi[u] < w->semi[v] ? u : parent;
	}
	w->bucket[parent] = NONE;
}

static int dominators_make(struct work *w)
{
	uint32_t n = w->d->count;

	for (uint32_t i = 0; i < n; i++) {
		w->semi[i] = w->label[i] = i;
		w->ancestor[i] = w->bucket[i] = NONE;
	}
	for (uint32_t i = n - 1; i > 0; i--) {
		if (is_stopped(w, i))
			return -ECANCELED;
		semi_find(w, i);
		w->ancestor[i] = w->parent[i];
		bucket_empty(w, w->parent[i]);
	}
	w->d->dominator[0] = 0;
	for (uint32_t i = 1; i < n; i++)
		if (w->d->dominator[i] != w->semi[i])
			w->d->dominator[i] = w->d->dominator[w->d->dominator[i]];
	return 0;
}

static bool work_allocate(struct work *w, size_t n)
{
	struct leak_dominators *d = w->d;

	d->node = numbers(n);
	d->number = numbers(n);
	d->dominator = numbers(n);
	w->parent = numbers(n);
	w->first = numbers(n);
	w->semi = numbers(n);
	w->label = numbers(n);
	w->ancestor = numbers(n);
	w->bucket = numbers(n);
	w->other = numbers(n);
	w->stack = numbers(n);
	return d->node && d->number && d->dominator && w->parent && w->first && w->semi &&
	       w->label && w->ancestor && w->bucket && w->other && w->stack;
}

static void work_free(struct work *w)
{
	free(w->parent);
	free(w->first);
	free(w->cross);
	free(w->semi);
	free(w->label);
	free(w->ancestor);
	free(w->bucket);
	free(w->other);
	free(w->stack);
}

int leak_dominators_find(struct leak_dominators *d, const struct leak_flow *f)
{
	struct work w = { .f = f, .d = d };
	int rc;

	*d = (struct leak_dominators){ 0 };
	rc = work_allocate(&w, f->nodes) ? search(&w) : -ENOMEM;
	if (rc == 0)
		rc = dominators_make(&w);
	work_free(&w);
	if (rc != 0)
		leak_dominators_free(d);
	return rc;
}

void leak_dominators_free(struct leak_dominators *d)
{
	free(d->node);
	free(d->number);
	free(d->dominator);
	*d = (struct leak_dominators){ 0 };
}
