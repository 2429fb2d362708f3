/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which functions are patched (inner.h), and what is known of the objects that have them. At start,
 * and under the loader's lock: one thread at a time. Allocates nothing.
 */
#include "preload/inner.h"

#ifdef __x86_64__

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "preload/call.h"
#include "preload/environment.h"
#include "preload/inner_bound.h"
#include "preload/inner_patch.h"
#include "preload/inner_symbols.h"
#include "preload/inner_table.h"
#include "preload/inner_thunk.h"
#include "preload/modules.h"
#include "preload/next_allocator.h"
#include "preload/next_operators.h"
#include "preload/reentry.h"
#include "preload/signals.h"
#include "preload/state.h"
#include "preload/valgrind_find.h"
#include "preload/wrong_free.h"
#include "shm/atomic.h"
#include "shm/private.h"

#define OBJECTS	     1024u /* loaded at a time that are known; no program has more */
#define SYMBOLS	     512u /* of one object */
#define LOADER_BYTES 16u /* of the loader's function that are read: it is empty, and aligned so */

/* An object of the loader's list, in its order. */
struct object {
	uint64_t start, end;
	const void *dynamic;
	void *pads; /* NULL: nothing is patched there, or by pads of before */
	bool is_fresh;
	bool is_here; /* it is in the new list, too */
};

/* Private memory, made at start. */
static struct known {
	struct object objects[2][OBJECTS]; /* as of the last change, and of this one */
	struct inner_symbol symbols[SYMBOLS]; /* of the object that is examined */
} * known;
static unsigned object_count[2], current;
static struct r_debug *loader;
static bool is_alone; /* at start: no other thread runs */
static bool has_gap; /* since then: objects may have come that are in use by now */

/* What became of the functions of libc when a library was opened that finds them before ours. */
enum deep {
	DEEP_NONE, /* none was opened */
	DEEP_PATCHED,
	DEEP_REFUSED, /* there were other threads; not listed yet */
	DEEP_LISTED,
};
static uint32_t deep;

/* ---- objects ---- */

static bool defines(const struct inner_object *o, const char *symbol)
{
	return inner_symbols_definition(o, symbol) != NULL;
}

/* The C++ runtime, or a program that has it inside. */
static void note_exceptions(const struct inner_object *o)
{
	const ElfW(Sym) *s = inner_symbols_definition(o, "__cxa_allocate_exception");

	if (s)
		reentry_exceptions_from(o->bias + s->st_value, s->st_size);
}

/* A sanitizer's malloc is the tool itself. */
static bool is_sanitizer(const struct inner_object *o)
{
	return defines(o, "__asan_init") || defines(o, "__tsan_init") ||
	       defines(o, "__msan_init") || defines(o, "__lsan_init") ||
	       defines(o, "__hwasan_init");
}

static bool lies_in(const struct inner_object *o, const void *p)
{
	return (uint64_t)(uintptr_t)p - o->start < o->end - o->start;
}

/* When an object is examined. */
enum examined {
	EXAMINED_START, /* at start */
	EXAMINED_ATTACH, /* as a viewer attaches, which stops all threads to write the jumps */
	EXAMINED_LATE, /* since then: its code may be running */
	EXAMINED_NEW, /* while it is being loaded: its code does not run yet */
	EXAMINED_DEEP, /* before others are loaded that call it past our hooks */
};

/* NULL: it can be patched now. */
static const char *why_not_now(const struct inner_object *o, enum examined when)
{
	if (when == EXAMINED_NEW && o->code_relocated)
		return "its library has relocations in its code";
	if (when == EXAMINED_LATE || (when == EXAMINED_START && !is_alone))
		return "other threads were running before it was found";
	return NULL;
}

static bool operator_take(const struct inner_name *n, uint64_t at)
{
	return next_cxx_take(n->name, n->name_bytes, (void *)(uintptr_t)at);
}

static bool all(const struct inner_name *n, uint64_t at)
{
	return true;
}

