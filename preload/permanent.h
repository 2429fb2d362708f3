/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Objects that are never unloaded: the executable, the libraries that it needs directly or
 * indirectly, and objects marked so (nodelete). They must be known if recording begins while the
 * program runs. Under the loader's lock.
 */
#ifndef PRELOAD_PERMANENT_H
#define PRELOAD_PERMANENT_H

#include <link.h>
#include <stdbool.h>

/* Finds them among what is loaded now. */
void permanent_find(void);
/* Whether an object of dl_iterate_phdr's list is one. */
bool permanent_is(const struct dl_phdr_info *info);

#endif
