/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process through its life (process_tree.h). Segments are found by name in their directory, once
 * a tick and only when the directory changed. Main thread. Long because whoever adds or removes an
 * image must know all the places where one may be.
 */
#include "src/run/process_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/leak/names/object_store.h"
#include "src/model/processes.h"
#include "src/run/forebears.h"
#include "src/target/prepare.h"
#include "src/target/target.h"
#include "src/util/clock.h"

/* File times come from a clock that advances every 1 to 10 ms. */
#define FILE_TICK_NS UINT64_C(20000000)
/* Segments of killed children that stay for -r, in addition to those kept. Workers may be killed by
 * the thousand: one more segment adds no information and takes a megabyte. The screen keeps fewer:
 * it runs for days, and a child that continued by exec without the library looks killed, too. */
#define KILLED_MAX	 64u
#define KILLED_SHOWN_MAX 16u

/* The segment that a killed child left. */
struct killed {
	char path[sizeof(((struct target_segment *)0)->path)];
	uint64_t created_ns;
};

/* The session of a replaced image that is not kept. */
struct dropped {
	struct session *session;
	bool left_out; /* counts as left out of a report */
};

struct process_tree {
	struct process_tree_options options;
	struct launch_processes *launch; /* NULL: it is no launch, or without memory */
	struct session *now;
	/* New processes of a launch find its settings in the first image's segment, so that stays
	 * until the end. */
	struct session *first;
	struct dropped dropped[PROCESS_TREE_MEMBERS_MAX + 1]; /* by this look */
	size_t ndropped;
	struct session *replaced_first; /* `first`, once it is replaced and not a member */
	/* Earlier images and children, for the report. */
	struct session *members[PROCESS_TREE_MEMBERS_MAX];
	size_t count;
	size_t not_kept; /* images and children that ended and are not among them */
	struct killed
		killed[KILLED_MAX]; /* killed children that are not kept and whose segments stay */
	size_t nkilled;
	struct snapshot *last[PROCESS_TREE_MEMBERS_MAX]; /* the members' last snapshots, made by
							    process_tree_final */
	char notice[96];
	struct timespec directory_time;
	char directory[256];
	bool changed;
	bool unfinished; /* a segment is being made: its end does not change the directory */
	bool awaits_ends; /* this look counts the processes that are certain to end */
	size_t ending; /* those */
	struct leak_object_store *leak_store;
	struct forebears forebears; /* what its running processes may still need */
};

struct process_tree *process_tree_new(struct session *first, const struct process_tree_options *o)
{
	struct process_tree *w = calloc(1, sizeof(*w));
	const char *path = session_path(first), *slash = strrchr(path, '/');

	if (!w)
		return NULL;
	w->options = *o;
	w->now = first;
	w->first = o->family ? first : NULL;
	w->launch = o->family && !o->is_copy ? launch_processes_new() : NULL;
	w->leak_store = leak_object_store_new(); /* without it, scans keep nothing */
	if (slash && !o->is_copy && (size_t)(slash - path) < sizeof(w->directory))
		memcpy(w->directory, path, (size_t)(slash - path));
	return w;
}

static void sessions_close(struct process_tree *w)
{
	for (size_t i = 0; i < w->count; i++) {
		snapshot_unref(w->last[i]);
		session_close(w->members[i]);
	}
	session_close(w->replaced_first);
	session_close(w->now);
	w->count = 0;
	w->replaced_first = w->now = w->first = NULL;
}

void process_tree_free(struct process_tree *w)
{
	if (!w)
		return;
	sessions_close(w);
	launch_processes_free(w->launch);
	forebears_free(&w->forebears);
	leak_object_store_free(w->leak_store);
	free(w);
}

struct leak_object_store *process_tree_leak_store(const struct process_tree *w)
{
	return w ? w->leak_store : NULL;
}

struct launch_processes *process_tree_launch(const struct process_tree *w)
{
	return w->launch;
}

void process_tree_launch_fill(const struct process_tree *w, struct snapshot *s)
{
	const struct read_identity *id = session_identity(w->now);

	if (s && w->launch)
		s->launch = launch_processes_sum(
			w->launch, processes_id(id->pid, id->start_ticks, id->pid_namespace));
}

