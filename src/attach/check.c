/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Refusals (check.h): everything that can be determined about a process without touching it.
 * Sources: proc(5).
 */
#include "src/attach/check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/attach/denial.h"
#include "src/attach/terms.h"
#include "src/proc/proc.h"
#include "src/target/executable.h"
#include "src/trace/stop.h"
#include "src/util/shortage.h"

#define YAMA	      "/proc/sys/kernel/yama/ptrace_scope"
#define DENY_PTRACE   "/sys/fs/selinux/booleans/deny_ptrace"
#define FLAG_KTHREAD  0x00200000u /* PF_KTHREAD, in field 9 of stat */
#define PATH_MAX_HERE 64

struct subject {
	pid_t pid;
	const char *done;
	struct proc_reading proc;
	char *status; /* owned */
	char *message;
};

__attribute__((format(printf, 3, 4))) static int refuse(
	struct subject *s, int rc, const char *format, ...)
{
	int n = snprintf(
		s->message, ATTACH_MESSAGE_MAX, "process %d cannot be %s: ", (int)s->pid, s->done);
	va_list ap;

	va_start(ap, format);
	vsnprintf(s->message + n, (size_t)(ATTACH_MESSAGE_MAX - n), format, ap);
	va_end(ap);
	return rc;
}

/* Each of these returns 0, or -errno with a message. */

static int by_state(struct subject *s)
{
	int rc = proc_read(s->pid, false, &s->proc);
	char path[PATH_MAX_HERE];
	size_t len;

	if (rc == 0 && (s->proc.flags & FLAG_KTHREAD) != 0)
		return refuse(s, -ENOTSUP, "it is a kernel thread");
	if (rc == -ESRCH)
		return refuse(s, rc, "there is no such process, or it has ended");
	if (rc != 0)
		return refuse(s, rc, "%s", strerror(-rc));
	if (s->pid == getpid())
		return refuse(s, -ENOTSUP, "it is this heaptop itself");
	if (s->proc.state == 'T')
		return refuse(s, -EBUSY, "it is stopped; continue it first (kill -CONT %d, or fg)",
			(int)s->pid);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)proc_memory_tid(s->pid));
	s->status = proc_file_read_all(path, &len);
	if (!s->status && shortage_is(errno))
		return refuse(s, -errno, "%s", strerror(errno));
	return s->status ? 0 : refuse(s, -ESRCH, "it has ended");
}

static int by_tracer(struct subject *s)
{
	pid_t tracer = trace_stop_tracer(s->pid);

	if (tracer > 0)
		return refuse(s, -EBUSY,
			"it is traced by %d (a debugger, strace, or another heaptop); end that "
			"first",
			(int)tracer);
	return 0;
}

/* The text of a file that holds little; "" if there is none. */
static void line_read(const char *path, char *text, size_t size)
{
	if (proc_file_read(path, text, size) <= 0)
		text[0] = '\0';
}

static void label_read(const char *pid, char *label)
{
	char path[PATH_MAX_HERE], text[256];

	snprintf(path, sizeof(path), "/proc/%s/attr/current", pid);
	line_read(path, text, sizeof(text));
	denial_label(text, label);
}

static bool has_capability(void)
{
	size_t len;
	char *text = proc_file_read_all("/proc/self/status", &len);
	const char *line = text ? strstr(text, "\nCapEff:") : NULL;
	bool has = line &&
		   (strtoull(line + sizeof("\nCapEff:") - 1, NULL, 16) >> CAP_SYS_PTRACE & 1) != 0;

	free(text);
	return has;
}

/* Whether it is in another user namespace; not known where that may not be read. */
static bool is_apart(const char *pid)
{
	char path[PATH_MAX_HERE];
	struct stat its, ours;

	snprintf(path, sizeof(path), "/proc/%s/ns/user", pid);
	return stat(path, &its) == 0 && stat("/proc/self/ns/user", &ours) == 0 &&
	       its.st_ino != ours.st_ino;
}

static int refuse_permission(struct subject *s, int rc)
{
	struct denial_facts f = { .uid = getuid(),
		.euid = geteuid(),
		.may_trace = has_capability(),
		.owner = s->proc.uid };
	char pid[16], text[ATTACH_MESSAGE_MAX], path[PATH_MAX_HERE];
	struct stat st;

	snprintf(pid, sizeof(pid), "%d", (int)s->pid);
	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	f.private = stat(path, &st) == 0 && st.st_uid != s->proc.uid;
	f.apart = is_apart(pid);
	line_read(YAMA, text, sizeof(text));
	f.scope = strtol(text, NULL, 10);
	line_read(DENY_PTRACE, text, sizeof(text));
	f.deny_ptrace = text[0] == '1';
	label_read("self", f.label);
	label_read(pid, f.its_label);
	denial_explain(&f, text, sizeof(text));
	return refuse(s, rc, "%s", text);
}

/* To open its memory asks the kernel the same as to trace it. */
static int by_permission(struct subject *s)
{
	char path[PATH_MAX_HERE];
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)proc_memory_tid(s->pid));
	fd = open(path, O_RDWR | O_CLOEXEC);
	rc = fd < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	return rc == 0 ? 0 : refuse_permission(s, rc);
}

static int by_executable(struct subject *s)
{
	char path[PATH_MAX_HERE];
	struct executable image;
	const char *why;
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)proc_memory_tid(s->pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	rc = fd < 0 ? -errno : executable_read(fd, &image);
	if (fd >= 0)
		close(fd);
	if (rc != 0)
		return refuse(s, rc, "its executable cannot be read: %s", strerror(-rc));
	if (image.native && !image.interpreter[0] && !image.loader)
		return refuse(s, -ENOTSUP,
			"it is statically linked: its allocator is part of the program, and "
			"nothing "
			"can be loaded into it");
	if (image.narrow)
		return refuse(s, -ENOTSUP, "it is a 32-bit program, which cannot be attached to");
	why = executable_refusal(&image, false);
	return why ? refuse(s, -ENOTSUP, "it %s", why) : 0;
}

static int by_protection(struct subject *s)
{
	int rc;
	const char *why = denial_protection(s->status, s->proc.filters, geteuid() == 0, &rc);

	return why ? refuse(s, rc, "%s", why) : 0;
}

int attach_check_process(pid_t pid, const char *done, char *message)
{
	static int (*const checks[])(struct subject * s) = { by_state, by_tracer, by_permission,
		by_executable, by_protection };
	struct subject s = { .pid = pid, .done = done, .message = message };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(checks) / sizeof(*checks); i++)
		rc = checks[i](&s);
	free(s.status);
	return rc;
}
