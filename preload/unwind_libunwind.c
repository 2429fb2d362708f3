/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The unwinder on libunwind: unw_backtrace with its per-thread trace cache. The library is opened
 * privately instead of linked: libunwind also defines _Unwind_RaiseException and its kin, and as a
 * dependency of a preloaded library it would take over the program's C++ exceptions. Source:
 * unw_backtrace(3), unw_set_caching_policy(3).
 */
#include "preload/unwind.h"

#include <dlfcn.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "preload/state.h"

#define STRINGIFY(x) #x
#define NAME(symbol) STRINGIFY(symbol) /* libunwind's headers add a prefix by macro */

/* Bounds of this library in memory, from the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static int (*backtrace_into)(void **, int);

void unwind_start(void)
{
	/* DEEPBIND: its own functions and libc's malloc, whatever the program defines. */
	void *lib = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	int (*set_policy)(unw_addr_space_t, unw_caching_policy_t);
	unw_addr_space_t *local;

	if (!lib)
		return;
	set_policy = (int (*)(unw_addr_space_t, unw_caching_policy_t))dlsym(
		lib, NAME(unw_set_caching_policy));
	local = dlsym(lib, NAME(unw_local_addr_space));
	/* The default cache is behind a lock whose holder blocks signals, by system calls. */
	if (set_policy && local)
		set_policy(*local, UNW_CACHE_PER_THREAD);
	backtrace_into = (int (*)(void **, int))dlsym(lib, "unw_backtrace");
}

static bool is_ours(uint64_t pc)
{
	return pc - (uint64_t)(uintptr_t)__ehdr_start < (uint64_t)(_end - __ehdr_start);
}

uint32_t unwind_stack(uint64_t *pcs, uint32_t depth, bool *truncated)
{
	int room = (int)(depth + STATE_SCRATCH_SPARE);
	int got = backtrace_into ? backtrace_into((void **)pcs, room) : 0;
	uint32_t count = got > 0 ? (uint32_t)got : 0, own = 0;

	while (own < count && is_ours(pcs[own]))
		own++;
	count -= own;
	/* Full: libunwind had no room to tell us of more. Nothing: it could not even begin. */
	*truncated = got == room || count > depth || count == 0;
	if (count > depth)
		count = depth;
	/* The outermost frame of a thread ends in a null return address. */
	if (count > 0 && pcs[own + count - 1] == 0)
		count--;
	__builtin_memmove(pcs, pcs + own, count * sizeof(*pcs));
	return count;
}
