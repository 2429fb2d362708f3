/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One tick: read -> model -> /proc -> snapshot (session.h). Main thread. The cost of a tick is that
 * of copying the site counters; stacks and modules are read once, when a site is first seen.
 * It is long because the steps of a tick share one structure and are read in their order.
 */
#include "src/session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/model/model.h"
#include "src/model/scanned_sites.h"
#include "src/proc/proc.h"
#include "src/session/ancestors.h"
#include "src/session/command_line.h"
#include "src/session/faults.h"
#include "src/session/ignore_marks.h"
#include "src/session/inherited.h"
#include "src/session/liveness.h"
#include "src/session/mapped.h"
#include "src/session/process_figures.h"
#include "src/session/said.h"
#include "src/session/site_table.h"
#include "src/session/stack_registration.h"
#include "src/session/wrong_frees.h"
#include "src/session/sampling.h"
#include "src/sym/sym.h"
#include "src/marks/marks.h"
#include "src/session/live_walk.h"
#include "src/session/totals.h"
#include "src/session/threads.h"
#include "src/util/clock.h"
#include "src/util/error_hint.h"
#include "src/util/shortage.h"
#include "src/util/text.h"

#define SITES_MOST (1u << 20) /* sites shown: some 6 KB of our memory each, with names */

struct session {
	unsigned refs; /* the opener's, and one per snapshot */
	struct read_segment *segment;
	struct read_identity identity;
	pid_t pid; /* as we see it; 0: not visible from here */
	struct model *model;
	struct sym *sym;
	struct stack_registration *registration;
	struct command_line *command;
	/* The last reading. */
	struct site_table sites;
	struct process_figures figures;
	uint64_t truncated; /* stacks without their outer frames */
	struct ancestors ancestors;
	struct wrong_frees wrong;
	struct faults faults;
	struct ignore_marks ignoring;
	bool unseen; /* snapshots are without sites */
	uint64_t ended_ns;
	struct threads threads;
	struct mapped mapped;
	struct inherited inherited;
	struct marks marks;
	struct said said;
	struct live_walk live_walk;
	struct read_totals totals; /* as of this tick */
	struct model_input input;
	/* How it ended. */
	enum snap_state state;
	bool replaced; /* by exec, with another image */
	int exit_status, signal;
	bool waited; /* for its end, by session_ended: that is when it was */
	char signal_name[LIVENESS_SIGNAL_MAX];
	const char *notice;
	struct snap_attach attach;
	const struct far_moment *far; /* the process is on another machine; or NULL */
	const struct far_order *walks; /* there, over its live blocks */
	bool waits; /* for these */
	char *stopped; /* the library's report that it records nothing, or not all; or NULL */
	struct liveness liveness;
	struct sampling sampler;
	const struct snapshot *const *children;
	size_t nchildren;
	const struct snap_leaks *leaks;
	struct scanned_sites scanned;
};

/* A forked child shows its parent's arguments until it rewrites them, as servers' workers do. */
static void title_refresh(struct session *s)
{
	struct read_identity *id = &s->identity;
	char line[HT_COMMAND_MAX];
	size_t n = id->forked && s->state == SNAP_RUNNING && !s->far
			   ? proc_command(s->pid, id->start_ticks, line, sizeof(line))
			   : 0;

	/* The rest of what was once the arguments. */
	while (n > 1 && !line[n - 1] && !line[n - 2])
		n--;
	if (n == 0 || (n == id->command_bytes && memcmp(line, id->command, n) == 0))
		return;
	memcpy(id->command, line, n);
	id->command_bytes = (uint32_t)n;
	command_line_load(&s->command, id); /* without memory, the old one stays */
}

/* Until the library has reported, only the launcher's data are there. The command comes last. */
static void identity_refresh(struct session *s)
{
	const struct read_identity *known = &s->identity;
	struct read_identity now;

	if (known->state != HT_STATE_PREPARED && known->command_bytes != 0)
		return;
	if (read_identity(s->segment, &now) != 0 || now.state == HT_STATE_PREPARED ||
		now.command_bytes == 0)
		return;
	s->identity = now;
	if (s->pid == 0 && !s->far)
		s->pid = liveness_pid(s->segment, &now);
	command_line_load(&s->command, &s->identity); /* without memory, the old one stays */
}

/* 0 or -1, with a message. */
static int parts_make(
	struct session *s, const char *path, const struct session_options *o, char *message)
{
	struct sym_options sym = { .use_debuginfod = o->debuginfod, .elsewhere = o->elsewhere };
	const char *what = "cannot read the segment";
	int rc;

