/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Object files that name roots, kept from scan to scan, since reading their symbols and debug
 * information takes longer than scanning a small heap. A file that changed counts as a new one. A
 * file that several scans in a row did not use, such as that of an unloaded library, is freed.
 * Any thread; one scan at a time uses the store, and others work without it.
 */
#ifndef SRC_LEAK_NAMES_OBJECT_STORE_H
#define SRC_LEAK_NAMES_OBJECT_STORE_H

#include "src/sym/object_cache.h"

struct leak_object_store;

/* NULL: out of memory. */
struct leak_object_store *leak_object_store_new(void);
/* No scan uses it. May be NULL. */
void leak_object_store_free(struct leak_object_store *s);
/*
 * For one scan, until leak_object_store_end: copies `dirs`, whose texts and flag last until then.
 * False: another scan uses it. `s` may be NULL: false.
 */
bool leak_object_store_begin(struct leak_object_store *s, const struct debugfile_dirs *dirs);
/* What is at a path of the process, until the scan's end; NULL: out of memory. */
struct cached_object *leak_object_store_find(struct leak_object_store *s, const char *path);
/* Its object file, until the next call; NULL: out of memory. */
struct object_file *leak_object_store_open(
	struct leak_object_store *s, struct cached_object *found);
/* Keeps nothing if dirs->stop is set, since what was read may lack something. */
void leak_object_store_end(struct leak_object_store *s);

#endif
