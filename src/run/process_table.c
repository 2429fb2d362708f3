/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of recorded processes (process_table.h). Main thread. */
#include "src/run/process_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/proc/proc.h"
#include "src/run/far_processes.h"
#include "src/target/target.h"
#include "src/run/unrecorded_children.h"
#include "src/util/clock.h"
#include "src/util/text.h"
#include "src/util/units.h"

#define VISITS_MAX    8u /* each holds a thread, and is read at each tick */
#define ANCESTORS_MAX 16u /* levels searched upward for a recorded process */
#define RATE_READINGS 10u /* readings that a rate spans: ten seconds, like a site's */
#define RATE_MIN_S    0.05 /* a rate over less is noise */

/* The live bytes of a process at its last readings. */
struct readings {
	uint64_t id;
	unsigned count; /* readings taken; the last RATE_READINGS are kept */
	uint64_t live[RATE_READINGS], ns[RATE_READINGS];
	bool seen;
};

struct visit {
	uint64_t id;
	struct process_tree *watch;
	unsigned view; /* of another machine's process */
	unsigned shown_at; /* by process_table.shows; the oldest is closed first */
};

struct process_table {
	struct process_tree *main;
	struct far_processes far;
	struct visit visit[VISITS_MAX];
	size_t visits;
	struct process_tree *shown;
	struct launch_sum *sum; /* NULL: it was never asked for */
	struct snapshot *sum_now; /* its newest snapshot, or NULL */
	bool all; /* it is shown */
	unsigned shows;
	struct process_row row[PROCESSES_MAX];
	size_t rows, more;
	uint64_t family[PROCESSES_MAX]; /* of other launches; index + 1 is the group */
	uint32_t families;
	struct readings readings[PROCESSES_MAX];
	size_t nreadings;
	struct unrecorded_children *unrecorded; /* NULL: no memory, and the list has none of them */
};

struct process_table *process_table_new(struct process_tree *main, struct far_run *far)
{
	struct process_table *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->main = p->shown = main;
	p->far.run = far;
	p->unrecorded = far ? NULL : unrecorded_children_new();
	return p;
}

/* Only this viewer still uses the segment of a process that ended, unless its launch has it open:
 * then removing it fails. */
static void visit_close(struct process_table *p, struct visit *v)
{
	struct session *s = process_tree_session(v->watch);

	session_sample_leave(s);
	if (session_is_over(s))
		session_remove(s);
	process_tree_free(v->watch);
	if (p->far.run)
		far_run_leave(p->far.run, v->view);
}

void process_table_free(struct process_table *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->visits; i++)
		visit_close(p, &p->visit[i]);
	snapshot_unref(p->sum_now);
	launch_sum_free(p->sum);
	unrecorded_children_free(p->unrecorded);
	free(p);
}

struct process_tree *process_table_current(const struct process_table *p)
{
	return p->shown;
}

struct launch_sum *process_table_all(const struct process_table *p)
{
	return p->all ? p->sum : NULL;
}

struct snapshot *process_table_sum(struct process_table *p)
{
	if (p->sum_now)
		snapshot_ref(p->sum_now);
	else
		errno = ENOMEM;
	return p->sum_now;
}

static void sum_tick(struct process_table *p, struct histories *h, struct snapshot *now)
{
	struct snapshot *s = p->sum && now ? launch_sum_tick(p->sum, now) : NULL;

	if (!s)
		return;
	histories_add(h, s);
	snapshot_unref(p->sum_now);
	p->sum_now = s;
}

/* A process that was chosen on another machine may be there. */
static void far_take(struct process_table *p)
{
	uint64_t id = p->far.coming;
	struct process_tree *w;

	if (id == 0)
		return;
	w = far_processes_take(&p->far, process_tree_session(p->main));
	if (!w)
		return;
	p->visit[p->visits++] = (struct visit){ .id = id,
		.watch = w,
		.view = p->far.view,
		.shown_at = p->far.wanted ? ++p->shows : p->shows };
	if (p->far.wanted)
		p->shown = w;
	p->far.wanted = false;
}

void process_table_tick(struct process_table *p, struct histories *h, struct snapshot *now)
{
	struct snapshot *s;

	sum_tick(p, h, now);
	far_take(p);
	for (size_t i = 0; i < p->visits; i++) {
		struct process_tree *w = p->visit[i].watch;

		process_tree_poll(w);
		far_processes_follow(&p->far, w, p->visit[i].view);
		if (w == p->shown)
			continue;
		s = session_tick(process_tree_session(w));
		histories_add(h, s);
		snapshot_unref(s);
	}
}

/* ---- who there is ------------------------------------------------------------------------- */

