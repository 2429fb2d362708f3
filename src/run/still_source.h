/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A single snapshot as the screen sees it, of a JSON report, a recording of all events or a diff:
 * the functions of struct tui_source (tui/tui.h says what each of them does), whose `screen` is a
 * struct still_source. Main thread.
 */
#ifndef SRC_RUN_STILL_SOURCE_H
#define SRC_RUN_STILL_SOURCE_H

#include <poll.h>
#include "src/export/export.h"
#include "src/model/timeline.h"
#include "src/run/options.h"

struct still_source;
struct source_text;

/* Takes over the reference. NULL after one line on stderr: it is dropped. */
struct still_source *still_source_open(struct snapshot *shown, const struct options *o);
void still_source_close(struct still_source *s);

struct snapshot *still_source_tick(void *screen, const char **error);
int still_source_detail(
	void *screen, const struct snapshot *of, uint32_t site, struct snap_detail *out);
int still_source_moment_show(void *screen, const struct moment *m, char *msg, size_t cap);
int still_source_fds(void *screen, struct pollfd *fds, int max);
bool still_source_ready(void *screen);
uint64_t still_source_now(void *screen);
const struct source_text *still_source_text(void *screen, const struct frame *f);
void still_source_text_forget(void *screen);
/* As screen_source_save. */
void still_source_export_options(void *screen, struct export_options *e);
int still_source_save(void *screen, const struct snapshot *rows, const struct export_options *e,
	const char *format, char *msg, size_t cap);

#endif
