/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filters and groups a snapshot for frames and reports (selection.h). */
#include "src/run/selection.h"

#include <stdlib.h>

#include "src/model/filter.h"
#include "src/model/ignored.h"

static void children_make(struct selection *v, const struct snapshot *s, const struct options *o)
{
	v->child = calloc(s->nchildren, sizeof(*v->child));
	v->children = calloc(2 * s->nchildren, sizeof(struct snapshot *));
	if (!v->child || !v->children)
		return;
	v->count = s->nchildren;
	for (size_t i = 0; i < v->count; i++) {
		selection_make(&v->child[i], s->children[i], o);
		v->children[i] = v->child[i].sites;
		v->children[v->count + i] = v->child[i].rows;
	}
	if (v->sites == s) {
		v->matching = *s;
		v->rows = v->rows == s ? &v->matching : v->rows;
		v->sites = &v->matching;
	}
	v->matching.children = v->children;
	v->groups.snap.children = v->children + v->count;
}

/* The snapshot with one row for the sites that the options ignore; `s` if there are none. */
static const struct snapshot *ignoring_make(
	struct selection *v, const struct snapshot *s, const struct options *o)
{
	struct snapshot *of = (struct snapshot *)(uintptr_t)s; /* for its count of references */
	struct ignored *g = ignored_new(&o->ignored);

	if (!g)
		return s;
	snapshot_ref(of);
	v->ignoring = ignored_take(g, of);
	ignored_free(g);
	return v->ignoring;
}

static bool has_rules(const struct options *o)
{
	return o->ignored.nignore + o->ignored.nonly > 0;
}

void selection_make(struct selection *v, const struct snapshot *s, const struct options *o)
{
	char why[FILTER_WHY_MAX];
	struct filter *f = o->filter ? filter_parse(o->filter, why) : NULL;
	struct groups_request request = {
		.by = o->group, .show_hidden = o->show_hidden, .filter = f
	};
	size_t capacity = 0;

	*v = (struct selection){ 0 };
	s = ignoring_make(v, s, o);
	v->whole = v->sites = s;
	if (f && filter_apply(f, s, o->show_hidden, &v->matching, &v->site, &capacity) == 0)
		v->sites = &v->matching;
	v->rows = v->sites;
	if (o->group != GROUP_STACK && groups_make(&v->groups, s, &request) == 0)
		v->rows = &v->groups.snap;
	if (s->nchildren && (f || o->group != GROUP_STACK || has_rules(o)))
		children_make(v, s, o);
	filter_free(f);
}

void selection_free(struct selection *v)
{
	for (size_t i = 0; i < v->count; i++)
		selection_free(&v->child[i]);
	free(v->child);
	free(v->children);
	free(v->site);
	groups_free(&v->groups);
	snapshot_unref(v->ignoring);
}

bool selection_wants_threads(const struct options *o)
{
	char why[FILTER_WHY_MAX];
	struct filter *f = o->filter ? filter_parse(o->filter, why) : NULL;
	bool wants = o->group == GROUP_THREAD || o->format == OPTIONS_JSON ||
		     (f && filter_wants_threads(f));

	filter_free(f);
	return wants;
}

bool selection_wants_ages(const struct options *o)
{
	char why[FILTER_WHY_MAX];
	struct filter *f = o->filter ? filter_parse(o->filter, why) : NULL;
	bool wants = o->sort == COL_AGE || (f && filter_wants_ages(f));

	filter_free(f);
	return wants;
}
