/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hooks of the calls by which a program maps memory itself: mmap and munmap, mremap, brk and
 * sbrk, shmat and shmdt. Each makes the real call unchanged, by the next definition of its own name
 * (an allocator's mmap may call mmap64), or straight to the kernel while that is unknown or this
 * library is not yet relocated. What a call unmaps leaves the table before it; what it maps enters
 * after it; a failed call changes nothing. Our own memory does not come here (shm/kernel.h), nor
 * does libc's but where its functions are patched: there its own calls pass (next_called_inside).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include "preload/lifecycle.h"
#include "preload/next_allocator.h"
#include "preload/old_version.h"
#include "preload/record.h"
#include "preload/record_map.h"
#include "shm/kernel.h"

#define HOOK __attribute__((visibility("default")))

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif
#define HUGE_MASK    63u /* of the flags, from MAP_HUGE_SHIFT on: log2 of the size of a page */
#define HUGE_DEFAULT 21u /* 2 MB, on x86-64; other sizes are named in the flags */

int hook_brk(void *end);
void *hook_sbrk(intptr_t more);

ENTRY(mmap);
ENTRY(mmap64);
ENTRY(munmap);
ENTRY(mremap);
ENTRY(hook_brk);
ENTRY(hook_sbrk);
ENTRY(shmat);

/* Only for references to glibc's version (exports.map): the names are short enough for others. */
__asm__(".symver hook_brk, brk@" OLD_VERSION_BASE "\n"
	".symver hook_sbrk, sbrk@" OLD_VERSION_BASE "\n");

#define NOTHING                                                                                    \
	{                                                                                          \
		NULL, { 0 }, 0                                                                     \
	}

static uint64_t address(const volatile void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void enter(uintptr_t frame, const void *p, uint64_t bytes, uint32_t function,
	enum ht_mapping_kind kind)
{
	struct record_map_block b = { address(p), address(p) + bytes, function, kind, 0 };

	if (p != MAP_FAILED)
		record_map_enter(frame, &b);
}

/* ---- mmap ---- */

/* The length of a mapping: a whole number of pages, of the kind that the flags ask for. */
static uint64_t mapped_bytes(uint64_t bytes, int flags)
{
	uint64_t huge = ((unsigned)flags >> MAP_HUGE_SHIFT) & HUGE_MASK;

	if (!(flags & MAP_HUGETLB) || (flags & MAP_ANONYMOUS) == 0)
		return record_map_pages(bytes);
	huge = 1ull << (huge ? huge : HUGE_DEFAULT);
	return (bytes + huge - 1) & ~(huge - 1);
}

typedef void *mmap_function(void *, size_t, int, int, int, off64_t);

/* Inlined: its caller is the hook that owns the frame. */
__attribute__((always_inline)) static inline void *map(uintptr_t frame, mmap_function *real,
	void *at, size_t bytes, int prot, int flags, int fd, off64_t offset)
{
	struct record_map old = NOTHING;
	void *p;

	if (flags & MAP_FIXED)
		old = record_map_take_if_mapped(address(at), bytes);
	p = real(at, bytes, prot, flags, fd, offset);
	record_map_end(&old, p != MAP_FAILED);
	if (lifecycle_on())
		enter(frame, p, mapped_bytes(bytes, flags), HT_FN_MMAP, HT_MAPPING_MMAP);
	return p;
}

#ifdef __i386__
/* The next mmap, whose offset is narrower. */
static void *next_mmap(void *at, size_t bytes, int prot, int flags, int fd, off64_t offset)
{
	return next.mmap(at, bytes, prot, flags, fd, (off_t)offset);
}
#define NEXT_MMAP next_mmap
#else
#define NEXT_MMAP next.mmap
#endif

HOOK void *ENTRY_BODY(mmap)(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	if (!next_available())
		return kernel_mmap(at, bytes, prot, flags, fd, offset);
	if (next_called_inside(RECORD_FRAME))
		return next.mmap(at, bytes, prot, flags, fd, offset);
	return map(RECORD_FRAME, next.mmap ? NEXT_MMAP : kernel_mmap, at, bytes, prot, flags, fd,
		offset);
}

HOOK void *ENTRY_BODY(mmap64)(void *at, size_t bytes, int prot, int flags, int fd, off64_t offset)
{
	if (!next_available())
		return kernel_mmap(at, bytes, prot, flags, fd, offset);
	if (next_called_inside(RECORD_FRAME))
		return next.mmap64(at, bytes, prot, flags, fd, offset);
	return map(RECORD_FRAME, next.mmap64 ? next.mmap64 : kernel_mmap, at, bytes, prot, flags,
		fd, offset);
}

HOOK int ENTRY_BODY(munmap)(void *at, size_t bytes)
{
	struct record_map old;
	int rc;

	if (!next_available() || !next.munmap)
		return kernel_munmap(at, bytes);
	if (next_called_inside(RECORD_FRAME))
		return next.munmap(at, bytes);
	old = record_map_take(address(at), bytes);
	rc = next.munmap(at, bytes);
	record_map_end(&old, rc == 0);
	return rc;
}

/* ---- mremap ---- */

/* An old size of 0 makes another mapping of the same pages. */
static bool leaves_old(size_t bytes, int flags)
{
	return bytes == 0 || (flags & MREMAP_DONTUNMAP) != 0;
}

HOOK void *ENTRY_BODY(mremap)(void *at, size_t bytes, size_t size, int flags, ...)
{
	struct record_map old = NOTHING, there = old;
	void *to = NULL, *p;
	va_list args;

	va_start(args, flags);
	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP))
		to = va_arg(args, void *);
	va_end(args);
	if (!next_available() || !next.mremap)
		return kernel_mremap(at, bytes, size, flags, to);
	if (next_called_inside(RECORD_FRAME))
		return next.mremap(at, bytes, size, flags, to);
	if (!leaves_old(bytes, flags))
		old = record_map_take(address(at), bytes);
	if (flags & MREMAP_FIXED)
		there = record_map_take_if_mapped(address(to), size);
	p = next.mremap(at, bytes, size, flags, to);
	record_map_end(&old, p != MAP_FAILED);
	record_map_end(&there, p != MAP_FAILED);
	enter(RECORD_FRAME, p, record_map_pages(size), HT_FN_MREMAP, HT_MAPPING_MMAP);
	return p;
}

