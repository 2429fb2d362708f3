/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes to watch (processes.h). Main thread. */
#include "src/target/processes.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/target/target.h"
#include "src/util/array.h"
#include "src/util/text.h"

#define PROC_FLAG_KERNEL 0x00200000u /* PF_KTHREAD */
#define COMM_BYTES	 15u /* of a name, that the kernel keeps */
#define LINE_BYTES	 2048u

/* Calls `visit` with each pid of /proc until it returns false. 0 or -errno. */
static int pids_visit(bool (*visit)(void *ctx, pid_t pid), void *ctx)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && pid <= INT_MAX && !*end && !visit(ctx, (pid_t)pid))
			break;
	}
	closedir(dir);
	return 0;
}

/* ---- names -------------------------------------------------------------------------------- */

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_path_or_name(const char *path, const char *name)
{
	return *path && (!strcmp(path, name) || !strcmp(last_component(path), name));
}

/* A program that was replaced by a newer one on disk goes by its name nevertheless. */
static bool exe_is(pid_t pid, const char *name)
{
	static const char deleted[] = " (deleted)";
	char link[40], path[PATH_MAX];
	size_t len;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)proc_memory_tid(pid));
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	len = strlen(path);
	if (len >= sizeof(deleted) && !strcmp(path + len - (sizeof(deleted) - 1), deleted))
		path[len - (sizeof(deleted) - 1)] = '\0';
	return is_path_or_name(path, name);
}

/* "nginx: master process ..." is nginx. */
static bool first_word_is(const char *line, const char *name)
{
	char word[PATH_MAX];
	size_t len = strcspn(line, " ");

	if (len && line[len - 1] == ':')
		len--;
	snprintf(word, sizeof(word), "%.*s", (int)len, line);
	return is_path_or_name(line, name) || is_path_or_name(word, name);
}

static bool is_named(pid_t pid, const struct proc_reading *r, const char *line, const char *name)
{
	return !strncmp(r->comm, name, COMM_BYTES) || first_word_is(line, name) ||
	       exe_is(pid, name);
}

/* ---- the list ----------------------------------------------------------------------------- */

struct listing {
	const char *name;
	struct target_process *out;
	size_t count, max;
};

/* Its arguments, each terminated; "" for a kernel thread. Returns the bytes. */
static size_t line_read(pid_t pid, char line[LINE_BYTES])
{
	char path[40];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)proc_memory_tid(pid));
	n = proc_file_read(path, line, LINE_BYTES);
	line[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void command_fill(
	struct target_process *p, const struct proc_reading *r, char *line, size_t n)
{
	target_line(p->command, sizeof(p->command), line, n);
	if (!p->command[0])
		text_clean(
			p->command, sizeof(p->command), r->comm, strnlen(r->comm, sizeof(r->comm)));
}

static bool process_take(void *ctx, pid_t pid)
{
	struct listing *l = ctx;
	struct target_process *p = &l->out[l->count];
	struct proc_reading r = { 0 };
	char line[LINE_BYTES];
	size_t n;

	if (pid == getpid() || proc_read(pid, false, &r) != 0 || (r.flags & PROC_FLAG_KERNEL))
		return true;
	if (!l->name && geteuid() != 0 && r.uid != geteuid())
		return true;
	n = line_read(pid, line);
	if (l->name && !is_named(pid, &r, line, l->name))
		return true;
	*p = (struct target_process){ .pid = pid,
		.ppid = r.ppid,
		.uid = r.uid,
		.start_ticks = r.start_ticks,
		.rss_bytes = r.rss_bytes,
		.cpu_ticks = r.cpu_ticks,
		.state = r.state };
	command_fill(p, &r, line, n);
	return ++l->count < l->max;
}

static int recorded_mark(void *ctx, const struct target_segment *s)
{
	struct listing *l = ctx;

	for (size_t i = 0; s->state == TARGET_RUNNING && i < l->count; i++)
		l->out[i].recorded |= l->out[i].pid == s->process;
	return 0;
}

static int by_pid(const void *left, const void *right)
{
	const struct target_process *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

ssize_t target_processes(const char *name, struct target_process *out, size_t max)
{
	struct listing l = { .name = name, .out = out, .max = max };
	int rc = max ? pids_visit(process_take, &l) : 0;

	if (rc)
		return rc;
	if (l.count) {
		qsort(out, l.count, sizeof(*out), by_pid);
		target_list(recorded_mark, &l);
	}
	return (ssize_t)l.count;
}

/* ---- descendants -------------------------------------------------------------------------- */

struct relation {
	pid_t pid, parent;
};

struct family {
	struct relation *all;
	size_t count, room;
	int error;
};

static bool family_take(void *ctx, pid_t pid)
{
	struct family *f = ctx;
	struct proc_reading r = { 0 };
	struct relation *grown;

	if (pid == getpid() || proc_read(pid, false, &r) != 0 || (r.flags & PROC_FLAG_KERNEL))
		return true;
	grown = array_grow(f->all, f->count, &f->room, sizeof(*grown));
	if (!grown) {
		f->error = -ENOMEM;
		return false;
	}
	f->all = grown;
	f->all[f->count++] = (struct relation){ pid, r.ppid };
	return true;
}

/* Moves entry `i` to place `at`, behind those that were found before. */
static void relation_found(struct family *f, size_t i, size_t at)
{
	struct relation found = f->all[i];

	f->all[i] = f->all[at];
	f->all[at] = found;
}

/* Moves `root` and its descendants to the front. Returns their number. */
static size_t family_find(struct family *f, pid_t root)
{
	size_t n = 0;

	for (size_t i = 0; n == 0 && i < f->count; i++)
		if (f->all[i].pid == root)
			relation_found(f, i, n++);
	for (size_t above = 0; above < n; above++)
		for (size_t i = n; i < f->count; i++)
			if (f->all[i].parent == f->all[above].pid)
				relation_found(f, i, n++);
	return n;
}

/* A parent that ended meanwhile hides its children, as it does from every tool. */
ssize_t target_descendants(pid_t root, pid_t *out, size_t max)
{
	struct family f = { 0 };
	int rc = pids_visit(family_take, &f);
	size_t n = rc || f.error ? 0 : family_find(&f, root);

	for (size_t i = 0; i < n && i < max; i++)
		out[i] = f.all[i].pid;
	free(f.all);
	return rc ? rc : f.error ? f.error : (ssize_t)n;
}
