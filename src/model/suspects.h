/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where no leak scan was possible, what else makes one look twice: call sites that hold what they
 * ever allocated. Not one of them is a leak for that. Pure.
 */
#ifndef SRC_MODEL_SUSPECTS_H
#define SRC_MODEL_SUSPECTS_H

#include "src/model/snapshot.h"

#define SUSPECTS_MAX 10u

/* Whether that is all there is: of a scan that was asked for, and not allowed. NULL: none was. */
bool suspects_wanted(const struct snap_leaks *l);
/*
 * Fills indices into s->sites, most live bytes first; returns how many. A block that is freed now
 * and then is looked after by somebody, and a single one is mostly meant to stay.
 */
size_t suspects_find(const struct snapshot *s, uint32_t index[SUSPECTS_MAX]);

#endif