/* Which of the plain names that it exports are patched. Where we are attached: those that are
 * called, and the operators of a C++ runtime that comes when there was none. */
static inner_symbols_called *called_in(
	const struct inner_object *o, bool precedes_us, enum examined when)
{
	if (when == EXAMINED_DEEP)
		return inner_bound_is;
	if (!inner_bound_exist())
		return precedes_us ? all : NULL;
	if (when == EXAMINED_NEW)
		return next_cxx_is_runtime(o->path) ? operator_take : NULL;
	return inner_bound_is;
}

static void symbols_find(struct inner_patching *p, bool precedes_us, enum examined when)
{
	inner_symbols_called *is_called = called_in(p->object, precedes_us, when);

	p->count = inner_symbols_find(p->object, is_called, known->symbols, SYMBOLS);
	for (unsigned i = 0; inner_bound_exist() && is_called && i < p->count; i++)
		known->symbols[i].is_bound = known->symbols[i].is_called;
	if (is_called == operator_take)
		next_cxx_taken();
	if (when == EXAMINED_ATTACH)
		p->count = inner_bound_add(p->object, known->symbols, p->count, SYMBOLS);
}

/* Whether calls of its functions by its own code are the program's. Those of an allocator in a
 * library of its own are not. */
static bool own_calls_count(const struct inner_object *o, enum examined when)
{
	return when == EXAMINED_ATTACH && (o->is_executable || o->start == next_inside[0].start);
}

/* Patches what one object brings. Returns its pads, or NULL. */
static void *object_examine(const struct inner_object *o, bool precedes_us, enum examined when)
{
	struct inner_patching p = { .object = o, .symbols = known->symbols };
	const char *why = why_not_now(o, when);

	if (lies_in(o, inner_thunk))
		return NULL;
	note_exceptions(o);
	if (is_alone && when == EXAMINED_START)
		valgrind_find(o);
	symbols_find(&p, precedes_us, when);
	if (p.count == 0 || is_sanitizer(o))
		return NULL;
	p.module = modules_of(o->info);
	if (when != EXAMINED_NEW && when != EXAMINED_DEEP)
		wrong_free_missed(); /* libraries may have used it before */
	p.is_next = next_lies_in(o->start, o->end);
	p.holds_next = p.is_next && !own_calls_count(o, when);
	p.keeps_thunk = p.holds_next && when == EXAMINED_DEEP;
	if (why) {
		inner_patch_refuse_all(&p, why);
		return NULL;
	}
	return inner_patch_all(&p);
}

/* A pass over the loader's list. */
struct pass {
	struct object *old;
	unsigned old_count, next; /* where the next one probably is */
	struct object *now;
	unsigned count, fresh;
	enum examined when;
	bool precedes_us;
};

/* The same object in the list as it was. */
static struct object *find_old(struct pass *p, const struct inner_object *o)
{
	for (unsigned i = 0; i < p->old_count; i++) {
		struct object *old = &p->old[(p->next + i) % p->old_count];

		if (old->start != o->start || old->dynamic != o->dynamic)
			continue;
		p->next = (unsigned)(old - p->old) + 1;
		return old;
	}
	return NULL;
}

/* Takes an object over from the old list; what remains there is gone. */
static int list_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct pass *p = data;
	struct inner_object o;
	struct object *old, *now = &p->now[p->count];

	if (p->count == OBJECTS || !inner_symbols_object(info, &o))
		return 0;
	old = find_old(p, &o);
	*now = (struct object){ o.start, o.end, o.dynamic, NULL, !old, false };
	if (old) {
		now->pads = old->pads;
		old->is_here = true;
	}
	p->fresh += !old;
	p->count++;
	return 0;
}

/* What the loader is adding right now is in its list with what came before. */
static enum examined when_of(const struct pass *p, const struct inner_object *o)
{
	return p->when == EXAMINED_LATE && inner_symbols_unrelocated(o) ? EXAMINED_NEW : p->when;
}