static uint64_t session_id(const struct session *s)
{
	const struct read_identity *id = session_identity(s);

	return processes_id(id->pid, id->start_ticks, id->pid_namespace);
}

static struct process_row *row_find(struct process_table *p, uint64_t id)
{
	for (size_t i = 0; i < p->rows; i++)
		if (p->row[i].id == id)
			return &p->row[i];
	return NULL;
}

/* Its memory and its parent. parent_find looks up the nearest recorded ancestor once all rows are
 * known. */
static void row_proc(struct process_row *row)
{
	struct proc_reading r;

	if (proc_read(row->pid, false, &r) != 0)
		return;
	row->rss_bytes = r.rss_bytes;
	row->has_rss = true;
	row->parent = r.ppid;
	row->state = processes_state(r.state);
}

/* The library's own reason for recording nothing, or not all. */
__attribute__((noinline)) static void row_reason(struct process_row *row, struct read_segment *s)
{
	struct read_identity id;

	if (read_identity(s, &id) == 0)
		text_clean(row->why, sizeof(row->why), id.why, strlen(id.why));
}

static void row_live(struct process_row *row, struct read_segment *s)
{
	struct read_totals t;

	if (read_totals(s, &t) != 0)
		return;
	row->live_bytes = t.live_bytes;
	row->peak_bytes = t.peak_bytes;
	row->has_live = row->has_peak = true;
	row_reason(row, s);
}

static uint32_t group_of(struct process_table *p, uint64_t id, uint64_t family)
{
	const struct session *main = process_tree_session(p->main);
	uint32_t i = 0;

	if (id == session_id(main) || (family && family == session_identity(main)->family))
		return 0;
	if (!family)
		return PROCESSES_ALONE;
	while (i < p->families && p->family[i] != family)
		i++;
	if (i == p->families && i < PROCESSES_MAX)
		p->family[p->families++] = family;
	return i + 1;
}

static int segment_take(void *ctx, const struct target_segment *t)
{
	char message[READ_MESSAGE_MAX];
	struct process_table *p = ctx;
	struct read_segment *s;
	struct process_row *row;

	if ((t->state != TARGET_RUNNING && t->state != TARGET_ELSEWHERE) || t->pid <= 0)
		return 0;
	if (p->rows == PROCESSES_MAX) {
		p->more++;
		return 0;
	}
	row = &p->row[p->rows];
	*row = (struct process_row){ .id = processes_id(t->pid, t->start_ticks, t->pid_namespace),
		.pid = t->process > 0 ? t->process : t->pid,
		.group = group_of(
			p, processes_id(t->pid, t->start_ticks, t->pid_namespace), t->family),
		.state = t->state == TARGET_RUNNING ? "running" : "elsewhere" };
	if (row_find(p, row->id))
		return 0; /* target_list returns a process's newest image first */
	text_clean(row->command, sizeof(row->command), t->command, strlen(t->command));
	if (t->process > 0)
		row_proc(row);
	s = read_open(t->path, message);
	if (s)
		row_live(row, s);
	read_close(s);
	if (t->process > 0)
		unrecorded_children_check(p->unrecorded, row, strrchr(t->path, '/') + 1);
	p->rows++;
	return 0;
}

/* What the launch knows of its processes: the peaks of all images, parents that have ended, and
 * the processes that have. */
static void launch_take(struct process_table *p)
{
	const struct launch_process *const *all;
	size_t count = launch_processes_all(process_tree_launch(p->main), &all);

	for (size_t i = 0; i < count; i++) {
		struct process_row *row = row_find(p, all[i]->id);

		if (!row && !all[i]->ended)
			continue; /* it continued without the library */
		if (!row && p->rows == PROCESSES_MAX) {
			p->more++;
			continue;
		}
		if (!row) {
			row = &p->row[p->rows++];
			launch_processes_row(all[i], row);
		}
		row->parent_id = all[i]->parent;
		row->peak_bytes = all[i]->peak_bytes;
		row->has_peak = true;
	}
}

/* An open process that has ended stays in the list while it is open. */
static void session_take(struct process_table *p, struct process_tree *w)
{
	struct session *s = process_tree_session(w);
	struct process_row *row = row_find(p, session_id(s));

	if (!row && p->rows < PROCESSES_MAX) {
		row = &p->row[p->rows++];
		*row = (struct process_row){ .id = session_id(s),
			.pid = session_pid(s) ? session_pid(s) : session_identity(s)->pid,
			.group = group_of(p, session_id(s), session_identity(s)->family),
			.ended = !session_alive(s),
			.wait_status = -1,
			.state = session_alive(s) ? "starting" : "ended" };
		target_command(row->command, sizeof(row->command), session_identity(s));
		row_live(row, session_segment(s));
	}
	if (row && w == p->shown && !p->all)
		row->shown = true;
}

