/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --fail-on and --leak-check make of the last snapshot. Pure. */
#ifndef SRC_VERDICT_H
#define SRC_VERDICT_H

#include "src/model/snapshot.h"
#include "src/options.h"

/* Whether blocks of a class that is not to be there were found. `ended`: the launched program. */
bool verdict_failed(const struct snapshot *s, const struct options *o, bool ended);
/* Why nobody looked for leaks, where that must not pass for there being none; or NULL. */
const char *verdict_unseen(const struct snapshot *s, const struct options *o);

#endif