/* The second time, in the same order. */
static int examine_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct pass *p = data;
	struct inner_object o;

	if (p->next == p->count || !inner_symbols_object(info, &o))
		return 0;
	if (lies_in(&o, inner_thunk))
		p->precedes_us = false;
	if (p->now[p->next].is_fresh)
		p->now[p->next].pads = object_examine(&o, p->precedes_us, when_of(p, &o));
	p->next++;
	return 0;
}

/* What is gone is forgotten first, since what is new may be the same again. */
static void pass_run(enum examined when)
{
	struct pass p = { .old = known->objects[current],
		.old_count = object_count[current],
		.now = known->objects[1 - current],
		.when = when,
		.precedes_us = when == EXAMINED_START || when == EXAMINED_ATTACH };

	dl_iterate_phdr(list_visit, &p);
	for (unsigned i = 0; i < p.old_count; i++)
		if (!p.old[i].is_here)
			inner_patch_forget(p.old[i].start, p.old[i].end, p.old[i].pads);
	p.next = 0;
	if (p.fresh > 0)
		dl_iterate_phdr(examine_visit, &p);
	current = 1 - current;
	object_count[current] = p.count;
}

/* ---- libraries that find libc before our hooks ---- */

/* Whether this process has one thread. Each is a folder there. */
static bool is_single_threaded(void)
{
	struct stat st = { 0 };

	return call(SYS_newfstatat, AT_FDCWD, call_pointer("/proc/self/task"), call_pointer(&st), 0,
		       0) == 0 &&
	       st.st_nlink <= 3;
}

static bool is_next_libc(const struct inner_object *o)
{
	return next_lies_in(o->start, o->end) && defines(o, "gnu_get_libc_version");
}

static int libc_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct inner_object o;

	if (!inner_symbols_object(info, &o) || !is_next_libc(&o))
		return 0;
	*(uint32_t *)data = modules_of(info);
	return 1;
}

/* The next allocator, if it is libc's: its module. */
static bool libc_find(uint32_t *module)
{
	return dl_iterate_phdr(libc_visit, module) != 0;
}

static void pads_note(const struct inner_object *o, void *pads)
{
	for (unsigned i = 0; pads && i < object_count[current]; i++)
		if (known->objects[current][i].start == o->start)
			known->objects[current][i].pads = pads;
}

static int deep_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct inner_object o;

	if (inner_symbols_object(info, &o) && (is_next_libc(&o) || next_cxx_is_runtime(o.path)))
		pads_note(&o, object_examine(&o, false, EXAMINED_DEEP));
	return 0;
}

/* What is patched are the definitions that come after our hooks: those that such a library finds.
 */
static void deep_patch(void)
{
	uint64_t signals = signals_block();

	inner_bound_find();
	dl_iterate_phdr(deep_visit, NULL);
	inner_bound_none();
	signals_restore(signals);
}

/* Under the loader's lock. */
static void deep_list(void)
{
	const struct inner_name *n = inner_list_find("malloc");
	uint32_t module = 0;

	ht_store_relaxed_32(&deep, DEEP_LISTED);
	if (n && libc_find(&module))
		inner_patch_note(n, module,
			"other threads were running when a library was opened that calls it past "
			"heaptop (RTLD_DEEPBIND)");
}

void inner_deep(void)
{
	uint32_t module;

	if (!known || inner_bound_exist() || ht_load_relaxed_32(&deep) == DEEP_PATCHED)
		return;
	if (!is_single_threaded()) {
		wrong_free_missed();
		if (ht_load_relaxed_32(&deep) == DEEP_NONE)
			ht_store_relaxed_32(&deep, DEEP_REFUSED);
	} else if (libc_find(&module)) {
		deep_patch();
		ht_store_relaxed_32(&deep, DEEP_PATCHED);
	}
}

/* ---- the loader ---- */

static const char number_word[] = "line ";