	s->segment = read_open(path, message);
	if (!s->segment)
		return -1;
	rc = read_identity(s->segment, &s->identity);
	if (rc != 0)
		goto fail;
	s->sym = o->beside ? sym_join(o->beside->sym) : sym_new(&sym);
	rc = s->sym ? 0 : -errno;
	what = "cannot start the thread that finds names";
	if (rc != 0)
		goto fail;
	s->model = model_new();
	s->registration = s->model ? stack_registration_new(s->segment, s->model, s->sym) : NULL;
	what = "cannot make room for call sites";
	if (s->registration && o->named_modules)
		stack_registration_hold(s->registration, o->named_modules);
	if (s->registration && command_line_load(&s->command, &s->identity) == 0)
		return 0;
	rc = -ENOMEM;
fail:
	error_hint_line(message, READ_MESSAGE_MAX, what, rc);
	return -1;
}

static void session_free(struct session *s)
{
	if (!s)
		return;
	marks_free(&s->marks, !session_alive(s));
	stack_registration_free(s->registration);
	wrong_frees_free(&s->wrong);
	faults_free(&s->faults);
	ignore_marks_end(&s->ignoring, s->segment, session_alive(s));
	if (s->sym)
		sym_free(s->sym);
	model_free(s->model);
	read_close(s->segment);
	command_line_free(s->command);
	site_table_free(&s->sites);
	said_free(&s->said);
	threads_free(&s->threads);
	mapped_free(&s->mapped);
	inherited_free(&s->inherited);
	live_walk_free(&s->live_walk);
	free(s->stopped);
	scanned_sites_free(&s->scanned);
	free(s);
}

struct session *session_open(const char *path, const struct session_options *o, char *message)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		error_hint_line(
			message, READ_MESSAGE_MAX, "cannot make room for a segment", ENOMEM);
	if (!s || parts_make(s, path, o, message) != 0) {
		session_free(s);
		return NULL;
	}
	if (o->far)
		read_freeze(s->segment); /* the agent sends changes of what it sent before */
	read_viewer_lock(s->segment);
	s->refs = 1;
	s->far = o->far;
	s->walks = o->walks;
	s->waits = o->waits;
	if (!s->far)
		s->pid = o->pid ? o->pid : liveness_pid(s->segment, &s->identity);
	liveness_open(&s->liveness, s->segment, &s->identity, o->alone);
	s->liveness.renamed &= !s->far; /* its copy has a name of its own */
	s->state = s->identity.state == HT_STATE_PREPARED ? SNAP_STARTING : SNAP_RUNNING;
	if (o->core) {
		s->pid = o->core->pid;
		s->state = liveness_of_core(&s->liveness, o->core, &s->signal);
	} else if (o->may_be_copy && liveness_is_copy(s->segment, &s->identity, s->pid)) {
		s->state = SNAP_COPY;
	}
	s->unseen = o->unseen;
	if (o->faults)
		faults_start(&s->faults, s->pid);
	ignore_marks_start(&s->ignoring, s->far ? NULL : o->ignored);
	return s;
}

/* Drops one reference: the opener's or a snapshot's. */
static void session_release(void *session)
{
	struct session *s = session;

	if (--s->refs == 0)
		session_free(s);
}

void session_close(struct session *s)
{
	if (s)
		session_release(s);
}

const struct read_identity *session_identity(const struct session *s)
{
	return &s->identity;
}

const char *session_path(const struct session *s)
{
	return read_path(s->segment);
}

void session_notice(struct session *s, const char *line)
{
	s->notice = line;
}

void session_attached(struct session *s, const struct snap_attach *a)
{
	s->attach = *a;
}

void session_children(struct session *s, const struct snapshot *const *children, size_t count)
{
	s->children = children;
	s->nchildren = count;
}

void session_scanned(struct session *s, const struct snap_leaks *leaks)
{
	scanned_sites_take(&s->scanned, leaks);
}

void session_leaks(struct session *s, const struct snap_leaks *leaks)
{
	session_scanned(s, s->leaks = leaks);
}

struct read_segment *session_segment(const struct session *s)
{
	return s->segment;
}

pid_t session_pid(const struct session *s)
{
	return s->pid;
}

const struct far_moment *session_far(const struct session *s)
{
	return s->far;
}

bool session_alive(const struct session *s)
{
	return s->state == SNAP_RUNNING || s->state == SNAP_STARTING;
}

bool session_is_over(const struct session *s)
{
	return s->identity.state == HT_STATE_EXITED || liveness_is_detached(s->segment);
}

