/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording as the screen sees it: the functions of struct tui_source (tui/tui.h says what each
 * of them does), whose `screen` is a struct replay_source. "Now" is the recording's end. Main
 * thread.
 */
#ifndef SRC_RUN_REPLAY_SOURCE_H
#define SRC_RUN_REPLAY_SOURCE_H

#include <poll.h>

#include "src/export/export.h"
#include "src/model/leaks.h"
#include "src/model/processes.h"
#include "src/model/settings.h"
#include "src/model/timeline.h"
#include "src/run/options.h"

struct replay_source;
struct source_text;

/* Opens the recording at the moment that the options name. 0, or after one line on stderr the exit
 * status to end with. */
int replay_source_open(struct replay_source **out, const struct options *o);
void replay_source_close(struct replay_source *s);

struct snapshot *replay_source_tick(void *screen, const char **error);
/* -ENODATA: a recording has no histograms of call sites. */
int replay_source_detail(
	void *screen, const struct snapshot *of, uint32_t site, struct snap_detail *out);
int replay_source_fds(void *screen, struct pollfd *fds, int max);
bool replay_source_ready(void *screen);
uint64_t replay_source_now(void *screen);
/* The moment on the screen, and what there is. */
int replay_source_moment_show(void *screen, const struct moment *m, char *msg, size_t cap);
struct snapshot *replay_source_moment_take(void *screen);
const struct timeline *replay_source_timeline(void *screen);
void replay_source_since(void *screen, unsigned since, unsigned until);
void replay_source_mark_name(void *screen, unsigned number, const char *name);
/* The process images of the recording. */
size_t replay_source_processes(void *screen, const struct process_row **rows, size_t *more);
int replay_source_process_show(void *screen, uint64_t id, char *msg, size_t cap);
void replay_source_export_options(void *screen, struct export_options *e);
int replay_source_save(void *screen, const struct snapshot *rows, const struct export_options *e,
	const char *format, char *msg, size_t cap);
/* The leak scan that was recorded. */
bool replay_source_has_leaks(const struct replay_source *s);
const struct leaks *replay_source_scan_state(void *screen);
const struct source_text *replay_source_text(void *screen, const struct frame *f);
void replay_source_text_forget(void *screen);

#endif
