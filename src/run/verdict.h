/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --fail-on and --leak-check make of the last snapshot. */
#ifndef SRC_RUN_VERDICT_H
#define SRC_RUN_VERDICT_H

#include "src/model/snapshot.h"
#include "src/run/options.h"

/* Whether blocks of a class that is not to be there were found. `ended`: the launched program. */
bool verdict_failed(const struct snapshot *s, const struct options *o, bool ended);
/*
 * What --fail-on says of the snapshot, with the figures: "failed: 456 bytes in 3 definite blocks".
 * NULL without --fail-on; returns buf.
 */
#define VERDICT_MAX 384
const char *verdict_text(
	const struct snapshot *s, const struct options *o, bool ended, char buf[VERDICT_MAX]);
/* One that failed, in one line on stderr. */
void verdict_say(const struct snapshot *s, const struct options *o, bool ended);
/* Why nobody looked for leaks, where that must not pass for there being none; or NULL. */
const char *verdict_unseen(const struct snapshot *s, const struct options *o);

#endif
