/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --fail-on and --leak-check conclude from the last snapshot. Main thread. */
#ifndef SRC_RUN_VERDICT_H
#define SRC_RUN_VERDICT_H

#include "src/model/snapshot.h"
#include "src/run/options.h"

/* Whether the snapshot has blocks of a class that --fail-on names. `ended`: the launched program
 * has ended. */
bool verdict_failed(const struct snapshot *s, const struct options *o, bool ended);
/*
 * The verdict of --fail-on with its figures: "failed: 456 bytes in 3 definite blocks". NULL without
 * --fail-on; returns buf.
 */
#define VERDICT_MAX 384
const char *verdict_text(
	const struct snapshot *s, const struct options *o, bool ended, char buf[VERDICT_MAX]);
/* Prints a failed verdict in one line on stderr. */
void verdict_print(const struct snapshot *s, const struct options *o, bool ended);
/* The exit status of a report of a file: 0, 1 if the verdict failed, or FAILURE_EXIT if there is
 * none, after a line on stderr. */
int verdict_exit(const struct snapshot *s, const struct options *o);
/* Why there was no leak scan, where that must not pass for a clean result; or NULL. */
const char *verdict_unscanned(const struct snapshot *s, const struct options *o);

#endif
