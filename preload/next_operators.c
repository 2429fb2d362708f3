/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding the next definitions of the C++ operators (next_operators.h). */
#include "preload/next_operators.h"

#include <stddef.h>
#include <stdlib.h>

#include "preload/symbols.h"

struct next_cxx_front next_cxx_front;
bool next_cxx_direct;

extern struct next_cxx *__start_next_cxx[] __attribute__((visibility("hidden")));
extern struct next_cxx *__stop_next_cxx[] __attribute__((visibility("hidden")));

void *next_cxx_find(struct next_cxx *n)
{
	if (n->function || n->missing || !next_available())
		return n->function;
	n->function = symbols_next(n->symbol);
	n->missing = !n->function;
	return n->function;
}

/* The program's first definition of `symbol`, unless it is `ours`; or our hook, to which the
 * patched entry of that definition leads, stands for it. */
static void *find_front(const char *symbol, const void *ours)
{
	void *p = symbols_precede_libc() ? symbols_first(symbol) : NULL;

	return p == ours ? NULL : p;
}

bool next_cxx_is_runtime(const char *path)
{
	const char *name = __builtin_strrchr(path, '/');

	name = name ? name + 1 : path;
	return __builtin_strncmp(name, "libstdc++.so.", 13) == 0 ||
	       __builtin_strncmp(name, "libc++.so.", 10) == 0 ||
	       __builtin_strncmp(name, "libc++abi.so.", 13) == 0;
}

/* Whether a definition is the C++ runtime's own, which is known to call malloc and free. */
static bool is_runtimes(const void *function)
{
	const char *path = function ? symbols_path(function) : NULL;

	return path && next_cxx_is_runtime(path);
}

/* Whether nothing unknown lies between a hook here and the next malloc: no operator of the
 * program's own that the runtime's would call in turn (new[] calls new), no malloc before ours, and
 * the runtime's operators next. */
static bool nothing_between(void)
{
	if (next_cxx_front.malloc || next_cxx_front.aligned_alloc || next_cxx_front.free)
		return false;
	for (struct next_cxx **n = __start_next_cxx; n < __stop_next_cxx; n++)
		if (!is_runtimes((*n)->function) || find_front((*n)->symbol, (*n)->hook))
			return false;
	return true;
}

void next_cxx_find_all(void)
{
	next_cxx_front.malloc = (void *(*)(size_t))find_front("malloc", (void *)malloc);
	next_cxx_front.aligned_alloc =
		(void *(*)(size_t, size_t))find_front("aligned_alloc", (void *)aligned_alloc);
	next_cxx_front.free = (void (*)(void *))find_front("free", (void *)free);
	for (struct next_cxx **n = __start_next_cxx; n < __stop_next_cxx; n++)
		next_cxx_find(*n);
	next_cxx_direct = nothing_between();
}

void next_cxx_find_again(void)
{
	for (struct next_cxx **n = __start_next_cxx; n < __stop_next_cxx; n++) {
		(*n)->function = symbols_next((*n)->symbol);
		(*n)->missing = !(*n)->function;
	}
	next_cxx_find_all();
}

bool next_cxx_take(const char *name, size_t bytes, void *function)
{
	for (struct next_cxx **n = __start_next_cxx; n < __stop_next_cxx; n++) {
		if (!(*n)->missing || __builtin_strlen((*n)->symbol) != bytes ||
			__builtin_memcmp((*n)->symbol, name, bytes) != 0)
			continue;
		(*n)->function = function;
		(*n)->missing = false;
		return true;
	}
	return false;
}

void next_cxx_taken(void)
{
	next_cxx_direct = nothing_between();
}

void next_cxx_forget(const void *original)
{
	for (struct next_cxx **n = __start_next_cxx; n < __stop_next_cxx; n++)
		if ((*n)->function == original) {
			(*n)->function = NULL;
			(*n)->missing = true;
			next_cxx_direct = false;
		}
}

void next_cxx_replace(void *old, void *original)
{
	for (struct next_cxx **n = __start_next_cxx; n < __stop_next_cxx; n++)
		if ((*n)->function == old)
			(*n)->function = original;
}

bool next_cxx_has_front(void)
{
	return next_cxx_front.malloc != NULL;
}
