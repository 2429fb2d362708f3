/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A leak scan's result in the JSON report. Pure; main thread. */
#ifndef SRC_EXPORT_JSON_LEAKS_H
#define SRC_EXPORT_JSON_LEAKS_H

#include "src/export/export.h"
#include "src/export/writer.h"

/* The member "leaks"; nothing if no scan was requested. */
void json_leaks(struct writer *w, const struct snapshot *s, const struct export_options *o);

#endif