struct session *process_tree_session(const struct process_tree *w)
{
	return w->now;
}

void process_tree_members(
	struct process_tree *w, void (*visit)(void *ctx, struct session *s), void *ctx)
{
	for (size_t i = 0; i < w->count; i++)
		visit(ctx, w->members[i]);
}

/* ---- removing segments ---- */

static void removing_tell(const struct process_tree *w, const char *path)
{
	launch_processes_removing(w->launch, path);
	if (w->options.removing)
		w->options.removing(w->options.removing_ctx, path);
}

static bool file_remove(const struct process_tree *w, const char *path)
{
	removing_tell(w, path);
	return read_remove_file(path);
}

static bool image_remove(const struct process_tree *w, struct session *s)
{
	removing_tell(w, session_path(s));
	return session_remove(s);
}

/* Whoever has it open, as another viewer, keeps it. */
static bool held_remove(void *ctx, const char *path, bool left_out)
{
	struct process_tree *w = ctx;
	bool removed = file_remove(w, path);

	w->not_kept += removed && left_out;
	return removed || access(path, F_OK) != 0;
}

/* Removes the segment of an image of the launch, now or when what it forked has ended. `left_out`:
 * the report then lacks it. */
static void launch_image_remove(struct process_tree *w, const char *path, bool left_out)
{
	if (!forebears_hold(&w->forebears, path, left_out))
		held_remove(w, path, left_out);
}

/* Closes a session, and removes its segment unless that is needed. */
static void image_close(struct process_tree *w, struct session *s, bool left_out)
{
	if (!forebears_needs(&w->forebears, session_path(s)) ||
		!forebears_hold(&w->forebears, session_path(s), left_out))
		w->not_kept += image_remove(w, s) && left_out;
	session_close(s);
}

/* At the end of the look, since what is needed is known then. */
static void image_drop(struct process_tree *w, struct session *s, bool left_out)
{
	if (w->ndropped < sizeof(w->dropped) / sizeof(w->dropped[0]))
		w->dropped[w->ndropped++] = (struct dropped){ s, left_out };
	else
		image_close(w, s, left_out);
}

static void dropped_close(struct process_tree *w)
{
	for (size_t i = 0; i < w->ndropped; i++)
		image_close(w, w->dropped[i].session, w->dropped[i].left_out);
	w->ndropped = 0;
}

void process_tree_release(
	struct process_tree *w, bool (*is_done)(void *ctx, struct session *s), void *ctx)
{
	for (size_t i = w->options.release_ended ? w->count : 0; i-- > 0;) {
		struct session *s = w->members[i];

		if (!is_done(ctx, s))
			continue;
		w->members[i] = w->members[--w->count];
		if (s == w->first) {
			w->replaced_first = s;
			continue;
		}
		image_close(w, s, false);
	}
}

static bool is_known(const struct process_tree *w, const char *path)
{
	if (strcmp(session_path(w->now), path) == 0 ||
		(w->replaced_first && strcmp(session_path(w->replaced_first), path) == 0))
		return true;
	for (size_t i = 0; i < w->ndropped; i++)
		if (strcmp(session_path(w->dropped[i].session), path) == 0)
			return true;
	for (size_t i = 0; i < w->count; i++)
		if (strcmp(session_path(w->members[i]), path) == 0)
			return true;
	return forebears_holds(&w->forebears, path);
}

static bool is_image_of(const struct target_segment *t, const struct session *s)
{
	const struct read_identity *id = session_identity(s);

	return t->pid == id->pid && t->start_ticks == id->start_ticks &&
	       t->pid_namespace == id->pid_namespace;
}

static bool has_capacity(const struct process_tree *w)
{
	return w->options.keep_children && w->count < PROCESS_TREE_MEMBERS_MAX;
}

/* Closes a session that is not kept, and removes its segment, unless another viewer's launch owns
 * it. */
static void session_drop(struct process_tree *w, struct session *s)
{
	uint64_t family = session_identity(s)->family;

	if (family == 0)
		image_close(w, s, true);
	else if (family == w->options.family)
		image_drop(w, s, true);
	else
		session_close(s);
}