/* Replaces a parent that is not recorded by the nearest recorded ancestor. */
static void parent_find(struct process_table *p, struct process_row *row)
{
	pid_t above = row->parent;

	if (row->parent_id && row_find(p, row->parent_id))
		return;
	row->parent_id = 0;
	for (unsigned i = 0; above > 1 && i < ANCESTORS_MAX; i++) {
		struct proc_reading r;

		for (size_t k = 0; k < p->rows; k++) {
			if (p->row[k].pid == above && p->row[k].has_rss) {
				row->parent = above;
				return;
			}
		}
		above = proc_read(above, false, &r) == 0 ? r.ppid : 0;
	}
	row->parent = 0;
}

/* ---- growth ------------------------------------------------------------------------------- */

static struct readings *readings_of(struct process_table *p, uint64_t id)
{
	for (size_t i = 0; i < p->nreadings; i++)
		if (p->readings[i].id == id)
			return &p->readings[i];
	if (p->nreadings == PROCESSES_MAX)
		return NULL;
	p->readings[p->nreadings] = (struct readings){ .id = id };
	return &p->readings[p->nreadings++];
}

static void row_rate(struct process_table *p, struct process_row *row, uint64_t now)
{
	struct readings *readings = readings_of(p, row->id);
	unsigned oldest, at;
	double seconds;

	if (!readings || !row->has_live || row->ended)
		return;
	readings->seen = true;
	oldest = readings->count >= RATE_READINGS ? readings->count % RATE_READINGS : 0;
	if (readings->count > 0) {
		seconds = (double)(now - readings->ns[oldest]) / 1e9;
		row->has_rate = seconds > RATE_MIN_S;
		if (row->has_rate)
			row->rate_bytes_per_s =
				((double)row->live_bytes - (double)readings->live[oldest]) /
				seconds;
	}
	at = readings->count++ % RATE_READINGS;
	readings->live[at] = row->live_bytes;
	readings->ns[at] = now;
}

static void rates_fill(struct process_table *p)
{
	uint64_t now = clock_monotonic_ns();
	size_t kept = 0;

	for (size_t i = 0; i < p->nreadings; i++)
		p->readings[i].seen = false;
	for (size_t i = 0; i < p->rows; i++)
		row_rate(p, &p->row[i], now);
	for (size_t i = 0; i < p->nreadings; i++)
		if (p->readings[i].seen)
			p->readings[kept++] = p->readings[i];
	p->nreadings = kept;
}

static void heads_add(struct process_table *p)
{
	struct process_row *row;

	p->rows = processes_heads(p->row, p->rows, PROCESSES_MAX);
	row = row_find(p, PROCESSES_ALL);
	if (!row)
		return;
	row->shown = p->all;
	row->peak_bytes = launch_processes_sum(process_tree_launch(p->main), 0).peak_bytes;
	row->has_peak = row->peak_bytes > 0;
}

static pid_t first_pid(struct process_table *p)
{
	const struct session *main = process_tree_session(p->main);
	const struct process_row *row = p->far.run ? row_find(p, session_id(main)) : NULL;

	return row ? row->pid : session_pid(main);
}

size_t process_table_rows(struct process_table *p, const struct process_row **rows, size_t *more)
{
	p->rows = p->more = 0;
	p->families = 0;
	unrecorded_children_begin(p->unrecorded);
	if (p->far.run)
		p->rows = far_processes_rows(&p->far, p->row, PROCESSES_MAX, &p->more);
	else
		target_list(segment_take, p);
	launch_take(p);
	session_take(p, p->main);
	for (size_t i = 0; i < p->visits; i++)
		session_take(p, p->visit[i].watch);
	p->rows = unrecorded_children_add(p->unrecorded, p->row, p->rows, &p->more);
	unrecorded_children_end(p->unrecorded);
	for (size_t i = 0; i < p->rows && !p->far.run; i++)
		parent_find(p, &p->row[i]);
	rates_fill(p);
	heads_add(p);
	processes_arrange(p->row, p->rows, first_pid(p));
	*rows = p->row;
	*more = p->more;
	return p->rows;
}

/* ---- showing ------------------------------------------------------------------------------ */

static struct visit *visit_slot(struct process_table *p)
{
	struct visit *oldest = &p->visit[0];

	if (p->visits < (p->far.run ? FAR_PROCESSES_OPEN : VISITS_MAX))
		return &p->visit[p->visits++];
	for (size_t i = 1; i < p->visits; i++)
		if (p->visit[i].shown_at < oldest->shown_at)
			oldest = &p->visit[i];
	visit_close(p, oldest);
	return oldest;
}

