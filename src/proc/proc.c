/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a live process: opens and reads the files; the parsers do the rest. The viewer's main
 * thread calls this once a tick. All files of a reading are opened through one descriptor of
 * /proc/PID, so that they describe one process even if its pid is reused meanwhile.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "src/proc/proc.h"
#include "src/util/text.h"

#define PROC_FLAG_KERNEL 0x00200000u /* PF_KTHREAD: never has memory */
#define PROC_FLAG_KILLED 0x00000400u /* PF_SIGNALED: a signal has killed it */
/* stat, status and smaps_rollup take one or two thousand bytes, but status lists all groups of the
 * user, of whom some have a thousand; maps may take megabytes. */
#define PROC_FILE_FIRST 8192u

/* ENOENT for a directory in /proc means that the process is gone. */
static int proc_error(int error)
{
	return error == ENOENT ? -ESRCH : -error;
}

static ssize_t proc_fill(int fd, char *buf, size_t cap)
{
	size_t len = 0;

	while (len + 1 < cap) {
		ssize_t n = read(fd, buf + len, cap - 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	buf[len] = '\0';
	return (ssize_t)len;
}

static ssize_t proc_slurp_at(int dir, const char *path, char *buf, size_t cap)
{
	int fd;
	ssize_t n;

	if (cap == 0)
		return -EINVAL;
	buf[0] = '\0';
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	n = proc_fill(fd, buf, cap);
	close(fd);
	return n;
}

ssize_t proc_file_read(const char *path, char *buf, size_t cap)
{
	return proc_slurp_at(AT_FDCWD, path, buf, cap);
}

/* Reads all of an open file. NULL and errno. */
static char *text_read(int fd, size_t *len)
{
	size_t capacity = PROC_FILE_FIRST, used = 0;
	char *text = malloc(capacity), *more = text;
	ssize_t got = 1;

	while (more && got != 0) {
		got = read(fd, text + used, capacity - used - 1);
		if (got < 0 && errno != EINTR)
			break;
		used += got > 0 ? (size_t)got : 0;
		if (capacity - used < 2) {
			more = realloc(text, capacity * 2);
			text = more ? more : text;
			capacity *= 2;
		}
	}
	if (more && got == 0) {
		text[used] = '\0';
		*len = used;
		return text;
	}
	free(text);
	return NULL;
}

static char *file_read_all_at(int dir, const char *path, size_t *len)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *text = fd < 0 ? NULL : text_read(fd, len);
	int err = errno;

	if (fd >= 0)
		close(fd);
	errno = err;
	return text;
}

char *proc_file_read_all(const char *path, size_t *len)
{
	return file_read_all_at(AT_FDCWD, path, len);
}

/* The number behind `name`, or the last one of its line. */
static bool number_find(const char *text, const char *name, bool last, long *value)
{
	const char *p = strstr(text, name);
	char *end;

	if (!p)
		return false;
	for (p += strlen(name);; p = end) {
		*value = strtol(p, &end, 10);
		if (!last || *end != '\t')
			return end != p;
	}
}

bool proc_status_number(const char *path, const char *name, bool last, long *value)
{
	size_t len;
	char *text = proc_file_read_all(path, &len);
	bool found = text && number_find(text, name, last, value);

	free(text);
	return found;
}

static int proc_open(pid_t pid)
{
	char path[32];
	int dir;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? proc_error(errno) : dir;
}

static int proc_load(int dir, const char *name,
	int (*parse)(const char *buf, size_t len, struct proc_reading *r), struct proc_reading *r)
{
	size_t len;
	char *text = file_read_all_at(dir, name, &len);
	int rc = text ? parse(text, len, r) : proc_error(errno);

	free(text);
	return rc;
}

static bool has_ended(const struct proc_reading *r)
{
	return r->state == 'Z' || r->state == 'X';
}

/* 0, or -ESRCH. */
static int stat_read(pid_t pid, struct proc_reading *r)
{
	int dir = proc_open(pid), rc;

	if (dir < 0)
		return dir;
	rc = proc_load(dir, "stat", proc_parse_stat, r);
	close(dir);
	return rc;
}

/* A thread of the process that has not ended; `pid`: none; -errno: the threads cannot be read. Each
 * thread has its own, unlisted directory in /proc. */
static pid_t living_thread(pid_t pid)
{
	const struct dirent *entry;
	char path[32];
	pid_t found = pid;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOENT ? pid : -errno;
	while (found == pid && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct proc_reading r = { 0 };
		int rc = tid > 0 && tid != pid ? stat_read(tid, &r) : -ESRCH;

		if (rc == 0 && !has_ended(&r))
			found = tid;
		else if (rc != 0 && rc != -ESRCH)
			found = rc;
	}
	closedir(tasks);
	return found;
}

pid_t proc_memory_tid(pid_t pid)
{
	struct proc_reading r = { 0 };
	pid_t tid = stat_read(pid, &r) == 0 && has_ended(&r) ? living_thread(pid) : pid;

	return tid > 0 ? tid : pid;
}

/* Switches to the directory of a living thread, which has everything but the start time. */
static int living_thread_open(pid_t pid, int *dir, struct proc_reading *r)
{
	uint64_t start_ticks = r->start_ticks;
	pid_t tid = living_thread(pid);
	int other = tid < 0 ? tid : tid != pid ? proc_open(tid) : -ESRCH, rc;

	if (other < 0)
		return other;
	close(*dir);
	*dir = other;
	rc = proc_load(other, "stat", proc_parse_stat, r);
	r->start_ticks = start_ticks;
	return rc;
}

int proc_read(pid_t pid, bool with_pss, struct proc_reading *r)
{
	int dir = proc_open(pid), rc;

	memset(r, 0, sizeof(*r));
	if (dir < 0)
		return dir;
	rc = proc_load(dir, "stat", proc_parse_stat, r);
	if (!rc && has_ended(r))
		rc = living_thread_open(pid, &dir, r);
	if (!rc)
		rc = proc_load(dir, "status", proc_parse_status, r);
	/* Between its exit and its parent's wait, a process has no memory. */
	if (!rc && r->hwm_bytes == 0 && !(r->flags & PROC_FLAG_KERNEL))
		rc = -ESRCH;
	/* PSS is not available for another user's or a dying process; the rest of the reading is
	 * valid. */
	if (!rc && with_pss)
		proc_load(dir, "smaps_rollup", proc_parse_smaps_rollup, r);
	close(dir);
	return rc;
}

int proc_start_ticks(pid_t pid, uint64_t *ticks)
{
	struct proc_reading r = { 0 };
	int rc = stat_read(pid, &r);
	pid_t living = !rc && has_ended(&r) ? living_thread(pid) : 0;

	if (living != 0 && (living < 0 || living == pid))
		return living < 0 ? living : -ESRCH;
	if (!rc)
		*ticks = r.start_ticks;
	return rc;
}

/* Whether status shows a pending SIGKILL; false if descriptors or memory to read it are missing. */
static bool is_killed(pid_t pid)
{
	char path[32], *status;
	bool killed;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = proc_file_read_all(path, &len);
	if (!status)
		return errno == ENOENT || errno == ESRCH;
	killed = (proc_parse_pending(status, len) >> (SIGKILL - 1) & 1) != 0;
	free(status);
	return killed;
}

/* Reads the flags last: once they are set, the signal is no longer pending. */
bool proc_is_ending(pid_t pid)
{
	struct proc_reading r;
	int rc;

	if (is_killed(pid))
		return true;
	rc = proc_read(pid, false, &r);
	return rc == -ESRCH || (rc == 0 && (r.flags & (PROC_FLAG_EXITING | PROC_FLAG_KILLED)) != 0);
}

uint64_t proc_own_rss(void)
{
	unsigned long pages = 0;
	char buf[64];

	if (proc_file_read("/proc/self/statm", buf, sizeof(buf)) <= 0 ||
		sscanf(buf, "%*u %lu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool proc_boot_id(uint8_t out[PROC_BOOT_ID_BYTES])
{
	char text[64];
	unsigned digits = 0;

	if (proc_file_read("/proc/sys/kernel/random/boot_id", text, sizeof(text)) < 0)
		return false;
	memset(out, 0, PROC_BOOT_ID_BYTES);
	for (const char *p = text; *p && digits < 2 * PROC_BOOT_ID_BYTES; p++) {
		if (hex_digit(*p) < 0)
			continue;
		out[digits / 2] = (uint8_t)(out[digits / 2] << 4 | hex_digit(*p));
		digits++;
	}
	return digits == 2 * PROC_BOOT_ID_BYTES;
}

int proc_cpu_ns(pid_t pid, uint64_t *ns)
{
	struct timespec t;
	clockid_t clock;
	int rc = pid == 0 ? ESRCH : clock_getcpuclockid(pid, &clock); /* 0 is our own */

	if (rc != 0)
		return -rc;
	if (clock_gettime(clock, &t) != 0)
		return -errno;
	*ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return 0;
}

bool proc_thread_name(pid_t pid, pid_t tid, char *out, size_t cap)
{
	char path[64], comm[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	len = proc_file_read(path, comm, sizeof(comm));
	if (len > 0 && comm[len - 1] == '\n')
		len--;
	if (len <= 0)
		return false;
	text_clean(out, cap, comm, (size_t)len);
	return true;
}

size_t proc_command(pid_t pid, uint64_t start_ticks, char *line, size_t cap)
{
	char path[64];
	uint64_t ticks;
	ssize_t n;

	if (pid <= 0 || proc_start_ticks(pid, &ticks) != 0 || ticks != start_ticks)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)proc_memory_tid(pid));
	n = proc_file_read(path, line, cap);
	return n > 0 ? (size_t)n : 0;
}