/* Keeps the session of a child or a replaced image for the report, or drops it. */
static void member_add(struct process_tree *w, struct session *s)
{
	if (has_capacity(w)) {
		w->members[w->count++] = s;
	} else if (s == w->first) {
		w->replaced_first = s;
		w->not_kept++;
	} else {
		session_drop(w, s);
	}
}

static struct session *open_segment(const struct process_tree *w, const struct target_segment *t)
{
	struct session_options o = w->options.session;
	char message[READ_MESSAGE_MAX];

	o.beside = w->now;
	if (!is_image_of(t, w->now))
		o.pid = 0; /* given for the watched process only */
	return session_open(t->path, &o, message);
}

static void image_follow(struct process_tree *w, struct session *next)
{
	session_sample_inherit(next, w->now);
	session_replaced(w->now);
	member_add(w, w->now);
	w->now = next;
	w->changed = true;
}

/* The process has a newer image: it becomes the watched one. */
static void exec_follow(struct process_tree *w, const struct target_segment *t)
{
	struct session *next = open_segment(w, t);

	if (next)
		image_follow(w, next);
}

int process_tree_follow(struct process_tree *w, const char *path, char *message)
{
	struct session_options o = w->options.session;
	struct session *next;

	o.beside = w->now;
	next = session_open(path, &o, message);
	if (next)
		image_follow(w, next);
	return next ? 0 : -1;
}

/* Keeps the newest: the user asks for the child that was killed just now. */
static void killed_add(struct process_tree *w, const struct target_segment *t)
{
	size_t most = w->options.keep_children ? KILLED_MAX : KILLED_SHOWN_MAX;
	struct killed *at = &w->killed[0];

	if (w->nkilled < most) {
		at = &w->killed[w->nkilled++];
	} else {
		for (size_t i = 1; i < most; i++)
			if (w->killed[i].created_ns < at->created_ns)
				at = &w->killed[i];
		if (t->created_ns < at->created_ns) {
			launch_image_remove(w, t->path, true);
			return;
		}
		launch_image_remove(w, at->path, true);
	}
	memcpy(at->path, t->path, sizeof(at->path));
	at->created_ns = t->created_ns;
}

/*
 * A child beyond those kept is left alone while it runs. Some segments of killed ones stay for -r.
 * Costs no session: a program that forks without end must not make segments faster than this
 * removes them.
 */
static void child_skip(struct process_tree *w, const struct target_segment *t)
{
	if (t->state == TARGET_DEAD)
		killed_add(w, t);
	else if (t->state == TARGET_EXITED ||
		 (t->state == TARGET_RUNNING && target_execed_unrecorded(t)))
		launch_image_remove(w, t->path, true);
	else if (t->state == TARGET_RUNNING && w->options.leak_check)
		prepare_unasked(t->path);
}

/* A child that continued by exec was not killed: all of its images but the newest are replaced. */
static void images_replace(
	struct process_tree *w, const struct target_segment *t, struct session *s)
{
	for (size_t i = 0; i < w->count; i++) {
		if (!is_image_of(t, w->members[i]))
			continue;
		if (session_identity(w->members[i])->exec_gen < t->exec_gen)
			session_replaced(w->members[i]);
		else
			session_replaced(s);
	}
}

/* A child, or an image of the watched process that came and went between two polls. */
static void child_found(struct process_tree *w, const struct target_segment *t)
{
	struct session *s;

	if (!has_capacity(w)) {
		child_skip(w, t);
		return;
	}
	s = open_segment(w, t);
	if (!s)
		return;
	images_replace(w, t, s);
	if (is_image_of(t, w->now))
		session_replaced(s);
	else
		session_sample_inherit(s, w->now);
	member_add(w, s);
}

/* A child that forked only to call exec: its image before exec is not worth reporting. */
static void fork_image_drop(struct process_tree *w, const struct target_segment *t)
{
	for (size_t i = 0; i < w->count; i++)
		if (strcmp(session_path(w->members[i]), t->path) == 0) {
			image_drop(w, w->members[i], false);
			w->members[i] = w->members[--w->count];
			return;
		}
	launch_image_remove(w, t->path, false);
}

