/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the screen does to the process that it shows (shown.h). Main thread. */
#include "src/run/screen.h"

#include <errno.h>
#include <stdio.h>

#include "src/marks/marks.h"

size_t screen_actions_list(void *run, const struct process_row **rows, size_t *more)
{
	struct run *r = run;

	if (!r->processes)
		r->processes = process_list_new(r->watch);
	return r->processes ? process_list_rows(r->processes, rows, more) : 0;
}

int screen_actions_go(void *run, uint64_t process, char *msg, size_t cap)
{
	struct run *r = run;

	return r->processes ? process_list_show(r->processes, process, msg, cap) : -ESRCH;
}

static struct session *session_now(void *run)
{
	return watch_session(run_shown(run));
}

int screen_actions_mark(void *run, char *msg, size_t cap)
{
	char message[MARKS_MESSAGE_MAX];
	int rc = session_mark(session_now(run), NULL, message);

	snprintf(msg, cap, "%s", message);
	return rc;
}

void screen_actions_mark_name(void *run, unsigned number, const char *name)
{
	marks_name(session_marks(session_now(run)), number, name);
}

void screen_actions_since(void *run, unsigned since, unsigned until)
{
	marks_choose(session_marks(session_now(run)), since, until);
}

static struct source_cache *sources_make(const struct options *o)
{
	struct source_file_dirs dirs = { 0 };
	struct source_cache *made = NULL;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < o->nsource_paths; i++)
		rc = source_file_dirs_add(&dirs, o->source_paths[i]);
	if (rc != -ENOMEM) /* more of them than are looked into: the first ones are */
		made = source_cache_new(&dirs);
	if (!made)
		source_file_dirs_free(&dirs);
	return made;
}

const struct source_text *screen_actions_source_text(void *run, const struct frame *f)
{
	struct run *r = run;

	if (!r->sources)
		r->sources = sources_make(r->options);
	return r->sources ? source_cache_get(r->sources, f->file, f->module->path) : NULL;
}

void screen_actions_source_forget(void *run)
{
	struct run *r = run;

	if (r->sources)
		source_cache_forget(r->sources);
}
