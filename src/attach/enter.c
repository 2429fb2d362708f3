/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Entering the process (enter.h): stop it, prove a thread, release the others, and make that
 * thread load the library and call it; then stop once more for the jumps.
 */
#include "src/attach/enter.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/attach/jumps.h"
#include "src/attach/load.h"
#include "src/attach/loader.h"
#include "src/attach/park.h"
#include "src/attach/prove.h"
#include "src/trace/borrow.h"
#include "src/trace/filter.h"
#include "src/util/clock.h"

#define TRIES	       4u /* stops, to find a thread that waits */
#define AGAIN_NS       5000000 /* between them */
#define CAUGHT_NS      UINT64_C(500000000) /* for a thread to call malloc; then others are checked */
#define CAUGHT_POLL_NS 200000
#define REST_NS	       1000000 /* after a thread that could not be used; each time twice as long */
#define REST_MOST      100000000
#define USABLE_AWAITED "none of its threads can be used now; waiting for one"
#define LOADER_AWAITED "perhaps awaited by the loader, which is at work"
#define UNPARK_NS      UINT64_C(5000000000) /* to take the jumps out, when time is over */

/* ---- what the library is asked ---- */

/* A path as the process sees it. */
static const char *path_there(const struct attach_job *j, const char *path)
{
	char root[32];
	int n = snprintf(root, sizeof(root), "/proc/%d/root/", (int)j->process.pid);

	return strncmp(path, root, (size_t)n) == 0 ? path + n - 1 : path;
}

static int text_set(char *to, const char *text)
{
	return snprintf(to, HT_ATTACHED_PATH, "%s", text ? text : "") < (int)HT_ATTACHED_PATH
		       ? 0
		       : -ENAMETOOLONG;
}

static int request_make(
	const struct attach_job *j, const struct attach_options *o, struct ht_attached *a)
{
	int rc = text_set(a->segment, path_there(j, o->segment));

	if (rc == 0)
		rc = text_set(a->library, o->follow ? path_there(j, o->library) : "");
	if (rc == 0)
		rc = text_set(a->allocators, o->allocators);
	a->follow = o->follow;
	a->free_stacks = o->free_stacks;
	a->viewer = (uint32_t)getpid();
	a->result = -EINPROGRESS;
	a->why[0] = '\0';
	return rc;
}

#define REQUEST_FROM offsetof(struct ht_attached, result)
#define REQUEST_END  offsetof(struct ht_attached, pads)

static bool request_write(const struct attach_process *p, const struct ht_attached *a)
{
	return trace_memory_write(&p->memory, p->at + REQUEST_FROM, (const char *)a + REQUEST_FROM,
		REQUEST_END - REQUEST_FROM);
}

/* For good: -EAGAIN and -ERESTART mean something else here. */
static int refuse_result(struct attach_job *j, const struct ht_attached *a)
{
	int rc = a->result < 0 && a->result != -EAGAIN && a->result != -ERESTART ? a->result : -EIO;
	char why[HT_ATTACHED_WHY];

	if (a->result == -EINPROGRESS)
		return attach_phase_refuse(j, -EIO, "libheaptop.so has not answered");
	snprintf(why, sizeof(why), "%.*s", (int)sizeof(a->why) - 1, a->why);
	return attach_phase_refuse(j, rc, "%s", *why ? why : strerror(-a->result));
}

static int library_ask(struct attach_job *j, struct trace_remote *r, const struct attach_options *o,
	struct ht_attached *a)
{
	uint64_t args[TRACE_REMOTE_ARGS] = { j->process.at };
	uint64_t function = attach_process_function(&j->process, HT_ATTACHED_ATTACH);
	int rc;

	if (!function || !attach_process_read(&j->process, a))
		return attach_phase_refuse(j, -EPROTO,
			"its libheaptop.so is from another version of heaptop; restart the "
			"program");
	rc = request_make(j, o, a);
	if (rc != 0)
		return attach_phase_refuse(j, rc, "a path is too long");
	if (!request_write(&j->process, a))
		return attach_phase_refuse(j, -EFAULT, "libheaptop.so cannot be written");
	rc = trace_remote_call(r, function, args, ATTACH_CALL_NS);
	if (rc != 0)
		return attach_phase_refuse(j, rc, "libheaptop.so did not answer in time");
	if (!attach_process_read(&j->process, a) || a->result != 0)
		return refuse_result(j, a);
	return 0;
}

