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
#include "preload/inner_memory.h"
#include "preload/inner_symbols.h"
#include "preload/inner_table.h"
#include "preload/inner_thunk.h"
#include "preload/modules.h"
#include "preload/next_allocator.h"
#include "preload/next_operators.h"
#include "preload/reentry.h"
#include "preload/state.h"
#include "preload/wrong_free.h"
#include "shm/patched.h"
#include "shm/private.h"

#define OBJECTS	     1024u /* loaded at a time that are known; no program has more */
#define SYMBOLS	     512u /* of one object */
#define LOADER_BYTES 16u /* of the loader's function that are read: it is empty, and aligned so */

/* An object of the loader's list, in its order. */
struct object {
	uint64_t start;
	const void *dynamic;
	void *pads; /* NULL: nothing is patched there */
	bool is_fresh;
};

/* Private memory, made at start. */
static struct known {
	struct object objects[2][OBJECTS]; /* as of the last change, and of this one */
	struct inner_symbol symbols[SYMBOLS]; /* of the object that is examined */
} * known;
static unsigned object_count[2], current;
static struct r_debug *loader;
static bool is_alone; /* at start: no other thread runs */
static bool has_malloc;

/* ---- what becomes of a function ---- */

static uint32_t add_patched(
	const struct inner_name *n, uint32_t module, uint32_t function, const char *reason)
{
	const struct patched_info info = { n->name, n->name_bytes, module, function, reason };

	return patched_add(&state_segment, &info);
}

static const struct {
	const char *symbol;
	enum ht_function function;
} plain_functions[] = {
	{ "malloc", HT_FN_MALLOC },
	{ "calloc", HT_FN_CALLOC },
	{ "realloc", HT_FN_REALLOC },
	{ "reallocarray", HT_FN_REALLOCARRAY },
	{ "posix_memalign", HT_FN_POSIX_MEMALIGN },
	{ "aligned_alloc", HT_FN_ALIGNED_ALLOC },
	{ "memalign", HT_FN_MEMALIGN },
	{ "valloc", HT_FN_VALLOC },
	{ "pvalloc", HT_FN_PVALLOC },
	{ "_Znwm", HT_FN_NEW },
	{ "_Znam", HT_FN_NEW_ARRAY },
	{ "_ZnwmRKSt9nothrow_t", HT_FN_NEW_NOTHROW },
	{ "_ZnamRKSt9nothrow_t", HT_FN_NEW_ARRAY_NOTHROW },
	{ "_ZnwmSt11align_val_t", HT_FN_NEW_ALIGNED },
	{ "_ZnamSt11align_val_t", HT_FN_NEW_ARRAY_ALIGNED },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", HT_FN_NEW_ALIGNED_NOTHROW },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", HT_FN_NEW_ARRAY_ALIGNED_NOTHROW },
};

static bool is_named(const struct inner_name *n, const char *symbol)
{
	return __builtin_strlen(symbol) == n->name_bytes &&
	       __builtin_memcmp(symbol, n->name, n->name_bytes) == 0;
}

/* The function number of the blocks of a rule's function. */
static uint32_t function_of(const struct inner_name *n, const struct allocator_rule *r)
{
	if (r->result == ALLOCATOR_NO_RESULT)
		return HT_FN_NONE;
	for (unsigned i = 0; i < sizeof(plain_functions) / sizeof(plain_functions[0]); i++)
		if (is_named(n, plain_functions[i].symbol))
			return plain_functions[i].function;
	return HT_FN_NAMED;
}

/* ---- patching ---- */

/* One object while its functions are patched. */
struct patching {
	const struct inner_object *object;
	const struct inner_symbol *symbols;
	unsigned count;
	uint8_t *pads;
	size_t used;
	bool holds_next; /* it is the next allocator */
	uint32_t module;
};

static struct inner_entry *entry_free(uint32_t *number)
{
	for (*number = 0; *number < inner_table_end; ++*number)
		if (!inner_table[*number].is_used)
			return &inner_table[*number];
	if (inner_table_end == INNER_TABLE_ENTRIES)
		return NULL;
	return &inner_table[inner_table_end++];
}

static size_t readable(const struct inner_object *o, uint64_t at)
{
	return (size_t)(o->code_end - at);
}

/* Makes one function's pad. NULL: done, and *e is its entry. Else why not. */
static const char *pad_make(
	struct patching *p, const struct inner_symbol *s, struct inner_entry **e)
{
	enum relocate_why why;
	unsigned used = 0;
	uint32_t number;

