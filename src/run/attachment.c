/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attaching and detaching, as the options say (attachment.h). Main thread.
 *
 * A process that cannot be attached to gets a segment as well, which only we have: a session reads
 * from /proc what it says of any process, and finds no call site.
 */
#include "src/run/attachment.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/leak/before.h"
#include "src/proc/proc.h"
#include "src/read/read.h"
#include "src/run/attach_progress.h"
#include "src/run/attach_turn.h"
#include "src/run/detaching.h"
#include "src/run/failure.h"
#include "src/run/launch_environment.h"
#include "src/run/outside.h"
#include "src/run/signals.h"
#include "src/target/prepare.h"
#include "src/target/processes.h"
#include "src/target/start_command.h"
#include "src/target/target.h"
#include "src/trace/stop.h"
#include "src/util/clock.h"
#include "src/util/units.h"

#define COMMAND_MAX 1024u
#define AGAIN_NS    5000000 /* between two searches for the segment of a new image */

/* One process that this viewer attached to, or watches from outside. */
struct member {
	pid_t pid;
	struct prepared *prepared;
	bool attached, detached; /* by us; and, later, from it */
	struct snap_attach facts;
};

struct attachment {
	const struct options *options;
	char library[PATH_MAX];
	char path[256]; /* of the first process's segment */
	struct member member[OPTIONS_PIDS_MAX];
	unsigned count;
	unsigned attached; /* of them: attached to, and not detached from */
	struct snap_attach facts; /* of options.pid, if another viewer attached to it */
	struct outside *outside; /* reads the heap; NULL: it is not watched from outside, or cannot
				    be read */
	bool keep;
	char advice[COMMAND_MAX]; /* how to start it under heaptop; "": unknown */
	char notice[ATTACH_MESSAGE_MAX + COMMAND_MAX + 64];
};

/* ---- one process -------------------------------------------------------------------------- */

static void pauses_add(struct snap_attach *to, const struct attach_pauses *p)
{
	to->pauses += p->pauses;
	to->total_ns += p->total_ns;
	if (p->longest_ns > to->longest_ns)
		to->longest_ns = p->longest_ns;
}

/* The first segment of a family says whether its viewer exists. */
static struct prepared *segment_make(const struct attachment *a, pid_t pid, char *message)
{
	const struct prepared *first = a->count ? a->member[0].prepared : NULL;
	struct prepared *p = prepare_segment_for(pid, first, a->options->depth, message);
	int rc;

	if (!p)
		return NULL;
	rc = prepare_bind_running(p, pid);
	rc = rc ? rc : prepare_give(p, pid);
	if (rc == 0)
		return p;
	snprintf(message, ATTACH_MESSAGE_MAX, "cannot prepare for process %d: %s", (int)pid,
		rc == -ESRCH ? "it has ended" : strerror(-rc));
	prepare_end(p, true);
	return NULL;
}

static void member_add(
	struct attachment *a, pid_t pid, struct prepared *p, const struct snap_attach *facts)
{
	struct member m = { pid, p, facts->how == SNAP_ATTACH_DONE, false, *facts };

	a->member[a->count++] = m;
	a->attached += m.attached;
}

/* Whether it is ours to detach from. */
static bool is_held(const struct member *m)
{
	return m->attached && !m->detached;
}

static struct member *member_find(struct attachment *a, pid_t pid)
{
	for (unsigned i = 0; i < a->count; i++)
		if (a->member[i].pid == pid)
			return &a->member[i];
	return NULL;
}

/* What the process had before is found once, before the first frame: another pause. Without it,
 * call sites have what was allocated since. A viewer that attached may have been killed before it
 * did so. */
static void before_find(
	const struct attachment *a, pid_t pid, const char *path, struct snap_attach *facts)
{
	struct read_segment *s;
	struct leak_before found;
	char message[TRACE_MESSAGE_MAX > READ_MESSAGE_MAX ? TRACE_MESSAGE_MAX : READ_MESSAGE_MAX];

	s = a->options->readonly ? NULL : read_open(path, message);
	if (!s)
		return;
	if (leak_before_publish(s, pid, NULL, &found, message) == 0 && !found.known)
		pauses_add(facts, &(struct attach_pauses){ .pauses = 1,
					  .longest_ns = found.stop_ns,
					  .total_ns = found.stop_ns });
	read_close(s);
}

