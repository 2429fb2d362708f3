/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folded stacks, one line each: "main;f;g 4096", outermost frame first. That is what flamegraph.pl,
 * inferno, speedscope and many others read.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "src/export/formats.h"
#include "src/export/stack_tree.h"

/* A semicolon separates frames, so that names cannot have one. */
static void folded_name(struct strbuf *out, const char *name)
{
	for (; *name; name++)
		strbuf_putc(out, *name == ';' ? ':' : *name);
}

static void folded_line(struct strbuf *out, const struct profile *p, const struct stack_tree *t,
	uint32_t leaf, uint32_t *path)
{
	uint32_t n = 0;

	for (uint32_t i = leaf; i != STACK_TREE_ROOT; i = t->node[i].parent)
		path[n++] = t->node[i].frame;
	while (n-- > 0) {
		folded_name(out, p->frames[path[n]].name);
		strbuf_putc(out, n ? ';' : ' ');
	}
	strbuf_printf(out, "%" PRIu64 "\n", t->node[leaf].self);
}

void export_folded(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	struct stack_tree t;
	struct profile p;
	uint32_t *path;

	profile_open(&p, s, o, 0, NAMES_FULL);
	out->failed |= stack_tree_make(&t, &p, o->value, false) != 0;
	path = malloc((t.count + 1) * sizeof(*path));
	out->failed |= !path;
	for (uint32_t i = 1; path && i < t.count; i++)
		if (t.node[i].self)
			folded_line(out, &p, &t, i, path);
	free(path);
	stack_tree_free(&t);
	profile_free(&p);
}
