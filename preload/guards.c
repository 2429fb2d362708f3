/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Remembered stacks (guards.h). In hooks, on the thread that owns the slot. */
#include "preload/guards.h"

#include <sys/mman.h>

#include "preload/modules.h"
#include "preload/state.h"

#define SETS_LOG2    9u /* x 8 ways x 768 bytes: 3 MB a thread, touched as needed */
#define WAYS	     8u /* callers of one wrapper that differ further out are common */
#define UNPINNED_MAX 2u /* pieces of unloadable code in a stack; with more it is not remembered */
#define SLOTS_MAX    1024u

#define VALUE_BITS 48u

/* A frame in code that may be unloaded, and the module it was in. */
struct unpinned {
	uint64_t pc;
	uint32_t module;
};

struct guard {
	uint64_t key; /* frame address and function; 0: unused */
	uint32_t site;
	uint16_t count;
	uint16_t unpinned_count;
	uint64_t unpinned_pc[UNPINNED_MAX];
	uint32_t unpinned_module[UNPINNED_MAX];
	uint64_t words[UNWIND_GUARDS_MAX]; /* struct unwind's guards */
	uint64_t reserved;
};

_Static_assert(sizeof(struct guard) == 768, "sets of whole lines");

struct table {
	struct guard sets[1u << SETS_LOG2][WAYS];
	uint32_t next_way; /* round robin: the set's oldest is about right, and costs nothing */
};

static struct table *tables[SLOTS_MAX];

static uint64_t word(uint64_t address)
{
	return *(const uint64_t *)(uintptr_t)address;
}

static uint64_t key_of(uintptr_t frame, uint32_t function)
{
	return frame | (uint64_t)function << VALUE_BITS;
}

static struct guard *set_of(struct table *t, uintptr_t frame, uint32_t function)
{
	uint64_t hash = (key_of(frame, function) ^ word(frame + 8) << 17) * 0x9e3779b97f4a7c15ull;

	return t->sets[hash >> (64 - SETS_LOG2)];
}

static bool words_equal(const struct guard *g, uintptr_t frame)
{
	for (unsigned i = 0; i < g->count; i++) {
		uint64_t w = g->words[i];

		if (word(frame + (w >> VALUE_BITS) * sizeof(uint64_t)) !=
			(w & ((1ull << VALUE_BITS) - 1)))
			return false;
	}
	return true;
}

static bool modules_equal(const struct guard *g)
{
	for (unsigned i = 0; i < g->unpinned_count; i++) {
		struct module_range range;

		modules_find(g->unpinned_pc[i], &range);
		if (range.module != g->unpinned_module[i])
			return false;
	}
	return true;
}

uint32_t guards_find(uint32_t slot, uintptr_t frame, uint32_t function)
{
	struct table *t = tables[slot];
	const struct guard *set;
	uint64_t key = key_of(frame, function);

	if (!t)
		return 0;
	set = set_of(t, frame, function);
	for (unsigned i = 0; i < WAYS; i++)
		if (set[i].key == key && words_equal(&set[i], frame) && modules_equal(&set[i]))
			return set[i].site;
	return 0;
}

static struct table *table_of(uint32_t slot)
{
	if (!tables[slot]) {
		void *p = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			return NULL;
		tables[slot] = p;
	}
	return tables[slot];
}

/* Notes one frame of each run of unloadable code. False: too many of them. */
static bool unpinned_fill(struct guard *g, const struct unwind *u)
{
	uint32_t last = 0;

	g->unpinned_count = 0;
	for (uint32_t i = 0; i < u->count; i++) {
		/* Code outside any object is a module of its own at each address. */
		bool seen = u->modules[i] == last && (last & ~HT_NODE_UNPINNED) != 0;

		if (!(u->modules[i] & HT_NODE_UNPINNED) || seen)
			continue;
		if (g->unpinned_count == UNPINNED_MAX)
			return false;
		last = u->modules[i];
		g->unpinned_pc[g->unpinned_count] = u->pcs[i];
		g->unpinned_module[g->unpinned_count++] = last;
	}
	return true;
}

void guards_keep(uint32_t slot, const struct unwind *u, uint32_t function, uint32_t site)
{
	struct table *t;
	struct guard *g;

	if (!u->repeatable || slot == 0 || slot >= SLOTS_MAX || site == 0)
		return;
	t = table_of(slot);
	if (!t)
		return;
	g = &set_of(t, u->frame, function)[t->next_way++ % WAYS];
	g->key = 0;
	if (!unpinned_fill(g, u))
		return;
	g->site = site;
	g->count = (uint16_t)u->guard_count;
	for (uint32_t i = 0; i < u->guard_count; i++)
		g->words[i] = u->guards[i];
	g->key = key_of(u->frame, function);
}
