/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of jumps from the program's code to the library, as the viewer reads it
 * (shm/attached.h): the viewer writes them when it attaches, and removes them when it detaches. At
 * start, and under the loader's lock.
 */
#ifndef PRELOAD_JUMPS_H
#define PRELOAD_JUMPS_H

#include "preload/patch/entry.h"
#include "shm/attached.h"

/* Found by name, from outside. */
extern struct ht_attached heaptop_attached;

/* Before the jump is written. False: there is no room. */
bool jumps_add(const struct entry *e);
/* It is gone: its object is, or it could not be written. */
void jumps_drop(const struct entry *e);
void jumps_clear(void);

#endif
