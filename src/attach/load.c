/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loading our library (load.h). A process in another mount namespace, or of a user who may not read
 * the file, gets it as a memfd of its own, which we fill through /proc/PID/fd, and which it closes
 * when the library is mapped.
 */
#include "src/attach/load.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/attach/loader.h"
#include "src/proc/proc.h"

#define LEFT_MOST 8 /* descriptors of killed viewers that are closed at a time */

/* The process's dlopen; before glibc 2.34 libdl's, or what libdl itself calls. 0: none. */
static uint64_t loader_function(const struct attach_process *p)
{
	struct trace_symbol s;

	return attach_loader_symbol(p, "dlopen", &s) ||
			       trace_image_symbol(&p->image, p->libc, "__libc_dlopen_mode", &s)
		       ? s.at
		       : 0;
}

/* Whether the process has the same file under this path. */
static bool is_seen(pid_t pid, const char *path)
{
	struct stat ours, its;
	char there[4096];

	return snprintf(there, sizeof(there), "/proc/%d/root%s", (int)proc_memory_tid(pid), path) <
		       (int)sizeof(there) &&
	       stat(path, &ours) == 0 && stat(there, &its) == 0 && ours.st_dev == its.st_dev &&
	       ours.st_ino == its.st_ino;
}

/* Whether the library is there after the call. */
static int load_from(struct attach_job *j, struct trace_remote *r, const char *path)
{
	uint64_t function = loader_function(&j->process);
	uint64_t args[TRACE_REMOTE_ARGS] = { 0, RTLD_NOW | RTLD_LOCAL };
	int rc;

	args[0] = trace_remote_put(r, path, strlen(path) + 1);
	if (args[0] == 0 || function == 0)
		return -ENOTSUP;
	rc = trace_remote_call(r, function, args, ATTACH_CALL_NS);
	if (rc == 0)
		rc = attach_process_renew(&j->process);
	return rc != 0 ? rc : j->process.library ? 0 : -ENOEXEC;
}

static int file_copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_RDWR | O_CLOEXEC);
	struct stat st;
	ssize_t n = 1;
	int rc = in < 0 || out < 0 || fstat(in, &st) != 0 ? -errno : 0;

	for (off_t done = 0; rc == 0 && n > 0 && done < st.st_size;)
		n = sendfile(out, in, &done, (size_t)(st.st_size - done));
	if (rc == 0 && n <= 0)
		rc = n < 0 ? -errno : -EIO;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return rc;
}

static long memory_create(struct trace_remote *r)
{
	uint64_t args[TRACE_REMOTE_ARGS] = { 0, MFD_CLOEXEC };

	args[0] = trace_remote_put(r, ATTACH_MEMFD, sizeof(ATTACH_MEMFD));
	return args[0] ? trace_remote_syscall(r, SYS_memfd_create, args) : -ENOMEM;
}

static int load_from_memory(struct attach_job *j, struct trace_remote *r, const char *library)
{
	uint64_t args[TRACE_REMOTE_ARGS] = { 0 };
	long fd = memory_create(r);
	char path[64], own[64];
	int rc;

	if (fd < 0)
		return (int)fd;
	args[0] = (uint64_t)fd;
	snprintf(path, sizeof(path), "/proc/%d/fd/%ld", (int)r->thread->tid, fd);
	snprintf(own, sizeof(own), "/proc/self/fd/%ld", fd);
	rc = file_copy(library, path);
	if (rc == 0)
		rc = load_from(j, r, own);
	if (!r->lost)
		trace_remote_syscall(r, SYS_close, args);
	return rc;
}

/* Whether it can open a file by /proc/self/fd. */
static bool has_proc(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/proc/uptime", (int)proc_memory_tid(pid));
	return access(path, F_OK) == 0;
}

int attach_load(struct attach_job *j, struct trace_remote *r, const char *library)
{
	int rc = -ENOEXEC;

	if (j->process.library)
		return 0;
	if (is_seen(j->process.pid, library))
		rc = load_from(j, r, library);
	if (rc == -ENOEXEC)
		rc = load_from_memory(j, r, library);
	if (rc == -ENOEXEC && !has_proc(j->process.pid))
		return attach_phase_refuse(j, rc,
			"its root (chroot) has no /proc, by which it is given %s; mount it there",
			library);
	if (rc == -ENOEXEC)
		return attach_phase_refuse(j, rc,
			"its loader refuses %s (no room for thread-local data, a limit on memory, "
			"or a ban on mapping files to execute); start the program with heaptop",
			library);
	if (rc == -ETIMEDOUT)
		return attach_phase_refuse(j, rc,
			"its loader did not load %s in time, and will when it can; try again",
			library);
	if (rc == -EMFILE)
		return attach_phase_refuse(j, rc,
			"it can open no more files; raise its limit (prlimit --pid %d "
			"--nofile=N)",
			(int)j->process.pid);
	return rc == 0 ? 0
		       : attach_phase_refuse(j, rc, "%s cannot be loaded: %s", library,
				 rc == -EFAULT ? "its loader crashed, and was left"
					       : strerror(-rc));
}

int attach_load_close(struct attach_job *j, struct trace_remote *r)
{
	for (int n = 0; n < LEFT_MOST; n++) {
		uint64_t args[TRACE_REMOTE_ARGS] = { 0 };
		int fd = attach_process_descriptor(j->process.pid, ATTACH_MEMFD_PATH);

		if (fd < 0)
			return 0;
		args[0] = (uint64_t)fd;
		if (trace_remote_syscall(r, SYS_close, args) == -EIO)
			return -EIO;
	}
	return 0;
}

bool attach_load_is_open(pid_t pid)
{
	return attach_process_descriptor(pid, ATTACH_MEMFD_PATH) >= 0;
}
