/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scanning with help (coop.h). Sources: the kernel's Documentation/admin-guide/LSM/Yama.rst;
 * proc(5) on status and fdinfo; prctl(2) on PR_SET_PTRACER.
 *
 * The thread that makes the copy is held back until we have the live table, and what a copy does
 * not have: shared mappings, and those of MADV_DONTFORK. Where it is the only one, all this is of
 * one moment.
 */
#include "src/leak/access/lent_access.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/leak/access/headroom.h"
#include "src/leak/access/scan_lock.h"
#include "src/leak/access/uncopied.h"
#include "src/proc/proc.h"
#include "src/read/cooperation.h"
#include "src/util/clock.h"

#define ASK_NS	    UINT64_C(1900000000) /* one that allocates looks at the clock within it, mostly */
#define END_NS	    UINT64_C(2000000000) /* a copy gives back some 50 GB in this time */
#define END_STEP_NS 2000000
#define KEPT_MAX    (UINT64_C(48) << 20) /* what can be had while the thread is held back */
#define TRIES_MAX   40u /* until no thread is inside realloc */
#define LATE_MAX    5u /* times that the thread had gone on before we were through */

static const char late[] = "memory that a copy does not have cannot be read";

struct leak_coop {
	struct read_segment *segment;
	struct read_coop *asking;
	pid_t pid;
	struct leak_progress *progress;
	struct leak_uncopied wiped; /* mappings that are empty in a copy */
	bool blind; /* we may not read what /proc says of its memory and files: its library does */
	bool traced; /* it lets us */
	bool copied; /* it has made a copy, of whose end it has to take note */
	bool idle; /* it did not answer: nor will it answer what comes next */
	uint64_t pointer[HT_COOP_SLOTS]; /* of threads */
};

/* ---- whether it may be asked ---------------------------------------------------------------- */

/*
 * Whether system calls may be the end of a thread that are none of ours: it has more filters than
 * we have. Those of a container are everybody's in it, and a program that we launched has ours.
 */
static bool has_sandbox(const char *path)
{
	long mode = 0, filters = 0, ours = 0;

	if (!proc_status_number(path, "\nSeccomp:", false, &mode))
		return true;
	if (mode == 0)
		return false;
	return mode != 2 || !proc_status_number(path, "\nSeccomp_filters:", false, &filters) ||
	       !proc_status_number("/proc/self/status", "\nSeccomp_filters:", false, &ours) ||
	       filters > ours;
}

/* Calls `visit` with the status of each thread, until it says true: then so does this. */
static bool threads_visit(
	pid_t pid, bool (*visit)(void *ctx, pid_t tid, const char *path), void *ctx)
{
	char path[80];
	bool found = false;
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return true;
	while (!found && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
		if (tid > 0 && access(path, F_OK) == 0)
			found = visit(ctx, tid, path);
	}
	closedir(dir);
	return found;
}

static bool is_seen(pid_t pid)
{
	char path[64];
	long is = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return proc_status_number(path, "\nTgid:", false, &is);
}

static bool sandbox_visit(void *ctx, pid_t tid, const char *path)
{
	return has_sandbox(path);
}

static bool goes_on(void *ctx)
{
	const struct leak_coop *c = ctx;

	return !(c->progress && c->progress->cancelled) &&
	       !threads_visit(c->pid, sandbox_visit, NULL);
}

/* When no other heaptop has its library in use. */
static int asking_open(struct leak_coop *c)
{
	struct leak_scan_lock turn = { 0 };
	int rc, waited = 0;

	while (!(c->asking = read_coop_open(c->segment, &rc)) && rc == -EBUSY && waited == 0)
		waited = leak_scan_lock_step(&turn, c->progress);
	if (c->progress)
		c->progress->phase = LEAK_STOPPING;
	return c->asking ? 0 : rc;
}

struct leak_coop *leak_coop_open(
	struct read_segment *segment, pid_t pid, struct leak_progress *progress, const char **why)
{
	struct leak_coop *c = calloc(1, sizeof(*c));

	*why = "no memory";
	if (!c)
		return NULL;
	*c = (struct leak_coop){ .segment = segment, .pid = pid, .progress = progress };
	if (!is_seen(pid)) {
		*why = "it has ended, or is hidden from us in /proc";
	} else if (threads_visit(pid, sandbox_visit, NULL)) {
		*why = "its library is not asked for help: it has a seccomp filter";
	} else {
		*why = asking_open(c) == -EBUSY
			       ? "another heaptop is scanning it; try again when that is through"
			       : "its segment cannot be written";
	}
	if (c->asking)
		return c;
	free(c);
	return NULL;
}

