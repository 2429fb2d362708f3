/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the segment of a running process, or the reason why it has none and what to do about it.
 * Used for -a. Main thread.
 */
#include "src/target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/target/executable.h"
#include "src/target/places.h"
#include "src/target/privilege.h"
#include "src/target/user.h"
#include "src/util/clock.h"
#include "src/util/text.h"

#define LIBRARY_NAME "libheaptop.so"
/* On a busy machine a start may take this long, but no more processor time than this fraction of a
 * second. */
#define START_MAX_S    30u
#define START_CPU_PART 10u
#define PAUSE_NS       20000000 /* between two looks */

struct search {
	pid_t pid;
	struct target_segment running, ended, unreadable;
	bool have_running, have_ended, have_unreadable;
	int list_error; /* target_list failed: nothing is known about segments */
};

/* target_list gives the newest image first. */
static int search_visit(void *ctx, const struct target_segment *s)
{
	struct search *search = ctx;

	if (s->state == TARGET_OUTSIDE)
		return 0;
	if (search->pid != (s->state == TARGET_RUNNING ? s->process : s->pid))
		return 0;
	if (s->state == TARGET_UNREADABLE) {
		search->unreadable = *s;
		search->have_unreadable = true;
	} else if (s->state == TARGET_RUNNING && !search->have_running) {
		search->running = *s;
		search->have_running = true;
	} else if (!search->have_ended) {
		search->ended = *s;
		search->have_ended = true;
	}
	return 0;
}

/* The process without a segment. */
struct subject {
	pid_t pid;
	struct proc_reading proc;
	char name[64]; /* clean */
	const struct search *search;
};

static int say(char *message, int err, const struct subject *s, const char *why)
{
	snprintf(message, TARGET_MESSAGE_MAX, "cannot attach to process %d (%s): %s", (int)s->pid,
		s->name, why);
	return err;
}

/* Each of these returns 0 when it has nothing to say, else -errno with the message made. */

static int why_other_user(const struct subject *s, char *message)
{
	char user[64], why[192];

	if (!geteuid() || s->proc.uid == geteuid())
		return 0;
	user_name(s->proc.uid, user, sizeof(user));
	snprintf(why, sizeof(why), "it belongs to user %s; run heaptop as that user or as root",
		user);
	return say(message, -EPERM, s, why);
}

static int why_executable(const struct subject *s, char *message)
{
	char path[64], why[256];
	struct executable image;
	const char *refusal, *gained;
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)proc_memory_tid(s->pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return say(message, -EPERM, s, "it is a kernel thread");
	if (fd < 0)
		return say(message, -EPERM, s,
			"it is setuid or protects itself, so nothing could be preloaded into it");
	err = executable_read(fd, &image);
	refusal = err ? NULL : executable_refusal(&image, target_library_narrow());
	gained = privilege_gained(fd, s->proc.uid, getgid());
	close(fd);
	if (gained)
		snprintf(why, sizeof(why), "its program is %s, so nothing can be preloaded into it",
			gained);
	else if (refusal)
		snprintf(why, sizeof(why), "it %s", refusal);
	return gained || refusal ? say(message, -ENOEXEC, s, why) : 0;
}

static int why_unlisted(const struct subject *s, char *message)
{
	char why[128];

	if (s->search->list_error >= 0)
		return 0;
	snprintf(why, sizeof(why), "cannot read the directory of segments: %s",
		strerror(-s->search->list_error));
	return say(message, s->search->list_error, s, why);
}

struct parent {
	pid_t pid;
	bool recorded;
};

static int parent_visit(void *ctx, const struct target_segment *s)
{
	struct parent *p = ctx;

	p->recorded |= s->state == TARGET_RUNNING && s->process == p->pid;
	return p->recorded;
}

bool target_same_executable(pid_t one, pid_t other)
{
	char path[2][64];
	struct stat st[2];

	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "/proc/%d/exe",
			(int)proc_memory_tid(i ? other : one));
		if (stat(path[i], &st[i]) != 0)
			return false;
	}
	return st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino;
}

/* Whether the process seems to be a child that its recorded parent forked without exec. */
static bool is_forked(const struct subject *s)
{
	struct parent p = { .pid = s->proc.ppid };

	return target_same_executable(s->pid, p.pid) && target_list(parent_visit, &p) >= 0 &&
	       p.recorded;
}