/* ---- brk: to the byte ---- */

HOOK int ENTRY_BODY(hook_brk)(void *end)
{
	struct record_map old;
	void *now;
	int rc;

	if (!next_available() || !next.brk || !next.sbrk) {
		errno = ENOMEM;
		return -1;
	}
	if (next_called_inside(RECORD_FRAME))
		return next.brk(end);
	now = next.sbrk(0);
	old = record_map_take_bytes(address(end), address(now));
	rc = next.brk(end);
	/* glibc reports success where the kernel refuses an end that is too low. */
	record_map_end(&old, rc == 0 && next.sbrk(0) == end);
	if (rc == 0 && end > now)
		enter(RECORD_FRAME, now, address(end) - address(now), HT_FN_BRK, HT_MAPPING_BRK);
	return rc;
}

HOOK void *ENTRY_BODY(hook_sbrk)(intptr_t more)
{
	struct record_map old = NOTHING;
	uint64_t now;
	void *p;

	if (!next_available() || !next.sbrk) {
		errno = ENOMEM;
		return (void *)-1;
	}
	if (next_called_inside(RECORD_FRAME))
		return next.sbrk(more);
	if (more < 0) {
		now = address(next.sbrk(0));
		old = record_map_take_bytes(now + (uint64_t)more, now);
	}
	p = next.sbrk(more);
	record_map_end(&old, p != (void *)-1);
	if (more > 0)
		enter(RECORD_FRAME, p, (uint64_t)more, HT_FN_SBRK, HT_MAPPING_BRK);
	return p;
}

/* ---- System V shared memory ---- */

/* The bytes that a segment takes of the address space; 0: unknown. Keeps errno. */
static uint64_t shm_bytes(int id)
{
	struct shmid_ds about;
	int saved = errno;
	bool known;

	state_enter();
	known = state_is_on() && syscall(SYS_shmctl, id, IPC_STAT, &about) == 0;

	state_leave();
	errno = saved;
	return known ? record_map_pages(about.shm_segsz) : 0;
}

HOOK void *ENTRY_BODY(shmat)(int id, const void *at, int flags)
{
	struct record_map old = NOTHING;
	void *p;

	if (!next_available() || !next.shmat)
		return (void *)syscall(SYS_shmat, id, at, flags);
	if (flags & SHM_REMAP)
		old = record_map_take_if_mapped(address(at), shm_bytes(id));
	p = next.shmat(id, at, flags);
	record_map_end(&old, p != MAP_FAILED);
	if (p != MAP_FAILED && lifecycle_on())
		enter(RECORD_FRAME, p, shm_bytes(id), HT_FN_SHMAT, HT_MAPPING_SHM);
	return p;
}

HOOK int shmdt(const void *at)
{
	struct record_map old;
	int rc;

	if (!next_available() || !next.shmdt)
		return (int)syscall(SYS_shmdt, at);
	old = record_map_take_attached(address(at));
	rc = next.shmdt(at);
	record_map_end(&old, rc == 0);
	return rc;
}