struct search {
	uint64_t id;
	struct target_segment segment;
	bool found;
};

static int search_match(void *ctx, const struct target_segment *t)
{
	struct search *search = ctx;

	if ((t->state != TARGET_RUNNING && t->state != TARGET_ELSEWHERE) ||
		processes_id(t->pid, t->start_ticks, t->pid_namespace) != search->id)
		return 0;
	search->segment = *t;
	search->found = true;
	return 1;
}

/* Why a process cannot be opened, whose segment is not there. */
static void absence_explain(const struct process_row *row, char *msg)
{
	char peak[UNITS_MAX];

	snprintf(msg, READ_MESSAGE_MAX, "this process has ended");
	if (row && row->ended && row->has_peak)
		snprintf(msg, READ_MESSAGE_MAX,
			"process %d has ended, with a peak of %s; --report keeps the call sites of "
			"children, too",
			(int)row->pid, units_bytes(peak, row->peak_bytes));
	if (row && row->why[0] && !row->has_live)
		snprintf(msg, READ_MESSAGE_MAX, "process %d is not recorded: %s", (int)row->pid,
			row->why);
}

/* Opens a process. NULL and the reason in `msg` (READ_MESSAGE_MAX). */
static struct process_tree *visit_open(struct process_table *p, uint64_t id, char *msg)
{
	struct process_tree_options o = { .session.beside = process_tree_session(p->main) };
	struct search search = { .id = id };
	const struct process_row *row = row_find(p, id);
	struct session *s;
	struct process_tree *w;

	target_list(search_match, &search);
	absence_explain(row, msg);
	/* A child's image between fork and exec is not worth showing. */
	if (!search.found || (row && row->why[0] && search.segment.forked))
		return NULL;
	o.session.pid = search.segment.process;
	s = session_open(search.segment.path, &o.session, msg);
	if (!s)
		return NULL;
	w = process_tree_new(s, &o);
	if (w)
		return w;
	session_close(s);
	snprintf(msg, READ_MESSAGE_MAX, "out of memory");
	return NULL;
}

static struct visit *visit_find(struct process_table *p, uint64_t id)
{
	for (size_t i = 0; i < p->visits; i++)
		if (p->visit[i].id == id)
			return &p->visit[i];
	return NULL;
}

static int all_show(struct process_table *p, char *msg, size_t cap)
{
	if (p->far.run) {
		snprintf(msg, cap,
			"the sum of all processes is shown only on their own machine: choose one");
		return -ENOTSUP;
	}
	if (!p->sum)
		p->sum = launch_sum_new(p->main);
	if (!p->sum) {
		snprintf(msg, cap, "out of memory");
		return -ENOMEM;
	}
	p->all = true;
	p->shown = p->main;
	return 0;
}

/* A view that no session reads: for lack of one, that which was not shown for the longest time. */
static unsigned far_view_free(struct process_table *p)
{
	struct visit *v;
	unsigned view = 1;

	if (p->visits == FAR_PROCESSES_OPEN) {
		v = visit_slot(p);
		view = v->view;
		*v = p->visit[--p->visits];
		return view;
	}
	for (size_t i = 0; i < p->visits; i++)
		if (p->visit[i].view == view) {
			view++;
			i = (size_t)-1;
		}
	return view;
}

static int far_show(struct process_table *p, uint64_t id, char *msg, size_t cap)
{
	char message[READ_MESSAGE_MAX];
	unsigned view = p->far.coming ? 0 : far_view_free(p);
	int rc = far_processes_choose(&p->far, id, view, message);

	snprintf(msg, cap, "%s", message);
	return rc == 0 || p->far.coming == id ? -EINPROGRESS : rc;
}

int process_table_show(struct process_table *p, uint64_t id, char *msg, size_t cap)
{
	char message[READ_MESSAGE_MAX];
	struct visit *v = visit_find(p, id);
	struct process_tree *w;

	if (id == PROCESSES_ALL)
		return all_show(p, msg, cap);
	if (id == session_id(process_tree_session(p->main))) {
		p->shown = p->main;
		p->all = p->far.wanted = false;
		return 0;
	}
	if (!v && p->far.run)
		return far_show(p, id, msg, cap);
	if (!v) {
		w = visit_open(p, id, message);
		if (!w) {
			snprintf(msg, cap, "%s", message);
			return -ESRCH;
		}
		v = visit_slot(p);
		*v = (struct visit){ .id = id, .watch = w };
	}
	v->shown_at = ++p->shows;
	p->shown = v->watch;
	p->all = p->far.wanted = false;
	return 0;
}
