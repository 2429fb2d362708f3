/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes snapshots as the options ask: as frames or as reports. Prints failures in one line on
 * stderr. Main thread.
 */
#ifndef SRC_RUN_REPORT_H
#define SRC_RUN_REPORT_H

#include "src/export/export.h"
#include "src/run/options.h"

/* Fills in what exporters take from the options. */
void report_options(struct export_options *e, const struct options *o);
/* Both return 0, or the exit status. */
int report_frame_put(int fd, const struct snapshot *s, const struct options *o);
/* What a report may have besides its snapshot. */
struct report_parts {
	const struct map_account *memory; /* the composition of resident memory, or NULL */
	const char *verdict; /* of --fail-on, for the report's last line, or NULL */
	const struct timeline *timeline; /* what is kept of the past, or NULL */
	const struct export_launch *launch; /* launch_report_make, or NULL */
	bool runs; /* the program does: what it has not freed yet is no failure */
};
int report_put(int fd, const struct snapshot *s, const struct options *o,
	const struct report_parts *parts);

#endif