static int ask_once(struct leak_coop *c, enum ht_coop_ask what)
{
	struct read_coop_wish w = { .ask = what,
		.viewer = (uint32_t)getpid(),
		.ns = ASK_NS,
		.goes_on = goes_on,
		.ctx = c };
	int rc = c->idle ? -ETIMEDOUT : read_coop_ask(c->asking, &w);

	c->idle = rc == -ETIMEDOUT;
	return rc;
}

/* Again while the last copy is about to end. */
static int ask(struct leak_coop *c, enum ht_coop_ask what)
{
	const struct timespec pause = { .tv_nsec = END_STEP_NS };
	uint64_t until = clock_monotonic_ns() + END_NS;
	int rc;

	while ((rc = ask_once(c, what)) == -EBUSY && clock_monotonic_ns() < until)
		nanosleep(&pause, NULL);
	return rc;
}

void leak_coop_close(struct leak_coop *c)
{
	if (!c)
		return;
	if (c->traced)
		(void)ask(c, HT_COOP_NO_TRACER);
	read_coop_close(c->asking);
	leak_uncopied_free(&c->wiped);
	free(c);
}

#define IDLE "it does not allocate at the moment, so its library cannot help"

/* ---- letting us trace it -------------------------------------------------------------------- */

/* Yama's scope, -1: there is none. */
static long yama_scope(void)
{
	char text[16];

	return proc_slurp("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) > 0
		       ? strtol(text, NULL, 10)
		       : -1;
}

/* Whether our pid means us there. */
static bool shares_namespace(struct read_segment *s)
{
	struct read_identity id;
	struct stat st;

	return read_identity(s, &id) == 0 && stat("/proc/self/ns/pid", &st) == 0 &&
	       st.st_ino == id.pid_namespace;
}

const char *leak_coop_trace(struct leak_coop *c)
{
	int rc;

	if (yama_scope() != 1)
		return "it is not the program's to allow";
	if (!shares_namespace(c->segment))
		return "it is in another pid namespace";
	rc = ask(c, HT_COOP_TRACER);
	c->traced = rc == 0;
	return rc == 0 ? NULL : rc == -ETIMEDOUT ? IDLE : "its library could not allow it";
}

/* ---- a copy --------------------------------------------------------------------------------- */

static const char written[] = "it must not be copied: the kernel may be writing into its memory "
			      "(io_uring, aio, O_DIRECT)";

/* What the kernel writes by itself, or into pages that it holds, may go to the copy instead of the
 * program. */
static const char *maps_refuse(pid_t pid)
{
	struct leak_space s;
	const char *why = leak_space_open(&s, pid) != 0 ? "its mappings cannot be read" : NULL;

	for (size_t i = 0; !why && i < s.maps; i++)
		if (strstr(s.map[i].path, "[io_uring]") || strncmp(s.map[i].path, "/[aio]", 6) == 0)
			why = written;
	leak_space_close(&s);
	return why;
}

/* By a file that is open so, reads go straight into its memory. */
static const char *files_refuse(pid_t pid)
{
	char path[320], text[512];
	const char *why = NULL;
	struct dirent *d;
	DIR *dir;

	pid = proc_memory_tid(pid);
	snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)pid);
	dir = opendir(path);
	if (!dir)
		return "its open files cannot be listed";
	while (!why && (d = readdir(dir))) {
		const char *flags;

		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", (int)pid, d->d_name);
		if (*d->d_name == '.' || proc_slurp(path, text, sizeof(text)) <= 0)
			continue;
		flags = strstr(text, "flags:");
		if (flags && (strtoul(flags + 6, NULL, 8) & O_DIRECT))
			why = written;
	}
	closedir(dir);
	return why;
}

static const char *copy_error(int rc)
{
	switch (-rc) {
	case ETIMEDOUT:
		return IDLE;
	case ECANCELED:
		return "it was cancelled, or the program has entered a sandbox";
	case EBUSY:
		return "its last copy has not ended";
	case EAGAIN:
		return "it cannot be copied: it may have no more processes";
	case ENOMEM:
		return "it cannot be copied: memory is short";
	default:
		return "it cannot be copied here";
	}
}

