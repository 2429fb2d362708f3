/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of ld.so (loader_blocks.h). */
#include "src/leak/analysis/loader_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_loader(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld-2.", 5) == 0 ||
	       strncmp(name, "ld.so", 5) == 0 || strncmp(name, "ld-musl", 7) == 0;
}

/* Most sites are of the same module as the one before. */
struct last_module {
	uint32_t module; /* 0: none */
	bool is_loader;
};

/* The frame that allocated decides; an ancestor's site does not have it. */
static bool is_loaders_site(
	struct read_segment *segment, const struct read_site *site, struct last_module *last)
{
	struct read_frame frame;
	struct read_module module;
	uint32_t function;

	if ((site->flags & HT_SITE_ANCESTOR) != 0 ||
		read_stack(segment, site->node, &frame, 1, &function) <= 0 || frame.module == 0)
		return false;
	if (frame.module != last->module) {
		last->module = frame.module;
		last->is_loader =
			read_module(segment, frame.module, &module) == 0 && is_loader(module.path);
	}
	return last->is_loader;
}

int leak_loader_blocks_mark(struct read_segment *segment, struct leak_graph *g)
{
	struct read_totals totals;
	struct read_site *site = NULL;
	struct last_module last = { 0 };
	bool *is_loaders = NULL;
	ssize_t n = read_totals(segment, &totals);

	if (n == 0) {
		site = calloc(totals.sites + 1u, sizeof(*site));
		is_loaders = calloc(totals.sites + 1u, sizeof(*is_loaders));
		n = site && is_loaders ? read_sites(segment, 0, site, totals.sites) : -ENOMEM;
	}
	for (ssize_t i = 1; i < n; i++)
		is_loaders[i] = is_loaders_site(segment, &site[i], &last);
	for (uint32_t i = 0; n >= 0 && i < g->blocks->count; i++)
		if (g->blocks->block[i].site < (uint32_t)n && is_loaders[g->blocks->block[i].site])
			leak_graph_root_rule(g, i, LEAK_BY_LOADER);
	free(site);
	free(is_loaders);
	return n < 0 ? (int)n : 0;
}
