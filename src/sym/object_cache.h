/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The object files that names come from, each once however many programs have it mapped: one with
 * the same path, the same build-id and, now, the same file behind the path is the same. They are
 * opened when an address is asked for, and when their debug information takes too much memory,
 * those longest unused are closed again. Worker thread of the symboliser.
 */
#ifndef SRC_SYM_SOURCES_H
#define SRC_SYM_SOURCES_H

#include "src/sym/debugfile.h"
#include "src/sym/object_file.h"
#include "src/sym/sym_types.h"

struct object_cache;
struct cached_object;

/* `dirs` and what it points to must outlive it. NULL: no memory. */
struct object_cache *object_cache_new(const struct debugfile_dirs *dirs);
void object_cache_free(struct object_cache *s);
/* NULL: no memory. It stays until object_cache_free. */
struct cached_object *object_cache_find(struct object_cache *s, const struct sym_module *m);
/* Its object, open until the next call; NULL: no memory. */
struct object_file *object_cache_open(struct object_cache *s, struct cached_object *c);
/* SYM_PENDING until its object was opened. */
enum sym_quality object_cache_quality(const struct cached_object *c);

#endif
