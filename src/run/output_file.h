/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The output of frames and reports: the file of -o, or the mode's own stream. Prints its own
 * failures, in one line on stderr. Main thread.
 */
#ifndef SRC_RUN_OUTPUT_FILE_H
#define SRC_RUN_OUTPUT_FILE_H

#include "src/run/options.h"
#include "src/util/strbuf.h"

/* Opens and empties the file of -o; returns `stream` without -o. -1: the file cannot be written, or
 * is an input. */
int output_file_open(const struct options *o, int stream);

/* Writes the whole text and frees it. 0, or -errno. */
int output_file_put(int fd, struct strbuf *text, const struct options *o);

#endif
