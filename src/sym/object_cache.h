/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The object files that provide names, each once for all programs that map it: the same path,
 * build-id and file identity mean the same object. A file is opened when one of its addresses is
 * requested. When the debug information takes too much memory, the least recently used files are
 * closed. One thread at a time: the symboliser's worker, or a scan (src/leak/names).
 */
#ifndef SRC_SYM_OBJECT_CACHE_H
#define SRC_SYM_OBJECT_CACHE_H

#include "src/sym/debugfile.h"
#include "src/sym/object_file.h"
#include "src/sym/sym_types.h"

struct object_cache;
struct cached_object;

/* `dirs` and what it points to must outlive it. NULL: out of memory. */
struct object_cache *object_cache_new(const struct debugfile_dirs *dirs);
void object_cache_free(struct object_cache *s);
/* NULL: out of memory. Valid until object_cache_free, or until object_cache_round frees it. */
struct cached_object *object_cache_find(struct object_cache *s, const struct sym_module *m);
/* Opens its object file, until the next call; NULL: out of memory. */
struct object_file *object_cache_open(struct object_cache *s, struct cached_object *c);
/* Begins a round. Frees the objects that no call of the last `rounds` rounds asked for, and closes
 * the least recently used while the others have more than `bytes` of debug information; 0: closes
 * all. */
void object_cache_round(struct object_cache *s, unsigned rounds, uint64_t bytes);
/* SYM_PENDING until it was opened. */
enum sym_quality object_cache_quality(const struct cached_object *c);

#endif
