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
#include "src/util/shortage.h"

uint64_t proc_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

/* The last component of a path that a line of maps ends in; "" where there is none. */
static const char *line_name(const char *line)
{
	const char *slash = strrchr(line, '/');

	return slash ? slash + 1 : "";
}

/* Looks for a line of maps that is wanted. 1, 0 or -errno. */
static int maps_search(
	pid_t pid, bool (*wanted)(const char *line, const void *what), const void *what)
{
	char path[32], *line = NULL;
	size_t room = 0;
	bool found = false;
	FILE *maps;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)proc_memory_tid(pid));
	maps = fopen(path, "re");
	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!found && getline(&line, &room, maps) > 0)
		found = wanted(line, what);
	free(line);
	err = ferror(maps) ? -EIO : 0;
	fclose(maps);
	return found ? 1 : err;
}

/* `name` goes on to the end of its line, or with " (deleted)". */
static bool name_is(const char *name, const char *what)
{
	size_t length = strlen(what);

	return strncmp(name, what, length) == 0 && (name[length] == '\n' || name[length] == ' ');
}

static bool line_has_name(const char *line, const void *what)
{
	return name_is(line_name(line), what);
}

int proc_maps_name(pid_t pid, const char *name)
{
	return maps_search(pid, line_has_name, name);
}

struct file {
	const char *name;
	const struct stat *st;
};

/* Some file systems tell another device there than stat does. */
static bool line_has_file(const char *line, const void *what)
{
	const struct file *f = what;
	struct proc_map m;
	size_t at = 0;

	return proc_parse_map(line, strlen(line), &at, &m) == 1 && m.inode == f->st->st_ino &&
	       (m.device == f->st->st_dev || line_has_name(line, f->name));
}

int proc_maps_file(pid_t pid, const char *path)
{
	struct stat st;
	const struct file f = { line_name(path), &st };

	return stat(path, &st) != 0 ? -errno : maps_search(pid, line_has_file, &f);
}

struct other {
	const char *prefix, *but;
};

static bool line_has_other(const char *line, const void *what)
{
	const struct other *o = what;
	const char *name = line_name(line);

	return strncmp(name, o->prefix, strlen(o->prefix)) == 0 && !name_is(name, o->but);
}

int proc_maps_other(pid_t pid, const char *prefix, const char *but)
{
	const struct other o = { prefix, but };

	return maps_search(pid, line_has_other, &o);
}

/* The children that one thread has made. */
static void thread_children(
	pid_t pid, const char *tid, void (*visit)(void *ctx, pid_t child), void *ctx)
{
	char path[64], *line = NULL, *at, *end;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)pid, tid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (getline(&line, &room, f) > 0)
		for (at = line; strtol(at, &end, 10) > 0; at = end)
			visit(ctx, (pid_t)strtol(at, NULL, 10));
	free(line);
	fclose(f);
}

void proc_children(pid_t pid, void (*visit)(void *ctx, pid_t child), void *ctx)
{
	const struct dirent *entry;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			thread_children(pid, entry->d_name, visit, ctx);
	if (tasks)
		closedir(tasks);
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

/* 0, -ESRCH when none does, or another -errno: it cannot be told. */
static int starts_then(pid_t pid, const struct proc_claim *c)
{
	uint64_t ticks;
	int rc = proc_start_ticks(pid, &ticks);

	return rc == 0 && ticks != c->start_ticks ? -ESRCH : rc;
}

/* What says it has its pid elsewhere, does here and began at that time; and has the segment. As
 * starts_then. */
static int is_it(pid_t pid, const struct proc_claim *c)
{
	char path[32], *status;
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = proc_slurp_all(path, &len);
	if (!status)
		return shortage_is(errno) ? -errno : -ESRCH;
	rc = proc_parse_inner_pid(status, len) == c->pid ? starts_then(pid, c) : -ESRCH;
	free(status);
	if (rc == 0)
		rc = proc_maps_name(pid, c->maps);
	return rc == 1 ? 0 : shortage_is(rc) ? rc : -ESRCH;
}

/* The process. 0: there is none; -errno: it cannot be told. */
static pid_t search(const struct proc_claim *c)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	pid_t found = dir ? 0 : -errno;

	while (dir && found == 0 && (entry = readdir(dir))) {
		int pid = atoi(entry->d_name), rc = pid > 0 ? is_it(pid, c) : -ESRCH;

		if (rc != -ESRCH)
			found = rc == 0 ? pid : rc;
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
		return starts_then(c->pid, c);
	}
	found = search(c);
	if (found < 0)
		return found;
	if (found == 0) /* only from the first namespace all others can be seen */
		return here == PROC_PID_NAMESPACE_FIRST ? -ESRCH : -EXDEV;
	*pid = found;
	return 0;
}
