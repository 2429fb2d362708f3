/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of --suppressions. Main thread. */
#ifndef SRC_RUN_SUPPRESSION_FILES_H
#define SRC_RUN_SUPPRESSION_FILES_H

#include "src/leak/analysis/suppressions.h"
#include "src/run/options.h"

/* Reads them, before anything is started, so that an error in one is reported first. *out: their
 * rules; unchanged without any. 0, or after one line on stderr the exit status. */
int suppression_files_load(const struct options *o, struct suppressions **out);

#endif
