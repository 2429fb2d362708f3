/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calls that map memory, straight to the kernel: the library's own memory must not pass its
 * hooks of the same names, which record what the program maps (preload/hooks_map.c). Results and
 * errno as libc's. Any thread.
 */
#ifndef SHM_KERNEL_H
#define SHM_KERNEL_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline void *kernel_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
}

static inline int kernel_munmap(void *at, size_t bytes)
{
	return (int)syscall(SYS_munmap, at, bytes);
}

/* `to` counts only with MREMAP_FIXED or MREMAP_DONTUNMAP. */
static inline void *kernel_mremap(void *at, size_t bytes, size_t larger, int flags, void *to)
{
	return (void *)syscall(SYS_mremap, at, bytes, larger, flags, to);
}

#endif
