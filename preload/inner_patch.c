/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patching functions (inner_patch.h): the table of entries, their pads, and the jumps. At start,
 * and under the loader's lock: one thread at a time. Allocates nothing.
 */
#include "preload/inner_patch.h"

#ifdef __x86_64__

#include "preload/hook_table.h"
#include "preload/inner_memory.h"
#include "preload/inner_table.h"
#include "preload/inner_thunk.h"
#include "preload/jumps.h"
#include "preload/next_allocator.h"
#include "preload/next_operators.h"
#include "preload/state.h"
#include "preload/wrong_free.h"
#include "shm/patched.h"

#define LOADER_BYTES 16u /* of the loader's function that are read: it is empty, and aligned so */

static bool has_malloc;
static bool is_attaching; /* jumps are listed, for the viewer to write */
static const char *refusal; /* the reason of the last function that was not patched */

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

static struct inner_entry *entry_free(uint32_t *number)
{
	for (*number = 0; *number < inner_table_end; ++*number)
		if (!inner_table[*number].is_used && !inner_table[*number].is_inert)
			return &inner_table[*number];
	if (inner_table_end == INNER_TABLE_ENTRIES)
		return NULL;
	return &inner_table[inner_table_end++];
}

static size_t readable(const struct inner_object *o, uint64_t at)
{
	return (size_t)(o->code_end - at);
}

/* What is called instead. Functions of an executable keep the thunk: their callers there may know
 * which registers they change. */
static const void *hook_of(const struct inner_patching *p, const struct inner_symbol *s)
{
	if (s->hook)
		return s->hook;
	if (!s->is_bound || p->object->is_executable || p->keeps_thunk)
		return NULL;
	return hook_table_find(s->name->name, s->name->name_bytes);
}

static enum relocate_why make(struct inner_patching *p, const struct inner_symbol *s,
	struct entry *e, uint32_t number, uint8_t *pad, uint64_t pad_at, unsigned *used)
{
	const void *hook = hook_of(p, s);
	struct entry_recorder recorder = {
		.at = (uint64_t)(uintptr_t)(hook ? hook : inner_thunk),
		.number = (int32_t)number,
		.is_hook = hook != NULL,
	};

	return entry_make(e, (const uint8_t *)(uintptr_t)s->at, s->bytes,
		readable(p->object, s->at), s->at, pad, pad_at, recorder, used);
}

/* The inert entry whose pad is, byte for byte, what would be made anew. */
static struct inner_entry *entry_again(struct inner_patching *p, const struct inner_symbol *s)
{
	uint8_t pad[ENTRY_PAD_MOST];
	struct entry now;
	unsigned used;

	for (uint32_t i = 0; i < inner_table_end; i++) {
		struct inner_entry *e = &inner_table[i];

		if (e->is_inert && e->patch.at == s->at &&
			make(p, s, &now, i, pad, e->patch.pad, &used) == RELOCATE_DONE &&
			__builtin_memcmp(pad, (const void *)(uintptr_t)e->patch.pad, used) == 0)
			return e;
	}
	return NULL;
}

static bool pads_take(struct inner_patching *p)
{
	const struct inner_object *o = p->object;

	if (!p->pads)
		p->pads = inner_memory_pads(o->start, o->end, p->count * (size_t)ENTRY_PAD_MOST);
	return p->pads != NULL;
}

/* Makes one function's pad. NULL: done, and *e is its entry. Else why not. */
static const char *pad_make(
	struct inner_patching *p, const struct inner_symbol *s, struct inner_entry **e)
{
	enum relocate_why why;
	unsigned used = 0;
	uint32_t number;

	if (s->is_indirect)
		return "the loader chooses it when it starts (ifunc)";
	if (s->bytes == 0 || s->bytes > readable(p->object, s->at))
		return "its size is not known";
	*e = entry_again(p, s);
	if (*e)
		return NULL;
	*e = entry_free(&number);
	if (!*e)
		return "too many functions are patched already";
	if (!pads_take(p))
		return "there is no room for code within 2 GB of it";
	why = make(p, s, &(*e)->patch, number, p->pads + p->used,
		(uint64_t)(uintptr_t)p->pads + p->used, &used);
	p->used += used;
	if (why != RELOCATE_DONE)
		(*e)->patch.at = 0;
	else
		(*e)->pads = p->pads;
	return why == RELOCATE_DONE ? NULL : relocate_why_word(why);
}

/* Whether it is listed in the segment: as brought by the program, and not only as found there. */
static bool is_brought(const struct inner_patching *p, const struct inner_symbol *s)
{
	return !s->hook && (!s->is_bound || p->object->is_executable);
}

static void rule_fill(struct inner_patching *p, const struct inner_symbol *s, struct inner_entry *e)
{
	(void)allocator_rule_read(s->name->line, s->name->line_bytes, &e->rule);
	e->function = function_of(s->name, &e->rule);
	e->is_operator = s->is_operator;
	e->brings_blocks = is_brought(p, s);
	e->is_foreign = e->brings_blocks && !p->is_next;
	e->except_start = p->holds_next ? p->object->start : 0;
	e->except_end = p->holds_next ? p->object->end : 0;
	e->number = is_brought(p, s) ? add_patched(s->name, p->module, e->function, NULL) : 0;
	if (e->function == HT_FN_NAMED)
		e->function = e->number ? patched_function(&state_segment, e->number) : HT_FN_NONE;
	if (s->name->is_plain && is_named(s->name, "malloc"))
		has_malloc = true;
	if (s->name->is_plain && is_named(s->name, "malloc") && e->is_foreign &&
		p->object->is_executable)
		wrong_free_bypassed();
}

