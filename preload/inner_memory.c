/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing code, and pads (inner_memory.h). By system calls that pass no hook. */
#include "preload/inner_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/bulk.h"
#include "preload/call.h"
#include "preload/patch/place.h"

#ifdef __x86_64__

#define PAGE	 4096ull
#define AREAS	 256u /* modules with pads at a time */
#define SET_NAME 0x53564d41 /* PR_SET_VMA, of newer headers */

struct area {
	uint64_t at;
	size_t bytes;
	bool is_used;
};

static BULK struct area areas[AREAS];

static int code_read(void *of, uint64_t at, void *to, size_t bytes)
{
	__builtin_memcpy(to, (const void *)(uintptr_t)at, bytes);
	return 0;
}

static long protect(uint64_t at, size_t bytes, int protection)
{
	uint64_t start = at & ~(PAGE - 1), end = (at + bytes + PAGE - 1) & ~(PAGE - 1);

	return call(SYS_mprotect, (long)start, (long)(end - start), protection, 0, 0);
}

static int write_unprotected(uint64_t at, const void *from, size_t bytes)
{
	long rc = protect(at, bytes, PROT_READ | PROT_WRITE);

	if (rc != 0)
		return (int)rc;
	__builtin_memcpy((void *)(uintptr_t)at, from, bytes);
	return (int)protect(at, bytes, PROT_READ | PROT_EXEC);
}

static int code_write(void *of, uint64_t at, const void *from, size_t bytes)
{
	long fd = (long)(intptr_t)of;
	long rc =
		fd < 0 ? fd : call(SYS_pwrite64, fd, call_pointer(from), (long)bytes, (long)at, 0);

	return rc == (long)bytes ? 0 : write_unprotected(at, from, bytes);
}

struct entry_memory inner_memory_open(void)
{
	long fd = call(
		SYS_openat, AT_FDCWD, call_pointer("/proc/self/mem"), O_RDWR | O_CLOEXEC, 0, 0);

	return (struct entry_memory){ code_read, code_write, (void *)(intptr_t)fd };
}

void inner_memory_close(struct entry_memory *m)
{
	if ((intptr_t)m->of >= 0)
		call(SYS_close, (long)(intptr_t)m->of, 0, 0, 0, 0);
}

/* An area of before that is near enough, writable again. */
static void *area_again(const struct place *p)
{
	for (unsigned i = 0; i < AREAS && areas[i].at != 0; i++) {
		struct area *a = &areas[i];

		if (a->is_used || a->bytes < p->bytes || !place_is_near(p, a->at))
			continue;
		if (protect(a->at, a->bytes, PROT_READ | PROT_WRITE) != 0)
			continue;
		a->is_used = true;
		return (void *)(uintptr_t)a->at;
	}
	return NULL;
}

static struct area *area_free(void)
{
	for (unsigned i = 0; i < AREAS; i++)
		if (areas[i].at == 0)
			return &areas[i];
	return NULL;
}

/* With MAP_FIXED_NOREPLACE, false: something is there. Kernels before 4.17 take the address as a
 * wish. */
static bool map(uint64_t at, size_t bytes, int protection, int fixed)
{
	long got = call(SYS_mmap, (long)at, (long)bytes, protection,
		MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1);

	if (got > 0 && (uint64_t)got != at)
		call(SYS_munmap, got, (long)bytes, 0, 0, 0);
	if ((uint64_t)got != at)
		return false;
	call(SYS_prctl, SET_NAME, 0, (long)at, (long)bytes, call_pointer("heaptop"));
	return true;
}

/* A hole that the kernel chooses, the highest: where thread stacks fill all that is near, there are
 * some between libraries. False: it is too far, or was tried. */
static bool hole_find(struct place *p, uint64_t *at)
{
	long got = call(SYS_mmap, 0, (long)p->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (got <= 0 || (uint64_t)got == *at)
		return false;
	call(SYS_munmap, got, (long)p->bytes, 0, 0, 0);
	*at = (uint64_t)got;
	return place_is_near(p, *at);
}

void *inner_memory_pads(uint64_t start, uint64_t end, size_t bytes)
{
	struct place p = { .start = start, .end = end, .bytes = (bytes + PAGE - 1) & ~(PAGE - 1) };
	void *again = area_again(&p);
	struct area *a = again ? NULL : area_free();
	uint64_t at = 0;

	while (a && (place_next(&p, &at) || hole_find(&p, &at))) {
		if (!map(at, p.bytes, PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE))
			continue;
		*a = (struct area){ at, p.bytes, true };
		return (void *)(uintptr_t)at;
	}
	return again;
}

static struct area *area_of(const void *pads)
{
	for (unsigned i = 0; i < AREAS; i++)
		if (areas[i].at == (uint64_t)(uintptr_t)pads)
			return &areas[i];
	return NULL;
}

/*
 * Where no memory may become executable that could be written (PR_SET_MDWE, systemd's
 * MemoryDenyWriteExecute), there may be memory that never could. It takes the place of the other,
 * and gets its bytes through /proc/self/mem.
 */
static long seal_anew(const struct area *a)
{
	long kept = call(SYS_mmap, 0, (long)a->bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct entry_memory m;
	long rc = kept;

	if (kept <= 0)
		return kept;
	__builtin_memcpy((void *)kept, (const void *)(uintptr_t)a->at, a->bytes);
	m = inner_memory_open();
	if (map(a->at, a->bytes, PROT_READ | PROT_EXEC, MAP_FIXED))
		rc = m.write(m.of, a->at, (const void *)kept, a->bytes);
	else
		rc = -EACCES;
	inner_memory_close(&m);
	call(SYS_munmap, kept, (long)a->bytes, 0, 0, 0);
	return rc;
}

int inner_memory_seal(void *pads)
{
	const struct area *a = area_of(pads);
	long rc = protect(a->at, a->bytes, PROT_READ | PROT_EXEC);

	return rc == 0 ? 0 : (int)seal_anew(a);
}

void inner_memory_release(void *pads)
{
	area_of(pads)->is_used = false;
}

uint64_t inner_memory_all(uint64_t *first)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < AREAS; i++)
		bytes += areas[i].bytes;
	*first = areas[0].at;
	return bytes;
}

#else

uint64_t inner_memory_all(uint64_t *first)
{
	*first = 0;
	return 0;
}

#endif
