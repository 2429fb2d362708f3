/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Snapshots written out as the options want them: frames, reports, and what the screen shows.
 * Called by main, main thread. What failed is said in one line on stderr.
 */
#ifndef SRC_RUN_REPORT_H
#define SRC_RUN_REPORT_H

#include "src/export/export.h"
#include "src/run/options.h"

/* What exporters take of the options. */
void report_options(struct export_options *e, const struct options *o);
/* Both: 0, or the status to end with. */
int report_frame_put(int fd, const struct snapshot *s, const struct options *o);
/* `memory`: what resident memory is, or NULL. `verdict`: of --fail-on, as the report's last line,
 * or NULL. */
int report_put(int fd, const struct snapshot *s, const struct options *o,
	const struct map_account *memory, const char *verdict);
#endif
