/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loader's locks (loader.h) lie side by side in its _rtld_global, at a place that differs
 * between versions: two or three recursive mutexes, which are known by their form. Source: glibc's
 * struct rtld_global and sysdeps/nptl/bits/struct_mutex.h.
 */
#include "src/attach/loader.h"

#include <stdlib.h>

#define GLOBAL_MOST (64u << 10) /* bytes of it; they are some 4,000 */
#define RECURSIVE   1

struct mutex {
	uint32_t lock, count, owner, users;
	int32_t kind;
	uint32_t spins;
	uint64_t list[2];
};
_Static_assert(sizeof(struct mutex) == 40, "as pthread_mutex_t on x86-64");

static bool is_mutex(const struct mutex *m)
{
	bool is_free = m->lock == 0 && m->count == 0 && m->owner == 0 && m->users == 0;
	bool is_held = (m->lock == 1 || m->lock == 2) && m->count < 100 && m->users <= 1;

	return m->kind == RECURSIVE && m->list[0] == 0 && m->list[1] == 0 && (is_free || is_held);
}

static bool is_any_held(const uint64_t *words, size_t count)
{
	const size_t each = sizeof(struct mutex) / sizeof(*words);

	for (size_t at = 0; at + 2 * each <= count; at++) {
		const struct mutex *m = (const struct mutex *)(words + at);

		if (is_mutex(m) && is_mutex(m + 1))
			return m[0].lock != 0 || m[1].lock != 0 ||
			       (at + 3 * each <= count && is_mutex(m + 2) && m[2].lock != 0);
	}
	return false;
}

bool attach_loader_is_busy(const struct attach_process *p)
{
	struct trace_symbol s;
	uint64_t *words;
	bool busy = false;

	if (!trace_image_symbol(&p->image, p->loader, "_rtld_global", &s) || s.bytes > GLOBAL_MOST)
		return false;
	words = malloc(s.bytes);
	if (words && trace_memory_read(&p->memory, s.at, words, s.bytes))
		busy = is_any_held(words, s.bytes / sizeof(*words));
	free(words);
	return busy;
}