/* 0, or -errno with a message: the process is as it was. */
static int attach(const struct attachment *a, pid_t pid, uint64_t until_ns,
	const struct prepared *p, struct snap_attach *facts, char *message)
{
	uint64_t now = clock_monotonic_ns();
	const struct options *o = a->options;
	struct attach_progress progress;
	struct attach_options options = { .library = a->library,
		.segment = prepare_path_inside(p),
		.allocators = launch_environment_allocators(o),
		.follow = o->follow == OPTIONS_FOLLOW_DEFAULT || o->follow == OPTIONS_FOLLOW_YES,
		.free_stacks = o->free_stacks,
		.timeout_ns = until_ns > now ? until_ns - now : 0,
		.progress = attach_progress_say,
		.ctx = &progress };
	struct attach_pauses pauses = { 0 };
	int rc;

	attach_progress_begin(&progress, pid);
	rc = attach_begin(pid, &options, &pauses, message);
	if (rc == 0) {
		pauses_add(facts, &pauses);
		attach_progress_say(&progress, "finding its older blocks");
		before_find(a, pid, prepare_path(p), facts);
	}
	attach_progress_end(&progress);
	return rc;
}

static int library_find(struct attachment *a, char *message)
{
	const char *given = a->options->library;

	if (given)
		return target_library_at(given, a->library, sizeof(a->library), message);
	return target_library_find(a->library, sizeof(a->library), message);
}

/* The same from the first check on. */
static int process_attach(struct attachment *a, pid_t pid, uint64_t until_ns, char *message)
{
	struct snap_attach facts = { .how = SNAP_ATTACH_DONE };
	struct prepared *p;
	int rc = attach_check(pid, message);

	rc = rc ? rc : library_find(a, message);
	if (rc)
		return rc;
	p = segment_make(a, pid, message);
	if (!p)
		return -EIO;
	rc = attach(a, pid, until_ns, p, &facts, message);
	if (rc) {
		prepare_end(p, true);
		return rc;
	}
	member_add(a, pid, p, &facts);
	return 0;
}

/* ---- the first process -------------------------------------------------------------------- */

/* What only a recording can answer. */
static bool needs_recording(const struct options *o)
{
	return o->report || o->leak_check || o->trace || o->record_events || o->sample.given ||
	       o->mark_every_ns || o->record || o->fail_on || o->nconditions || o->save || o->sizes;
}

/* "; to record it: heaptop -- COMMAND", unless heaptop could not start it either. */
static const char *how_to_start(struct attachment *a)
{
	char link[40], path[PATH_MAX], message[TARGET_MESSAGE_MAX];
	pid_t pid = a->options->pid;
	size_t used = (size_t)snprintf(a->advice, sizeof(a->advice), "; to record it: ");

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)proc_memory_tid(pid));
	if (target_check(link, path, sizeof(path), message) != 0 ||
		start_command(pid, a->advice + used, sizeof(a->advice) - used) != 0)
		a->advice[0] = '\0';
	return a->advice;
}

static int refuse(struct attachment *a, const char *reason)
{
	char line[ATTACH_MESSAGE_MAX + COMMAND_MAX + 64];

	snprintf(line, sizeof(line), "cannot attach to process %d: %s%s", (int)a->options->pid,
		reason, how_to_start(a));
	return failure_print(line);
}