static int segment_found(void *ctx, const struct target_segment *t)
{
	struct process_tree *w = ctx;
	uint32_t current = session_identity(w->now)->exec_gen;
	bool ours = w->options.family != 0 && t->family == w->options.family;

	if (t->state == TARGET_UNREADABLE && t->process > 0)
		w->unfinished = true;
	if (ours) {
		forebears_note(&w->forebears, t);
		launch_processes_note(w->launch, t);
		w->ending += w->awaits_ends && t->state == TARGET_RUNNING &&
			     target_is_ending(t->process);
	}
	if (forebears_holds(&w->forebears, t->path))
		return 0;
	if (ours && t->forked && t->replaced && !is_image_of(t, w->now)) {
		fork_image_drop(w, t);
		return 0;
	}
	if (t->state == TARGET_UNREADABLE || is_known(w, t->path))
		return 0;
	if (is_image_of(t, w->now)) {
		if (t->exec_gen > current)
			exec_follow(w, t);
		else if (ours)
			child_found(w, t);
	} else if (ours) {
		child_found(w, t);
	}
	return 0;
}

/* Whether a file that changes from now on gets a later time than `t`. */
static bool has_passed(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_sec - t->tv_sec) * INT64_C(1000000000) + now.tv_nsec - t->tv_nsec >
	       (int64_t)FILE_TICK_NS;
}

/* A directory that changed just now may change again within the same file time, so that time is not
 * remembered. */
static bool directory_changed(struct process_tree *w)
{
	struct stat st;

	if (stat(w->directory, &st) != 0 ||
		(!w->unfinished &&
			memcmp(&st.st_mtim, &w->directory_time, sizeof(st.st_mtim)) == 0))
		return false;
	if (has_passed(&st.st_mtim))
		w->directory_time = st.st_mtim;
	return true;
}

bool process_tree_poll(struct process_tree *w)
{
	w->changed = false;
	/* Children that are not kept are seen to have ended only by reading their files again. */
	if (directory_changed(w) || (w->options.family != 0 && !w->options.keep_children)) {
		w->nkilled = 0; /* target_list finds them again */
		w->unfinished = false;
		forebears_begin(&w->forebears);
		target_list(segment_found, w);
		forebears_end(&w->forebears);
		dropped_close(w);
		forebears_settle(&w->forebears, held_remove, w);
	}
	launch_processes_tick(w->launch);
	return w->changed;
}

size_t process_tree_left_out(const struct process_tree *w)
{
	return w->not_kept + w->nkilled + w->forebears.left_out;
}

void process_tree_left_out_notice(struct process_tree *w)
{
	if (!w->options.keep_children || process_tree_left_out(w) == 0)
		return;
	snprintf(w->notice, sizeof(w->notice),
		"this report leaves out %zu more children and earlier images that ended",
		process_tree_left_out(w));
	session_notice(w->now, w->notice);
}

/* The earliest first; images of one process in the order of their execs. */
static int member_order(const void *left, const void *right)
{
	const struct read_identity *a = session_identity(*(struct session *const *)left);
	const struct read_identity *b = session_identity(*(struct session *const *)right);

	if (a->created_ns != b->created_ns)
		return a->created_ns < b->created_ns ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* Workers are often killed by their parent's end (PR_SET_PDEATHSIG), and are still dying when we
 * learn of that end. */
void process_tree_poll_last(struct process_tree *w)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t begin = clock_monotonic_ns();

	w->awaits_ends = true;
	for (;;) {
		w->directory_time = (struct timespec){ 0 };
		w->ending = 0;
		process_tree_poll(w);
		if (w->ending == 0 || clock_monotonic_ns() - begin > PROCESS_TREE_ENDING_NS)
			break;
		nanosleep(&pause, NULL);
	}
	w->awaits_ends = false;
}

/* One that is unseen becomes seen if `sites` are wanted. */
static void names_finish(struct session *s, uint64_t timeout_ns, bool sites)
{
	snapshot_unref(session_tick(s));
	session_names_finish(s, timeout_ns);
	if (sites)
		session_seen(s);
}