/* Has the library prepare everything. */
static int library_call(
	struct attach_job *j, struct trace_remote *r, const struct attach_options *o)
{
	struct ht_attached *a = malloc(sizeof(*a));
	int rc = a ? library_ask(j, r, o, a) : -ENOMEM;

	free(a);
	return rc;
}

/* ---- on a proved thread ---- */

struct entering {
	const struct attach_options *o;
	struct attach_park park;
	struct attach_prove prove;
	struct attach_loader loader;
	bool judged; /* what filters would do to the recorder */
	bool entered; /* or refused, before one was caught */
	size_t threads, unusable; /* at the last stop */
	const char *why; /* one of these */
};

/* On a thread that holds the loader's lock. */
static int library_use(struct attach_job *j, struct trace_remote *r, const struct attach_options *o)
{
	int rc = attach_load(j, r, o->library);

	return rc != 0 ? rc : library_call(j, r, o);
}

static int locked_use(struct attach_job *j, struct trace_remote *r, struct entering *e)
{
	int rc = attach_loader_take(&e->loader, r);

	if (rc == -EAGAIN)
		e->why = LOADER_AWAITED;
	if (rc == -EIO)
		return attach_phase_refuse(j, rc, "the thread that was used has ended");
	if (rc != 0)
		return rc;
	rc = library_use(j, r, e->o);
	(void)attach_loader_give(&e->loader, r);
	return rc;
}

/* The others go on; the pause ends. -EAGAIN: the loader is at work. */
static int proved_use(
	struct attach_job *j, struct trace_stop *s, struct trace_thread *t, struct entering *e)
{
	struct trace_remote r;
	int rc = trace_remote_begin(
		&r, s, t, &j->process.memory, &j->process.code, j->process.filtered);

	if (rc != 0)
		return attach_phase_refuse(j, rc, "a thread cannot be used: %s", strerror(-rc));
	trace_remote_release_others(&r);
	attach_phase_went_on(j);
	rc = attach_load_close(j, &r);
	if (rc == 0)
		rc = locked_use(j, &r, e);
	if (!trace_remote_end(&r) && rc == 0)
		rc = attach_phase_refuse(j, -EIO, "the thread that was used has ended");
	return rc;
}

static struct trace_thread *proved_find(
	struct attach_job *j, struct trace_stop *s, struct entering *e)
{
	e->threads = s->count;
	e->unusable = 0;
	for (size_t i = 0; i < s->count; i++) {
		struct trace_thread *t = &s->thread[i];
		const char *why = "not to be borrowed";

		if (t->state != TRACE_THREAD_STOPPED)
			continue;
		if (trace_borrow_may(t, !j->process.filtered))
			why = attach_prove(&e->prove, t);
		if (!why)
			return t;
		e->why = why;
		e->unusable++;
	}
	return NULL;
}

/* The thread that waits at its allocator's entry, if it is proved. Else it goes on. */
static struct trace_thread *parked_find(
	struct attach_job *j, struct trace_stop *s, struct entering *e)
{
	struct user_regs_struct regs;
	struct trace_thread *t = attach_park_find(&e->park, j, s, &regs);

	if (!t)
		return NULL;
	e->why = trace_borrow_may(t, !j->process.filtered) ? attach_prove_entry(&e->prove, &regs)
							   : "not to be borrowed";
	if (!e->why)
		return t;
	attach_park_arm(&e->park, j, false);
	return NULL;
}

static bool is_prepared(const struct attach_job *j)
{
	uint32_t state;

	return j->process.at != 0 &&
	       trace_memory_read(&j->process.memory,
		       j->process.at + offsetof(struct ht_attached, state), &state,
		       sizeof(state)) &&
	       state == HT_ATTACHED_PREPARED;
}

/* Filters do not count for our own calls, but the recorder makes some later, when they do. */
static int filters_judge(struct attach_job *j, const struct trace_stop *s, struct entering *e)
{
	const char *call = NULL;

	for (size_t i = 0; i < s->count && j->process.filtered && !e->judged && !call; i++)
		if (s->thread[i].state == TRACE_THREAD_STOPPED &&
			trace_borrow_filtered(s->thread[i].tid))
			call = trace_filter_forbids(s->thread[i].tid);
	e->judged = true;
	if (!call)
		return 0;
	return strcmp(call, "?") == 0
		       ? attach_phase_refuse(j, -EPERM, "its seccomp filter cannot be read")
		       : attach_phase_refuse(j, -EPERM,
				 "its seccomp filter forbids %s, which recording needs", call);
}

