/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding what a running program calls (inner_bound.h). Allocates nothing. */
#include "preload/inner_bound.h"

#include "preload/bulk.h"
#include "preload/hook_table.h"
#include "preload/symbols.h"

#define BOUND_MAX   64u /* plain names: C's, and the operators */
#define SYSTEMS_MAX 32u
#define NAME_MAX    64u /* of a plain name */

struct bound {
	char name[NAME_MAX];
	uint64_t at;
	bool is_needed;
};

static BULK struct bound bound[BOUND_MAX];
static unsigned bounds;
static struct inner_name systems[SYSTEMS_MAX];
static uint64_t systems_at[SYSTEMS_MAX];

static bool is_operator(const char *name)
{
	return name[0] == '_' && name[1] == 'Z';
}

static void bound_add(const struct inner_name *n)
{
	struct bound *b = &bound[bounds];

	if (bounds == BOUND_MAX || n->name_bytes >= NAME_MAX)
		return;
	__builtin_memcpy(b->name, n->name, n->name_bytes);
	b->name[n->name_bytes] = '\0';
	b->at = (uint64_t)(uintptr_t)symbols_next(b->name);
	b->is_needed = !is_operator(b->name);
	bounds += b->at != 0;
}

void inner_bound_find(void)
{
	bounds = 0;
	for (uint32_t i = 0; i < inner_list_count(); i++)
		if (inner_list_at(i)->is_plain)
			bound_add(inner_list_at(i));
	for (unsigned i = 0; i < hook_table_systems && i < SYSTEMS_MAX; i++) {
		systems[i] = (struct inner_name){
			.name = hook_table_system[i].symbol,
			.name_bytes = (uint8_t)__builtin_strlen(hook_table_system[i].symbol),
		};
		systems_at[i] = (uint64_t)(uintptr_t)symbols_next(systems[i].name);
	}
}

bool inner_bound_exist(void)
{
	return bounds > 0;
}

void inner_bound_none(void)
{
	bounds = 0;
}

bool inner_bound_is(const struct inner_name *n, uint64_t at)
{
	for (unsigned i = 0; i < bounds; i++)
		if (bound[i].at == at && bound[i].name[n->name_bytes] == '\0' &&
			__builtin_memcmp(bound[i].name, n->name, n->name_bytes) == 0)
			return true;
	return false;
}

static uint64_t bytes_of(const struct inner_object *o, const char *symbol, uint64_t at)
{
	const ElfW(Sym) *s = inner_symbols_definition(o, symbol);

	return s && o->bias + s->st_value == at ? s->st_size : 0;
}

static bool has(const struct inner_symbol *symbols, unsigned count, uint64_t at)
{
	for (unsigned i = 0; i < count; i++)
		if (symbols[i].at == at)
			return true;
	return false;
}

unsigned inner_bound_add(
	const struct inner_object *o, struct inner_symbol *out, unsigned count, unsigned room)
{
	for (unsigned i = 0; bounds > 0 && i < hook_table_systems && count < room; i++) {
		const struct hook_system *h = &hook_table_system[i];
		uint64_t at = systems_at[i];

		if (at < o->code_start || at >= o->code_end || has(out, count, at))
			continue;
		out[count++] = (struct inner_symbol){ .name = &systems[i],
			.at = at,
			.bytes = bytes_of(o, h->symbol, at),
			.hook = h->hook };
	}
	return count;
}

const char *inner_bound_needed(unsigned i, uint64_t *at)
{
	while (i < bounds && !bound[i].is_needed)
		i++;
	if (i >= bounds)
		return NULL;
	*at = bound[i].at;
	return bound[i].name;
}
