/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The source files that were looked at last, for the screen: found and read by a thread, so that a
 * disk that does not answer holds nobody up. Main thread.
 */
#ifndef SRC_SOURCE_SOURCE_CACHE_H
#define SRC_SOURCE_SOURCE_CACHE_H

#include "src/source/source_file.h"

struct source_cache;

/* Takes over what `dirs` owns. NULL: no memory; then `dirs` stays the caller's. */
struct source_cache *source_cache_new(const struct source_file_dirs *dirs);
void source_cache_free(struct source_cache *s);
/*
 * The file of that name (sourcefile.h), or NULL while it is being looked for: asked again after
 * source_cache_collect, it is there. Mostly it is at once. Valid until the next call of any of
 * these.
 */
const struct source_text *source_cache_get(
	struct source_cache *s, const char *file, const char *object);
/* They may have changed: all are read again when they are asked for. */
void source_cache_forget(struct source_cache *s);
/* Readable when a file has been read; source_cache_collect takes it, true if so. */
int source_cache_fd(const struct source_cache *s);
bool source_cache_collect(struct source_cache *s);

#endif