	*e = entry_free(&number);
	if (s->is_indirect)
		return "the loader chooses it when it starts (ifunc)";
	if (s->bytes == 0 || s->bytes > readable(p->object, s->at))
		return "its size is not known";
	if (!*e)
		return "too many functions are patched already";
	why = entry_make(&(*e)->patch, (const uint8_t *)(uintptr_t)s->at, s->bytes,
		readable(p->object, s->at), s->at, p->pads + p->used,
		(uint64_t)(uintptr_t)p->pads + p->used,
		(struct entry_recorder){
			(uint64_t)(uintptr_t)inner_thunk, (int32_t)number, false },
		&used);
	p->used += used;
	return why == RELOCATE_DONE ? NULL : relocate_why_word(why);
}

static void entry_fill(struct patching *p, const struct inner_symbol *s, struct inner_entry *e)
{
	(void)allocator_rule_read(s->name->line, s->name->line_bytes, &e->rule);
	e->function = function_of(s->name, &e->rule);
	e->is_used = true;
	e->pads = p->pads;
	e->is_operator = s->is_operator;
	e->except_start = p->holds_next ? p->object->start : 0;
	e->except_end = p->holds_next ? p->object->end : 0;
	e->number = add_patched(s->name, p->module, e->function, NULL);
	if (e->function == HT_FN_NAMED)
		e->function = e->number ? patched_function(&state_segment, e->number) : HT_FN_NONE;
	if (s->name->is_plain && is_named(s->name, "malloc"))
		has_malloc = true;
}

static void refuse_all(const struct patching *p, const char *reason)
{
	wrong_free_missed();
	for (unsigned i = 0; i < p->count; i++)
		add_patched(p->symbols[i].name, p->module, HT_FN_NONE, reason);
}

/* `reason`: NULL: its module is gone. */
static void entry_drop(struct inner_entry *e, const char *reason)
{
	if (e->number)
		patched_end(&state_segment, e->number, reason);
	*e = (struct inner_entry){ 0 };
}

/* The hooks' calls of a patched function go to the function itself. */
static void next_bypass(const struct entry *patch)
{
	void *at = (void *)(uintptr_t)patch->at, *original = (void *)(uintptr_t)patch->original;

	next_replace(at, original);
	next_cxx_replace(at, original);
}

/* The pads are executable, or `is_sealed` is false: writes the jumps. */
static void jumps_write(const void *pads, bool is_sealed)
{
	struct entry_memory memory = inner_memory_open();

	for (uint32_t i = 0; i < inner_table_end; i++) {
		struct inner_entry *e = &inner_table[i];

		if (!e->is_used || e->pads != pads)
			continue;
		if (is_sealed && entry_set(&e->patch, &memory) == 0)
			next_bypass(&e->patch);
		else
			entry_drop(e, "its code cannot be written");
	}
	inner_memory_close(&memory);
}

/* Makes all pads, then all jumps. Returns the pads; NULL: nothing is patched. */
static void *patch_all(struct patching *p)
{
	const struct inner_object *o = p->object;
	struct inner_entry *e;
	const char *why;

	p->pads = inner_memory_pads(o->start, o->end, p->count * (size_t)ENTRY_PAD_MOST);
	if (!p->pads) {
		refuse_all(p, "there is no room for code within 2 GB of it");
		return NULL;
	}
	for (unsigned i = 0; i < p->count; i++) {
		why = pad_make(p, &p->symbols[i], &e);
		if (why)
			wrong_free_missed();
		if (why)
			add_patched(p->symbols[i].name, p->module, HT_FN_NONE, why);
		else
			entry_fill(p, &p->symbols[i], e);
	}
	jumps_write(p->pads, inner_memory_seal(p->pads) == 0);
	return p->pads;
}

/* ---- objects ---- */

static const ElfW(Sym) * definition(const struct inner_object *o, const char *symbol)
{
	struct symbols_table t = symbols_table_read(o->bias, o->dynamic);
	uint32_t h = 5381;

	for (const char *c = symbol; *c; c++)
		h = h * 33 + (unsigned char)*c;
	return symbols_table_find(&t, symbol, __builtin_strlen(symbol), h);
}

static bool defines(const struct inner_object *o, const char *symbol)
{
	return definition(o, symbol) != NULL;
}

