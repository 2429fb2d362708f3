/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hooks of functions that fork and return in the child: fork under its names, and daemon and
 * forkpty, which fork inside libc, past our fork. A child made in other ways needs no hook: it is
 * off. A child whose parent was inside a hook continues in there, and must be detached from its
 * parent first.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/arch/old_call.h"
#include "preload/lifecycle.h"
#include "preload/modules.h"
#include "preload/next_allocator.h"
#include "preload/old_version.h"
#include "preload/record.h"
#include "shm/kernel.h"

#define HOOK __attribute__((visibility("default")))

int _Fork(void);
int __fork(void);
int hook_daemon(int nochdir, int noclose);
int hook_forkpty(int *master, char *name, const struct termios *t, const struct winsize *size);

ENTRY(fork);
ENTRY(__fork);
ENTRY(_Fork);
ENTRY(hook_daemon);
ENTRY(hook_forkpty);

extern __typeof__(dlopen) dlopen __attribute__((weak));
extern __typeof__(dlsym) dlsym __attribute__((weak));
OLD_VERSION(dlopen);
OLD_VERSION(dlsym);

/* Only for references to glibc's version (exports.map). */
__asm__(".globl hook_forkpty_2_34\n.set hook_forkpty_2_34, hook_forkpty\n"
	".symver hook_daemon, daemon@" OLD_VERSION_BASE "\n"
	".symver hook_forkpty, forkpty@" OLD_VERSION_BASE "\n"
	".symver hook_forkpty_2_34, forkpty@GLIBC_2.34\n");

static int forked(int pid)
{
	lifecycle_after_fork();
	return pid;
}

/* Inlined: its caller is the hook that owns the frame, and lifecycle_before_fork searches the
 * frames below that. */
__attribute__((always_inline)) static inline int fork_from(uintptr_t frame)
{
	if (!next_available() || !next.fork)
		return (int)old_call_fork();
	lifecycle_before_fork(frame);
	return forked(next.fork());
}

HOOK int ENTRY_BODY(fork)(void)
{
	if (next_called_inside(RECORD_FRAME))
		return next.fork();
	return fork_from(RECORD_FRAME);
}

HOOK int ENTRY_BODY(__fork)(void)
{
	return fork_from(RECORD_FRAME);
}

HOOK int ENTRY_BODY(_Fork)(void)
{
	if (!next_available() || !next.fork_bare)
		return fork_from(RECORD_FRAME);
	if (next_called_inside(RECORD_FRAME))
		return next.fork_bare();
	lifecycle_before_fork(RECORD_FRAME);
	return forked(next.fork_bare());
}

/* Whether a call goes into libc, in a recorded process. A definition of another library reaches our
 * fork, and must be called by a jump: the fork would find our frame below it. */
static bool forks_in_libc(const void *next_one)
{
	struct module_range libc;

	if (!state_is_on())
		return false;
	modules_find((uint64_t)(uintptr_t)syscall, &libc);
	return (uint64_t)(uintptr_t)next_one - libc.start < libc.end - libc.start;
}

#define DEV_NULL 0x103 /* character device 1:3 */

/* /dev/null, and nothing else by that name; or -1. */
static int null_open(void)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
	struct stat st;

	if (fd >= 0 && syscall(KERNEL_FSTAT, fd, &st) == 0) {
		if (S_ISCHR(st.st_mode) && st.st_rdev == DEV_NULL)
			return fd;
		errno = ENODEV;
	}
	/* Also without an open file: so glibc's daemon returns EBADF (2.27 to 2.42). */
	syscall(SYS_close, fd);
	return -1;
}

/* What glibc's daemon does in the child, step by step; by system calls, since those steps do not
 * reach the program's own dup2 or chdir, either. */
static int daemon_child(bool chdir_root, bool to_null)
{
	int fd;

	if (syscall(SYS_setsid) == -1)
		return -1;
	if (chdir_root)
		syscall(SYS_chdir, "/");
	if (!to_null)
		return 0;
	fd = null_open();
	if (fd < 0)
		return -1;
	for (int to = 0; to <= 2; to++)
		old_call_dup2(fd, to);
	if (fd > 2)
		syscall(SYS_close, fd);
	return 0;
}

/* Not by libc's own: its parent exits in there, where no hook notes the end or waits for a scan. */
HOOK int ENTRY_BODY(hook_daemon)(int nochdir, int noclose)
{
	int pid;

	if (next_available() && next.daemon && !forks_in_libc((const void *)next.daemon))
		return next.daemon(nochdir, noclose);
	pid = fork_from(RECORD_FRAME);
	if (pid > 0)
		_exit(0);
	return pid == 0 ? daemon_child(!nochdir, !noclose) : -1;
}

/* Before glibc 2.34 it is in a separate library, which a plugin may have loaded. */
static void *forkpty_late(void)
{
	void *library = dlopen ? dlopen("libutil.so.1", RTLD_LAZY | RTLD_NOLOAD) : NULL;

	return library ? dlsym(library, "forkpty") : NULL;
}

HOOK int ENTRY_BODY(hook_forkpty)(
	int *master, char *name, const struct termios *t, const struct winsize *size)
{
	if (!next_available() || !next.forkpty)
		*(void **)&next.forkpty = forkpty_late();
	if (!next.forkpty) {
		errno = ENOSYS;
		return -1;
	}
	if (!forks_in_libc((const void *)next.forkpty))
		return next.forkpty(master, name, t, size);
	lifecycle_before_fork(RECORD_FRAME);
	return forked(next.forkpty(master, name, t, size));
}