/* The time by the clock that the program reads. */
static uint64_t now_of(const struct session *s)
{
	return clock_monotonic_ns() + (s->far ? process_figures_ahead_ns(s->far) : 0);
}

static void end_as(struct session *s, enum snap_state state, int exit_status, int signal)
{
	s->state = state;
	s->exit_status = exit_status;
	s->signal = signal;
	s->ended_ns = now_of(s);
}

void session_ended(struct session *s, int wait_status)
{
	s->waited = true;
	if (WIFSIGNALED(wait_status))
		end_as(s, SNAP_KILLED, 0, WTERMSIG(wait_status));
	else
		end_as(s, SNAP_EXITED, WEXITSTATUS(wait_status), 0);
}

void session_ended_so(struct session *s, int wait_status)
{
	if (s->waited || s->replaced || (s->state != SNAP_EXITED && s->state != SNAP_GONE))
		return;
	if (WIFSIGNALED(wait_status)) {
		s->state = SNAP_KILLED;
		s->signal = WTERMSIG(wait_status);
	} else {
		s->state = SNAP_EXITED;
		s->exit_status = WEXITSTATUS(wait_status);
	}
}

void session_usage(
	struct session *s, uint64_t hwm_bytes, uint64_t minor_faults, uint64_t major_faults)
{
	struct snap_proc *p = &s->figures.proc;

	p->hwm = p->valid && p->hwm > hwm_bytes ? p->hwm : hwm_bytes;
	p->minor_faults = minor_faults;
	p->major_faults = major_faults;
	p->valid = true;
}

void session_seen(struct session *s)
{
	s->unseen = false;
}

void session_replaced(struct session *s)
{
	s->replaced = true;
	end_as(s, SNAP_GONE, 0, 0);
}

int session_sample(struct session *s, const struct sampling_request *request)
{
	return sampling_set(&s->sampler, s->segment, request);
}

void session_sample_inherit(struct session *s, const struct session *before)
{
	sampling_inherit(&s->sampler, s->segment, &before->sampler);
}

void session_sample_adjust(struct session *s)
{
	struct read_totals t;

	if (read_totals(s->segment, &t) == 0 && t.state == HT_STATE_RUNNING)
		sampling_update(&s->sampler, s->segment, s->pid, &t);
}

void session_sample_leave(struct session *s)
{
	sampling_leave(&s->sampler, s->segment);
}

static struct marks_of marks_of(const struct session *s)
{
	return (struct marks_of){ .segment = s->segment,
		.now_ns = now_of(s),
		.identity = &s->identity,
		.pid = s->pid,
		.alive = s->state == SNAP_RUNNING };
}

int session_mark(struct session *s, const char *name, char *message)
{
	struct marks_of of = marks_of(s);

	return marks_take(&s->marks, &of, name, message);
}

struct marks *session_marks(struct session *s)
{
	return &s->marks;
}

struct said *session_said(struct session *s)
{
	return &s->said;
}

/* ---- one tick ---- */

static void sites_register(struct session *s)
{
	stack_registration_limit(s->registration, SITES_MOST);
	stack_registration_process(s->registration, s->far ? 0 : s->pid);
	stack_registration_register(s->registration, s->sites.read, s->sites.count);
	s->ancestors.is_full = stack_registration_is_full(s->registration);
	ancestors_fold(&s->ancestors, s->model, s->sites.read, s->sites.count);
	if (s->ancestors.folded > 0)
		stack_registration_register(s->registration, s->sites.read, 1);
}

/* The program's variances are the sums of its sites'. */
static size_t sites_plain(struct session *s, struct model_variance *total)
{
	size_t count = 0;

	s->truncated = 0;
	ancestors_begin(&s->ancestors);
	for (uint32_t i = 0; i < s->sites.count; i++) {
		const struct read_site *in = &s->sites.read[i];

		if (in->allocs == 0)
			continue;
		if (in->flags & HT_SITE_TRUNCATED)
			s->truncated += in->allocs;
		ancestors_add(&s->ancestors, in);
		s->sites.plain[count] = totals_site(i, in);
		s->sites.plain[count++].variance = sampling_variance(&in->spread, total);
	}
	return count;
}

/* Checks whether the process still runs. Without its exit status, the state says only what is
 * known. */
