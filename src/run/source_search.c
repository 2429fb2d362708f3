/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the screen searches for source files (source_search.h). Main thread. */
#include "src/run/source_search.h"

#include <errno.h>

struct source_cache *source_search_new(const struct options *o)
{
	struct source_file_dirs dirs = { 0 };
	struct source_cache *made = NULL;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < o->nsource_paths; i++)
		rc = source_file_dirs_add(&dirs, o->source_paths[i]);
	if (rc != -ENOMEM) /* -E2BIG and the like: the first directories are searched */
		made = source_cache_new(&dirs);
	if (!made)
		source_file_dirs_free(&dirs);
	return made;
}
