/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An allocator in front of glibc's that keeps an account of its own: every allocation and free, in
 * order, with size and caller. Preloaded behind libheaptop, so it sees what the program does as the
 * allocator sees it; the program's caller is found through the frame of libheaptop's hook.
 *
 * Writes records of four words to the file $EVENT_LOG.PID: address, size (of a free: 0), caller,
 * kind.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROOM (1u << 24) /* records; the file is sparse */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

struct record {
	uint64_t addr, size, caller, kind;
};

static struct record *log_;
static uint64_t next;
static int tried;

static void log_open(void)
{
	const char *at = getenv("EVENT_LOG");
	char path[4096];
	int fd;

	if (!at || __atomic_exchange_n(&tried, 1, __ATOMIC_ACQ_REL))
		return;
	snprintf(path, sizeof(path), "%s.%d", at, (int)syscall(SYS_getpid));
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)(ROOM * sizeof(struct record))) != 0)
		abort();
	log_ = mmap(NULL, ROOM * sizeof(struct record), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (log_ == MAP_FAILED)
		abort();
	syscall(SYS_close, fd);
}

static void note(const void *p, uint64_t size, const void *caller, uint64_t kind)
{
	int saved = errno;
	uint64_t at;

	if (!log_)
		log_open();
	errno = saved;
	if (!log_)
		return;
	at = __atomic_fetch_add(&next, 1, __ATOMIC_ACQ_REL);
	if (at >= ROOM)
		abort();
	log_[at] = (struct record){ (uintptr_t)p, size, (uintptr_t)caller, kind };
}

#define CALLER __builtin_return_address(1)
#define EXPORT __attribute__((visibility("default"), noinline))

EXPORT void *malloc(size_t size)
{
	void *p = __libc_malloc(size);

	if (p)
		note(p, size, CALLER, 1);
	return p;
}

EXPORT void *calloc(size_t n, size_t size)
{
	void *p = __libc_calloc(n, size);

	if (p)
		note(p, n * size, CALLER, 1);
	return p;
}

EXPORT void free(void *p)
{
	if (p)
		note(p, 0, NULL, 2);
	__libc_free(p);
}

EXPORT void *realloc(void *old, size_t size)
{
	void *p;

	/* Before another thread can be given the old address; it does not fail. */
	if (old)
		note(old, 0, NULL, 2);
	p = __libc_realloc(old, size);
	if (p)
		note(p, size, CALLER, 1);
	return p;
}

EXPORT void *memalign(size_t align, size_t size)
{
	void *p = __libc_memalign(align, size);

	if (p)
		note(p, size, CALLER, 1);
	return p;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
	void *p = __libc_memalign(align, size);

	if (p)
		note(p, size, CALLER, 1);
	return p;
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
	void *p = __libc_memalign(align, size);

	if (!p)
		return ENOMEM;
	note(p, size, CALLER, 1);
	*out = p;
	return 0;
}
