/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Interior pointers to structures that point back. A number that only looks like a pointer would
 * not go to such words.
 *
 * List members with a link inside them: Linux' list_head, Wayland's wl_list, the BSDs' TAILQ
 * embedded in another structure, as in libevent's callbacks. Where such a list alone knows a block,
 * there is only the interior pointer. A link is two words, one of which leads back to where the
 * pointer lies.
 *
 * Headers that follow what they describe, and point to it, as sqlite's page headers: one of the
 * first two words is the start of their own block.
 *
 * Members whose links, next and previous, follow one or two words after the place that pointers go
 * to, as in GLib's lists and slabs: a neighbor's link is the same pointer.
 *
 * Pure, but for what it reads by `m`; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_BACKLINKS_H
#define SRC_LEAK_ANALYSIS_BACKLINKS_H

#include "src/leak/analysis/graph.h"

/*
 * After leak_graph_explain, while the memory is as it was scanned: finds such structures among the
 * unexplained interior pointers and marks these LEAK_BY_BACKLINK; pointers to shapes that prove
 * themselves (known_layouts.h) get those rules. With thousands of pointers, it checks only those to
 * blocks that are not reachable otherwise, and at most some hundreds to one offset:
 * learned_offsets.h learns the offset from them. Out of memory, it finds none.
 */
void leak_backlinks_explain(struct leak_graph *g, const struct leak_memory *m);

#endif
