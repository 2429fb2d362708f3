/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call stacks that a full tree counts at ancestors (HT_SITE_ANCESTOR), those for which the viewer
 * itself has no room, and the notice about either. Main thread.
 */
#ifndef SRC_SESSION_ANCESTORS_H
#define SRC_SESSION_ANCESTORS_H

#include "src/model/model.h"
#include "src/read/read.h"

struct ancestors {
	uint64_t allocs, live_bytes; /* counted at ancestors */
	uint64_t kept; /* sites with a stack of their own */
	uint64_t folded; /* sites that the viewer has no room for, or whose stacks it cannot read */
	bool is_full; /* it has no room */
	char notice[160];
};

/* A new reading: begin, then add each site that has allocated. */
void ancestors_begin(struct ancestors *a);
void ancestors_add(struct ancestors *a, const struct read_site *site);
void ancestors_fill(const struct ancestors *a, struct snap_totals *out);
/* NULL: all stacks had room. Valid until the next call. */
const char *ancestors_notice(struct ancestors *a);

/* Adds the counts of sites that the model does not have to those of site 0, and clears them: so the
 * sums over the sites are right, whatever can be read of stacks. */
void ancestors_fold(
	struct ancestors *a, const struct model *model, struct read_site *sites, uint32_t count);

#endif
