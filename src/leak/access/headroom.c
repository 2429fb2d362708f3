/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory headroom for a copy (headroom.h). Sources: the kernel's
 * Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst,
 * mm/overcommit-accounting.rst; proc(5) for mountinfo; getrlimit(2).
 *
 * When memory is short the kernel kills the copy first (forked_copy.c), and the pages that the
 * program has written since fit again. Three cases are worse. A cgroup that is killed as a whole
 * (memory.oom.group, the default under Kubernetes) takes the program with it. systemd ends a
 * service when any of its processes was killed in that way (OOMPolicy=stop, its default). And
 * while a copy that we killed gives back its memory, the kernel no longer counts it as a victim,
 * and kills the program. So the copy alone must not make memory short. A limit of the cgroups
 * must leave headroom for all that could be written. On the machine, where much other memory can
 * be reclaimed first, a part of that is enough for a large program. What else takes memory
 * meanwhile, the watch notices: it kills the copy early.
 */
#include "src/leak/access/headroom.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/util/thread.h"

#define MB		 (UINT64_C(1) << 20)
#define SPARE_BYTES	 (64 * MB) /* left in any case */
#define WRITTEN_PART	 4u /* of a large program: written before we can act */
#define WRITTEN_BYTES	 (1024 * MB) /* less than this may all be written */
#define GROWTH_PART	 8u /* what the program may allocate before the copy ends */
#define SHORT_BYTES	 (32 * MB) /* with less, the copy ends: what a thread writes in 20 ms */
#define SHORT_PART	 16u
#define POLL_NS		 2000000 /* between two checks of 0.05 ms each */
#define SPARE_TASKS	 16u /* processes and threads that the program can still create */
#define TEXT_BYTES	 4096u /* a file with a few dozen lines */
#define CGROUP_FIRST	 0xeffffffbu /* inode of the first cgroup namespace: linux/proc_ns.h */
#define CAP_SYS_ADMIN	 21
#define CAP_SYS_RESOURCE 24
#define NO_LIMIT	 UINT64_MAX

static const char unknown[] = "the limits of its cgroups are not visible";

/* ---- numbers in files ---- */

/* The number after `name`, or the first one if `name` is "". "max", "unlimited": NO_LIMIT. */
static bool number_in(const char *text, const char *name, unsigned base, uint64_t *value)
{
	const char *p = *name ? strstr(text, name) : text;
	char *end;

	if (!p)
		return false;
	p += strlen(name);
	p += strspn(p, " \t");
	if (strncmp(p, "max", 3) == 0 || strncmp(p, "unlimited", 9) == 0) {
		*value = NO_LIMIT;
		return true;
	}
	*value = strtoull(p, &end, (int)base);
	return end != p;
}

static bool text_read(const char *dir, const char *file, char *text)
{
	char path[LEAK_HEADROOM_DIR + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return proc_file_read(path, text, TEXT_BYTES) > 0;
}

static bool number_read(const char *dir, const char *file, const char *name, uint64_t *value)
{
	char text[TEXT_BYTES];

	return text_read(dir, file, text) && number_in(text, name, 10, value);
}

/* Reads a file in /proc, or in /proc/PID. */
static bool proc_text(const struct leak_headroom *r, bool of_process, const char *file, char *text)
{
	char dir[LEAK_HEADROOM_DIR];

	if (of_process)
		snprintf(dir, sizeof(dir), "%s/proc/%d", r->root, (int)r->pid);
	else
		snprintf(dir, sizeof(dir), "%s/proc", r->root);
	return text_read(dir, file, text);
}

/* Reads all of a file in /proc/PID that may be long; NULL on failure. The caller frees it. */
static char *process_text(const struct leak_headroom *r, const char *file)
{
	char path[LEAK_HEADROOM_DIR];
	size_t len;

	snprintf(path, sizeof(path), "%s/proc/%d/%s", r->root, (int)r->pid, file);
	return proc_file_read_all(path, &len);
}

/* ---- its cgroups ---- */

/* Where a hierarchy is mounted, and which part of it. */
struct mounted {
	char root[LEAK_HEADROOM_DIR], point[LEAK_HEADROOM_DIR];
	bool found;
};

static bool has_word(const char *list, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= len; i++)
		if ((i == 0 || list[i - 1] == ',') && strncmp(list + i, word, n) == 0 &&
			(i + n == len || list[i + n] == ',' || list[i + n] == '\n'))
			return true;
	return false;
}