/* Only what /proc says is shown. */
static int outside_open(struct attachment *a, const char *reason)
{
	char message[TARGET_MESSAGE_MAX];
	pid_t pid = a->options->pid;
	struct prepared *p = prepare_segment(a->options->depth, message);
	int rc;

	if (!p)
		return refuse(a, reason);
	prepare_outside(p);
	rc = prepare_bind_running(p, pid);
	if (rc) {
		prepare_end(p, true);
		return failure_print_errno("cannot read the process in /proc", rc);
	}
	prepare_describe(p, pid);
	member_add(a, pid, p, &(struct snap_attach){ .how = SNAP_ATTACH_OUTSIDE });
	snprintf(a->path, sizeof(a->path), "%s", prepare_path(p));
	a->outside = outside_start(a->path, pid);
	snprintf(a->notice, sizeof(a->notice), "watching from outside: %s%s", reason,
		how_to_start(a));
	return 0;
}

/* Without "process 12 cannot be attached to: " in front. */
static const char *bare(const char *message)
{
	static const char *const fronts[] = { " cannot be attached to: ", "): " };

	for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
		const char *front = strstr(message, fronts[i]);

		if (front)
			return front + strlen(fronts[i]);
	}
	return message;
}

static int refused(struct attachment *a, const char *message)
{
	const char *reason = bare(message);

	return needs_recording(a->options) ? refuse(a, reason) : outside_open(a, reason);
}

/* A process of which no recording was found; `unfound` says why, if it carries the library. */
static int first_attach(struct attachment *a, uint64_t until_ns, const char *unfound)
{
	char message[ATTACH_MESSAGE_MAX];
	int rc;

	if (a->options->pid == getpid())
		return failure_print("cannot attach to this heaptop itself");
	if (a->options->readonly)
		return refused(a, "--readonly changes nothing in a program");
	rc = process_attach(a, a->options->pid, until_ns, message);
	if (rc == -EALREADY)
		return failure_print(unfound);
	if (rc && signals_pending()) {
		snprintf(message, sizeof(message),
			"gave up attaching to process %d: it is unchanged", (int)a->options->pid);
		return failure_print(message);
	}
	if (rc)
		return refused(a, message);
	snprintf(a->path, sizeof(a->path), "%s", prepare_path(a->member[0].prepared));
	return 0;
}

static void found_take(struct attachment *a, const struct target_segment *found)
{
	snprintf(a->path, sizeof(a->path), "%s", found->path);
	before_find(a, a->options->pid, found->path, &a->facts);
}

static int first_open(struct attachment *a)
{
	char message[TARGET_MESSAGE_MAX], again[TARGET_MESSAGE_MAX];
	struct target_segment found;
	uint64_t ns = a->options->attach.timeout_ns, until_ns = clock_monotonic_ns() + ns;
	int rc = target_find_within(a->options->pid, ns, &found, message), turn;

	if (rc == -ESRCH)
		return failure_print(message);
	turn = rc ? attach_turn_take(a->options->pid, until_ns) : -1;
	/* By now another viewer may have attached to it. */
	if (rc != 0 && target_find_within(a->options->pid, 0, &found, again) != 0)
		rc = first_attach(a, until_ns, message);
	else
		found_take(a, &found), rc = 0;
	attach_turn_end(turn);
	return rc;
}

bool attachment_has_moved(struct attachment *a)
{
	const struct timespec pause = { .tv_nsec = AGAIN_NS };
	uint64_t until_ns = clock_monotonic_ns() + a->options->attach.timeout_ns;
	char message[TARGET_MESSAGE_MAX];
	struct target_segment found;
	int rc;

	if (member_find(a, a->options->pid) || access(a->path, F_OK) == 0)
		return false;
	while ((rc = target_find_within(a->options->pid, 0, &found, message)) == -ENOENT &&
		clock_monotonic_ns() < until_ns && signals_pending() == 0)
		nanosleep(&pause, NULL);
	if (rc == 0)
		found_take(a, &found);
	return rc == 0;
}

/* ---- the others --------------------------------------------------------------------------- */

