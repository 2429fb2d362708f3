/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The C hooks: what the program calls instead of its allocator. Each does the real call and tells
 * record.h, in the order that keeps the live set right when threads share blocks: a block is taken
 * out before it goes back to the allocator, and entered after it came. Requests pass through
 * unchanged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/hot.h"
#include "preload/next.h"

#define HOOK __attribute__((visibility("default")))

/* Declared here, because no header of libc has them all. */
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t size);
void *reallocarray(void *p, size_t count, size_t size);
void free(void *p);
void cfree(void *p);
int posix_memalign(void **out, size_t align, size_t size);
void *aligned_alloc(size_t align, size_t size);
void *memalign(size_t align, size_t size);
void *valloc(size_t size);
void *pvalloc(size_t size);
_Noreturn void _exit(int status);

HOOK void *malloc(size_t size)
{
	void *p;

	if (!next_available())
		return next_arena_alloc(size, 1);
	p = next.malloc(size);
	hot_alloc(RECORD_FRAME, p, size, HT_FN_MALLOC);
	return p;
}

HOOK void *calloc(size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = 0; /* the real one will refuse */
	if (!next_available())
		return next_arena_alloc(bytes, 1); /* fresh arena memory is zero */
	p = next.calloc(count, size);
	record_alloc(RECORD_FRAME, p, bytes, HT_FN_CALLOC);
	return p;
}

/* A block of the bootstrap arena outgrows it. */
static void *arena_realloc(void *p, size_t size)
{
	size_t old = next_arena_size(p);
	void *q = malloc(size);

	if (q)
		memcpy(q, p, old < size ? old : size);
	return q;
}

/* Inlined, not called last: the stack begins at the hook's own frame, which must be there still. */
__attribute__((always_inline)) static inline void *move(
	uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	struct record_move m;
	void *q;

	record_move_begin(frame, &m, p);
	q = next.realloc(p, size);
	if (q)
		record_move_done(frame, &m, p, q, size, function);
	else
		record_move_failed(frame, &m, p, size == 0);
	return q;
}

HOOK void *realloc(void *p, size_t size)
{
	void *q;

	if (next_is_arena(p))
		return arena_realloc(p, size);
	if (!next_available())
		return next_arena_alloc(size, 1);
	if (p)
		return move(RECORD_FRAME, p, size, HT_FN_REALLOC);
	q = next.realloc(NULL, size);
	record_alloc(RECORD_FRAME, q, size, HT_FN_REALLOC);
	return q;
}

HOOK void *reallocarray(void *p, size_t count, size_t size)
{
	size_t bytes;
	void *q;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		record_alloc(RECORD_FRAME, NULL, 0, HT_FN_REALLOCARRAY);
		errno = ENOMEM;
		return NULL;
	}
	if (next_is_arena(p))
		return arena_realloc(p, bytes);
	if (!next_available())
		return next_arena_alloc(bytes, 1);
	if (p)
		return move(RECORD_FRAME, p, bytes, HT_FN_REALLOCARRAY);
	q = next.realloc(NULL, bytes);
	record_alloc(RECORD_FRAME, q, bytes, HT_FN_REALLOCARRAY);
	return q;
}

HOOK void free(void *p)
{
	if (hot_free(RECORD_FRAME, p))
		next.free(p);
}

HOOK void cfree(void *p)
{
	free(p);
}

HOOK int posix_memalign(void **out, size_t align, size_t size)
{
	int rc;

	if (!next_available()) {
		*out = next_arena_alloc(size, align);
		return *out ? 0 : ENOMEM;
	}
	rc = next.posix_memalign(out, align, size);
	record_alloc(RECORD_FRAME, rc == 0 ? *out : NULL, size, HT_FN_POSIX_MEMALIGN);
	return rc;
}

HOOK void *aligned_alloc(size_t align, size_t size)
{
	void *p;

	if (!next_available())
		return next_arena_alloc(size, align);
	p = next.aligned_alloc(align, size);
	record_alloc(RECORD_FRAME, p, size, HT_FN_ALIGNED_ALLOC);
	return p;
}

HOOK void *memalign(size_t align, size_t size)
{
	void *p;

	if (!next_available())
		return next_arena_alloc(size, align);
	p = next.memalign(align, size);
	record_alloc(RECORD_FRAME, p, size, HT_FN_MEMALIGN);
	return p;
}

HOOK void *valloc(size_t size)
{
	void *p;

	if (!next_available())
		return next_arena_alloc(size, 4096);
	p = next.valloc ? next.valloc(size) : next.memalign(4096, size);
	record_alloc(RECORD_FRAME, p, size, HT_FN_VALLOC);
	return p;
}

HOOK void *pvalloc(size_t size)
{
	void *p;

	if (!next_available())
		return next_arena_alloc((size + 4095) & ~(size_t)4095, 4096);
	p = next.pvalloc ? next.pvalloc(size) : next.memalign(4096, (size + 4095) & ~(size_t)4095);
	record_alloc(RECORD_FRAME, p, size, HT_FN_PVALLOC);
	return p;
}

/*
 * The ways to end that run no destructors: without these, a program that leaves by _exit would look
 * as if it had crashed.
 */
HOOK void _exit(int status)
{
	state_exit();
	if (next_available())
		next.exit_now(status);
	__builtin_trap();
}

HOOK void _Exit(int status)
{
	_exit(status);
}

HOOK void quick_exit(int status)
{
	state_exit();
	if (next_available() && next.exit_quick)
		next.exit_quick(status);
	_exit(status);
}
