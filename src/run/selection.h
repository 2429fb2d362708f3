/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What of a snapshot, and of its children, is written without a screen: the call sites that the
 * options' filter lets pass, and what they sum them up by. Main thread.
 */
#ifndef SRC_RUN_SELECTION_H
#define SRC_RUN_SELECTION_H

#include "src/model/groups.h"
#include "src/run/options.h"

struct selection {
	const struct snapshot *sites, *rows; /* the same, unless rows sum up sites */
	/* The rest is picture.c's. */
	struct snapshot matching;
	struct snap_site *room;
	struct groups groups;
	struct selection *child; /* as many as the snapshot has */
	const struct snapshot **children; /* their sites, then their rows */
	size_t count;
};

/* Without memory for it, more is shown than was asked for. Valid as long as `s`. */
void selection_make(struct selection *v, const struct snapshot *s, const struct options *o);
void selection_free(struct selection *v);
/* Whether it needs to be known how old blocks are. */
bool selection_wants_ages(const struct options *o);
/* Or who allocates. */
bool selection_wants_threads(const struct options *o);

#endif
