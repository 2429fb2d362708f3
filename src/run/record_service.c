/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heaptop --record-service (record_service.h). Segments are found by their directory, as always;
 * each recorder is a heaptop --headless of its own, so that one that fails leaves the others alone.
 * Main thread.
 */
#include "src/run/record_service.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/model/processes.h"
#include "src/run/failure.h"
#include "src/run/signals.h"
#include "src/target/target.h"
#include "src/util/array.h"

#define VARIABLE "HEAPTOP_RECORD="
/* A new process is seen this soon: what it does in the meantime is in its segment all the same. */
#define LOOK_MS		200
#define ENVIRONMENT_MAX (1u << 20)

/* A process that was found, recorded or not. */
struct found {
	uint64_t id;
	bool listed; /* in this look */
	pid_t recorder; /* 0: none, or it has ended */
	char file[PATH_MAX];
};

struct service {
	const struct options *options;
	char self[PATH_MAX]; /* our executable */
	char environment[ENVIRONMENT_MAX]; /* of one process */
	struct found *found;
	size_t count, room;
};

/* ---- which file --------------------------------------------------------------------------- */

static const char *variable_find(const char *environment, size_t bytes)
{
	size_t prefix = strlen(VARIABLE);

	for (size_t at = 0, len; at < bytes; at += len + 1) {
		len = strnlen(environment + at, bytes - at);
		if (at + len < bytes && len > prefix &&
			strncmp(environment + at, VARIABLE, prefix) == 0)
			return environment + at + prefix;
	}
	return NULL;
}

int record_service_file(
	const char *environment, size_t bytes, pid_t pid, const char *cwd, char *out, size_t cap)
{
	const char *from = variable_find(environment, bytes);
	size_t used = 0;

	if (!from)
		return -ENOENT;
	if (from[0] != '/')
		used = (size_t)snprintf(out, cap, "%s/", cwd);
	for (; *from && used + 1 < cap; from++) {
		if (from[0] == '%' && (from[1] == 'p' || from[1] == '%')) {
			used += (size_t)(*++from == 'p'
						 ? snprintf(out + used, cap - used, "%d", (int)pid)
						 : snprintf(out + used, cap - used, "%%"));
		} else {
			out[used++] = *from;
			out[used] = '\0';
		}
	}
	return *from || used + 1 > cap ? -ENAMETOOLONG : 0;
}

/* Reads a file of /proc. Bytes read, or -errno. */
static ssize_t proc_file_read(const char *path, char *out, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -errno : 1;
	size_t used = 0;

	while (got > 0 && used < cap) {
		got = read(fd, out + used, cap - used);
		used += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	return got < 0 ? got : (ssize_t)used;
}

/* Another process records to that file: one that inherited the variable. */
static bool is_taken(const struct service *s, const char *file)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->found[i].recorder && strcmp(s->found[i].file, file) == 0)
			return true;
	return false;
}

/* Where the process asks to be recorded. 0; -ENOENT: it does not ask, or has ended; or -errno. */
static int file_of(struct service *s, pid_t pid, char *file)
{
	char path[64], cwd[PATH_MAX] = "";
	ssize_t bytes, linked;
	size_t used, left;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	linked = readlink(path, cwd, sizeof(cwd) - 1);
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	bytes = proc_file_read(path, s->environment, sizeof(s->environment));
	if (linked < 0 || bytes <= 0)
		return -ENOENT;
	rc = record_service_file(s->environment, (size_t)bytes, pid, cwd, file, PATH_MAX);
	if (rc != 0 || !is_taken(s, file))
		return rc;
	used = strlen(file);
	left = PATH_MAX - used;
	return (size_t)snprintf(file + used, left, ".%d", (int)pid) < left ? 0 : -ENAMETOOLONG;
}

/* ---- recorders ---------------------------------------------------------------------------- */

