/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding a process by what it says of itself (proc.h). In a pid namespace of its own, a container,
 * it has another number there than here; which one is found by going through /proc. Main thread.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "src/proc/proc.h"

#define STATUS_MAX 8192

uint64_t proc_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

/* Whether a line of maps ends in a path whose last component is `name`. */
static bool line_names(const char *line, const char *name)
{
	const char *slash = strrchr(line, '/');
	size_t length = strlen(name);

	return slash && strncmp(slash + 1, name, length) == 0 &&
	       (slash[1 + length] == '\n' || slash[1 + length] == ' ');
}

int proc_maps_name(pid_t pid, const char *name)
{
	char path[32], *line = NULL;
	size_t room = 0;
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	errno = 0;
	while (!found && getline(&line, &room, maps) > 0)
		found = line_names(line, name);
	free(line);
	if (!found && ferror(maps)) {
		int err = errno ? errno : EIO;

		fclose(maps);
		return -err;
	}
	fclose(maps);
	return found;
}

/* The last number of the line NSpid: the pid in the innermost namespace. 0: no such line. */
pid_t proc_parse_inner_pid(const char *buf, size_t len)
{
	const char *line = memmem(buf, len, "\nNSpid:", 7), *end;
	long pid = 0;

	if (!line)
		return 0;
	line += 7;
	end = memchr(line, '\n', len - (size_t)(line - buf));
	if (!end)
		return 0;
	while (end > line && end[-1] >= '0' && end[-1] <= '9')
		end--;
	if (*end != '\n')
		pid = strtol(end, NULL, 10);
	return pid > 0 && pid < INT32_MAX ? (pid_t)pid : 0;
}

static bool starts_then(pid_t pid, const struct proc_claim *c)
{
	uint64_t ticks;

	return proc_start_ticks(pid, &ticks) == 0 && ticks == c->start_ticks;
}

/* What says it has its pid elsewhere, does here and began at that time; and has the segment. */
static bool is_it(pid_t pid, const struct proc_claim *c)
{
	char path[32], status[STATUS_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	n = proc_slurp(path, status, sizeof(status));
	return n > 0 && proc_parse_inner_pid(status, (size_t)n) == c->pid && starts_then(pid, c) &&
	       proc_maps_name(pid, c->maps) == 1;
}

static pid_t search(const struct proc_claim *c)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;

	while (dir && !found && (entry = readdir(dir))) {
		int pid = atoi(entry->d_name);

		if (pid > 0 && is_it(pid, c))
			found = pid;
	}
	if (dir)
		closedir(dir);
	return found;
}

int proc_resolve(const struct proc_claim *c, pid_t *pid)
{
	uint64_t here = proc_pid_namespace();
	pid_t found;

	if (c->pid <= 0)
		return -ESRCH;
	if (c->pid_namespace == 0 || c->pid_namespace == here || here == 0) {
		*pid = c->pid;
		return starts_then(c->pid, c) ? 0 : -ESRCH;
	}
	found = search(c);
	if (found == 0) /* only from the first namespace all others can be seen */
		return here == PROC_PID_NAMESPACE_FIRST ? -ESRCH : -EXDEV;
	*pid = found;
	return 0;
}