/* One stop: uses a thread that waits, or that is caught. -EAGAIN: there is none. */
static int enter_phase(struct attach_job *j, void *ctx)
{
	struct entering *e = ctx;
	struct trace_thread *t;
	struct trace_stop s;
	int rc = attach_phase_look(j);

	if (rc != 0)
		return rc;
	attach_prove_begin(&e->prove, &j->process);
	rc = attach_phase_stop(j, &s);
	if (rc != 0)
		return rc;
	rc = is_prepared(j) ? -ERESTART : filters_judge(j, &s, e);
	if (rc != 0) {
		attach_phase_release(j, &s);
		return rc;
	}
	t = e->park.armed ? parked_find(j, &s, e) : NULL;
	if (!t)
		t = proved_find(j, &s, e);
	attach_loader_look(&j->process, &e->loader);
	if (t && e->loader.busy && e->loader.try_it == 0) {
		e->why = LOADER_AWAITED;
		if (e->park.armed)
			attach_park_arm(&e->park, j, false);
		t = NULL;
	}
	if (!t) {
		attach_phase_release(j, &s);
		return -EAGAIN;
	}
	rc = attach_park_clear(&e->park, j);
	if (rc == 0)
		rc = proved_use(j, &s, t, e);
	if (e->park.pad)
		attach_park_arm(&e->park, j, false);
	trace_stop_release(&s);
	return rc;
}

/* ---- no thread is proved: one is caught ---- */

static int park_phase(struct attach_job *j, void *ctx)
{
	struct entering *e = ctx;
	struct trace_stop s;
	int rc = attach_phase_look(j);

	if (rc == 0)
		rc = attach_phase_stop(j, &s);
	if (rc != 0)
		return rc;
	rc = attach_park_set(&e->park, j, &s);
	attach_phase_release(j, &s);
	return rc;
}

/* Meanwhile a thread may wait where it can be used. The end of a phase's thread lets all go. */
static int enter_or_park(struct attach_job *j, void *ctx)
{
	struct entering *e = ctx;
	int rc = attach_phase_run(j, enter_phase, e);

	e->entered = rc != -EAGAIN;
	return e->entered ? rc : park_phase(j, e);
}

static int unpark_phase(struct attach_job *j, void *ctx)
{
	struct entering *e = ctx;
	struct trace_stop s;
	int rc = attach_phase_look(j);

	if (rc == 0)
		rc = attach_phase_stop(j, &s);
	if (rc != 0)
		return rc;
	rc = attach_park_clear(&e->park, j);
	attach_park_arm(&e->park, j, false);
	attach_phase_release(j, &s);
	return rc;
}

/* Until a thread has been caught; now and then one may wait where it can be used. */
static void caught_wait(struct attach_job *j, const struct entering *e, uint64_t ns)
{
	const struct timespec pause = { .tv_nsec = CAUGHT_POLL_NS };
	uint64_t until = clock_monotonic_ns() + ns;

	attach_park_arm(&e->park, j, true);
	while (!attach_park_arrived(&e->park, j) && clock_monotonic_ns() < until)
		nanosleep(&pause, NULL);
}

/* The jumps were taken out for a thread that could not be used after all. */
static int park_again(struct attach_job *j, struct entering *e)
{
	int rc = e->park.armed ? 0 : attach_phase_await(j, USABLE_AWAITED, park_phase, e);

	return rc == -ETIMEDOUT ? -EAGAIN : rc;
}

