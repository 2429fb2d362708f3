/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Selects what of a snapshot and its children is written without a screen: the call sites that pass
 * the options' filter, and the groups that sum them up. Main thread.
 */
#ifndef SRC_RUN_SELECTION_H
#define SRC_RUN_SELECTION_H

#include "src/model/groups.h"
#include "src/run/options.h"

struct selection {
	const struct snapshot *sites, *rows; /* the same, unless rows are groups of sites */
	const struct snapshot *whole; /* without the filter */
	/* The rest is private to selection.c. */
	struct snapshot *ignoring; /* one reference; NULL: nothing is ignored */
	struct snapshot matching;
	struct snap_site *site;
	struct groups groups;
	struct selection *child; /* one for each child of the snapshot */
	const struct snapshot **children; /* their sites, then their rows */
	size_t count;
};

/* Without memory, unfiltered or ungrouped sites are selected. Valid as long as `s`, which may be
 * referred to. */
void selection_make(struct selection *v, const struct snapshot *s, const struct options *o);
void selection_free(struct selection *v);
/* Whether the options need the ages of blocks. */
bool selection_wants_ages(const struct options *o);
/* Whether they need the allocating threads. */
bool selection_wants_threads(const struct options *o);

#endif