static void liveness(struct session *s, uint32_t segment_state)
{
	struct read_identity final;

	if (!session_alive(s))
		return;
	if (segment_state != HT_STATE_PREPARED)
		s->state = SNAP_RUNNING;
	if (s->far ? s->far->tick.alive
		   : liveness_is_here(s->pid, s->identity.start_ticks, segment_state))
		return;
	/* The process may have ended after its state was read; now that state is final. */
	if (read_identity(s->segment, &final) == 0)
		segment_state = final.state;
	s->identity.state = segment_state; /* the run reads it when it closes */
	end_as(s, segment_state == HT_STATE_EXITED ? SNAP_EXITED : SNAP_GONE,
		segment_state == HT_STATE_EXITED ? -1 : 0, 0);
}

/* The most important notice about the recording; NULL: none. */
static const char *notice_choose(
	struct session *s, const struct read_totals *t, const struct snapshot *h)
{
	const char *notice;

	if (s->state == SNAP_COPY)
		return liveness_copy_notice(&s->liveness, (int)h->pid, h->uptime_ns);
	notice = s->stopped ? s->stopped : s->notice ? s->notice : shortage_line();
	if (!notice && t->cramped)
		notice = "recording is incomplete: no address space was left for its "
			 "tables (ulimit -v)";
	if (!notice && !s->replaced)
		notice = liveness_notice(&s->liveness, s->state, t);
	notice = notice ? notice : ancestors_notice(&s->ancestors);
	notice = notice ? notice : faults_notice(&s->faults);
	notice = notice ? notice : said_notice(&s->said);
	return notice ? notice : sampling_notice(&s->sampler);
}

static void fill_head(
	struct session *s, const struct read_totals *t, struct snapshot *h, uint64_t now)
{
	h->owner = s;
	h->release = session_release;
	h->pid = s->pid ? s->pid : s->identity.pid;
	h->host = s->far ? s->far->agent.host : NULL;
	h->command = s->command->line;
	h->argv = (const char *const *)s->command->argv;
	h->argc = s->command->argc;
	h->exe = s->command->exe;
	h->forked = s->identity.forked;
	h->state = s->state;
	if (s->state == SNAP_STARTING && s->attach.how == SNAP_ATTACH_OUTSIDE)
		h->state = SNAP_RUNNING; /* no library will report */
	h->exit_status = s->exit_status;
	h->signal = s->signal;
	h->signal_name =
		s->state == SNAP_KILLED ? liveness_signal(s->signal, s->signal_name) : NULL;
	h->start_realtime_ns = s->identity.created_realtime_ns;
	h->now_realtime_ns = clock_realtime_ns();
	/* The clock of a program that ended before the session opened stopped then. */
	if (s->liveness.is_core || s->state == SNAP_GONE || s->state == SNAP_COPY ||
		((s->state == SNAP_EXITED || s->state == SNAP_KILLED) && !s->waited))
		now = t->clock_ns;
	else if (s->ended_ns)
		now = s->ended_ns;
	h->uptime_ns = now > s->identity.created_ns ? now - s->identity.created_ns : 0;
	h->notice = notice_choose(s, t, h);
	h->attach = s->attach;
	if (t->state == HT_STATE_STOPPED && liveness_is_detached(s->segment))
		h->attach.how = SNAP_ATTACH_ENDED;
	h->leaks = s->leaks;
	h->inherited = s->inherited.site;
	h->ninherited = s->inherited.sites;
	h->children = s->children;
	h->nchildren = s->nchildren;
	totals_fill(&h->totals, t);
	totals_at_peak_fill(&h->totals, s->sites.read, s->sites.count);
	h->totals.truncated_stacks = s->truncated;
	ancestors_fill(&s->ancestors, &h->totals);
	wrong_frees_fill(&s->wrong, s->segment, t->sites, s->registration, s->model, h);
	sampling_fill(&s->sampler, t, &h->sampling);
	totals_histograms_fill(h, t);
	h->proc = s->figures.proc;
}

/* Completes the sites of a snapshot that was just made. */
static void sites_complete(struct session *s, struct snapshot *made)
{
	struct marks_of of = marks_of(s);
	struct live_walk_of live_walk = { .segment = s->segment,
		.model = s->model,
		.moments = &s->marks.moments,
		.created_ns = s->identity.created_ns,
		.sites = s->sites.count,
		.ended = !session_alive(s) || (s->far && s->far->tick.replaced),
		/* The agent's view is of the next image by then. */
		.gone = s->far && s->replaced,
		.far = s->walks,
		.waits = s->waits };

	if (s->state != SNAP_COPY) { /* marks belong to the program, which continues */
		said_hear(&s->said, &s->marks, &of);
		marks_read(&s->marks, &of, made);
	}
	live_walk_update(&s->live_walk, &live_walk, made);
	scanned_sites_fill(&s->scanned, made);
	faults_update(&s->faults, s->segment, s->totals.sites, made);
	ignore_marks_set(&s->ignoring, s->segment, made);
}

