/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads heaptop's own JSON report (heaptop-json(5)) back into a snapshot. The file is untrusted:
 * a field that is missing or of another type counts as unknown, and damage ends in a message. Call
 * sites are parsed one by one, so that a large report takes the memory of its snapshot, not of its
 * text as a tree. Not read: memory, marks, groups, unwinds. Main thread.
 */
#ifndef SRC_RECORD_JSON_REPORT_H
#define SRC_RECORD_JSON_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include "src/model/snapshot.h"

#define JSON_REPORT_MESSAGE_MAX 256

/* Whether a file begins as a report does: an object whose first member is "heaptop". */
bool json_report_is(const char *path);
/*
 * The snapshot of a report, with children: one reference, the caller's; it owns all that it points
 * to. All names are resolved. NULL and one line in `message` (JSON_REPORT_MESSAGE_MAX).
 */
struct snapshot *json_report_open(const char *path, char *message);
/* The same from memory; `name` is what messages call it. */
struct snapshot *json_report_parse(const char *text, size_t len, const char *name, char *message);

#endif
