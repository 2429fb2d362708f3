/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds a process by its own description, its mapped files or its parent (proc.h). A process in
 * another pid namespace (a container) has a different pid there; a search of /proc finds it.
 * Main thread.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/proc/proc.h"
#include "src/util/shortage.h"

uint64_t proc_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

/* The last path component of a line of maps; "" if it has no path. */
static const char *line_name(const char *line)
{
	const char *slash = strrchr(line, '/');

	return slash ? slash + 1 : "";
}

/* Searches maps for a line that `wanted` accepts. 1, 0 or -errno. A process that ends has none at
 * once, though it takes the kernel seconds to free a large heap: -ESRCH. */
static int maps_search(
	pid_t pid, bool (*wanted)(const char *line, const void *what), const void *what)
{
	char path[32], *line = NULL;
	size_t capacity = 0;
	bool found = false, any = false;
	FILE *maps;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)proc_memory_tid(pid));
	maps = fopen(path, "re");
	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!found && getline(&line, &capacity, maps) > 0) {
		found = wanted(line, what);
		any = true;
	}
	free(line);
	err = ferror(maps) ? -EIO : any ? 0 : -ESRCH;
	fclose(maps);
	return found ? 1 : err;
}

/* Whether `name` is `what`, up to the end of its line or " (deleted)". */
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

unsigned proc_maps_missing(pid_t pid, const char *name, unsigned looks)
{
	int rc = proc_maps_name(pid, name);

	return rc == 0 ? looks + 1 : rc == 1 ? 0 : looks;
}

bool proc_is_narrow(pid_t pid)
{
	unsigned char head[EI_NIDENT];
	char path[40];
	bool is_narrow;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)proc_memory_tid(pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	is_narrow = sizeof(void *) == 8 && read(fd, head, sizeof(head)) == sizeof(head) &&
		    memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS32;
	close(fd);
	return is_narrow;
}

struct file {
	const char *name;
	const struct stat *st;
};

/* Some file systems report another device in maps than in stat. */
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

/* Visits the children of one thread. */
static void thread_children(
	pid_t pid, const char *tid, void (*visit)(void *ctx, pid_t child), void *ctx)
{
	char path[64], *line = NULL, *at, *end;
	size_t capacity = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)pid, tid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (getline(&line, &capacity, f) > 0)
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

/* 0: the start times are equal; -ESRCH: not, or gone; another -errno: unknown. */
static int start_matches(pid_t pid, const struct proc_claim *c)
{
	uint64_t ticks;
	int rc = proc_start_ticks(pid, &ticks);

	return rc == 0 && ticks != c->start_ticks ? -ESRCH : rc;
}

/* Whether the process's own pid, its start time and its mapped segment match the claim. Results as
 * start_matches. */
static int claim_matches(pid_t pid, const struct proc_claim *c)
{
	char path[32], *status;
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = proc_file_read_all(path, &len);
	if (!status)
		return shortage_is(errno) ? -errno : -ESRCH;
	rc = proc_parse_inner_pid(status, len) == c->pid ? start_matches(pid, c) : -ESRCH;
	free(status);
	if (rc == 0)
		rc = proc_maps_name(pid, c->maps);
	return rc == 1 ? 0 : shortage_is(rc) ? rc : -ESRCH;
}

/* The pid of the claimed process. 0: none; -errno: unknown. */
static pid_t process_search(const struct proc_claim *c)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	pid_t found = dir ? 0 : -errno;

	while (dir && found == 0 && (entry = readdir(dir))) {
		int pid = atoi(entry->d_name), rc = pid > 0 ? claim_matches(pid, c) : -ESRCH;

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
		return start_matches(c->pid, c);
	}
	found = process_search(c);
	if (found < 0)
		return found;
	if (found == 0) /* only the initial namespace sees all others */
		return here == PROC_PID_NAMESPACE_FIRST ? -ESRCH : -EXDEV;
	*pid = found;
	return 0;
}
