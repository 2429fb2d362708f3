/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where frames and reports go: the file of -o, or the mode's own stream. Called by main, main
 * thread. Says itself what failed, in one line on stderr.
 */
#ifndef SRC_RUN_OUTPUT_FILE_H
#define SRC_RUN_OUTPUT_FILE_H

#include "src/run/options.h"
#include "src/util/strbuf.h"

/* The file of -o, emptied, or `stream` without. -1: it cannot be written, or is yet to be read. */
int output_file_open(const struct options *o, int stream);

/* Writes all of a text and frees it. 0, or -errno. */
int output_file_put(int fd, struct strbuf *text, const struct options *o);

#endif