/* What its library has seen where we are blind, and what is empty in the copy. NULL: it may be. */
static const char *look_take(struct leak_coop *c)
{
	static const char *const why[] = { [HT_COOP_UNCHECKED] =
						   "it is not dumpable, and its library "
						   "is too old to help then",
		[HT_COOP_UNKNOWN] =
			"it is not dumpable, and its library cannot tell whether it may "
			"be copied",
		[HT_COOP_KERNEL_WRITES] = written,
		[HT_COOP_HUGE_PAGES] = "it has huge pages of its own (hugetlbfs)",
		[HT_COOP_USERFAULT] = "its page faults are another's to handle (userfaultfd)",
		[HT_COOP_OTHER_NAMESPACE] = LEAK_HEADROOM_NAMESPACE };
	uint32_t look;

	leak_uncopied_free(&c->wiped);
	c->wiped.start = malloc(HT_COOP_DATA);
	if (!c->wiped.start)
		return copy_error(-ENOMEM);
	look = read_coop_check(c->asking, c->wiped.start, &c->wiped.count);
	return look < sizeof(why) / sizeof(why[0]) ? why[look] : why[HT_COOP_UNKNOWN];
}

struct listing {
	struct leak_stop *stop;
	uint32_t maker; /* as the program sees it */
	bool failed;
};

static bool thread_list(void *ctx, pid_t tid, const char *path)
{
	struct listing *l = ctx;
	struct leak_thread *t = realloc(l->stop->thread, (l->stop->count + 1) * sizeof(*t));
	long seen = 0;

	l->failed = !t;
	if (!t)
		return true;
	l->stop->thread = t;
	t += l->stop->count++;
	*t = (struct leak_thread){ .tid = tid, .state = LEAK_THREAD_UNSEIZED };
	if (!proc_status_number(path, "\nNSpid:", true, &seen) || seen != (long)l->maker)
		return false;
	t->state = LEAK_THREAD_STOPPED;
	return false;
}

/* Its threads. Of the one that made the copy all is on the stack; of others nothing is known. */
static bool threads_make(
	struct leak_coop *c, struct leak_stop *stop, const struct read_coop_copy *copy)
{
	struct listing l = { .stop = stop, .maker = copy->tid };

	*stop = (struct leak_stop){ .pid = c->pid, .detached = true };
	(void)threads_visit(c->pid, thread_list, &l);
#ifdef __x86_64__
	for (size_t i = 0; i < stop->count; i++) {
		stop->thread[i].regs.rsp = copy->stack;
		stop->thread[i].regs.fs_base = copy->pointer;
		if (stop->thread[i].state != LEAK_THREAD_STOPPED)
			memset(&stop->thread[i].regs, 0, sizeof(stop->thread[i].regs));
	}
#endif
	return !l.failed && stop->count > 0;
}

/* How many threads were inside realloc. */
static unsigned moving_count(struct leak_coop *c, struct leak_space *space)
{
	size_t n = read_coop_threads(c->asking, c->pointer, HT_COOP_SLOTS);
	uint64_t word;
	int64_t in_realloc_at = read_in_realloc_at(c->segment);
	unsigned moving = 0;

	for (size_t i = 0; in_realloc_at != 0 && i < n; i++) {
		uint64_t at = c->pointer[i] + (uint64_t)in_realloc_at;

		moving += leak_space_word(space, at & ~7ull, &word) &&
			  (word >> at % 8 * 8 & 0xff) != 0;
	}
	return moving;
}

/* While the thread is held back. */
static const char *moment_take(struct leak_coop *c, struct leak_lent *out, struct leak_space *of)
{
	const struct leak_uncopied_request keep = { leak_map_holds_pointers, &c->wiped, KEPT_MAX };
	int rc = leak_space_open_lent(&out->space, c->asking, HT_COOP_THREAD);

	if (rc == 0)
		rc = read_frozen_take(out->after, c->segment);
	if (rc != 0)
		return read_coop_waits(c->asking) ? "it cannot read its own mappings" : late;
	rc = leak_space_open_lent(of, c->asking, HT_COOP_CHILD);
	if (rc == -EACCES && c->blind)
		return "it is not dumpable, and of another user or pid namespace";
	if (rc != 0)
		return "its copy cannot read its own mappings, or cannot give way when memory is "
		       "short";
	rc = leak_uncopied_keep(&out->space, of, &keep);
	if (rc == -E2BIG)
		return "it shares too much memory with others";
	if (rc != 0 || (out->space.unread_bytes > 0 && !read_coop_waits(c->asking)))
		return late;
	return NULL;
}

static const char *moment_use(
	struct leak_coop *c, struct leak_lent *out, const struct read_coop_copy *copy)
{
	struct leak_space of = { .pagemap = -1 };
	const char *why = moment_take(c, out, &of);