static void entry_fill(
	struct inner_patching *p, const struct inner_symbol *s, struct inner_entry *e)
{
	e->is_hook = hook_of(p, s) != NULL;
	e->is_inert = false;
	e->is_fresh = true;
	if (!e->is_hook)
		rule_fill(p, s, e);
	e->is_used = true;
}

static void refuse(const struct inner_patching *p, const struct inner_symbol *s, const char *reason)
{
	refusal = reason;
	if (s->hook)
		return;
	wrong_free_missed();
	if (is_brought(p, s))
		add_patched(s->name, p->module, HT_FN_NONE, reason);
}

void inner_patch_refuse_all(const struct inner_patching *p, const char *reason)
{
	for (unsigned i = 0; i < p->count; i++)
		refuse(p, &p->symbols[i], reason);
}

/* `reason`: NULL: its module is gone. */
static void entry_drop(struct inner_entry *e, const char *reason)
{
	if (e->number)
		patched_end(&state_segment, e->number, reason);
	jumps_drop(&e->patch);
	next_cxx_forget((const void *)(uintptr_t)e->patch.original);
	*e = (struct inner_entry){ 0 };
}

/* The hooks' calls of a patched function go to the function itself. */
static void next_bypass(const struct entry *patch)
{
	void *at = (void *)(uintptr_t)patch->at, *original = (void *)(uintptr_t)patch->original;

	next_replace(at, original);
	next_cxx_replace(at, original);
}

/* Lists a jump, and writes it unless the viewer does. */
static bool jump_write(const struct entry *e, const struct entry_memory *memory)
{
	if (!jumps_add(e)) {
		if (is_attaching)
			return false;
		heaptop_attached.unlisted++;
	}
	return is_attaching || entry_set(e, memory) == 0;
}

/* The pads of all fresh entries are executable, or `is_sealed` is false: writes the jumps. */
static void jumps_write(bool is_sealed)
{
	struct entry_memory memory = inner_memory_open();

	for (uint32_t i = 0; i < inner_table_end; i++) {
		struct inner_entry *e = &inner_table[i];

		if (!e->is_used || !e->is_fresh)
			continue;
		e->is_fresh = false;
		if (is_sealed && jump_write(&e->patch, &memory))
			next_bypass(&e->patch);
		else
			entry_drop(e, refusal = "its code cannot be written");
	}
	inner_memory_close(&memory);
}

/* Makes all pads, then all jumps. Returns the pads; NULL: nothing is patched, or by pads of before
 * alone. */
void *inner_patch_all(struct inner_patching *p)
{
	struct inner_entry *e;
	const char *why;

	for (unsigned i = 0; i < p->count; i++) {
		why = pad_make(p, &p->symbols[i], &e);
		if (why)
			refuse(p, &p->symbols[i], why);
		else
			entry_fill(p, &p->symbols[i], e);
	}
	jumps_write(!p->pads || inner_memory_seal(p->pads) == 0);
	return p->pads;
}

uint32_t inner_patch_note(const struct inner_name *n, uint32_t module, const char *reason)
{
	return add_patched(n, module, HT_FN_NONE, reason);
}

bool inner_patch_has(uint64_t at)
{
	for (uint32_t i = 0; i < inner_table_end; i++)
		if (inner_table[i].is_used && inner_table[i].patch.at == at)
			return true;
	return false;
}

void inner_patch_loader(const struct inner_object *o, uint64_t function, void (*on_change)(void))
{
	const struct inner_symbol s = { .at = function, .bytes = LOADER_BYTES };
	struct inner_patching p = { .object = o, .symbols = &s, .count = 1 };
	struct inner_entry *e;

	if (o->code_end - function < LOADER_BYTES || pad_make(&p, &s, &e) != NULL)
		return;
	inner_table_on_change = on_change;
	e->is_used = e->is_loader = e->is_fresh = true;
	e->is_inert = false;
	jumps_write(!p.pads || inner_memory_seal(p.pads) == 0);
}

void inner_patch_forget(uint64_t start, uint64_t end, void *pads)
{
	for (uint32_t i = 0; i < inner_table_end; i++) {
		struct inner_entry *e = &inner_table[i];

		if (e->is_used && e->patch.at - start < end - start)
			entry_drop(e, NULL);
		else if (pads && e->is_inert && e->pads == pads)
			*e = (struct inner_entry){ 0 };
	}
	if (pads)
		inner_memory_release(pads);
}

void inner_patch_attaching(bool is)
{
	is_attaching = is;
	refusal = NULL;
}

const char *inner_patch_refusal(void)
{
	return refusal ? refusal : "it was not found again";
}

bool inner_patch_has_malloc(void)
{
	return has_malloc;
}

void inner_patch_detach(void)
{
	for (uint32_t i = 0; i < inner_table_end; i++) {
		struct inner_entry *e = &inner_table[i];

		e->is_inert |= e->is_used;
		e->is_used = e->is_fresh = false;
	}
	jumps_clear();
	has_malloc = false;
}

#endif
