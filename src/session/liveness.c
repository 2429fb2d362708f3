/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which process has a segment mapped (liveness.h), read from /proc. Main thread. */
#include "src/session/liveness.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/util/clock.h"
#include "src/util/text.h"
#include "src/util/units.h"

/* A check reads /proc/PID/maps, which is slow for a large address space: 1/50 of the time. */
#define LOOK_SHARE 50u
/* A new image maps its segment only once it is loaded, so a single check in between proves
 * nothing. */
#define LEFT_AFTER 2u

#define SEGMENT_PREFIX "heaptop-"

static const char *segment_name(const struct read_segment *s)
{
	const char *path = read_path(s), *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

pid_t liveness_pid(const struct read_segment *s, const struct read_identity *id)
{
	const struct proc_claim claim = { .pid = id->pid,
		.pid_namespace = id->pid_namespace,
		.start_ticks = id->start_ticks,
		.maps = segment_name(s) };
	pid_t pid = id->pid;

	return proc_resolve(&claim, &pid) == -EXDEV ? 0 : pid;
}

static bool has_segment_name(const struct read_segment *s)
{
	return strncmp(segment_name(s), SEGMENT_PREFIX, strlen(SEGMENT_PREFIX)) == 0;
}

bool liveness_is_copy(const struct read_segment *s, const struct read_identity *id, pid_t pid)
{
	uint64_t ticks;
	int has;

	if (id->state == HT_STATE_EXITED || pid == 0 || proc_start_ticks(pid, &ticks) != 0 ||
		ticks != id->start_ticks)
		return false;
	has = proc_maps_file(pid, read_path(s));
	/* By exec a process loses its segment; the file keeps its name. */
	return has != 1 && (!has_segment_name(s) || proc_maps_name(pid, segment_name(s)) == 1);
}

const char *liveness_copy_notice(struct liveness *h, int pid, uint64_t uptime_ns)
{
	char when[UNITS_MAX];

	if (h->is_core)
		return h->text;
	snprintf(h->text, sizeof(h->text),
		"a copy of the segment of process %d, made while it ran: its heap %s after its "
		"start",
		pid, units_duration(when, uptime_ns));
	return h->text;
}

void liveness_open(struct liveness *h, const struct read_segment *s, const struct read_identity *id,
	bool alone)
{
	*h = (struct liveness){ .alone = alone,
		.segment = read_path(s),
		.renamed = !has_segment_name(s),
		.forked_by = id->forked ? id->ppid : 0 };
}

enum snap_state liveness_of_core(struct liveness *h, const struct liveness_core *core, int *signal)
{
	h->is_core = true;
	memcpy(h->text, core->notice, sizeof(h->text));
	*signal = core->signal;
	return core->signal ? SNAP_KILLED : SNAP_COPY;
}

struct census {
	const char *segment; /* the parent's */
	uint64_t before; /* children that started later may not have called exec yet */
	unsigned unrecorded;
};

/* The copy that a leak scan reads (src/leak/access) is no child of the program's own. */
static void census_visit(void *ctx, pid_t child)
{
	struct census *c = ctx;
	struct proc_reading r;

	c->unrecorded += proc_read(child, false, &r) == 0 && !r.ends_unsaid &&
			 r.start_ticks < c->before &&
			 proc_maps_other(child, SEGMENT_PREFIX, c->segment) == 0;
}

/* The number of children that are a second old and have no segment of their own. */
static unsigned children_unrecorded(pid_t pid, const char *segment)
{
	struct census c = { .segment = segment };
	uint64_t now, second = (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec t;

	if (clock_gettime(CLOCK_BOOTTIME, &t) != 0)
		return 0;
	now = (uint64_t)t.tv_sec * second + (uint64_t)t.tv_nsec * second / 1000000000u;
	c.before = now > second ? now - second : 0;
	proc_children(pid, census_visit, &c);
	return c.unrecorded;
}

/* A program that has more seccomp filters than we have put itself into a sandbox (a container's
 * filters apply to both). The system calls that a forked child needs for a segment of its own may
 * then kill that child. */
static void filters_look(struct liveness *h, struct read_segment *s, pid_t pid)
{
	struct proc_reading ours = { 0 }, its = { 0 };

	if (!h->fork_alone && proc_read(pid, false, &its) == 0 && its.filters > 0 &&
		proc_read(getpid(), false, &ours) == 0 && its.filters > ours.filters)
		h->fork_alone = read_forks_ignore(s) == 0;
}

void liveness_check(struct liveness *h, struct read_segment *s, uint32_t state, pid_t pid)
{
	uint64_t now = clock_monotonic_ns();

	if (state != HT_STATE_RUNNING || pid == 0 || now < h->due_ns)
		return;
	h->without = proc_maps_missing(pid, segment_name(s), h->without);
	h->unrecorded = h->alone ? 0 : children_unrecorded(pid, segment_name(s));
	if (h->unrecorded > h->unrecorded_most)
		h->unrecorded_most = h->unrecorded;
	filters_look(h, s, pid);
	h->due_ns = now + (clock_monotonic_ns() - now) * LOOK_SHARE;
}

static const char *forked_notice(struct liveness *h)
{
	if (h->forked_by == 0)
		return NULL;
	snprintf(h->text, sizeof(h->text),
		"forked by process %d: blocks from before the fork are not counted here",
		(int)h->forked_by);
	return h->text;
}

/* Whether the segment's file system is full; writes a notice. Once seen it stays, for what was not
 * recorded then never will be. */
static bool is_full(struct liveness *h)
{
	const char *slash = strrchr(h->segment, '/');
	int length = slash ? (int)(slash - h->segment) : 0;
	char all[UNITS_MAX], left[UNITS_MAX];
	struct statvfs fs;

	if (h->full)
		return true;
	if (statvfs(h->segment, &fs) != 0 || fs.f_bavail * fs.f_frsize >= HT_COMMIT_BYTES)
		return false;
	h->full = true;
	snprintf(h->text, sizeof(h->text),
		"%.*s is full (%s, %s free): recording is incomplete; enlarge it, or set "
		"HEAPTOP_DIR",
		length < 80 ? length : 80, h->segment,
		units_bytes(all, (uint64_t)fs.f_blocks * fs.f_frsize),
		units_bytes(left, (uint64_t)fs.f_bavail * fs.f_frsize));
	return true;
}

/* An image that called exit says so in its segment. One that was killed may have been in the middle
 * of one event per thread, but no more: a single word publishes a block. */
const char *liveness_notice(struct liveness *h, enum snap_state state, const struct read_totals *t)
{
	bool runs = state == SNAP_STARTING || state == SNAP_RUNNING;
	uint32_t recorded = t->state;
	unsigned many = runs ? h->unrecorded : h->unrecorded_most;

	if (h->is_core)
		return h->text;
	if (t->commit_failed > 0 && t->untracked_blocks > 0 && is_full(h))
		return h->text;
	if (h->without >= LEFT_AFTER)
		return runs ? "recording ended: the program called exec, and runs on without the "
			      "library"
			    : "recording ended when the program called exec without the library";
	if (state == SNAP_KILLED)
		return "killed: up to one live block per thread may be wrong";
	if (state == SNAP_GONE && h->renamed)
		return "a copy, made while the program ran or after it was killed: up to one "
		       "live block per thread may be wrong";
	if (state == SNAP_GONE)
		return "killed, or continued by exec without the library: up to one live block per "
		       "thread may be wrong";
	if (state == SNAP_EXITED && recorded == HT_STATE_PREPARED)
		return "no data: the program ran without the library";
	if (state == SNAP_EXITED && recorded == HT_STATE_RUNNING)
		return "the end is missing: it executed a program that cannot be recorded, or did "
		       "not end by exit";
	if (h->fork_alone && runs)
		return "the program set a seccomp filter: children that it forks are not recorded";
	if (h->unrecorded_most == 0 || (runs && h->unrecorded == 0))
		return forked_notice(h);
	snprintf(h->text, sizeof(h->text),
		"%u of its children %s not recorded: forked without exec, or without the library",
		many,
		runs	    ? many == 1 ? "is" : "are"
		: many == 1 ? "was"
			    : "were");
	return h->text;
}

const char *liveness_signal(int signal, char name[LIVENESS_SIGNAL_MAX])
{
	const char *abbreviation = sigabbrev_np(signal);

	if (!abbreviation)
		return NULL;
	snprintf(name, LIVENESS_SIGNAL_MAX, "SIG%s", abbreviation);
	return name;
}

char *liveness_report(struct read_segment *segment, uint32_t segment_state)
{
	struct read_identity id;
	char line[HT_WHY_MAX + 32];

	if (read_identity(segment, &id) != 0 || !id.why[0] || strcmp(id.why, HT_WHY_OUTSIDE) == 0)
		return NULL;
	snprintf(line, sizeof(line), "%s: %s",
		segment_state == HT_STATE_STOPPED ? "nothing is recorded"
						  : "recording is incomplete",
		id.why);
	return text_clean_copy(line, strlen(line));
}

bool liveness_is_detached(struct read_segment *segment)
{
	struct read_identity id;

	return read_identity(segment, &id) == 0 && id.state == HT_STATE_STOPPED &&
	       strcmp(id.why, HT_WHY_DETACHED) == 0;
}

/* A failure to read /proc, as for lack of descriptors, proves nothing. */
bool liveness_is_here(pid_t pid, uint64_t start_ticks, uint32_t segment_state)
{
	uint64_t ticks;
	int rc = proc_start_ticks(pid, &ticks);

	if (rc == 0 ? ticks == start_ticks && !liveness_is_exiting(pid, segment_state)
		    : rc != -ESRCH)
		return true;
	return pid == 0 && segment_state != HT_STATE_EXITED; /* as far as it is visible */
}

bool liveness_is_exiting(pid_t pid, uint32_t segment_state)
{
	struct proc_reading p = { 0 };

	return segment_state == HT_STATE_EXITED && proc_read(pid, false, &p) == 0 &&
	       (p.flags & PROC_FLAG_EXITING) != 0;
}
