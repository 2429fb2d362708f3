/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A snapshot that the user saves from the screen. Main thread. */
#ifndef SRC_RUN_SNAPSHOT_FILE_H
#define SRC_RUN_SNAPSHOT_FILE_H

#include "src/export/export.h"

/* The formats, ended by NULL; the first is the usual one. Static. */
const char *const *snapshot_file_formats(void);

/*
 * Writes a new file in the current directory, heaptop-snapshot-PID-N with the first N that is free
 * and the format's suffix: the rows `s` as a text report, or the whole snapshot (e->whole) in
 * another format. `format` NULL: the usual one. 0 or -errno, and a line in `msg` that says where,
 * and what opens it again, or why not: then there is no file.
 */
int snapshot_file_save(const struct snapshot *s, const struct export_options *e, const char *format,
	char *msg, size_t cap);

#endif