static void other_open(struct attachment *a, pid_t pid)
{
	char message[ATTACH_MESSAGE_MAX > TARGET_MESSAGE_MAX ? ATTACH_MESSAGE_MAX
							     : TARGET_MESSAGE_MAX];
	struct snap_attach unseen = { 0 };
	struct target_segment found;
	uint64_t ns = a->options->attach.timeout_ns, until_ns = clock_monotonic_ns() + ns;
	int rc = target_find_within(pid, ns, &found, message);

	if (rc == 0) {
		before_find(a, pid, found.path, &unseen);
		return;
	}
	if (rc != -ESRCH && a->count < OPTIONS_PIDS_MAX)
		rc = process_attach(a, pid, until_ns, message);
	if (rc)
		failure_print(message);
}

/* `root` and its descendants, as many as there is room for. Returns their number. */
static unsigned descendants_find(pid_t root, pid_t pids[OPTIONS_PIDS_MAX])
{
	char line[160];
	ssize_t n = target_descendants(root, pids, OPTIONS_PIDS_MAX);

	if (n < 0) {
		failure_print_errno("cannot find the descendants of the process", (int)n);
		return 0;
	}
	if (n <= OPTIONS_PIDS_MAX)
		return (unsigned)n;
	snprintf(line, sizeof(line),
		"%zd of the descendants of process %d are left out: %u processes can be attached "
		"to at once (name others with -a)",
		n - OPTIONS_PIDS_MAX, (int)root, OPTIONS_PIDS_MAX);
	failure_print(line);
	return OPTIONS_PIDS_MAX;
}

/* A process that cannot be attached to does not keep us from the others. */
static void others_open(struct attachment *a)
{
	const struct options_attach *want = &a->options->attach;
	pid_t pids[OPTIONS_PIDS_MAX];
	unsigned n = want->count;

	if (want->descendants)
		n = descendants_find(a->options->pid, pids);
	else
		memcpy(pids, want->pids, sizeof(pids));
	for (unsigned i = 0; i < n && signals_pending() == 0; i++)
		if (pids[i] != a->options->pid)
			other_open(a, pids[i]);
}

int attachment_open(struct attachment **out, const struct options *o)
{
	struct attachment *a = calloc(1, sizeof(*a));
	int rc;

	*out = a;
	if (!a)
		return failure_print_errno("cannot attach", -ENOMEM);
	a->options = o;
	a->keep = o->attach.keep;
	rc = first_open(a);
	if (rc == 0 && !o->readonly)
		others_open(a);
	return rc;
}

/* ---- what others ask ---------------------------------------------------------------------- */

const char *attachment_path(const struct attachment *a)
{
	return a->path;
}

uint64_t attachment_family(const struct attachment *a)
{
	return a->count ? prepare_family(a->member[0].prepared) : 0;
}

const struct snap_attach *attachment_facts(struct attachment *a, pid_t pid)
{
	struct member *m = member_find(a, pid);

	if (!m)
		return pid == a->options->pid ? &a->facts : NULL;
	m->facts.others = a->attached - is_held(m);
	return &m->facts;
}

const char *attachment_notice(const struct attachment *a)
{
	return a && a->notice[0] ? a->notice : NULL;
}

bool attachment_is_ours(const struct attachment *a)
{
	return a && a->attached;
}

void attachment_keep(struct attachment *a)
{
	a->keep = true;
}

/* ---- detaching ---------------------------------------------------------------------------- */

/* All that we attached to, the children last: until their parents are done, there may be more. */
static void all_detach(struct attachment *a, struct detaching *d)
{
	for (unsigned i = 0; i < a->count; i++)
		if (is_held(&a->member[i]))
			detaching_process(d, a->member[i].pid);
	detaching_family(d, attachment_family(a));
}

/* What there is to say of a process that is not recorded by now; NULL: it may be. */
static const char *not_recorded(struct attachment *a, pid_t pid)
{
	const struct member *m = member_find(a, pid);

	return m && (!m->attached || m->detached) ? "the process is not recorded" : NULL;
}

static void left_note(struct attachment *a, struct member *m)
{
	if (!is_held(m))
		return;
	m->detached = true;
	m->facts.how = SNAP_ATTACH_ENDED;
	a->attached--;
}