/* The sooner, the less has the parent changed; but a child names its parent before it runs. */
static void inherit(struct session *s)
{
	if (s->totals.state == HT_STATE_RUNNING && session_alive(s) && !s->far)
		inherited_read(&s->inherited, s->segment, s->registration, s->model);
}

const struct map_ranges *session_inherited(const struct session *s)
{
	return &s->inherited.ranges;
}

/* What the segment holds now. */
static int account_read(struct session *s)
{
	int rc = read_totals(s->segment, &s->totals);

	if (rc == 0)
		rc = site_table_load(&s->sites, s->segment, &s->totals);
	if (rc != 0)
		return rc;
	sites_register(s);
	mapped_read(&s->mapped, s->segment, s->registration, &s->totals, &s->input);
	stack_registration_collect(s->registration, true);
	return 0;
}

/* Whether the process still runs. If it ended after the account was read, that is read again: now
 * it is final. */
static int account_of_end(struct session *s)
{
	bool alive = session_alive(s);

	liveness(s, s->totals.state);
	return alive && !session_alive(s) ? account_read(s) : 0;
}

struct snapshot *session_tick(struct session *s)
{
	const struct read_totals *totals = &s->totals;
	struct model_input *in = &s->input;
	struct snapshot *made;
	int rc;

	*in = (struct model_input){ .now_ns = now_of(s) };
	identity_refresh(s);
	title_refresh(s);
	rc = account_read(s);
	if (rc == 0) {
		if (s->far)
			process_figures_far(&s->figures, s->far);
		else if (session_alive(s))
			process_figures_read(&s->figures, s->pid, s->identity.start_ticks);
		rc = account_of_end(s);
	}
	if (rc != 0) {
		errno = -rc;
		return NULL;
	}
	inherit(s);
	if (!s->stopped)
		s->stopped = liveness_report(s->segment, totals->state);
	if (s->state == SNAP_RUNNING && !s->far) {
		liveness_check(&s->liveness, s->segment, totals->state, s->pid);
		read_publish_clock(s->segment, in->now_ns);
		sampling_update(&s->sampler, s->segment, s->pid, totals);
	}
	/* The program's request for a snapshot is met a tick later. */
	in->nsites = s->unseen && !s->said.snapshot ? 0 : sites_plain(s, &in->variance);
	in->sites = s->sites.plain;
	fill_head(s, totals, &in->head, in->now_ns);
	threads_read(&s->threads, s->segment, session_alive(s) ? s->pid : 0, &in->head);
	if (s->far)
		process_figures_threads(s->far, s->threads.thread, in->head.nthreads);
	said_threads_name(&s->said, s->threads.thread, in->head.nthreads);
	threads_read_shares(&s->threads, s->segment, s->sites.count, &in->head);
	stack_registration_allocators(s->registration, &in->head);
	process_figures_own(&s->figures, s->segment, &in->head);
	made = model_tick(s->model, in);
	if (made)
		sites_complete(s, made);
	s->refs += made != NULL;
	return made;
}

int session_detail(const struct snapshot *of, uint32_t site, struct snap_detail *out)
{
	struct session *s = of->owner;
	struct ht_hist h;
	int rc = of->moment == SNAP_NOW ? read_hist(s->segment, site, &h) : -ENODATA;

	if (rc != 0)
		return rc;
	*out = (struct snap_detail){ .id = site };
	totals_detail_fill(out, &h);
	live_walk_detail(&s->live_walk, site, of->uptime_ns, out);
	threads_of_site(s->segment, site, out);
	live_by_thread_fill_site(&s->live_walk.alive, out);
	return 0;
}

int session_fd(const struct session *s)
{
	return sym_fd(s->sym);
}

bool session_collect(struct session *s)
{
	return stack_registration_collect(s->registration, false);
}

void session_stacks_each(
	const struct snapshot *of, void (*each)(void *ctx, const struct stack *s), void *ctx)
{
	model_stacks_each(((const struct session *)of->owner)->model, each, ctx);
}

void session_hide_again(struct session *s)
{
	stack_registration_hide_again(s->registration);
}

int session_names_finish(struct session *s, uint64_t timeout_ns)
{
	int rc = sym_drain(s->sym, timeout_ns);

	stack_registration_collect(s->registration, true);
	return rc;
}

bool session_remove(struct session *s)
{
	return read_remove_if_unused(s->segment);
}
