/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks that are members of lists by a link inside them: Linux' list_head, Wayland's wl_list, the
 * BSDs' TAILQ of members that are part of something else, libevent's callbacks. Where such a list
 * is all that knows a block, a pointer inside it is all there is. What tells a link from a number:
 * it is two words, one of which points back to where the pointer to it lies. Pure, but for what it
 * asks `m`; one thread.
 */
#ifndef SRC_LEAK_LISTS_H
#define SRC_LEAK_LISTS_H

#include "src/leak/graph.h"

/*
 * After leak_graph_explain, while the memory is as it was scanned: looks for links among the
 * pointers to blocks that have none to their start, and marks these pointers LEAK_BY_LIST. Of one
 * place in blocks it looks at some hundreds at most; learn.h learns it from those. Without memory
 * it finds none.
 */
void leak_lists_explain(struct leak_graph *g, const struct leak_memory *m);

#endif
