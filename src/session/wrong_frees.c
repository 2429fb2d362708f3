/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wrong frees of a segment in snapshots (wrong_frees.h). Main thread. */
#include "src/session/wrong_frees.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "src/util/shortage.h"

static_assert((int)SNAP_WRONG_KINDS == (int)HT_WRONG_KINDS &&
		      (int)SNAP_WRONG_SIZED == (int)HT_WRONG_SIZED,
	"snap_wrong_kind");

static int by_count(const void *a, const void *b)
{
	const struct snap_wrong_free *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->site != y->site
		       ? (x->site > y->site) - (x->site < y->site)
		       : (x->alloc_site > y->alloc_site) - (x->alloc_site < y->alloc_site);
}

/* The stack of a site, which may be known to nothing else. NULL: unknown. */
static const struct stack *stack_of(
	struct stack_registration *r, const struct model *m, uint32_t site, const char **function)
{
	*function = NULL;
	if (site == 0)
		return NULL;
	stack_registration_add(r, site);
	return model_site_stack(m, site, function);
}

static bool room_make(struct wrong_frees *w)
{
	if (!w->read)
		w->read = malloc(sizeof(*w->read));
	if (!w->list)
		w->list = calloc(HT_WRONG_MOST, sizeof(*w->list));
	shortage_note(w->read && w->list ? 0 : ENOMEM);
	return w->read && w->list;
}

void wrong_frees_fill(struct wrong_frees *w, struct read_segment *segment, uint32_t sites,
	struct stack_registration *registration, struct model *model, struct snapshot *head)
{
	if (!room_make(w) || read_wrong_frees(segment, sites, w->read) != 0)
		return;
	for (unsigned i = 0; i < SNAP_WRONG_KINDS; i++)
		head->totals.wrong_frees[i] = w->read->count[i];
	head->totals.has_wrong = true;
	head->totals.wrong_unlisted = w->read->refused;
	for (uint32_t i = 0; i < w->read->entries; i++) {
		const struct read_wrong_free *in = &w->read->entry[i];
		struct snap_wrong_free *out = &w->list[i];

		*out = (struct snap_wrong_free){ .kind = (enum snap_wrong_kind)in->kind,
			.count = in->count,
			.bytes = in->bytes,
			.addr = in->addr,
			.offset = in->offset,
			.want = in->want,
			.site = in->site,
			.alloc_site = in->alloc_site,
			.first_site = in->first_site };
		out->stack = stack_of(registration, model, in->site, &out->freed_by);
		out->alloc_stack =
			stack_of(registration, model, in->alloc_site, &out->allocated_by);
		out->first_stack =
			stack_of(registration, model, in->first_site, &out->first_freed_by);
	}
	qsort(w->list, w->read->entries, sizeof(*w->list), by_count);
	head->wrong = w->list;
	head->nwrong = w->read->entries;
}

void wrong_frees_free(struct wrong_frees *w)
{
	free(w->read);
	free(w->list);
}
