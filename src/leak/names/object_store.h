/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Object files that name roots, kept from scan to scan: to read their symbols and debug information
 * takes longer than to scan a small heap. A file that changed is another one; one that several
 * scans in a row did not ask for, such as that of a library that was closed, is freed. Any thread;
 * one scan at a time uses it, and others do without.
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
