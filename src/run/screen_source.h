/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run as the screen sees and steers it: the functions of struct tui_source (tui/tui.h says what
 * each of them does), whose `screen` is a struct screen_source. The process on the screen is the
 * one that the run watches, or another one that the user went to. Main thread.
 */
#ifndef SRC_RUN_SCREEN_SOURCE_H
#define SRC_RUN_SCREEN_SOURCE_H

#include "src/export/export.h"
#include "src/model/event_line.h"
#include "src/model/leaks.h"
#include "src/model/processes.h"
#include "src/model/settings.h"
#include "src/model/timeline.h"
#include "src/run/run.h"
#include "src/util/term_line.h"

struct screen_source;
struct source_text;

/* Takes over the run. NULL after one line on stderr: the run is closed. */
struct screen_source *screen_source_open(struct run *r);
/* Closes the screen's parts and the run: the exit status that run_close returns. */
int screen_source_close(struct screen_source *s);

struct snapshot *screen_source_tick(void *screen, const char **error);
int screen_source_detail(
	void *screen, const struct snapshot *of, uint32_t site, struct snap_detail *out);
int screen_source_moment_show(void *screen, const struct moment *m, char *msg, size_t cap);
struct snapshot *screen_source_moment_take(void *screen);
const struct timeline *screen_source_timeline(void *screen);
int screen_source_fds(void *screen, struct pollfd *fds, int max);
bool screen_source_ready(void *screen);
uint64_t screen_source_now(void *screen);

/* The terminal of a launched program; NULL: it has none of its own. */
struct output *screen_source_output(const struct screen_source *s);

/* Saves `rows`, what is shown, with the last leak scan; `e` is filled by
 * screen_source_export_options and the screen. */
void screen_source_export_options(void *screen, struct export_options *e);
int screen_source_save(void *screen, const struct snapshot *rows, const struct export_options *e,
	const char *format, char *msg, size_t cap);

size_t screen_source_processes(void *screen, const struct process_row **rows, size_t *more);
int screen_source_process_show(void *screen, uint64_t id, char *msg, size_t cap);
void screen_source_end(void *screen);
int screen_source_detach(void *screen, bool all, char *msg, size_t cap);
void screen_source_keep(void *screen);
int screen_source_sample(void *screen, const char *text, char *msg, size_t cap);
struct map *screen_source_map(void *screen);
int screen_source_mark(void *screen, char *msg, size_t cap);
void screen_source_mark_name(void *screen, unsigned number, const char *name);
void screen_source_since(void *screen, unsigned since, unsigned until);
const struct source_text *screen_source_text(void *screen, const struct frame *f);
void screen_source_text_forget(void *screen);

int screen_source_events_follow(void *screen, uint32_t site, char *msg, size_t cap);
void screen_source_events_stop(void *screen);
const struct event_lines *screen_source_events(void *screen);

const struct leaks *screen_source_scan_state(void *screen);
int screen_source_scan(void *screen, bool contents, char *msg, size_t cap);
void screen_source_scan_cancel(void *screen);
void screen_source_scan_every(void *screen, uint64_t ns);
bool screen_source_scan_release(void *screen);
int screen_source_suppress(void *screen, const struct snapshot *s, const struct leak_chosen *chosen,
	char *msg, size_t cap);
long screen_source_bytes(void *screen, uint64_t addr, void *out, size_t bytes);

const char *const *screen_source_hide_rules(void *screen, size_t *count);
void screen_source_ages(void *screen, bool wanted);
void screen_source_shares(void *screen, bool wanted);
int screen_source_settings_save(
	void *screen, const struct settings *settings, char *msg, size_t cap);
void screen_source_rules_set(void *screen, const struct settings *settings);

#endif