/* Parses a line of mountinfo: the 4th and 5th words, and after " - " type, source and options. */
static void mount_take(
	const struct leak_headroom *r, const char *line, const char *controller, struct mounted *m)
{
	char root[LEAK_HEADROOM_DIR], point[LEAK_HEADROOM_DIR], type[32],
		options[LEAK_HEADROOM_DIR];
	const char *rest = strstr(line, " - ");
	bool unified = *controller == '\0';

	if (!rest || strchr(line, '\n') < rest || m->found ||
		sscanf(line, "%*s %*s %*s %511s %511s", root, point) != 2 ||
		sscanf(rest + 3, "%31s %*s %511s", type, options) != 2)
		return;
	if (unified ? strcmp(type, "cgroup2") != 0
		    : strcmp(type, "cgroup") != 0 ||
				!has_word(options, strlen(options), controller))
		return;
	m->found = true;
	snprintf(m->root, sizeof(m->root), "%s", strcmp(root, "/") == 0 ? "" : root);
	if (snprintf(m->point, sizeof(m->point), "%s%s", r->root, point) >= (int)sizeof(m->point))
		m->found = false;
}

static struct mounted mount_find(
	const struct leak_headroom *r, const char *mounts, const char *controller)
{
	struct mounted m = { .found = false };

	for (const char *line = mounts; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		mount_take(r, line, controller, &m);
	}
	return m;
}

static bool is_first_namespace(const struct leak_headroom *r)
{
	char path[LEAK_HEADROOM_DIR];
	struct stat st;

	snprintf(path, sizeof(path), "%s/proc/self/ns/cgroup", r->root);
	return stat(path, &st) == 0 && st.st_ino == CGROUP_FIRST;
}

/* Adds a cgroup and its ancestors. False: they are not visible. */
static bool levels_add(struct leak_headroom *r, const struct mounted *m, const char *group,
	const struct leak_headroom_level *like)
{
	size_t above = strlen(m->root), point = strlen(m->point);
	struct leak_headroom_level level = *like;

	if (!m->found)
		return strcmp(group, "/") == 0 && is_first_namespace(r);
	if (strncmp(group, m->root, above) != 0 || strstr(group, "/.."))
		return false;
	if (snprintf(level.dir, sizeof(level.dir), "%s%s", m->point, group + above) >=
		(int)sizeof(level.dir))
		return false;
	if (access(level.dir, X_OK) != 0)
		return false;
	while (r->levels < LEAK_HEADROOM_LEVELS) {
		char *slash = strrchr(level.dir, '/');

		r->level[r->levels++] = level;
		if (strlen(level.dir) <= point || !slash)
			return true;
		*slash = '\0';
	}
	return false;
}

/* Parses a line of /proc/PID/cgroup: "4:memory:/path", "0::/path". */
static bool group_take(struct leak_headroom *r, const char *line, const char *mounts)
{
	const char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
	struct leak_headroom_level like = { .unified = strncmp(line, "0::", 3) == 0 };
	char group[LEAK_HEADROOM_DIR];
	struct mounted m;
	size_t len;

	if (!path)
		return false;
	len = (size_t)(path - list - 1);
	like.memory = like.unified || has_word(list + 1, len, "memory");
	like.pids = like.unified || has_word(list + 1, len, "pids");
	if (!like.memory && !like.pids)
		return true;
	len = strcspn(path + 1, "\n");
	if (len >= sizeof(group))
		return false;
	memcpy(group, path + 1, len);
	group[len] = '\0';
	m = mount_find(r, mounts, like.unified ? "" : like.memory ? "memory" : "pids");
	return levels_add(r, &m, group, &like);
}

/* False: some cgroups are not visible. */
static bool groups_find(struct leak_headroom *r)
{
	char path[LEAK_HEADROOM_DIR], *mounts, *groups = process_text(r, "cgroup");
	bool seen = true;
	size_t len;

	if (!groups)
		return access("/proc/self/cgroup", F_OK) != 0; /* a kernel without cgroups */
	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", r->root);
	mounts = proc_file_read_all(path, &len);
	seen = mounts != NULL;
	for (const char *line = groups; seen && line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (*line)
			seen = group_take(r, line, mounts);
	}
	free(groups);
	free(mounts);
	return seen;
}

