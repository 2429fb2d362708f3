/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The C hooks: the program calls them instead of its allocator. Each makes the real call and
 * records it, in the order that keeps the live set right when threads share blocks: a block is
 * taken out before it goes back to the allocator, and entered after it came. Requests pass through
 * unchanged.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/lifecycle.h"
#include "preload/next_allocator.h"
#include "preload/next_operators.h"
#include "preload/record.h"
#include "preload/sample.h"
#include "shm/kernel.h"

#define HOOK __attribute__((visibility("default")))

/* Declared here: no header of libc has them all. */
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

ENTRY(malloc);
ENTRY(calloc);
ENTRY(realloc);
ENTRY(reallocarray);
ENTRY(free);
ENTRY(posix_memalign);
ENTRY(aligned_alloc);
ENTRY(memalign);
ENTRY(valloc);
ENTRY(pvalloc);
ENTRY(_exit);

/* Every hook that allocates begins with this: a block of `size` bytes that sampling skips (if `may`
 * holds) bypasses recording by `pass`; before the next allocator is found the arena serves, by
 * `serve`. */
#define SPECIAL_FIRST(may, size, pass, serve)                                                      \
	do {                                                                                       \
		if (!next_is_exact()) {                                                            \
			if ((may) && __builtin_expect(sample_passes(size), 1))                     \
				return pass;                                                       \
			if (!next_available())                                                     \
				return serve;                                                      \
		}                                                                                  \
	} while (0)

/*
 * The two hottest hooks end in a jump to the code that needs a frame of its own, so that a
 * bypassing block needs none. The caller's stack begins there as it would in the hook. Without
 * optimisation there is no such jump, and all is one function. They begin at a cache line: then the
 * bypass is one line, and its jumps are predicted better (0.3 ns a pair).
 */
#define ALIGNED __attribute__((aligned(64)))
#ifdef __OPTIMIZE__
#define TAIL_CALLED __attribute__((noinline))
#else
#define TAIL_CALLED __attribute__((always_inline)) inline
#endif

TAIL_CALLED static void *malloc_recorded(size_t size)
{
	void *p = next.malloc(size);

	record_alloc_inline(RECORD_FRAME, p, size, HT_FN_MALLOC);
	return p;
}

TAIL_CALLED static void *malloc_special(size_t size)
{
	return next_available() ? malloc_recorded(size) : next_arena_alloc(size, 1);
}

ALIGNED HOOK void *ENTRY_BODY(malloc)(size_t size)
{
	if (next_is_exact())
		return malloc_recorded(size);
	if (__builtin_expect(sample_passes(size), 1))
		return next.malloc(size);
	return malloc_special(size);
}

HOOK void *ENTRY_BODY(calloc)(size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = SIZE_MAX; /* the real one will refuse */
	/* Fresh arena memory is zero. */
	SPECIAL_FIRST(true, bytes, next.calloc(count, size), next_arena_alloc(bytes, 1));
	p = next.calloc(count, size);
	record_alloc(RECORD_FRAME, p, bytes, HT_FN_CALLOC);
	return p;
}

/* Moves a block out of the bootstrap arena. */
static void *arena_realloc(void *p, size_t size)
{
	void *q = malloc(size);

	if (q)
		next_arena_copy(q, p, size);
	return q;
}

/* Inlined, and no tail call: the stack begins at the hook's own frame, which must still exist. */
__attribute__((always_inline)) static inline void *realloc_recorded(
	uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	struct record_realloc m;
	void *q;

	record_realloc_begin(frame, &m, p, function);
	q = next.realloc(p, size);
	if (q)
		record_realloc_done(frame, &m, p, q, size, function);
	else
		record_realloc_failed(frame, &m, p, size, size == 0);
	return q;
}

HOOK void *ENTRY_BODY(realloc)(void *p, size_t size)
{
	void *q;

	if (next_is_arena(p))
		return arena_realloc(p, size);
	SPECIAL_FIRST(!p || sample_is_unrecorded(p), size, next.realloc(p, size),
		next_arena_alloc(size, 1));
	if (p)
		return realloc_recorded(RECORD_FRAME, p, size, HT_FN_REALLOC);
	q = next.realloc(NULL, size);
	record_alloc(RECORD_FRAME, q, size, HT_FN_REALLOC);
	return q;
}

