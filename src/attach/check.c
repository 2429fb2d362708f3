/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Refusals (check.h): all that can be known of a process by looking. Sources: proc(5), ptrace(2)
 * "Ptrace access mode checking", Documentation/admin-guide/LSM/Yama.rst.
 */
#include "src/attach/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/attach/terms.h"
#include "src/proc/proc.h"
#include "src/target/executable.h"
#include "src/trace/stop.h"

#define YAMA	      "/proc/sys/kernel/yama/ptrace_scope"
#define FLAG_KTHREAD  0x00200000u /* PF_KTHREAD, in field 9 of stat */
#define PATH_MAX_HERE 64

struct subject {
	pid_t pid;
	struct proc_reading proc;
	char status[4096];
	char *message;
};

__attribute__((format(printf, 3, 4))) static int refuse(
	struct subject *s, int rc, const char *format, ...)
{
	int n = snprintf(s->message, ATTACH_MESSAGE_MAX, "%d cannot be attached to: ", (int)s->pid);
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

	if (rc == 0 && (s->proc.flags & FLAG_KTHREAD) != 0)
		return refuse(s, -ENOTSUP, "it is a thread of the kernel");
	if (rc == -ESRCH)
		return refuse(s, rc, "there is no such process, or it has ended");
	if (rc != 0)
		return refuse(s, rc, "%s", strerror(-rc));
	if (s->pid == getpid())
		return refuse(s, -ENOTSUP, "that is this heaptop");
	if (s->proc.state == 'T')
		return refuse(s, -EBUSY, "it is stopped; continue it first (kill -CONT %d, or fg)",
			(int)s->pid);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)proc_memory_tid(s->pid));
	if (proc_file_read(path, s->status, sizeof(s->status)) <= 0)
		return refuse(s, -ESRCH, "it has ended");
	return 0;
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

static long yama_scope(void)
{
	char text[16];

	return proc_file_read(YAMA, text, sizeof(text)) > 0 ? strtol(text, NULL, 10) : 0;
}

static int refuse_permission(struct subject *s, int rc)
{
	long scope = yama_scope();
	char path[PATH_MAX_HERE];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)s->pid);
	if (scope == 3)
		return refuse(s, rc,
			"this system lets nobody trace a process until it is started again "
			"(" YAMA " is 3); start the program with heaptop");
	if (geteuid() == 0)
		return refuse(s, rc,
			"a security policy forbids it even to root (AppArmor, SELinux, or a "
			"container "
			"without CAP_SYS_PTRACE)");
	if (s->proc.uid != getuid())
		return refuse(s, rc, "it is another user's; run heaptop as root");
	if (stat(path, &st) == 0 && st.st_uid != getuid())
		return refuse(s, rc,
			"it protects itself, or was given privileges (it is not dumpable); run "
			"heaptop as root");
	if (scope == 1)
		return refuse(s, rc,
			"this system lets a user trace only what he has started (" YAMA
			" is 1); run heaptop as root, or: sudo sysctl kernel.yama.ptrace_scope=0");
	if (scope == 2)
		return refuse(s, rc,
			"this system lets only root trace processes (" YAMA
			" is 2); run heaptop as root");
	return refuse(s, rc,
		"a security policy forbids it (AppArmor, SELinux, or a container); run heaptop as "
		"root, outside");
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
	why = executable_refusal(&image);
	return why ? refuse(s, -ENOTSUP, "it %s", why) : 0;
}

static int by_protection(struct subject *s)
{
	const char *features = strstr(s->status, "\nx86_Thread_features:");
	size_t line = features ? strcspn(features + 1, "\n") : 0;

	if (features && memmem(features, line, "shstk", 5))
		return refuse(s, -ENOTSUP,
			"it has a shadow stack, which does not let it be called from outside; "
			"start it "
			"with heaptop, or with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off");
	if (s->proc.filters > 0 && geteuid() != 0)
		return refuse(s, -EPERM,
			"it has a seccomp filter, which may kill it for what a recorder needs; run "
			"heaptop as root, or start it with heaptop");
	return 0;
}

int attach_check_process(pid_t pid, char *message)
{
	static int (*const checks[])(struct subject * s) = { by_state, by_tracer, by_permission,
		by_executable, by_protection };
	struct subject s = { .pid = pid, .message = message };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(checks) / sizeof(*checks); i++)
		rc = checks[i](&s);
	return rc;
}
