/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the screen searches for source files, as --source-path says. Main thread. */
#ifndef SRC_RUN_SOURCE_SEARCH_H
#define SRC_RUN_SOURCE_SEARCH_H

#include "src/run/options.h"
#include "src/source/source_cache.h"

/* For source_cache_free. NULL: no memory. */
struct source_cache *source_search_new(const struct options *o);

#endif