static int why_no_segment(const struct subject *s, char *message)
{
	char why[192];

	if (proc_maps_name(s->pid, LIBRARY_NAME) != 1)
		return 0;
	if (is_forked(s)) {
		snprintf(why, sizeof(why),
			"process %d forked it, and it is not recorded before it calls exec",
			(int)s->proc.ppid);
		return say(message, -ENOENT, s, why); /* it may be about to */
	}
	if (s->search->have_unreadable) {
		snprintf(why, sizeof(why), "its segment cannot be read: %s",
			s->search->unreadable.why);
		return say(message, -ENOENT, s, why); /* its segment may be half made */
	}
	if (s->search->have_ended && s->search->ended.start_ticks == s->proc.start_ticks)
		return say(message, -ENOENT, s, "it is exiting");
	return say(message, -ENOENT, s,
		"it carries the library, but has no segment here: it was created by clone(2) or "
		"under --no-follow-fork, there was no room for a segment (is /dev/shm full?), or "
		"its HEAPTOP_DIR is another");
}

static int why_not_started(const struct subject *s, char *message)
{
	char library[PATH_MAX], ignored[TARGET_MESSAGE_MAX], clean[192], why[320];

	if (target_library_find(library, sizeof(library), ignored))
		strcpy(library, LIBRARY_NAME);
	text_clean(clean, sizeof(clean), library, strlen(library));
	snprintf(why, sizeof(why),
		"it was not started under heaptop; start it with: heaptop -- CMD (or LD_PRELOAD=%s "
		"CMD)",
		clean);
	return say(message, -ENOENT, s, why);
}

static int explain_gone(pid_t pid, const struct search *search, char *message)
{
	if (search->have_ended)
		snprintf(message, TARGET_MESSAGE_MAX,
			"process %d has ended; see what it left with: heaptop -r %s", (int)pid,
			search->ended.path);
	else
		snprintf(message, TARGET_MESSAGE_MAX,
			"no such process: %d (heaptop -l lists those that can be watched)",
			(int)pid);
	return -ESRCH;
}

static int explain(pid_t pid, const struct search *search, char *message)
{
	static int (*const reasons[])(const struct subject *s, char *message) = { why_other_user,
		why_executable, why_unlisted, why_no_segment, why_not_started };
	struct subject s = { .pid = pid, .search = search };
	uint64_t ticks;
	int err = proc_start_ticks(pid, &ticks);

	if (!err)
		err = proc_read(pid, false, &s.proc);
	if (err == -ESRCH)
		return explain_gone(pid, search, message);
	if (err) {
		snprintf(message, TARGET_MESSAGE_MAX, "cannot read /proc of process %d: %s",
			(int)pid, strerror(-err));
		return err;
	}
	text_clean(s.name, sizeof(s.name), s.proc.comm, strnlen(s.proc.comm, sizeof(s.proc.comm)));
	for (size_t i = 0; !err && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		err = reasons[i](&s, message);
	return err;
}

static int find_once(pid_t pid, struct target_segment *out, char *message)
{
	struct search search = { .pid = pid };

	search.list_error = target_list(search_visit, &search);
	if (!search.have_running)
		return explain(pid, &search, message);
	*out = search.running;
	return 0;
}

/*
 * Whether a process may not have reached its exec or its first allocation yet: it began less than a
 * second ago, or has had hardly any processor time since. Such a process does not sleep.
 */
static bool is_starting(pid_t pid)
{
	uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK), now, age;
	struct proc_reading r;
	struct timespec t;

	if (proc_read(pid, false, &r) != 0 || clock_gettime(CLOCK_BOOTTIME, &t) != 0)
		return false;
	now = (uint64_t)t.tv_sec * second + (uint64_t)t.tv_nsec * second / 1000000000u;
	age = now - r.start_ticks;
	if (now < r.start_ticks || age < second)
		return true;
	return age < START_MAX_S * second && r.cpu_ticks < second / START_CPU_PART &&
	       (r.state == 'R' || r.state == 'D');
}

/* "./app & heaptop -a $!" asks before the program is there. */
int target_find_within(pid_t pid, uint64_t ns, struct target_segment *out, char *message)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t until = clock_monotonic_ns() + ns;
	bool starting;
	int rc;

	places_add(pid);
	do {
		/* Read first: the start may end while we search for the segment. */
		starting = is_starting(pid);
		rc = find_once(pid, out, message);
		starting = starting && clock_monotonic_ns() + PAUSE_NS <= until;
		if (rc == -ENOENT && starting)
			nanosleep(&pause, NULL);
	} while (rc == -ENOENT && starting);
	return rc;
}

int target_find(pid_t pid, struct target_segment *out, char *message)
{
	return target_find_within(pid, START_MAX_S * UINT64_C(1000000000), out, message);
}