/* ---- memory ---- */

static uint64_t subtract(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The headroom below a limit. Page cache can be reclaimed, so it does not count; the kernel takes
 * long to add it up, so it is read only if less than `enough` is left without it. */
static uint64_t limit_headroom(
	const struct leak_headroom_level *l, const char *limit, const char *used, uint64_t enough)
{
	uint64_t most, now, cache;

	if (!number_read(l->dir, limit, "", &most) || most == NO_LIMIT ||
		!number_read(l->dir, used, "", &now))
		return NO_LIMIT; /* the root cgroup has no limit */
	if (subtract(most, now) >= enough)
		return subtract(most, now);
	if (!number_read(l->dir, "memory.stat",
		    l->unified ? "\ninactive_file" : "\ntotal_inactive_file", &cache))
		cache = 0;
	return subtract(most, subtract(now, cache));
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t level_headroom(const struct leak_headroom_level *l, uint64_t enough)
{
	if (!l->memory)
		return NO_LIMIT;
	if (l->unified) /* above `high` the kernel throttles it */
		return least(limit_headroom(l, "memory.max", "memory.current", enough),
			limit_headroom(l, "memory.high", "memory.current", enough));
	return least(limit_headroom(l, "memory.limit_in_bytes", "memory.usage_in_bytes", enough),
		limit_headroom(
			l, "memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes", enough));
}

/* Exact if less than `enough`. */
static uint64_t groups_headroom(const struct leak_headroom *r, uint64_t enough)
{
	uint64_t headroom = NO_LIMIT;

	for (size_t i = 0; i < r->levels; i++)
		headroom = least(headroom, level_headroom(&r->level[i], enough));
	return headroom;
}

/* Whether the kernel kills all processes of the cgroup together, even when the machine is out of
 * memory. */
static bool is_killed_as_group(const struct leak_headroom *r)
{
	uint64_t value;

	for (size_t i = 0; i < r->levels; i++)
		if (r->level[i].unified &&
			number_read(r->level[i].dir, "memory.oom.group", "", &value) && value != 0)
			return true;
	return false;
}

/* 0 when it is unknown. */
static uint64_t machine_headroom(const struct leak_headroom *r)
{
	char text[TEXT_BYTES];
	uint64_t kb;

	return proc_text(r, false, "meminfo", text) && number_in(text, "\nMemAvailable:", 10, &kb)
		       ? kb * 1024
		       : 0;
}

static uint64_t status_bytes(const char *status, const char *name)
{
	uint64_t kb;

	return number_in(status, name, 10, &kb) ? kb * 1024 : 0;
}

/* Under strict overcommit, the copy takes at most half of the commit limit's rest. */
static bool has_commit_headroom(const struct leak_headroom *r, const char *status)
{
	uint64_t mode, limit, taken;
	char text[TEXT_BYTES];

	if (!proc_text(r, false, "sys/vm/overcommit_memory", text) ||
		!number_in(text, "", 10, &mode) || mode != 2)
		return true;
	return proc_text(r, false, "meminfo", text) &&
	       number_in(text, "\nCommitLimit:", 10, &limit) &&
	       number_in(text, "\nCommitted_AS:", 10, &taken) &&
	       subtract(limit, taken) / 2 * 1024 >= status_bytes(status, "\nVmData:");
}

/* The part of own_bytes that may be written. */
static uint64_t written_bytes(const struct leak_headroom *r)
{
	uint64_t most = r->own_bytes / WRITTEN_PART;

	if (most < WRITTEN_BYTES)
		most = WRITTEN_BYTES;
	return is_killed_as_group(r) ? r->own_bytes : least(r->own_bytes, most);
}

static const char *memory_check(struct leak_headroom *r, const char *status)
{
	uint64_t other = SPARE_BYTES + status_bytes(status, "\nVmSwap:");
	uint64_t all = other + r->own_bytes + r->own_bytes / GROWTH_PART;

	if (groups_headroom(r, all) < all)
		return "its cgroup has too little memory left";
	if (machine_headroom(r) < other + written_bytes(r))
		return "the machine has too little memory left";
	return has_commit_headroom(r, status)
		       ? NULL
		       : "memory overcommit is off (vm.overcommit_memory=2), and little is left";
}

bool leak_headroom_is_short(const struct leak_headroom *r)
{
	uint64_t need = SHORT_BYTES + r->own_bytes / SHORT_PART;

	return machine_headroom(r) < need || groups_headroom(r, need) < need;
}

/* ---- processes ---- */

/* Counts all processes of the machine: the user's own are fewer. */
static bool may_have_more(const struct leak_headroom *r, const char *status)
{
	char text[TEXT_BYTES];
	const char *slash;
	uint64_t most, all, caps;

	if (number_in(status, "\nCapEff:", 16, &caps) &&
		(caps & (UINT64_C(1) << CAP_SYS_ADMIN | UINT64_C(1) << CAP_SYS_RESOURCE)) != 0)
		return true;
	if (!proc_text(r, true, "limits", text) || !number_in(text, "\nMax processes", 10, &most))
		return true;
	if (most == NO_LIMIT)
		return true;
	slash = proc_text(r, false, "loadavg", text) ? strchr(text, '/') : NULL;
	return slash && number_in(slash + 1, "", 10, &all) && subtract(most, all) >= SPARE_TASKS;
}

static bool groups_have_more(const struct leak_headroom *r)
{
	uint64_t most, now;

	for (size_t i = 0; i < r->levels; i++) {
		const struct leak_headroom_level *l = &r->level[i];

		if (l->pids && number_read(l->dir, "pids.max", "", &most) && most != NO_LIMIT &&
			number_read(l->dir, "pids.current", "", &now) &&
			subtract(most, now) < SPARE_TASKS)
			return false;
	}
	return true;
}

bool leak_headroom_has_namespace(pid_t pid, pid_t tid)
{
	char path[96], own[64], children[64];
	ssize_t n, m;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/ns/pid", (int)pid, (int)tid);
	n = readlink(path, own, sizeof(own));
	snprintf(path, sizeof(path), "/proc/%d/task/%d/ns/pid_for_children", (int)pid, (int)tid);
	m = readlink(path, children, sizeof(children));
	return n > 0 && n == m && memcmp(own, children, (size_t)n) == 0;
}

/* On older kernels, pages that devices write to may go to the copy (clone(2), pinned pages). */
static bool is_kernel_recent(void)
{
	struct utsname name;
	unsigned major, minor;

	return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 5 || (major == 5 && minor >= 12));
}

static const char *status_check(struct leak_headroom *r, const char *status)
{
	r->own_bytes = status_bytes(status, "\nRssAnon:");
	if (r->own_bytes == 0)
		return "its /proc/PID/status does not give its private memory (RssAnon)";
	if (!is_kernel_recent())
		return "this kernel is older than 5.12";
	if (!groups_find(r))
		return unknown;
	if (!may_have_more(r, status))
		return "it may create few more processes (RLIMIT_NPROC)";
	if (!groups_have_more(r))
		return "its cgroup allows few more processes (pids.max)";
	return memory_check(r, status);
}

const char *leak_headroom_check(struct leak_headroom *r, const char *root, pid_t pid)
{
	const char *why;
	char *status;

	memset(r, 0, sizeof(*r));
	r->root = root;
	r->pid = pid;
	status = process_text(r, "status");
	why = status && *status ? status_check(r, status) : "its /proc/PID/status is not readable";
	free(status);
	return why;
}

/* ---- watching ---- */

static void *watch_run(void *ctx)
{
	struct leak_headroom *r = ctx;
	struct timespec until;

	pthread_mutex_lock(&r->lock);
	while (!r->ends && !r->ended) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += POLL_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_cond_timedwait(&r->changed, &r->lock, &until) == ETIMEDOUT &&
			leak_headroom_is_short(r))
			r->ended = kill(r->copy, SIGKILL) == 0;
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

bool leak_headroom_watch(struct leak_headroom *r, pid_t copy)
{
	pthread_condattr_t a;

	r->copy = copy;
	r->ends = r->ended = false;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&r->changed, &a);
	pthread_condattr_destroy(&a);
	r->runs = thread_start(&r->thread, THREAD_STACK_BYTES, watch_run, r) == 0;
	return r->runs;
}

bool leak_headroom_unwatch(struct leak_headroom *r)
{
	if (!r->runs)
		return false;
	pthread_mutex_lock(&r->lock);
	r->ends = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	r->runs = false;
	return r->ended;
}
