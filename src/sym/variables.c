/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One walk over the entries of all units, but not into types: static members are defined outside of
 * them (variables.h). */
#include "src/sym/variables.h"

#include <dwarf.h>
#include <stdlib.h>

#include "src/util/array.h"

/* Entries read of an object file: about a second. The variables of larger files have no lines. */
#define ENTRIES_MAX 8000000u
#define DEPTH_MAX   64 /* namespaces, functions and blocks within each other */
#define STOP_EVERY  1024u

struct variables {
	struct variable *item; /* by is_thread, then start */
	size_t count, capacity;
};

struct walk {
	struct variables *v;
	const atomic_bool *stop;
	size_t entries;
	const char *function; /* of the entry that is read */
	bool failed;
};

static bool goes_on(struct walk *w)
{
	if (++w->entries % STOP_EVERY == 0 && *w->stop)
		w->failed = true;
	return !w->failed && w->entries < ENTRIES_MAX;
}

/* The place of a variable with a fixed address, or a thread-local one. */
static bool place_of(Dwarf_Die *die, struct variable *out)
{
	Dwarf_Attribute mem, at;
	Dwarf_Op *op;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &mem) || dwarf_getlocation(&mem, &op, &n) != 0)
		return false;
	if (n == 1 && op[0].atom == DW_OP_addr) {
		out->start = op[0].number;
		return true;
	}
	if (n == 1 && op[0].atom == DW_OP_addrx && dwarf_getlocation_attr(&mem, op, &at) == 0)
		return dwarf_formaddr(&at, &out->start) == 0;
	out->is_thread =
		n == 2 && (op[0].atom == DW_OP_const8u || op[0].atom == DW_OP_addr) &&
		(op[1].atom == DW_OP_form_tls_address || op[1].atom == DW_OP_GNU_push_tls_address);
	out->start = out->is_thread ? op[0].number : 0;
	return out->is_thread;
}

static void variable_add(struct walk *w, Dwarf_Die *die)
{
	struct variable fresh = { .function = w->function };
	struct variables *v = w->v;
	struct variable *p;
	Dwarf_Attribute mem;
	int line = 0;

	if (!place_of(die, &fresh))
		return;
	fresh.name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &mem));
	if (!fresh.name)
		return;
	fresh.file = dwarf_decl_file(die);
	fresh.line = dwarf_decl_line(die, &line) == 0 && line > 0 ? (uint32_t)line : 0;
	p = array_grow(v->item, v->count, &v->capacity, sizeof(*p));
	w->failed |= !p;
	if (!p)
		return;
	v->item = p;
	p[v->count++] = fresh;
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine;
}

/* Reads `die` and the entries after it, and those in its scopes. */
static void entries_walk(struct walk *w, Dwarf_Die *die, int depth)
{
	const char *function = w->function;
	Dwarf_Attribute mem;
	Dwarf_Die child;

	do {
		int tag = dwarf_tag(die);

		if (tag == DW_TAG_variable)
			variable_add(w, die);
		if (!is_scope(tag) || depth == DEPTH_MAX || dwarf_child(die, &child) != 0)
			continue;
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			w->function = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &mem));
		entries_walk(w, &child, depth + 1);
		w->function = function;
	} while (goes_on(w) && dwarf_siblingof(die, die) == 0);
}

static void units_walk(struct walk *w, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, child;

	while (goes_on(w) && dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		if (dwarf_child(&unit, &child) == 0)
			entries_walk(w, &child, 0);
}

static int order(const void *left, const void *right)
{
	const struct variable *a = left, *b = right;

	if (a->is_thread != b->is_thread)
		return a->is_thread - b->is_thread;
	return (a->start > b->start) - (a->start < b->start);
}

struct variables *variables_new(Dwarf *dwarf, const atomic_bool *stop)
{
	struct walk w = { .v = calloc(1, sizeof(*w.v)), .stop = stop };

	if (!w.v)
		return NULL;
	units_walk(&w, dwarf);
	if (w.failed || w.v->count == 0) {
		variables_free(w.v);
		return NULL;
	}
	qsort(w.v->item, w.v->count, sizeof(*w.v->item), order);
	return w.v;
}

void variables_free(struct variables *v)
{
	if (!v)
		return;
	free(v->item);
	free(v);
}

const struct variable *variables_find(const struct variables *v, uint64_t start, bool is_thread)
{
	const struct variable key = { .start = start, .is_thread = is_thread };

	return v ? bsearch(&key, v->item, v->count, sizeof(key), order) : NULL;
}