/* The C++ runtime, or a program that has it inside. */
static void note_exceptions(const struct inner_object *o)
{
	const ElfW(Sym) *s = definition(o, "__cxa_allocate_exception");

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

/* Patches what one object brings. Returns its pads, or NULL. */
static void *object_examine(const struct inner_object *o, bool precedes_us, bool is_new)
{
	struct patching p = { .object = o, .symbols = known->symbols };

	if (lies_in(o, inner_thunk))
		return NULL;
	note_exceptions(o);
	p.count = inner_symbols_find(o, precedes_us, known->symbols, SYMBOLS);
	if (p.count == 0 || is_sanitizer(o))
		return NULL;
	p.module = modules_of(o->info);
	if (!is_new)
		wrong_free_missed(); /* libraries may have used it before */
	p.holds_next = next_lies_in(o->start, o->end);
	if (is_new ? o->code_relocated : !is_alone) {
		refuse_all(&p, is_new ? "its library has relocations in its code"
				      : "other threads were running before it was found");
		return NULL;
	}
	segment_extents_narrow(&state_segment);
	return patch_all(&p);
}

static void object_forget(const struct object *o)
{
	for (uint32_t i = 0; i < inner_table_end; i++) {
		struct inner_entry *e = &inner_table[i];

		if (e->is_used && e->pads == o->pads)
			entry_drop(e, NULL);
	}
	inner_memory_release(o->pads);
}

/* A pass over the loader's list. */
struct pass {
	struct object *old;
	unsigned old_count, next; /* where the next one probably is */
	struct object *now;
	unsigned count, fresh;
	bool is_start, precedes_us;
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
	*now = (struct object){ o.start, o.dynamic, NULL, !old };
	if (old) {
		now->pads = old->pads;
		old->pads = NULL;
	}
	p->fresh += !old;
	p->count++;
	return 0;
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
		p->now[p->next].pads = object_examine(&o, p->precedes_us, !p->is_start);
	p->next++;
	return 0;
}

/* What is gone is forgotten first, since what is new may be the same again. */
static void pass_run(bool is_start)
{
	struct pass p = { .old = known->objects[current],
		.old_count = object_count[current],
		.now = known->objects[1 - current],
		.is_start = is_start,
		.precedes_us = is_start };

	dl_iterate_phdr(list_visit, &p);
	for (unsigned i = 0; i < p.old_count; i++)
		if (p.old[i].pads)
			object_forget(&p.old[i]);
	p.next = 0;
	if (p.fresh > 0)
		dl_iterate_phdr(examine_visit, &p);
	current = 1 - current;
	object_count[current] = p.count;
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
	add_patched(&n, 0, HT_FN_NONE, why);
}

/* Whether this process has one thread. Each is a folder there. */
static bool is_single_threaded(void)
{
	struct stat st = { 0 };

	return call(SYS_newfstatat, AT_FDCWD, call_pointer("/proc/self/task"), call_pointer(&st), 0,
		       0) == 0 &&
	       st.st_nlink <= 3;
}

/* The loader's list has changed, under its lock. */
static void list_changed(void)
{
	if (loader->r_state == RT_CONSISTENT && state_is_on())
		pass_run(false);
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

/* Has the loader's function call inner_changed. Without that, what is loaded later is not seen. */
static void loader_watch(void)
{
	struct loader_search l = { .function = loader->r_brk };
	struct inner_entry *e;
	unsigned used;
	uint32_t number;
	uint8_t *pads;

	if (!dl_iterate_phdr(loader_visit, &l) || l.object.code_end - l.function < LOADER_BYTES)
		return;
	e = entry_free(&number);
	pads = e ? inner_memory_pads(l.object.start, l.object.end, ENTRY_PAD_MOST) : NULL;
	if (!pads)
		return;
	if (entry_make(&e->patch, (const uint8_t *)(uintptr_t)l.function, LOADER_BYTES,
		    LOADER_BYTES, l.function, pads, (uint64_t)(uintptr_t)pads,
		    (struct entry_recorder){
			    (uint64_t)(uintptr_t)inner_thunk, (int32_t)number, false },
		    &used) != RELOCATE_DONE) {
		inner_memory_release(pads);
		return;
	}
	inner_table_on_change = list_changed;
	e->is_used = e->is_loader = true;
	e->pads = pads;
	jumps_write(pads, inner_memory_seal(pads) == 0);
}

void inner_start(void)
{
	const char *file = environment_variable("HEAPTOP_ALLOCATORS");

	if (file && __builtin_strcmp(file, "none") == 0)
		return;
	known = private_map(sizeof(*known));
	if (!known || !inner_table_start())
		return;
	inner_list_start(file, rule_wrong);
	is_alone = is_single_threaded();
	pass_run(true);
	loader = symbols_first("_r_debug");
	if (is_alone && loader && loader->r_brk)
		loader_watch();
}

bool inner_has_malloc(void)
{
	return has_malloc;
}

#else

void inner_start(void)
{
}

bool inner_has_malloc(void)
{
	return false;
}

#endif
