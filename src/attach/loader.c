/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loader's locks (loader.h) lie side by side in its _rtld_global, at a place that differs
 * between versions: two or three recursive mutexes, which are known by their form. The first is
 * dlopen's. Source: glibc's struct rtld_global and sysdeps/nptl/bits/struct_mutex.h.
 *
 * A thread that waits for a lock cannot do what its owner may wait for: a constructor that awaits
 * another thread, for instance. So ours tries for it, with libc's own functions, and goes back to
 * the program if it does not get it. What it then calls takes the lock again, which is recursive.
 */
#include "src/attach/loader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/proc/proc.h"
#include "src/util/clock.h"

#define GLOBAL_MOST (64u << 10) /* bytes of it; they are some 4,000 */
#define RECURSIVE   1
#define TRY_NS	    UINT64_C(20000000) /* a thread is not kept from its work for longer, in vain */
#define CALL_NS	    UINT64_C(2000000000) /* for a function that does not wait */
#define LEVELS	    8 /* of recursion, after a crash in the loader */

#define LOCKS_MOST 3u

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

/* While nobody changes them. */
static void locks_search(
	struct attach_loader *l, uint64_t base, const uint64_t *words, size_t count)
{
	const size_t each = sizeof(struct mutex) / sizeof(*words);

	for (size_t at = 0; at + 2 * each <= count; at++) {
		const struct mutex *m = (const struct mutex *)(words + at);

		if (!is_mutex(m) || !is_mutex(m + 1))
			continue;
		l->lock = base + at * sizeof(*words);
		l->locks = at + LOCKS_MOST * each <= count && is_mutex(m + 2) ? LOCKS_MOST : 2;
		for (size_t i = 0; i < l->locks; i++)
			l->busy |= m[i].lock != 0;
		return;
	}
}

static void locks_find(const struct attach_process *p, struct attach_loader *l)
{
	struct trace_symbol s;
	uint64_t *words;

	if (!trace_image_symbol(&p->image, p->loader, "_rtld_global", &s) || s.bytes > GLOBAL_MOST)
		return;
	words = malloc(s.bytes);
	if (words && trace_memory_read(&p->memory, s.at, words, s.bytes))
		locks_search(l, s.at, words, s.bytes / sizeof(*words));
	free(words);
}

/* Before glibc 2.34 libpthread's; without it there is one thread, and no true lock. */
static void functions_find(const struct attach_process *p, struct attach_loader *l)
{
	const struct trace_module *const from[] = { p->libc, p->threads };
	struct trace_symbol try_it, unlock;

	for (size_t i = 0; i < sizeof(from) / sizeof(*from) && l->try_it == 0; i++) {
		if (!from[i] ||
			!trace_image_symbol(&p->image, from[i], "pthread_mutex_trylock", &try_it) ||
			!trace_image_symbol(&p->image, from[i], "pthread_mutex_unlock", &unlock))
			continue;
		l->try_it = try_it.at;
		l->unlock = unlock.at;
	}
}

void attach_loader_look(const struct attach_process *p, struct attach_loader *l)
{
	*l = (struct attach_loader){ 0 };
	locks_find(p, l);
	if (l->lock != 0)
		functions_find(p, l);
}

bool attach_loader_symbol(
	const struct attach_process *p, const char *name, struct trace_symbol *out)
{
	if (trace_image_symbol(&p->image, p->libc, name, out))
		return true;
	for (size_t n = 0; n < p->image.modules; n++)
		if (!p->image.module[n].apart &&
			strncmp(trace_image_name(p->image.module[n].map), "libdl", 5) == 0 &&
			trace_image_symbol(&p->image, &p->image.module[n], name, out))
			return true;
	return false;
}

/* ---- taken ---- */

struct taking {
	const struct attach_loader *l;
	struct trace_remote *r;
	uint32_t number; /* of the thread, as it knows itself */
	struct mutex mutex[LOCKS_MOST]; /* as last read */
};

static struct taking taking_of(const struct attach_loader *l, struct trace_remote *r)
{
	struct taking t = { .l = l, .r = r };
	long number = r->thread->tid;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)r->thread->tid);
	(void)proc_status_number(path, "\nNSpid:", true, &number);
	t.number = (uint32_t)number;
	return t;
}

/* Has it call a function of the first lock, and reads them all. 0 or -EIO. */
static int ask(struct taking *t, uint64_t function)
{
	const uint64_t args[TRACE_REMOTE_ARGS] = { t->l->lock };

	if (trace_remote_call(t->r, function, args, CALL_NS) != 0 ||
		!trace_memory_read(
			t->r->memory, t->l->lock, t->mutex, t->l->locks * sizeof(*t->mutex)))
		return -EIO;
	return 0;
}

static bool is_ours(const struct taking *t)
{
	return t->mutex[0].lock != 0 && t->mutex[0].owner == t->number;
}

static bool is_other_held(const struct taking *t)
{
	for (size_t i = 1; i < t->l->locks; i++)
		if (t->mutex[i].lock != 0)
			return true;
	return false;
}

/* 0, -EAGAIN or -EIO. */
static int attempt(struct taking *t)
{
	int rc = ask(t, t->l->try_it);

	if (rc != 0 || (is_ours(t) && !is_other_held(t)))
		return rc;
	if (is_ours(t))
		rc = ask(t, t->l->unlock);
	return rc != 0 ? rc : -EAGAIN;
}

int attach_loader_take(const struct attach_loader *l, struct trace_remote *r)
{
	uint64_t until = clock_monotonic_ns() + TRY_NS;
	struct taking t = taking_of(l, r);
	int rc;

	if (l->try_it == 0)
		return 0;
	if (trace_remote_promise(r, l->unlock, l->lock) != 0)
		return -EIO;
	do
		rc = attempt(&t);
	while (rc == -EAGAIN && clock_monotonic_ns() < until);
	if (rc == -EAGAIN)
		trace_remote_promise_end(r);
	return rc;
}

int attach_loader_give(const struct attach_loader *l, struct trace_remote *r)
{
	struct taking t = taking_of(l, r);
	int rc = 0;

	if (l->try_it == 0)
		return 0;
	trace_remote_promise_end(r);
	/* More than once if the loader has crashed. */
	for (int n = 0; rc == 0 && n < LEVELS && (n == 0 || is_ours(&t)); n++)
		rc = ask(&t, l->unlock);
	return rc;
}
