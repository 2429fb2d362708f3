/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * operator new and delete, in all their forms, under their mangled names (Itanium C++ ABI), in C
 * and without the C++ runtime; and C23's sized frees. Each calls the next definition, usually
 * libstdc++'s, with the thread marked as inside an allocator, so that the malloc in there does not
 * count as a second block. An exception from it passes through these frames: a cleanup undoes the
 * mark. If dlopen loads a C++ runtime later, or a library that contains one, there is no next
 * definition in our scope; then malloc serves, and the runtime is looked up only when that fails.
 */
#include <stdlib.h>

#include "preload/reentry.h"
#include "preload/next_operators.h"
#include "preload/record.h"
#include "preload/sample.h"
#include "preload/state.h"
#include "preload/symbols.h"

#define HOOK __attribute__((visibility("default")))

/* The cleanup's unwind entry names these; programs without C++ have none, and need none. */
__asm__(".weak __gcc_personality_v0\n.weak _Unwind_Resume");

struct guard {
	bool entered;
	bool is_out; /* a call of new is in progress: if the guard ends now, it threw */
	uint8_t was_in_allocator;
	size_t size; /* asked for */
	uint64_t left; /* the gap to the next sample: inner blocks do not use it up */
	uintptr_t paused; /* reentry_pause */
	uintptr_t frame; /* of the hook */
};

static void guard_leave(struct guard *g)
{
	state_thread.in_allocator = g->was_in_allocator;
	ht_store_relaxed_64(&state_thread.gap_left, g->left);
	reentry_leave(g->entered);
	reentry_resume(g->paused);
	if (g->entered && g->is_out)
		record_alloc(g->frame, NULL, g->size, HT_FN_NEW);
}

/* `size` and `align` are those of new: it may round up, and asks for at least one byte. */
static struct guard guard_enter(uintptr_t frame, size_t size, size_t align)
{
	struct guard g = { .paused = reentry_pause(frame),
		.frame = frame,
		.size = size,
		.left = ht_load_relaxed_64(&state_thread.gap_left) };

	g.entered = reentry_enter(frame);
	g.was_in_allocator = state_thread.in_allocator;
	if (g.entered) {
		state_thread.inner_least = size;
		state_thread.inner_most = size + align + 1;
	}
	if (g.was_in_allocator != STATE_IN_INNER)
		state_thread.in_allocator = 1;
	return g;
}

/* The allocator that serves where no operator new comes after ours. NULL: also for an alignment
 * that is none. */
static void *plain_aligned(size_t size, size_t align)
{
	size_t whole = (size + align - 1) & ~(align - 1);

	if (align == 0 || (align & (align - 1)) != 0 || whole < size)
		return NULL;
	return (next_cxx_front.aligned_alloc ? next_cxx_front.aligned_alloc : next.aligned_alloc)(
		align, whole);
}

static void *plain_new(size_t size, bool is_aligned, size_t align)
{
	if (!next_available())
		return next_arena_alloc(size, align);
	if (is_aligned)
		return plain_aligned(size, align);
	return (next_cxx_front.malloc ? next_cxx_front.malloc : next.malloc)(size ? size : 1);
}

/* The operator that the caller of the hook at `frame` has outside our scope, which runs the
 * handler, and throws. It is called unmarked: without a C++ runtime at our start no cleanup of ours
 * runs. */
static void *runtimes_new(uintptr_t frame, const char *symbol, bool throws)
{
	void *p;

	if (!next_available())
		return NULL;
	p = symbols_loaded(symbol, ((const uintptr_t *)frame)[1]);
	if (!p && throws)
		abort();
	return p;
}

static void plain_delete(void *p)
{
	if (next_available())
		(next_cxx_front.free ? next_cxx_front.free : next.free)(p);
}

/* Calls the next operator new, marked so that the malloc in there does not count as a second block.
 */