static int caught_enter(struct attach_job *j, struct entering *e)
{
	struct timespec rest = { .tv_nsec = REST_NS };
	unsigned caught = 0;
	int rc = -EAGAIN;

	while (rc == -EAGAIN && clock_monotonic_ns() < j->until_ns) {
		rc = attach_phase_tell(j,
			"%zu of %zu threads cannot be used now (%s); waiting for malloc",
			e->unusable, e->threads, e->why ? e->why : "busy");
		if (rc == 0)
			rc = park_again(j, e);
		if (rc != 0)
			break;
		caught_wait(j, e, CAUGHT_NS);
		e->park.caught = attach_park_arrived(&e->park, j);
		caught += e->park.caught;
		rc = attach_phase_run(j, enter_phase, e);
		if (rc != -EAGAIN)
			break;
		/* Meanwhile nobody is caught. Where threads are then does not depend on malloc. */
		attach_park_arm(&e->park, j, false);
		nanosleep(&rest, NULL);
		rc = attach_phase_run(j, enter_phase, e);
		if (rc != -EAGAIN)
			break;
		rest.tv_nsec = rest.tv_nsec * 2 < REST_MOST ? rest.tv_nsec * 2 : REST_MOST;
	}
	if (rc == -EAGAIN)
		rc = attach_phase_refuse(j, -ETIMEDOUT,
			"%s in time (--attach-timeout; the last thread checked was %s)",
			caught ? "no thread that calls malloc could be used"
			       : "none of its threads could be used, and it did not call malloc",
			e->why ? e->why : "busy");
	return rc;
}

static int enter_by_malloc(struct attach_job *j, struct entering *e)
{
	int rc = attach_park_begin(&e->park);

	if (rc == 0)
		rc = attach_phase_await(j, USABLE_AWAITED, enter_or_park, e);
	if (rc == -ETIMEDOUT && !e->entered)
		attach_phase_refuse(j, rc,
			"none of its threads could be used in time (--attach-timeout; the last "
			"thread checked was %s)",
			e->why ? e->why : "busy");
	if (rc == 0 && !e->entered)
		rc = caught_enter(j, e);
	if (e->park.armed) {
		char why[ATTACH_MESSAGE_MAX];

		memcpy(why, j->message, sizeof(why));
		j->until_ns += UNPARK_NS;
		(void)attach_phase_repeat(j, unpark_phase, e);
		memcpy(j->message, why, sizeof(why));
	}
	attach_park_free(&e->park);
	return rc;
}

int attach_enter(struct attach_job *j, const struct attach_options *o)
{
	struct entering e = { .o = o };
	struct timespec pause = { .tv_nsec = AGAIN_NS };
	int rc = -EAGAIN;

	for (unsigned n = 0; rc == -EAGAIN && n < TRIES; n += j->dozes == 0) {
		rc = attach_phase_run(j, enter_phase, &e);
		if (rc != -EAGAIN || clock_monotonic_ns() > j->until_ns)
			break;
		nanosleep(&pause, NULL);
	}
	return rc == -EAGAIN ? enter_by_malloc(j, &e) : rc;
}

/* ---- the jumps ---- */

/* Between two stops another viewer may have detached it: its jumps would lead to nothing then. */
static int prepared_read(const struct attach_job *j, struct ht_attached *a)
{
	if (!attach_process_read(&j->process, a))
		return -EPROTO;
	return a->state == HT_ATTACHED_PREPARED && a->viewer == (uint32_t)getpid() ? 0 : -ESTALE;
}

static int jumps_phase(struct attach_job *j, void *ctx)
{
	struct ht_attached *a = ctx;
	struct trace_stop s;
	int rc = attach_phase_look(j);

	if (rc == 0)
		rc = attach_phase_stop(j, &s);
	if (rc != 0)
		return rc;
	rc = prepared_read(j, a);
	if (rc == 0)
		rc = attach_jumps_write(&j->process, &s, a);
	attach_phase_release(j, &s);
	if (rc != 0 && rc != -EAGAIN)
		attach_phase_refuse(j, rc, "the entries of its functions cannot be patched: %s",
			rc == -EBUSY	? "they have changed meanwhile"
			: rc == -EPROTO ? ATTACH_EXECUTED
			: rc == -ESTALE ? "another heaptop has detached it meanwhile"
					: strerror(-rc));
	return rc;
}

int attach_enter_jumps(struct attach_job *j)
{
	struct ht_attached *a = malloc(sizeof(*a));
	int rc = a ? 0 : -ENOMEM;

	if (rc == 0)
		rc = attach_phase_await(j, "waiting for threads to leave malloc", jumps_phase, a);
	if (rc == -ETIMEDOUT)
		attach_phase_refuse(j, rc,
			"its threads could not be stopped all at once outside of the functions "
			"that "
			"are patched; try again");
	free(a);
	return rc;
}
