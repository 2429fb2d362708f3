/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Objects that are never unloaded: the executable and what it needs, directly or by others, and
 * what says so itself. To know them matters where recording begins in the middle of a program's
 * life. Under the loader's lock.
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