HOOK void *ENTRY_BODY(reallocarray)(void *p, size_t count, size_t size)
{
	size_t bytes;
	void *q;

	/* libc's calls the program's own realloc, which made the block. */
	if (next_cxx_has_front() && next_available() && next.reallocarray)
		return next.reallocarray(p, count, size);
	if (__builtin_mul_overflow(count, size, &bytes)) {
		record_alloc(RECORD_FRAME, NULL, SIZE_MAX, HT_FN_REALLOCARRAY);
		errno = ENOMEM;
		return NULL;
	}
	if (next_is_arena(p))
		return arena_realloc(p, bytes);
	SPECIAL_FIRST(!p || sample_is_unrecorded(p), bytes, next.realloc(p, bytes),
		next_arena_alloc(bytes, 1));
	if (p)
		return realloc_recorded(RECORD_FRAME, p, bytes, HT_FN_REALLOCARRAY);
	q = next.realloc(NULL, bytes);
	record_alloc(RECORD_FRAME, q, bytes, HT_FN_REALLOCARRAY);
	return q;
}

TAIL_CALLED static void free_recorded(void *p)
{
	if (record_free_inline(RECORD_FRAME, p, HT_FN_FREE, EVENT_ANY_SIZE))
		next.free(p);
}

ALIGNED HOOK void ENTRY_BODY(free)(void *p)
{
	if (next_is_exact())
		free_recorded(p);
	else if (__builtin_expect(sample_is_unrecorded(p), 1))
		next.free(p);
	else
		free_recorded(p);
}

HOOK void cfree(void *p)
{
	free(p);
}

static int arena_memalign(void **out, size_t align, size_t size)
{
	*out = next_arena_alloc(size, align);
	return *out ? 0 : ENOMEM;
}

HOOK int ENTRY_BODY(posix_memalign)(void **out, size_t align, size_t size)
{
	int rc;

	SPECIAL_FIRST(true, size, next.posix_memalign(out, align, size),
		arena_memalign(out, align, size));
	rc = next.posix_memalign(out, align, size);
	record_alloc(RECORD_FRAME, rc == 0 ? *out : NULL, size, HT_FN_POSIX_MEMALIGN);
	return rc;
}

HOOK void *ENTRY_BODY(aligned_alloc)(size_t align, size_t size)
{
	void *p;

	SPECIAL_FIRST(true, size, next.aligned_alloc(align, size), next_arena_alloc(size, align));
	p = next.aligned_alloc(align, size);
	record_alloc(RECORD_FRAME, p, size, HT_FN_ALIGNED_ALLOC);
	return p;
}

HOOK void *ENTRY_BODY(memalign)(size_t align, size_t size)
{
	void *p;

	SPECIAL_FIRST(true, size, next.memalign(align, size), next_arena_alloc(size, align));
	p = next.memalign(align, size);
	record_alloc(RECORD_FRAME, p, size, HT_FN_MEMALIGN);
	return p;
}

static void *next_valloc(size_t size)
{
	return next.valloc ? next.valloc(size) : next.memalign(kernel_page_bytes(), size);
}

HOOK void *ENTRY_BODY(valloc)(size_t size)
{
	void *p;

	SPECIAL_FIRST(true, size, next_valloc(size), next_arena_alloc(size, kernel_page_bytes()));
	p = next_valloc(size);
	record_alloc(RECORD_FRAME, p, size, HT_FN_VALLOC);
	return p;
}

static size_t whole_pages(size_t size)
{
	return (size + kernel_page_bytes() - 1) & ~(kernel_page_bytes() - 1);
}

static void *next_pvalloc(size_t size)
{
	return next.pvalloc ? next.pvalloc(size)
			    : next.memalign(kernel_page_bytes(), whole_pages(size));
}

HOOK void *ENTRY_BODY(pvalloc)(size_t size)
{
	void *p;

	SPECIAL_FIRST(true, size, next_pvalloc(size),
		next_arena_alloc(whole_pages(size), kernel_page_bytes()));
	p = next_pvalloc(size);
	record_alloc(RECORD_FRAME, p, size, HT_FN_PVALLOC);
	return p;
}

/* The exits that run no destructors: without these hooks, a program that leaves by _exit would seem
 * to have crashed. */
HOOK void ENTRY_BODY(_exit)(int status)
{
	if (!next_called_inside(RECORD_FRAME))
		lifecycle_exit();
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
	lifecycle_exit();
	if (next_available() && next.exit_quick)
		next.exit_quick(status);
	_exit(status);
}