int attachment_detach(struct attachment *a, pid_t pid, char *msg, size_t cap)
{
	struct detaching d = { .timeout_ns = a->options->attach.timeout_ns };
	struct member *first = member_find(a, a->options->pid), *m;
	int rc;

	if (pid == 0 && !a->attached)
		pid = a->options->pid;
	m = member_find(a, pid);
	if (m && is_held(m) && a->attached == 1)
		pid = 0; /* with its children */
	if (pid && not_recorded(a, pid)) {
		snprintf(msg, cap, "%s", not_recorded(a, pid));
		return -EALREADY;
	}
	if (pid)
		detaching_process(&d, pid);
	else
		all_detach(a, &d);
	m = pid ? member_find(a, pid) : first;
	if (m)
		pauses_add(&m->facts, &d.pauses);
	rc = detaching_say(&d, pid ? pid : a->options->pid, msg, cap);
	for (unsigned i = 0; rc == 0 && i < a->count; i++)
		if (pid == 0 || a->member[i].pid == pid)
			left_note(a, &a->member[i]);
	if (rc == 0 && first && first->detached && !a->notice[0])
		snprintf(a->notice, sizeof(a->notice), "%s; the figures are those of that moment",
			msg);
	return rc;
}

int attachment_detach_process(pid_t pid, const struct options *o, char *msg, size_t cap)
{
	struct detaching d = { .timeout_ns = o->attach.timeout_ns };

	detaching_process(&d, pid);
	return detaching_say(&d, pid, msg, cap);
}

/* ---- the end ------------------------------------------------------------------------------ */

/* A process that was killed leaves what it had; one that has called exit leaves nothing. */
static void remains_say(const struct attachment *a)
{
	char message[READ_MESSAGE_MAX];
	struct read_identity id;

	if (read_identity_of_file(a->path, &id, message) == 0 && id.state != HT_STATE_EXITED)
		fprintf(stderr,
			"heaptop: process %d was killed; to inspect its heap: heaptop -r %s\n",
			(int)a->options->pid, a->path);
}

static bool has_ended(pid_t pid)
{
	uint64_t ticks;

	return proc_start_ticks(pid, &ticks) == -ESRCH;
}

/* Detaches from those that still run. */
static void all_leave(struct attachment *a)
{
	char message[ATTACH_MESSAGE_MAX];
	int rc = attachment_detach(a, 0, message, sizeof(message));

	if (rc == 0)
		fprintf(stderr, "heaptop: %s\n", message);
	else if (rc != -ESRCH)
		failure_print(message);
	if (rc == -EBUSY)
		detaching_kept_say(a->options->pid);
}

void attachment_leave(struct attachment *a)
{
	pid_t pid = a->options->pid;
	const struct member *first = member_find(a, pid);

	if (first && first->facts.how == SNAP_ATTACH_OUTSIDE)
		fprintf(stderr, "heaptop: %s\n", a->notice);
	if (!attachment_is_ours(a))
		return;
	if (first && is_held(first) && has_ended(pid))
		remains_say(a);
	for (unsigned i = 0; a->keep && i < a->count; i++)
		if (is_held(&a->member[i]) && !has_ended(a->member[i].pid))
			detaching_kept_say(a->member[i].pid);
	if (!a->keep)
		all_leave(a);
}

/* Whether a process still writes into it. */
static bool is_in_use(const struct target_segment *s)
{
	return s->state == TARGET_RUNNING && s->process > 0 &&
	       proc_maps_name(s->process, strrchr(s->path, '/') + 1) != 0;
}

static int unused_remove(void *ctx, const struct target_segment *s)
{
	const uint64_t *family = ctx;

	if (s->family == *family && s->state != TARGET_UNREADABLE && s->state != TARGET_DEAD &&
		!is_in_use(s))
		read_remove_file(s->path);
	return 0;
}

void attachment_free(struct attachment *a)
{
	uint64_t family;

	if (!a)
		return;
	outside_stop(a->outside);
	family = attachment_family(a);
	for (unsigned i = 0; i < a->count; i++)
		prepare_end(a->member[i].prepared, !a->member[i].attached);
	if (family)
		target_list(unused_remove, &family);
	free(a);
}
