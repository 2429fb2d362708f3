/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans of a launch's other processes (leakkin.h). */
#include "src/run/leak_children.h"

#include <stdlib.h>
#include <string.h>

#include "src/run/leak_scans.h"
#include "src/scan/leak_summary.h"
#include "src/scan/scan_job.h"
#include "src/util/clock.h"

struct kin {
	char *path; /* of its segment: a session may be closed before us, and be another's then */
	struct leak_summary *made; /* the last that worked, or the only one */
	bool ended; /* it was scanned at its end, or is being */
	struct scan_job *job; /* then */
	uint64_t due_ns; /* the next, if there is one every so often */
	/* For snapshots of a turn. */
	unsigned number;
	struct snap_leaks shown;
	struct snap_leak_round round[2];
};

struct leak_children {
	struct run *run;
	struct leak_progress *progress;
	size_t count;
	struct kin kin[WATCH_MEMBERS_MAX];
};

struct leak_children *leak_children_new(struct run *r, struct leak_progress *progress)
{
	struct leak_children *l = calloc(1, sizeof(*l));

	if (l)
		l->run = r, l->progress = progress;
	return l;
}

/* NULL: it was not scanned so far. */
static struct kin *kin_find(struct leak_children *l, const struct session *s)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->kin[i].path, session_path(s)) == 0)
			return &l->kin[i];
	return NULL;
}

/* NULL: there is no room for more. */
static struct kin *kin_of(struct leak_children *l, const struct session *s)
{
	struct kin *found = kin_find(l, s);

	if (found)
		return found;
	if (l->count == WATCH_MEMBERS_MAX)
		return NULL;
	found = &l->kin[l->count];
	found->path = strdup(session_path(s));
	l->count += found->path != NULL;
	return found->path ? found : NULL;
}

static struct leak_scan_options request_make(const struct leak_children *l, const struct session *s)
{
	struct leak_scan_options request = leak_scans_options(l->run, session_pid(s));

	request.progress = l->progress;
	return request;
}

/* One that did not work says so if there is no other. True: it has worked. */
static bool made_take(struct kin *k, struct session *s, struct leak_summary *made)
{
	if (!made || (k->made && leak_summary_result(made)->failed)) {
		leak_summary_free(made);
		return false;
	}
	leak_summary_compare(made, k->made);
	session_leaks(s, leak_summary_result(made));
	leak_summary_free(k->made);
	k->made = made;
	return !leak_summary_result(made)->failed;
}

static void scan_now(struct leak_children *l, struct session *s, struct kin *k)
{
	struct leak_scan_options request = request_make(l, s);

	made_take(k, s, leak_summary_run(session_segment(s), &request));
	k->ended = true;
}

static void scan_at_exit(struct leak_children *l, struct session *s, struct kin *k)
{
	struct leak_scan_options request = request_make(l, s);

	request.at_exit = true;
	request.copying = LEAK_COPY_NEVER; /* nothing is lost while it stands still */
	k->ended = true;
	k->job = scan_job_start(session_path(s), &request, false);
	if (k->job)
		return;
	made_take(k, s, leak_summary_failed("no leak scan: no thread could be started"));
	read_leak_done(session_segment(s));
}

/* Waits for the scan, if need be. */
static void job_take(struct kin *k, struct session *s)
{
	struct leak_summary *made = scan_job_take(k->job);

	scan_job_free(k->job);
	k->job = NULL;
	made_take(k, s, made);
}

static void look(void *ctx, struct session *s)
{
	struct leak_children *l = ctx;
	struct kin *k = kin_find(l, s);

	if (k && k->job && scan_job_ended(k->job))
		job_take(k, s);
	if (!session_alive(s) || !read_leak_waits(session_segment(s)))
		return;
	k = kin_of(l, s);
	if (!k)
		read_leak_done(session_segment(s)); /* one of more than can be kept */
	else if (!k->ended)
		scan_at_exit(l, s, k);
}

