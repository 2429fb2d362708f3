/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak suspects where no leak scan is possible: call sites that never freed a block. That alone
 * does not make them leaks. Pure.
 */
#ifndef SRC_MODEL_SUSPECTS_H
#define SRC_MODEL_SUSPECTS_H

#include "src/model/snapshot.h"

#define SUSPECTS_MAX 10u

/* Whether to show suspects: a scan was requested but not permitted. NULL: no scan was requested. */
bool suspects_wanted(const struct snap_leaks *l);
/*
 * Fills in indices into s->sites, most live bytes first; returns their number. A site that frees
 * some blocks manages them, and a single block is usually meant to stay.
 */
size_t suspects_find(const struct snapshot *s, uint32_t index[SUSPECTS_MAX]);

#endif
