/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A log of every call that maps memory. Preloaded behind libheaptop, so it sees what the program
 * does as the kernel sees it; the program's caller is found through the frame of libheaptop's hook.
 * What unmaps is logged before the call, what maps after it, so that the order in the log is right
 * when threads get each other's addresses. A call that fails is logged as one that unmaps nothing.
 *
 * Writes records of six words to the file $MAP_LOG.PID: kind (1: unmaps, 2: maps, 4: detaches what
 * shmat attached there, 3: the unmapping
 * with this number failed), start, end, caller, number, function (HT_FN_* of shm/layout.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/layout.h"

#define ROOM (1u << 18) /* records; the file is sparse */
#define PAGE 4096ul

enum kind { UNMAPS = 1, MAPS, FAILED, DETACHES };

struct record {
	uint64_t kind, start, end, caller, number, function;
};

static struct record *log_;
static uint64_t next, unmaps;
static int log_pid;

static void *raw_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
}

/* A forked child logs to a file of its own. */
static void log_open(int pid)
{
	const char *at = getenv("MAP_LOG");
	char path[4096];
	int fd;

	log_pid = pid;
	log_ = NULL;
	next = 0;
	if (!at)
		return;
	snprintf(path, sizeof(path), "%s.%d", at, pid);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)(ROOM * sizeof(struct record))) != 0)
		abort();
	log_ = raw_mmap(
		NULL, ROOM * sizeof(struct record), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (log_ == MAP_FAILED)
		abort();
	syscall(SYS_close, fd);
}

static void note(const struct record *r)
{
	int saved = errno, pid = (int)syscall(SYS_getpid);
	uint64_t at;

	if (log_pid != pid)
		log_open(pid);
	errno = saved;
	if (!log_)
		return;
	at = __atomic_fetch_add(&next, 1, __ATOMIC_ACQ_REL);
	if (at >= ROOM)
		abort();
	log_[at] = *r;
}

static uint64_t leaving(enum kind kind, uint64_t start, uint64_t bytes)
{
	struct record r = { .kind = kind, .start = start, .end = start + bytes };

	r.number = __atomic_add_fetch(&unmaps, 1, __ATOMIC_ACQ_REL);
	note(&r);
	return r.number;
}

static uint64_t unmapping(uint64_t start, uint64_t bytes)
{
	return leaving(UNMAPS, start, bytes);
}

static void failed(uint64_t number)
{
	struct record r = { .kind = FAILED, .number = number };

	note(&r);
}

static void mapped(uint64_t start, uint64_t bytes, uint64_t function, const void *caller)
{
	struct record r = { MAPS, start, start + bytes, (uintptr_t)caller, 0, function };

	note(&r);
}

static uint64_t pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

#define CALLER __builtin_return_address(1)
#define EXPORT __attribute__((visibility("default"), noinline))

EXPORT void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	uint64_t number = flags & MAP_FIXED ? unmapping((uintptr_t)at, pages(bytes)) : 0;
	void *p = raw_mmap(at, bytes, prot, flags, fd, offset);

	if (p != MAP_FAILED)
		mapped((uintptr_t)p, pages(bytes), HT_FN_MMAP, CALLER);
	else if (number)
		failed(number);
	return p;
}

/* The hook of mmap64 calls the next mmap64, so the hook's frame is the caller's here, too. */
EXPORT void *mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

EXPORT int munmap(void *at, size_t bytes)
{
	uint64_t number = unmapping((uintptr_t)at, pages(bytes));
	int rc = (int)syscall(SYS_munmap, at, bytes);

	if (rc != 0)
		failed(number);
	return rc;
}

EXPORT void *mremap(void *at, size_t bytes, size_t size, int flags, ...)
{
	uint64_t number = unmapping((uintptr_t)at, pages(bytes));
	va_list args;
	void *p;

	va_start(args, flags);
	p = (void *)syscall(SYS_mremap, at, bytes, size, flags, va_arg(args, void *));
	va_end(args);
	if (p == MAP_FAILED)
		failed(number);
	else
		mapped((uintptr_t)p, pages(size), HT_FN_MREMAP, CALLER);
	return p;
}

EXPORT void *shmat(int id, const void *at, int flags)
{
	void *p = (void *)syscall(SYS_shmat, id, at, flags);
	struct shmid_ds about;

	if (p != (void *)-1 && syscall(SYS_shmctl, id, IPC_STAT, &about) == 0)
		mapped((uintptr_t)p, pages(about.shm_segsz), HT_FN_SHMAT, CALLER);
	return p;
}

EXPORT int shmdt(const void *at)
{
	uint64_t number = leaving(DETACHES, (uintptr_t)at, 0);
	int rc = (int)syscall(SYS_shmdt, at);

	if (rc != 0)
		failed(number);
	return rc;
}
