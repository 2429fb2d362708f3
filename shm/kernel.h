/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calls that map memory, made directly to the kernel: the library's own memory must not go
 * through its hooks of the same names, which record what the program maps (preload/hooks_map.c).
 * Results and errno are those of libc's functions. Any thread.
 */
#ifndef SHM_KERNEL_H
#define SHM_KERNEL_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* The calls whose results are what libc's structs hold: i386 has older ones by the plain names. */
#ifdef __i386__
#define KERNEL_FSTAT   SYS_fstat64
#define KERNEL_FSTATAT SYS_fstatat64
#define KERNEL_FCNTL   SYS_fcntl64
#define KERNEL_GETEUID SYS_geteuid32
#else
#define KERNEL_FSTAT   SYS_fstat
#define KERNEL_FSTATAT SYS_newfstatat
#define KERNEL_FCNTL   SYS_fcntl
#define KERNEL_GETEUID SYS_geteuid
#endif

#define KERNEL_UNIT_LOG2 12 /* of i386's offsets */

static inline void *kernel_mmap(void *at, size_t bytes, int prot, int flags, int fd, off64_t offset)
{
#ifdef __i386__
	uint64_t unit = (uint64_t)offset >> KERNEL_UNIT_LOG2;

	if (unit << KERNEL_UNIT_LOG2 != (uint64_t)offset || unit > UINT32_MAX) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap2, at, bytes, prot, flags, fd, (uint32_t)unit);
#else
	return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
#endif
}

/* The size of a page. */
static inline size_t kernel_page_bytes(void)
{
	return (size_t)getauxval(AT_PAGESZ);
}

static inline long kernel_pread(int fd, void *to, size_t bytes, uint64_t at)
{
#ifdef __i386__
	return syscall(SYS_pread64, fd, to, bytes, (long)at, (long)(at >> 32));
#else
	return syscall(SYS_pread64, fd, to, bytes, at);
#endif
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