/* A line of the user's file that is no rule is listed as a function that cannot be recorded. */
static void rule_wrong(unsigned line, const char *why)
{
	char name[sizeof(number_word) + 10];
	unsigned at = sizeof(name), digits = 0;
	struct inner_name n = { 0 };

	do {
		name[--at] = (char)('0' + line % 10);
		line /= 10;
		digits++;
	} while (line > 0);
	at -= sizeof(number_word) - 1;
	__builtin_memcpy(name + at, number_word, sizeof(number_word) - 1);
	n.name = name + at;
	n.name_bytes = (uint8_t)(sizeof(number_word) - 1 + digits);
	inner_patch_note(&n, 0, why);
}

/* The loader's list has changed, under its lock. */
static void list_changed(void)
{
	bool is_consistent = loader->r_state == RT_CONSISTENT;

	state_enter();
	if (state_is_on() && has_gap) {
		pass_run(EXAMINED_LATE);
		has_gap = false;
	} else if (state_is_on() && is_consistent) {
		pass_run(EXAMINED_NEW);
	}
	if (state_is_on() && ht_load_relaxed_32(&deep) == DEEP_REFUSED)
		deep_list();
	state_leave();
}

/* The object that has the loader's function. */
struct loader_search {
	uint64_t function;
	struct inner_object object;
	bool is_found;
};

static int loader_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loader_search *l = data;

	l->is_found =
		inner_symbols_object(info, &l->object) &&
		l->function - l->object.code_start < l->object.code_end - l->object.code_start;
	return l->is_found;
}

/* Has the loader's function call list_changed. Without that, what is loaded later is not seen. */
static void loader_watch(void)
{
	struct loader_search l = { .function = loader->r_brk };

	if (dl_iterate_phdr(loader_visit, &l))
		inner_patch_loader(&l.object, l.function, list_changed);
}

static bool memory_take(void)
{
	known = private_map(sizeof(*known));
	return known && inner_table_start();
}

void inner_start(void)
{
	const char *file = environment_variable("HEAPTOP_ALLOCATORS");

	if (file && __builtin_strcmp(file, "none") == 0)
		return;
	if (!memory_take())
		return;
	inner_list_start(file, rule_wrong);
	inner_bound_none();
	valgrind_find_start();
	is_alone = is_single_threaded();
	pass_run(EXAMINED_START);
	loader = symbols_first("_r_debug");
	if (is_alone && loader && loader->r_brk)
		loader_watch();
}

/* NULL: all that must be patched is. Else the name of one that is not. */
static const char *needed_missing(void)
{
	const char *name;
	uint64_t at;

	for (unsigned i = 0; (name = inner_bound_needed(i, &at)) != NULL; i++)
		if (!inner_patch_has(at))
			return name;
	return NULL;
}

const char *inner_attach(bool is_preloaded, const char **reason)
{
	const char *file = environment_variable("HEAPTOP_ALLOCATORS"), *missing;

	*reason = "there is no memory";
	if (!memory_take())
		return "malloc";
	inner_list_start(file && __builtin_strcmp(file, "none") == 0 ? NULL : file, rule_wrong);
	if (is_preloaded)
		inner_bound_none();
	else
		inner_bound_find();
	inner_patch_attaching(true);
	pass_run(EXAMINED_ATTACH);
	has_gap = true;
	loader = symbols_first("_r_debug");
	if (loader && loader->r_brk)
		loader_watch();
	inner_patch_attaching(false);
	missing = needed_missing();
	*reason = missing ? inner_patch_refusal() : NULL;
	return missing;
}

void inner_detach(void)
{
	inner_patch_detach();
	inner_bound_none();
	ht_store_relaxed_32(&deep, DEEP_NONE);
	object_count[0] = object_count[1] = 0;
	if (known)
		private_unmap(known, sizeof(*known));
	known = NULL;
}

bool inner_has_malloc(void)
{
	return inner_patch_has_malloc();
}

#else

void inner_start(void)
{
}

const char *inner_attach(bool is_preloaded, const char **reason)
{
	*reason = "not supported on this architecture";
	return "malloc";
}

void inner_detach(void)
{
}

void inner_deep(void)
{
}

bool inner_has_malloc(void)
{
	return false;
}

#endif
