/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls that architectures newer than x86-64 lack, implemented by those that they have.
 * Errors as in syscall(2): -1 and errno. Any thread. */
#ifndef PRELOAD_ARCH_OLD_CALL_H
#define PRELOAD_ARCH_OLD_CALL_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline long old_call_fork(void)
{
#ifdef SYS_fork
	return syscall(SYS_fork);
#else
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

static inline long old_call_dup2(int fd, int to)
{
#ifdef SYS_dup2
	return syscall(SYS_dup2, fd, to);
#else
	/* dup3 refuses what dup2 does nothing for. */
	return fd == to ? syscall(SYS_fcntl, fd, F_GETFD) : syscall(SYS_dup3, fd, to, 0);
#endif
}

#endif