#define CALL_MARKED(call)                                                                          \
	({                                                                                         \
		__attribute__((cleanup(guard_leave), unused)) struct guard g =                     \
			guard_enter(frame, size, align_wanted);                                    \
		void *got;                                                                         \
                                                                                                   \
		g.is_out = true;                                                                   \
		got = call;                                                                        \
		g.is_out = false;                                                                  \
		got;                                                                               \
	})

/* The rare case is out of line, so that a hook keeps only the registers of its ordinary one. */
#define WITH_FRAME(...) (uintptr_t frame, __VA_ARGS__)
#define THIS_FRAME(...) (RECORD_FRAME, __VA_ARGS__)

/* In a mangled name, the letter that size_t has. */
#ifdef __i386__
#define MANGLED(head, tail) head##j##tail
#else
#define MANGLED(head, tail) head##m##tail
#endif

#define PLAIN	false, 0
#define ALIGNED true, align

/* One hook of new: its symbol, parameters and arguments, whether it takes an alignment, and which,
 * and whether it throws. Without memory the next operator new runs its handler and throws its
 * exception. */
#define NEW(...) NEW_HOOK(__VA_ARGS__)
#define NEW_HOOK(symbol, params, args, is_aligned, align, function, throws)                        \
	HOOK void *symbol params;                                                                  \
	ENTRY(symbol);                                                                             \
	static struct next_cxx next_##symbol = { #symbol, (const void *)symbol, NULL, false };     \
	static struct next_cxx *entry_##symbol NEXT_CXX_TABLE = &next_##symbol;                    \
	static __attribute__((noinline)) void *next_of_##symbol WITH_FRAME params                  \
	{                                                                                          \
		const size_t align_wanted = align;                                                 \
		void *(*real)params = next_cxx_find(&next_##symbol), *p;                           \
                                                                                                   \
		p = real ? CALL_MARKED(real args) : plain_new(size, is_aligned, align_wanted);     \
		if (!real && !p) {                                                                 \
			real = runtimes_new(frame, #symbol, throws);                               \
			p = real ? real args : NULL;                                               \
			if (real && !p)                                                            \
				return NULL; /* its malloc has counted the failure */              \
		}                                                                                  \
		record_alloc(frame, p, size, function);                                            \
		return p;                                                                          \
	}                                                                                          \
	HOOK void *ENTRY_BODY(symbol) params                                                       \
	{                                                                                          \
		void *p;                                                                           \
                                                                                                   \
		if (__builtin_expect(next_cxx_direct && !(is_aligned), 1)) {                       \
			if (!next_is_exact() && sample_passes(size)) {                             \
				p = next.malloc(size ? size : 1);                                  \
				if (__builtin_expect(p != NULL, 1))                                \
					return p;                                                  \
			} else {                                                                   \
				p = record_malloc(RECORD_FRAME, size, function);                   \
				if (__builtin_expect(p != NULL, 1))                                \
					return p;                                                  \
			}                                                                          \
		}                                                                                  \
		p = next_of_##symbol THIS_FRAME args;                                              \
		__asm__ volatile(""); /* no tail call: the frame must exist */                     \
		return p;                                                                          \
	}

#define DELETE(...) DELETE_HOOK(__VA_ARGS__)
#define DELETE_HOOK(symbol, params, args, recorded)                                                \
	HOOK void symbol params;                                                                   \
	ENTRY(symbol);                                                                             \
	static struct next_cxx next_##symbol = { #symbol, (const void *)symbol, NULL, false };     \
	static struct next_cxx *entry_##symbol NEXT_CXX_TABLE = &next_##symbol;                    \
	static __attribute__((noinline)) void next_of_##symbol WITH_FRAME params                   \
	{                                                                                          \
		void(*real) params = next_cxx_find(&next_##symbol);                                \
                                                                                                   \
		if (real) {                                                                        \
			__attribute__((cleanup(guard_leave), unused)) struct guard g =             \
				guard_enter(frame, 0, 0);                                          \
			real args;                                                                 \
		} else {                                                                           \
			plain_delete(p);                                                           \
		}                                                                                  \
	}                                                                                          \
	HOOK void ENTRY_BODY(symbol) params                                                        \
	{                                                                                          \
		if (!next_is_exact() && next_cxx_direct && sample_is_unrecorded(p)) {              \
			next.free(p);                                                              \
			return;                                                                    \
		}                                                                                  \
		if (!(recorded))                                                                   \
			return;                                                                    \
		if (__builtin_expect(next_cxx_direct, 1)) {                                        \
			next.free(p);                                                              \
			return;                                                                    \
		}                                                                                  \
		next_of_##symbol THIS_FRAME args;                                                  \
		__asm__ volatile(""); /* no tail call: the frame must exist */                     \
	}

/* clang-format off */
NEW(MANGLED(_Znw, ), (size_t size), (size), PLAIN, HT_FN_NEW, true)
NEW(MANGLED(_Zna, ), (size_t size), (size), PLAIN, HT_FN_NEW_ARRAY, true)
NEW(MANGLED(_Znw, RKSt9nothrow_t), (size_t size, const void *tag), (size, tag), PLAIN, HT_FN_NEW_NOTHROW, false)
NEW(MANGLED(_Zna, RKSt9nothrow_t), (size_t size, const void *tag), (size, tag), PLAIN, HT_FN_NEW_ARRAY_NOTHROW, false)
NEW(MANGLED(_Znw, St11align_val_t), (size_t size, size_t align), (size, align), ALIGNED, HT_FN_NEW_ALIGNED, true)
NEW(MANGLED(_Zna, St11align_val_t), (size_t size, size_t align), (size, align), ALIGNED, HT_FN_NEW_ARRAY_ALIGNED, true)
NEW(MANGLED(_Znw, St11align_val_tRKSt9nothrow_t), (size_t size, size_t align, const void *tag),
	(size, align, tag), ALIGNED, HT_FN_NEW_ALIGNED_NOTHROW, false)
NEW(MANGLED(_Zna, St11align_val_tRKSt9nothrow_t), (size_t size, size_t align, const void *tag),
	(size, align, tag), ALIGNED, HT_FN_NEW_ARRAY_ALIGNED_NOTHROW, false)

DELETE(_ZdlPv, (void *p), (p),
	record_delete(RECORD_FRAME, p))
DELETE(_ZdaPv, (void *p), (p),
	record_delete_array(RECORD_FRAME, p))
DELETE(MANGLED(_ZdlPv, ), (void *p, size_t size), (p, size),
	record_delete_sized(p, size, RECORD_FRAME))
DELETE(MANGLED(_ZdaPv, ), (void *p, size_t size), (p, size),
	record_delete_array_sized(p, size, RECORD_FRAME))
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, const void *tag), (p, tag),
	record_delete(RECORD_FRAME, p))
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, const void *tag), (p, tag),
	record_delete_array(RECORD_FRAME, p))
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t align), (p, align),
	record_delete_aligned(RECORD_FRAME, p))
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t align), (p, align),
	record_delete_array_aligned(RECORD_FRAME, p))
DELETE(MANGLED(_ZdlPv, St11align_val_t), (void *p, size_t size, size_t align), (p, size, align),
	record_delete_aligned_sized(p, size, RECORD_FRAME))
DELETE(MANGLED(_ZdaPv, St11align_val_t), (void *p, size_t size, size_t align), (p, size, align),
	record_delete_array_aligned_sized(p, size, RECORD_FRAME))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t align, const void *tag), (p, align, tag),
	record_delete_aligned(RECORD_FRAME, p))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t align, const void *tag), (p, align, tag),
	record_delete_array_aligned(RECORD_FRAME, p))
/* clang-format on */

/* C23's sized frees. If libc lacks them, a program that refers to them weakly finds ours, so they
 * respect the program's own allocator, too. */
void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t align, size_t size);

HOOK void free_sized(void *p, size_t size)
{
	(void)size;
	(next_cxx_front.free ? next_cxx_front.free : free)(p);
}

HOOK void free_aligned_sized(void *p, size_t align, size_t size)
{
	(void)align;
	free_sized(p, size);
}
