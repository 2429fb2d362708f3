/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The source files that were looked at last, for the screen: found and read by a thread, so that a
 * disk that does not answer holds nobody up. Main thread.
 */
#ifndef SRC_SOURCE_SOURCE_CACHE_H
#define SRC_SOURCE_SOURCE_CACHE_H

#include "src/source/source_file.h"

struct sourcecache;

/* Takes over what `dirs` owns. NULL: no memory; then `dirs` stays the caller's. */
struct sourcecache *sourcecache_new(const struct source_dirs *dirs);
void sourcecache_free(struct sourcecache *s);
/*
 * The file of that name (sourcefile.h), or NULL while it is being looked for: asked again after
 * sourcecache_collect, it is there. Mostly it is at once. Valid until the next call of any of
 * these.
 */
const struct source_text *sourcecache_get(
	struct sourcecache *s, const char *file, const char *object);
/* They may have changed: all are read again when they are asked for. */
void sourcecache_forget(struct sourcecache *s);
/* Readable when a file has been read; sourcecache_collect takes it, true if so. */
int sourcecache_fd(const struct sourcecache *s);
bool sourcecache_collect(struct sourcecache *s);

#endif
