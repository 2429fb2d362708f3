/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The next allocator: whatever follows in the symbol search order, be it libc's or a preloaded
 * jemalloc, tcmalloc or mimalloc. Until it is found (before this library is relocated, or while
 * another thread is searching), a bootstrap arena serves requests; its blocks stay recognisable.
 * Any thread.
 *
 * Edge NEXT: next_find sets the pointers before it stores the first mode; a hook loads the mode
 * before it calls by a pointer. A thread that changes the mode later has loaded it before.
 */
#ifndef PRELOAD_NEXT_ALLOCATOR_H
#define PRELOAD_NEXT_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm/atomic.h"

struct termios;
struct winsize;

/* The mode, which each hook reads first. */
enum next_mode {
	NEXT_UNKNOWN, /* the pointers are not set: call next_find() */
	NEXT_EXACT, /* every block is recorded */
	/* Most blocks bypass recording (sample.h): */
	NEXT_SAMPLED, /* none was ever recorded exactly */
	NEXT_MIXED, /* some were */
};

struct next {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	/* These may be missing (NULL): the hooks then do without. */
	void *(*reallocarray)(void *, size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	void (*exit_now)(int); /* _exit */
	void (*exit_quick)(int); /* quick_exit */
	int (*fork)(void);
	int (*fork_bare)(void); /* _Fork; may be missing */
	int (*daemon)(int, int);
	int (*forkpty)(int *, char *, const struct termios *, const struct winsize *);
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	void *(*mmap64)(void *, size_t, int, int, int, off64_t);
	int (*munmap)(void *, size_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
	int (*brk)(void *);
	void *(*sbrk)(intptr_t);
	void *(*shmat)(int, const void *, int);
	int (*shmdt)(const void *);
	int (*execve)(const char *, char *const *, char *const *);
	pid_t (*vfork)(void);
	int (*clone)(int (*)(void *), void *, int, void *, ...);
	int (*prctl)(int, ...);
	void *(*dlopen)(const char *, int); /* may be missing */
	size_t (*usable_size)(void *); /* malloc_usable_size; may be missing */
};

extern struct next next __attribute__((visibility("hidden")));
/* The object file of the next allocator, whatever `next` calls later (next_replace). Written before
 * recording is on (START). */
struct next_code {
	uint64_t start, end;
};
extern struct next_code next_code __attribute__((visibility("hidden")));

/* Where a viewer has attached, functions of libc are patched that it calls itself: mmap for malloc,
 * _Fork for fork. Such calls are none of the program's. Code of libc, and of the loader and
 * libpthread, as far as they are apart from it; empty where we are preloaded. */
#define NEXT_INSIDE 3u
extern struct next_code next_inside[NEXT_INSIDE] __attribute__((visibility("hidden")));

/* Whether the hook at `frame` was called from there. */
static inline bool next_called_inside(uintptr_t frame)
{
	uint64_t caller = ((const uintptr_t *)frame)[1];

	for (unsigned i = 0; i < NEXT_INSIDE; i++)
		if (caller - next_inside[i].start < next_inside[i].end - next_inside[i].start)
			return true;
	return false;
}

/* Where a viewer has attached, the code of libc's malloc, whose functions are patched. A thread
 * that ends frees what it has cached there, by free's entry: the program has freed that before.
 * Rather too much than too little; empty where we are preloaded. */
extern struct next_code next_malloc_code __attribute__((visibility("hidden")));
/* Whether the hook at `frame` was called from there. */
static inline bool next_called_by_malloc(uintptr_t frame)
{
	uint64_t caller = ((const uintptr_t *)frame)[1];

	return caller - next_malloc_code.start < next_malloc_code.end - next_malloc_code.start;
}

/* An enum next_mode. Read through the functions below, and relaxed where sample.h says why. */
extern uint8_t next_mode __attribute__((visibility("hidden")));

/* Whether every block is recorded. Each hook asks this first. */
HT_HOT bool next_is_exact(void)
{
	return __builtin_expect(ht_equals_acquire_8(&next_mode, NEXT_EXACT), 1); /* NEXT */
}

/* Whether the pointers are set. */
HT_HOT bool next_is_found(void)
{
	return __builtin_expect(!ht_equals_acquire_8(&next_mode, NEXT_UNKNOWN), 1); /* NEXT */
}

/* Finds the next allocator. False while another call is searching, or before the library itself has
 * been relocated: serve the request from the arena. */
bool next_find(void);

/* Finds all again: as a viewer attaches. Whatever calls by a pointer meanwhile finds a function. */
void next_find_again(void);
/* The next allocator's function `old` is to be called at `original` from now on: it is patched. At
 * start. */
void next_replace(void *old, void *original);
/* Whether one of its functions lies in [start, end). */
bool next_lies_in(uint64_t start, uint64_t end);

/* What a block of the next allocator holds; 0: it does not say. */
static inline uint64_t next_usable_size(const void *p)
{
	return next.usable_size ? next.usable_size((void *)(uintptr_t)p) : 0;
}

/* Whether its blocks can be listed from outside: it is glibc's own. */
static inline bool next_is_listed(void)
{
	return next_inside[0].end != 0 && next_code.start == next_inside[0].start;
}

/* Zeroed memory aligned to `align` (a power of two); NULL when the arena is used up. */
void *next_arena_alloc(size_t size, size_t align);
/* Keeps the unused rest of the arena out of core dumps. */
void next_arena_undump(void);
/* Usable bytes of an arena block. */
size_t next_arena_size(const void *p);
/* Copies an arena block, `size` bytes at most. Calls nothing. */
void next_arena_copy(void *to, const void *p, size_t size);

extern char next_arena[] __attribute__((visibility("hidden")));
#define NEXT_ARENA_BYTES (1u << 20) /* bss: untouched pages cost nothing */

static inline bool next_is_arena(const void *p)
{
	return (uintptr_t)p - (uintptr_t)next_arena < NEXT_ARENA_BYTES;
}

static inline bool next_available(void)
{
	return next_is_found() || next_find();
}

#endif
