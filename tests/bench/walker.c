/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The least that taking a stack costs in other ways: preloaded, it walks the stack at every malloc
 * and does nothing with it. Built twice (rules.mk): by frame pointers, which needs a program built
 * for it, and with libunwind's unw_backtrace.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define FRAMES_MAX 128

static __thread void *frames[FRAMES_MAX] __attribute__((tls_model("initial-exec")));

#ifdef WALKER_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>

static __thread int busy __attribute__((tls_model("initial-exec")));

static void walk(void)
{
	if (busy)
		return;
	busy = 1;
	unw_backtrace(frames, FRAMES_MAX);
	busy = 0;
}
#else
#define FRAME_BYTES_MAX (1u << 20) /* a larger step is no frame */

static void walk(void)
{
	uintptr_t *frame = __builtin_frame_address(0);
	unsigned count = 0;

	while (count < FRAMES_MAX) {
		uintptr_t outer = frame[0];

		frames[count++] = (void *)frame[1];
		if (outer <= (uintptr_t)frame || outer - (uintptr_t)frame > FRAME_BYTES_MAX ||
			outer % sizeof(uintptr_t))
			return;
		frame = (uintptr_t *)outer;
	}
}
#endif

/* The program's own: one that is linked with another allocator frees with that, too. */
static void *(*next)(size_t);

void *malloc(size_t bytes);

void *malloc(size_t bytes)
{
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "malloc");
	walk();
	__asm__ volatile("" ::"r"(frames)
			 : "memory"); /* what nobody reads is stored nevertheless */
	return next(bytes);
}
