/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A snapshot that the user saves from the screen. Main thread. */
#ifndef SRC_RUN_SNAPSHOT_FILE_H
#define SRC_RUN_SNAPSHOT_FILE_H

#include "src/export/export.h"
#include "src/run/options.h"

/*
 * Writes `s` as a text report to a new file in the current directory,
 * heaptop-snapshot-PID-N.txt with the first N that is free. 0 or -errno, and a line in `msg` that
 * says where, or why not.
 */
int snapshot_file_save(const struct snapshot *s, const struct export_options *e,
	const struct options *o, char *msg, size_t cap);

#endif