static pid_t recorder_start(const struct service *s, const char *file, pid_t pid)
{
	char of[16], delay[32], limit[32], rate[32],
		program[] = "heaptop", headless[] = "--headless", record[] = "--record",
		attach[] = "-a", every[] = "-d", most[] = "--record-limit",
		hourly[] = "--record-rate", none[] = "--history", zero[] = "0", path[PATH_MAX];
	char *argv[] = { program, headless, record, path, every, delay, most, limit, hourly, rate,
		none, zero, attach, of, NULL };
	pid_t recorder;
	int rc;

	snprintf(path, sizeof(path), "%s", file);
	snprintf(of, sizeof(of), "%d", (int)pid);
	snprintf(delay, sizeof(delay), "%llums",
		(unsigned long long)(s->options->delay_ns / 1000000));
	snprintf(limit, sizeof(limit), "%llu", (unsigned long long)s->options->record_limit);
	snprintf(rate, sizeof(rate), "%llu", (unsigned long long)s->options->record_rate);
	rc = posix_spawn(&recorder, s->self, NULL, NULL, argv, environ);
	if (rc == 0)
		return recorder;
	failure_print_errno("cannot start a recorder", rc);
	return 0;
}

static struct found *found_find(struct service *s, uint64_t id)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->found[i].id == id)
			return &s->found[i];
	return NULL;
}

/* Without memory it is found again at the next look. */
static struct found *found_add(struct service *s, uint64_t id)
{
	struct found *grown = array_grow(s->found, s->count, &s->room, sizeof(*grown));

	if (!grown)
		return NULL;
	s->found = grown;
	s->found[s->count] = (struct found){ .id = id };
	return &s->found[s->count++];
}

static void process_record(struct service *s, struct found *f, pid_t pid)
{
	char what[64];
	int rc = file_of(s, pid, f->file);

	if (rc == 0) {
		f->recorder = recorder_start(s, f->file, pid);
	} else if (rc != -ENOENT) {
		snprintf(what, sizeof(what), "cannot record process %d", (int)pid);
		failure_print_errno(what, rc);
	}
}

static int segment_take(void *ctx, const struct target_segment *t)
{
	struct service *s = ctx;
	uint64_t id = processes_id(t->pid, t->start_ticks, t->pid_namespace);
	struct found *f = found_find(s, id);

	if (t->state != TARGET_RUNNING || t->process <= 0)
		return 0;
	if (!f) {
		f = found_add(s, id);
		if (f)
			process_record(s, f, t->process);
	}
	if (f)
		f->listed = true;
	return 0;
}

static void recorders_reap(struct service *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->found[i].recorder && waitpid(s->found[i].recorder, NULL, WNOHANG) != 0)
			s->found[i].recorder = 0;
}

static void look(struct service *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++)
		s->found[i].listed = false;
	recorders_reap(s);
	target_list(segment_take, s);
	for (size_t i = 0; i < s->count; i++)
		if (s->found[i].listed || s->found[i].recorder)
			s->found[kept++] = s->found[i];
	s->count = kept;
}

static void recorders_end(struct service *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->found[i].recorder)
			kill(s->found[i].recorder, SIGTERM);
	for (size_t i = 0; i < s->count; i++)
		if (s->found[i].recorder)
			waitpid(s->found[i].recorder, NULL, 0);
}

static int serve(struct service *s)
{
	static atomic_bool ended;
	ssize_t len = readlink("/proc/self/exe", s->self, sizeof(s->self) - 1);

	if (len < 0)
		return failure_print_errno("cannot start recorders", errno);
	signals_catch(false, &ended);
	while (!signals_pending()) {
		look(s);
		poll(NULL, 0, LOOK_MS);
	}
	recorders_end(s);
	return 0;
}

int record_service_run(const struct options *o)
{
	struct service *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return failure_print_errno("cannot start recorders", -ENOMEM);
	s->options = o;
	rc = serve(s);
	free(s->found);
	free(s);
	return rc;
}