/* Its destructors may take for ever. */
static bool is_still_ending(const struct kin *k)
{
	return k->job && scan_job_progress(k->job)->phase == LEAK_EXITING;
}

static void finish(void *ctx, struct session *s)
{
	struct leak_children *l = ctx;
	struct kin *k;

	look(ctx, s);
	k = kin_find(l, s);
	if (k && is_still_ending(k)) {
		scan_job_cancel(k->job);
		scan_job_free(k->job);
		k->job = NULL;
		k->ended = false;
	} else if (k && k->job) {
		job_take(k, s);
	}
	k = session_alive(s) ? kin_of(l, s) : NULL;
	if (k && !k->ended)
		scan_now(l, s, k);
}

void leak_children_cancel(struct leak_children *l)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->kin[i].job)
			scan_job_cancel(l->kin[i].job);
}

void leak_children_scan(struct leak_children *l)
{
	if (run_child(l->run))
		watch_members(run_watch(l->run), look, l);
}

void leak_children_finish(struct leak_children *l)
{
	if (run_child(l->run))
		watch_members(run_watch(l->run), finish, l);
}

/* ---- every so often ---- */

struct turn {
	struct leak_children *children;
	struct session *scanned; /* one at a time: others may wait at their end */
};

static bool is_due(struct leak_children *l, const struct session *s)
{
	const struct kin *k = kin_find(l, s);
	uint64_t now = clock_monotonic_ns();

	if (k)
		return !k->ended && now >= k->due_ns;
	return now - session_identity(s)->created_ns >= run_options(l->run)->leak_every_ns;
}

/* One that cannot be scanned now is tried again. */
static void turn_take(void *ctx, struct session *s)
{
	struct turn *t = ctx;
	struct leak_scan_options request;
	struct kin *k;

	if (t->scanned || !session_alive(s) || !is_due(t->children, s))
		return;
	k = kin_of(t->children, s);
	if (!k)
		return;
	request = request_make(t->children, s);
	if (made_take(k, s, leak_summary_run(session_segment(s), &request))) {
		k->shown = *leak_summary_result(k->made);
		session_leaks(s, &k->shown);
		t->scanned = s;
	}
	k->due_ns = clock_monotonic_ns() + run_options(t->children->run)->leak_every_ns;
}

struct session *leak_children_due(struct leak_children *l)
{
	struct turn t = { .children = l };

	if (run_child(l->run))
		watch_members(run_watch(l->run), turn_take, &t);
	return t.scanned;
}

void leak_children_judge(struct leak_children *l, struct session *session, const struct snapshot *s)
{
	struct kin *k = kin_of(l, session);

	if (run_suppressions(l->run))
		leak_summary_suppress(k->made, s, run_suppressions(l->run));
	k->shown = *leak_summary_result(k->made);
	k->round[0] = k->round[1];
	k->round[1] = (struct snap_leak_round){
		.number = ++k->number, .ns = k->shown.at_ns, .stop_ns = k->shown.stop_ns
	};
	memcpy(k->round[1].sum, k->shown.sum, sizeof(k->shown.sum));
	k->shown.nrounds = k->number > 1 ? 2 : 1;
	k->shown.rounds = k->round + 2 - k->shown.nrounds;
	session_leaks(session, leak_summary_result(k->made));
}

void leak_children_suppress(struct leak_children *l, const struct snapshot *s)
{
	const struct suppressions *rules = run_suppressions(l->run);

	for (size_t i = 0; i < l->count; i++)
		for (size_t j = 0; l->kin[i].made && j < s->nchildren; j++)
			if (s->children[j]->leaks == leak_summary_result(l->kin[i].made))
				leak_summary_suppress(l->kin[i].made, s->children[j], rules);
}

void leak_children_free(struct leak_children *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->count; i++) {
		if (l->kin[i].job) {
			scan_job_cancel(l->kin[i].job);
			scan_job_free(l->kin[i].job);
		}
		leak_summary_free(l->kin[i].made);
		free(l->kin[i].path);
	}
	free(l);
}
