/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pointers inside blocks to something that points back. Members of lists by a link inside them:
 * Linux' list_head, Wayland's wl_list, the BSDs' TAILQ of what is part of something else, as
 * libevent's callbacks are; where such a list is all that knows a block, a pointer inside it is all
 * there is. A link is two words, one of which leads back to where the pointer to it lies. And heads
 * that lie behind what they tell of, and point to it, as those of sqlite's pages: one of the first
 * two words is the start of their own block. And members whose links, next and previous, come one
 * or two words behind where pointers to them go, as in GLib's lists and slabs: a neighbor's link is
 * the same pointer. A number that only looks like a pointer would go to no such words. Pure, but
 * for what it asks `m`; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_BACKLINKS_H
#define SRC_LEAK_ANALYSIS_BACKLINKS_H

#include "src/leak/analysis/graph.h"

/*
 * After leak_graph_explain, while the memory is as it was scanned: looks for such among the
 * pointers inside that nothing explains, and marks these LEAK_BY_BACKLINK; those to shapes that
 * prove themselves (shapes.h) by the rule of these. Where there are
 * thousands, it looks at those of blocks that are not reachable without, and of one place in blocks
 * at some hundreds at most: learn.h learns it from them. Without memory it finds none.
 */
void leak_backlinks_explain(struct leak_graph *g, const struct leak_memory *m);

#endif
