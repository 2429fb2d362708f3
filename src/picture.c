/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filtered and grouped, for frames and reports (picture.h). Main thread. */
#include "src/picture.h"

#include <stdlib.h>

#include "src/model/filter.h"

void picture_make(struct picture *v, const struct snapshot *s, const struct options *o)
{
	char why[FILTER_WHY_MAX];
	struct filter *f = o->filter ? filter_parse(o->filter, why) : NULL;
	struct groups_wish wish = { .by = o->group, .show_hidden = o->show_hidden, .filter = f };
	size_t room = 0;

	*v = (struct picture){ .sites = s };
	if (f && filter_apply(f, s, o->show_hidden, &v->matching, &v->room, &room) == 0)
		v->sites = &v->matching;
	v->rows = v->sites;
	if (o->group != GROUP_STACK && groups_make(&v->groups, s, &wish) == 0)
		v->rows = &v->groups.snap;
	filter_free(f);
}

void picture_free(struct picture *v)
{
	free(v->room);
	groups_free(&v->groups);
}

bool picture_wants_threads(const struct options *o)
{
	char why[FILTER_WHY_MAX];
	struct filter *f = o->filter ? filter_parse(o->filter, why) : NULL;
	bool wants = o->group == GROUP_THREAD || o->format == OPTIONS_JSON ||
		     (f && filter_wants_threads(f));

	filter_free(f);
	return wants;
}

bool picture_wants_ages(const struct options *o)
{
	char why[FILTER_WHY_MAX];
	struct filter *f = o->filter ? filter_parse(o->filter, why) : NULL;
	bool wants = o->sort == COL_AGE || (f && filter_wants_ages(f));

	filter_free(f);
	return wants;
}
