/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans of a launch's other processes (leak_children.h). */
#include "src/run/leak_children.h"

#include <stdlib.h>
#include <string.h>

#include "src/run/leak_scans.h"
#include "src/scan/leak_summary.h"
#include "src/scan/scan_job.h"
#include "src/util/clock.h"

struct child {
	char *path; /* of its segment; the session may be closed first, and its address reused */
	struct leak_summary *result; /* the last successful scan, or the only one */
	bool ended; /* its scan at the end has begun */
	struct scan_job *job; /* that scan */
	uint64_t due_ns; /* the next periodic scan, if there are any */
	/* For the snapshots of one round. */
	unsigned number;
	struct snap_leaks shown;
	struct snap_leak_round round[2];
};

struct leak_children {
	struct run *run;
	struct leak_progress *progress;
	size_t count;
	struct child child[PROCESS_TREE_MEMBERS_MAX];
};

struct leak_children *leak_children_new(struct run *r, struct leak_progress *progress)
{
	struct leak_children *l = calloc(1, sizeof(*l));

	if (l)
		l->run = r, l->progress = progress;
	return l;
}

/* NULL: it was not scanned yet. */
static struct child *child_find(struct leak_children *l, const struct session *s)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->child[i].path, session_path(s)) == 0)
			return &l->child[i];
	return NULL;
}

/* NULL: the table is full, or there is no memory. */
static struct child *child_of(struct leak_children *l, const struct session *s)
{
	struct child *found = child_find(l, s);

	if (found)
		return found;
	if (l->count == PROCESS_TREE_MEMBERS_MAX)
		return NULL;
	found = &l->child[l->count];
	found->path = strdup(session_path(s));
	l->count += found->path != NULL;
	return found->path ? found : NULL;
}

static struct leak_scan_options request_make(const struct leak_children *l, const struct session *s)
{
	struct leak_scan_options request = leak_scans_options(l->run, s);

	request.progress = l->progress;
	return request;
}

/* Stores a result. A failed one is kept only if there is no other. True: the scan succeeded. */
static bool result_take(struct child *c, struct session *s, struct leak_summary *result)
{
	if (!result || (c->result && leak_summary_result(result)->failed)) {
		leak_summary_free(result);
		return false;
	}
	leak_summary_compare(result, c->result);
	session_leaks(s, leak_summary_result(result));
	leak_summary_free(c->result);
	c->result = result;
	return !leak_summary_result(result)->failed;
}

static void scan_now(struct leak_children *l, struct session *s, struct child *c)
{
	struct leak_scan_options request = request_make(l, s);

	result_take(c, s, leak_summary_run(session_segment(s), &request));
	c->ended = true;
}

static void scan_at_exit(struct leak_children *l, struct session *s, struct child *c)
{
	struct leak_scan_options request = request_make(l, s);

	request.at_exit = true;
	request.copying = LEAK_COPY_NEVER; /* stopping it costs nothing at its end */
	c->ended = true;
	c->job = scan_job_start(session_path(s), &request, false);
	if (c->job)
		return;
	result_take(c, s, leak_summary_failed("no leak scan: no thread could be started"));
	read_exit_scan_done(session_segment(s));
}

/* Stores the result of the scan, and waits for it if it has not ended. */
static void job_take(struct child *c, struct session *s)
{
	struct leak_summary *result = scan_job_take(c->job);

	scan_job_free(c->job);
	c->job = NULL;
	result_take(c, s, result);
}

static void child_check(void *ctx, struct session *s)
{
	struct leak_children *l = ctx;
	struct child *c = child_find(l, s);

	if (c && c->job && scan_job_ended(c->job))
		job_take(c, s);
	if (!session_alive(s) || !read_exit_scan_is_waiting(session_segment(s)))
		return;
	c = child_of(l, s);
	if (!c)
		read_exit_scan_done(session_segment(s)); /* the table is full */
	else if (!c->ended)
		scan_at_exit(l, s, c);
}

/* Its destructors may never return. */
static bool is_still_ending(const struct child *c)
{
	return c->job && scan_job_progress(c->job)->phase == LEAK_EXITING;
}

