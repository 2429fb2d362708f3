/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The source files shown last on the screen. A thread finds and reads them, so that a disk that
 * does not answer blocks nothing. Main thread.
 */
#ifndef SRC_SOURCE_SOURCE_CACHE_H
#define SRC_SOURCE_SOURCE_CACHE_H

#include "src/source/source_file.h"

struct source_cache;

/* Takes over what `dirs` owns. NULL: out of memory; then `dirs` stays the caller's. */
struct source_cache *source_cache_new(const struct source_file_dirs *dirs);
void source_cache_free(struct source_cache *s);
/*
 * The file of that name (source_file.h), or NULL while it is being found; call again after
 * source_cache_collect. Usually it is there at once. Valid until the next call of any of these.
 */
const struct source_text *source_cache_get(
	struct source_cache *s, const char *file, const char *object);
/* The files may have changed: each is read again on its next request. */
void source_cache_forget(struct source_cache *s);
/* Readable when a file has been read; source_cache_collect takes it, true if so. */
int source_cache_fd(const struct source_cache *s);
bool source_cache_collect(struct source_cache *s);

#endif