/* How its process ended, if the kernel has said so by now. */
static void end_fill(const struct process_tree *w, struct session *s)
{
	const struct read_identity *id = session_identity(s);
	int status = launch_processes_status(
		w->launch, processes_id(id->pid, id->start_ticks, id->pid_namespace), id->exec_gen);

	if (status >= 0)
		session_ended_so(s, status);
}

struct snapshot *process_tree_final(struct process_tree *w, uint64_t names_timeout_ns, bool sites)
{
	struct snapshot *last;
	size_t n = 0;

	qsort(w->members, w->count, sizeof(struct session *), member_order);
	for (size_t i = 0; i < w->count; i++) {
		names_finish(w->members[i], names_timeout_ns, sites);
		end_fill(w, w->members[i]);
		w->last[n] = session_tick(w->members[i]);
		n += w->last[n] != NULL;
	}
	names_finish(w->now, names_timeout_ns, sites);
	session_children(w->now, (const struct snapshot *const *)w->last, n);
	process_tree_left_out_notice(w);
	last = session_tick(w->now);
	process_tree_launch_fill(w, last);
	return last;
}

const char *process_tree_remove(struct process_tree *w, bool keep_crashed)
{
	for (size_t i = 0; i < w->count; i++)
		if (!session_alive(w->members[i]))
			image_remove(w, w->members[i]);
	if (w->replaced_first)
		image_remove(w, w->replaced_first);
	if (session_alive(w->now) && !session_is_over(w->now))
		return NULL;
	if (keep_crashed)
		return session_path(w->now);
	image_remove(w, w->now);
	return NULL;
}

int process_tree_sample(struct process_tree *w, const struct sampling_request *request)
{
	/* New images and children take their rate from the first image's segment. */
	if (w->first && w->first != w->now)
		session_sample(w->first, request);
	return session_sample(w->now, request);
}

void process_tree_sample_adjust(struct process_tree *w)
{
	for (size_t i = 0; i < w->count; i++)
		if (session_alive(w->members[i]))
			session_sample_adjust(w->members[i]);
}

/*
 * A process checks who owns its segment after it has noted its end. This function checks for that
 * note after it has written that nobody owns the segment. So at least one of the two sees the
 * other, and the segment is removed.
 */
static int disown_one(void *ctx, const struct target_segment *t)
{
	const struct process_tree *w = ctx;
	char message[READ_MESSAGE_MAX];
	struct read_identity id;

	if (t->state == TARGET_UNREADABLE || t->family != w->options.family)
		return 0;
	if (t->state != TARGET_EXITED)
		prepare_disown(t->path);
	if (t->state == TARGET_EXITED ||
		(read_identity_of_file(t->path, &id, message) == 0 && id.state == HT_STATE_EXITED))
		file_remove(w, t->path);
	return 0;
}

struct clearing {
	const struct process_tree *w;
	struct process_tree_left left;
};

static int clear_one(void *ctx, const struct target_segment *t)
{
	struct clearing *c = ctx;
	/* Its family cannot be read yet. An unfinished segment without a process belongs to no
	 * launch. */
	bool being_made = t->state == TARGET_UNREADABLE && t->process > 0;

	if (t->rest)
		unlink(t->path);
	if (!being_made && (t->state == TARGET_UNREADABLE || t->family != c->w->options.family))
		return 0;
	if (being_made || t->state == TARGET_RUNNING) {
		c->left.running++;
		c->left.ending += t->process > 0 && target_is_ending(t->process);
	}
	/* Those that are open are process_tree_remove's. */
	if (t->state == TARGET_DEAD && !is_known(c->w, t->path))
		file_remove(c->w, t->path);
	return 0;
}

struct process_tree_left process_tree_clear_hung_up(struct process_tree *w)
{
	struct clearing c = { .w = w };

	if (w->options.family != 0)
		target_list(clear_one, &c);
	return c.left;
}

void process_tree_disown(struct process_tree *w)
{
	/* A process that ends does not remove a segment that a viewer has open, so close ours
	 * first. */
	sessions_close(w);
	forebears_drop(&w->forebears, held_remove, w);
	if (w->options.family != 0)
		target_list(disown_one, w);
}