static void child_finish(void *ctx, struct session *s)
{
	struct leak_children *l = ctx;
	struct child *c;

	child_check(ctx, s);
	c = child_find(l, s);
	if (c && is_still_ending(c)) {
		scan_job_cancel(c->job);
		scan_job_free(c->job);
		c->job = NULL;
		c->ended = false;
	} else if (c && c->job) {
		job_take(c, s);
	}
	c = session_alive(s) ? child_of(l, s) : NULL;
	if (c && !c->ended)
		scan_now(l, s, c);
}

void leak_children_cancel(struct leak_children *l)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->child[i].job)
			scan_job_cancel(l->child[i].job);
}

void leak_children_scan(struct leak_children *l)
{
	if (run_child(l->run))
		process_tree_members(run_watch(l->run), child_check, l);
}

void leak_children_finish(struct leak_children *l)
{
	if (run_child(l->run))
		process_tree_members(run_watch(l->run), child_finish, l);
}

static void child_left(void *ctx, struct session *s)
{
	struct leak_children *l = ctx;
	struct child *c = session_alive(s) && !child_find(l, s) ? child_of(l, s) : NULL;

	if (c)
		result_take(c, s,
			leak_summary_failed("no leak scan: it began after the others' scans"));
}

void leak_children_left(struct leak_children *l)
{
	if (run_child(l->run))
		process_tree_members(run_watch(l->run), child_left, l);
}

/* ---- at intervals ---- */

struct due {
	struct leak_children *children;
	struct session *scanned; /* one at a time, since others may wait at their end */
};

static bool is_due(struct leak_children *l, const struct session *s)
{
	const struct child *c = child_find(l, s);
	uint64_t now = clock_monotonic_ns();

	if (c)
		return !c->ended && now >= c->due_ns;
	return now - session_identity(s)->created_ns >= run_options(l->run)->leak_every_ns;
}

/* Scans a process that is due. After a failure it is due again after the interval. */
static void due_scan(void *ctx, struct session *s)
{
	struct due *t = ctx;
	struct leak_scan_options request;
	struct child *c;

	if (t->scanned || !session_alive(s) || !is_due(t->children, s))
		return;
	c = child_of(t->children, s);
	if (!c)
		return;
	request = request_make(t->children, s);
	if (result_take(c, s, leak_summary_run(session_segment(s), &request))) {
		c->shown = *leak_summary_result(c->result);
		session_leaks(s, &c->shown);
		t->scanned = s;
	}
	c->due_ns = clock_monotonic_ns() + run_options(t->children->run)->leak_every_ns;
}

struct session *leak_children_due(struct leak_children *l)
{
	struct due t = { .children = l };

	if (run_child(l->run))
		process_tree_members(run_watch(l->run), due_scan, &t);
	return t.scanned;
}

void leak_children_judge(struct leak_children *l, struct session *session, const struct snapshot *s)
{
	struct child *c = child_of(l, session);

	if (run_suppressions(l->run))
		leak_summary_suppress(c->result, s, run_suppressions(l->run));
	c->shown = *leak_summary_result(c->result);
	c->round[0] = c->round[1];
	c->round[1] = (struct snap_leak_round){
		.number = ++c->number, .ns = c->shown.at_ns, .stop_ns = c->shown.stop_ns
	};
	memcpy(c->round[1].sum, c->shown.sum, sizeof(c->shown.sum));
	c->shown.nrounds = c->number > 1 ? 2 : 1;
	c->shown.rounds = c->round + 2 - c->shown.nrounds;
	session_leaks(session, leak_summary_result(c->result));
}

void leak_children_suppress(struct leak_children *l, const struct snapshot *s)
{
	const struct suppressions *rules = run_suppressions(l->run);

	for (size_t i = 0; i < l->count; i++)
		for (size_t j = 0; l->child[i].result && j < s->nchildren; j++)
			if (s->children[j]->leaks == leak_summary_result(l->child[i].result))
				leak_summary_suppress(l->child[i].result, s->children[j], rules);
}

void leak_children_free(struct leak_children *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->count; i++) {
		if (l->child[i].job) {
			scan_job_cancel(l->child[i].job);
			scan_job_free(l->child[i].job);
		}
		leak_summary_free(l->child[i].result);
		free(l->child[i].path);
	}
	free(l);
}
