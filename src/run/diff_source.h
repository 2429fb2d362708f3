/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A diff on the screen: the functions of struct tui_source (tui/tui.h says what each of them does)
 * that a diff has, whose context is a struct diff_source. The snapshot is always the same one. Main
 * thread.
 */
#ifndef SRC_RUN_DIFF_SOURCE_H
#define SRC_RUN_DIFF_SOURCE_H

#include <stdint.h>
#include "src/run/diff_run.h"

struct diff_source;

/* Takes over the diff. NULL after one line on stderr: it is freed. */
struct diff_source *diff_source_open(struct diff_run *r, const struct options *o);
void diff_source_close(struct diff_source *s);

struct snapshot *diff_source_tick(void *source, const char **error);
uint64_t diff_source_now(void *source);

#endif