	out->sure = out->stop.count == 1 && read_coop_waits(c->asking);
	read_coop_request(c->asking, HT_COOP_THREAD, HT_COOP_END, 0, NULL, 0);
	out->held_ns = clock_monotonic_ns() - copy->at_ns;
	if (!why)
		leak_space_become(&out->space, &of);
	leak_space_close(&of);
	return why;
}

static const char *lend_once(struct leak_coop *c, struct leak_lent *out)
{
	struct read_coop_copy copy;
	const char *why;
	int rc;

	if (out->before && read_frozen_take(out->before, c->segment) != 0)
		return "its segment cannot be read";
	rc = ask(c, c->blind ? HT_COOP_CHECKED_COPY : HT_COOP_COPY);
	c->copied |= rc == 0;
	why = c->blind && (rc == 0 || rc == -EPERM) ? look_take(c) : NULL;
	if (rc != 0 || why)
		return why ? why : copy_error(rc);
	if (read_coop_copy(c->asking, &copy) != 0)
		return "its segment cannot be read";
	out->at_ns = copy.at_ns;
	why = threads_make(c, &out->stop, &copy) ? moment_use(c, out, &copy)
						 : "its threads cannot be listed";
	if (why)
		return why;
	out->moving = moving_count(c, &out->space);
	return NULL;
}

static void lent_reset(struct leak_coop *c, struct leak_lent *lent)
{
	read_coop_request(c->asking, HT_COOP_CHILD, HT_COOP_END, 0, NULL, 0);
	leak_space_close(&lent->space);
	free(lent->stop.thread);
	lent->stop = (struct leak_stop){ 0 };
}

/* Of a thread that has ended nothing is told, nor does it make the copy. */
static bool has_ended(const char *path)
{
	char text[4096];

	return proc_slurp(path, text, sizeof(text)) <= 0 || strstr(text, "\nState:\tZ") ||
	       strstr(text, "\nState:\tX");
}

static bool namespace_visit(void *ctx, pid_t tid, const char *path)
{
	const struct leak_coop *c = ctx;

	return !leak_headroom_has_namespace(c->pid, tid) && !has_ended(path);
}

static bool has_threads(pid_t pid)
{
	char path[64];
	long n = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return !proc_status_number(path, "\nThreads:", false, &n) || n > 1;
}

/* Why there must be no copy, as far as we can see: if we see nothing, its library is to look. */
static const char *copy_refuse(struct leak_coop *c)
{
	const char *why;
	int rc;

	leak_uncopied_free(&c->wiped);
	rc = leak_uncopied_find(&c->wiped, c->pid);
	c->blind = rc == -EACCES || rc == -EPERM;
	if (c->blind)
		return NULL;
	if (rc != 0)
		return "its mappings cannot be read";
	why = c->wiped.unfit ? c->wiped.unfit : maps_refuse(c->pid);
	if (!why)
		why = files_refuse(c->pid);
	return !why && threads_visit(c->pid, namespace_visit, c) ? LEAK_HEADROOM_NAMESPACE : why;
}

const char *leak_coop_lend(struct leak_coop *c, struct leak_lent *out)
{
	struct leak_headroom *headroom = malloc(sizeof(*headroom));
	const char *why = headroom ? leak_headroom_check(headroom, "", proc_memory_tid(c->pid))
				   : "heaptop has no memory left";

	free(headroom);
	*out = (struct leak_lent){ .space.pagemap = -1 };
	if (!why)
		why = copy_refuse(c);
	if (why)
		return why;
	out->after = read_frozen_new(c->segment);
	out->before = has_threads(c->pid) ? read_frozen_new(c->segment) : NULL;
	if (!out->after)
		why = "there is no memory for a copy of its table";
	for (unsigned i = 0; !why && i < TRIES_MAX; i++) {
		lent_reset(c, out);
		why = lend_once(c, out);
		if (!why && out->moving == 0)
			break;
		if (why == late && i < LATE_MAX)
			why = NULL; /* the machine is busy; perhaps the next time */
	}
	if (why)
		(void)leak_coop_return(c, out);
	return why;
}

bool leak_coop_has_failed(const struct leak_coop *c)
{
	return read_coop_is_gone(c->asking);
}

bool leak_coop_return(struct leak_coop *c, struct leak_lent *lent)
{
	/* `sure` stays: what was read is still of use. */
	lent_reset(c, lent);
	if (c->copied)
		c->copied = ask(c, HT_COOP_REAP) != 0;
	read_frozen_free(lent->before);
	read_frozen_free(lent->after);
	lent->before = lent->after = NULL;
	return !c->copied;
}
