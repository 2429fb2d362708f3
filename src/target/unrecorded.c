/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a process started by a recorded one has no segment of its own: determined from its
 * executable, its mappings, and the environment it was started with. Main thread.
 */
#include "src/target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "src/proc/proc.h"
#include "src/target/executable.h"
#include "src/target/privilege.h"
#include "src/util/text.h"

#define LIBRARY_NAME "libheaptop.so"
#define LINE_MAX_RAW 4096 /* bytes of a command line; older kernels cut it there, too */

struct subject {
	pid_t pid;
	struct proc_reading proc;
	char *environment; /* each variable NUL-terminated; NULL: cannot be read */
	size_t environment_bytes;
};

static const char *variable(const struct subject *s, const char *name)
{
	size_t n = strlen(name);
	const char *at = s->environment, *end = at ? at + s->environment_bytes : NULL;

	for (; at && at < end; at += strlen(at) + 1)
		if (strncmp(at, name, n) == 0 && at[n] == '=')
			return at + n + 1;
	return NULL;
}

/* Each of these returns the reason, or NULL if it does not apply. */

static const char *by_executable(const struct subject *s, char *room)
{
	const char *refusal, *gained;
	struct executable image;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)proc_memory_tid(s->pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return "a kernel thread";
	if (fd < 0)
		return s->proc.uid == geteuid() ? "setuid, or protects itself" : "of another user";
	refusal = executable_read(fd, &image) == 0
			  ? executable_refusal_brief(&image, target_library_narrow())
			  : NULL;
	gained = privilege_gained(fd, s->proc.uid, getgid());
	close(fd);
	if (!gained)
		return refusal;
	snprintf(room, TARGET_REASON_MAX, "%s: nothing is preloaded", gained);
	return room;
}

/* Whether the process seems to be a plain fork of its parent. */
static bool is_forked(const struct subject *s)
{
	return target_same_executable(s->pid, s->proc.ppid);
}

/* The library is loaded but made no segment. */
static const char *by_library(const struct subject *s, char *room)
{
	const char *follow = variable(s, "HEAPTOP_FOLLOW");

	(void)room;
	if (follow && strcmp(follow, "0") == 0)
		return "not followed: --no-follow";
	if (proc_maps_name(s->pid, LIBRARY_NAME) != 1)
		return NULL;
	if (follow && strcmp(follow, "exec") == 0)
		return "not followed: --no-follow-fork";
	if (!is_forked(s))
		return "no room for its segment";
	return s->proc.filters > 0 ? "forked under a seccomp filter" : "made by clone(2)";
}

static const char *by_environment(const struct subject *s, char *room)
{
	const char *preload = variable(s, "LD_PRELOAD");

	(void)room;
	if (!s->environment)
		return "its environment cannot be read";
	if (!preload || !strstr(preload, LIBRARY_NAME))
		return "without LD_PRELOAD";
	return "its loader did not find the library";
}

/* Whether it began less than a second ago. */
static bool is_young(const struct proc_reading *r)
{
	uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK), now;
	struct timespec t;

	if (clock_gettime(CLOCK_BOOTTIME, &t) != 0)
		return false;
	now = (uint64_t)t.tv_sec * second + (uint64_t)t.tv_nsec * second / 1000000000u;
	return now < r->start_ticks + second;
}

static void command_read(const struct subject *s, char *out, size_t cap)
{
	char path[40], line[LINE_MAX_RAW];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)proc_memory_tid(s->pid));
	n = proc_file_read(path, line, sizeof(line));
	target_line(out, cap, line, n > 0 ? (size_t)n : 0);
	if (!out[0])
		text_clean(out, cap, s->proc.comm, strnlen(s->proc.comm, sizeof(s->proc.comm)));
}

int target_unrecorded(pid_t pid, char why[TARGET_REASON_MAX], char *command, size_t cap)
{
	static const char *(*const reasons[])(const struct subject *s,
		char *room) = { by_executable, by_library, by_environment };
	struct subject s = { .pid = pid };
	const char *reason = NULL;
	char path[40], room[TARGET_REASON_MAX];
	int rc = proc_read(pid, false, &s.proc);

	if (rc)
		return rc;
	if (is_young(&s.proc))
		return -EAGAIN;
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)proc_memory_tid(pid));
	s.environment = proc_file_read_all(path, &s.environment_bytes);
	for (size_t i = 0; !reason && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		reason = reasons[i](&s, room);
	snprintf(why, TARGET_REASON_MAX, "%s", reason);
	command_read(&s, command, cap);
	free(s.environment);
	return 0;
}
