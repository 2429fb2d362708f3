/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The DIEs that can enclose functions, with their parents, in an array that is sorted because it is
 * filled in file order. Called by dwarf_reader.c on the symboliser's worker thread.
 */
#include "src/sym/qualified_names.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/sym/ranges.h"
#include "src/util/array.h"
#include "src/util/sorted.h"

/* Limits of one name: its parts and its length; outer parts beyond them are cut. */
#define PARTS_MAX 32u
#define FULL_MAX  2048u
/* A concrete function refers to its abstract instance, which refers to its declaration; libdw
 * allows 16 steps, too. */
#define ORIGINS_MAX 16

struct scope_die {
	Dwarf_Off offset;
	Dwarf_Die die;
	uint32_t parent;
	char *name; /* qualified, made on first request; owned */
};

uint32_t qualified_names_add(struct qualified_names *l, Dwarf_Die *die, uint32_t parent)
{
	struct scope_die *items;

	if (l->count >= QUALIFIED_NAMES_NONE)
		return QUALIFIED_NAMES_NONE;
	items = array_grow(l->items, l->count, &l->cap, sizeof(*items));
	if (!items)
		return QUALIFIED_NAMES_NONE;
	l->items = items;
	items[l->count] = (struct scope_die){
		.offset = dwarf_dieoffset(die),
		.die = *die,
		.parent = parent,
	};
	return (uint32_t)l->count++;
}

static struct scope_die *dwarf_reader_find(struct qualified_names *l, Dwarf_Off offset)
{
	size_t i = sorted_before(SORTED_BY(l->items, l->count, offset), offset);

	return i < l->count && l->items[i].offset == offset ? &l->items[i] : NULL;
}

/* Follows the references to the DIE where the function was declared. */
static void origin_follow(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die next;

	for (int i = 0; i < ORIGINS_MAX; i++) {
		if (!dwarf_attr(die, DW_AT_abstract_origin, &attr) &&
			!dwarf_attr(die, DW_AT_specification, &attr))
			return;
		if (!dwarf_formref_die(&attr, &next))
			return;
		*die = next;
	}
}

static bool language_has_scopes(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* C++17, newer than libdw's header */
	case 0x2c: /* C++20 */
	case DW_LANG_ObjC_plus_plus:
	case DW_LANG_Rust:
	case DW_LANG_D:
		return true;
	default:
		return false;
	}
}

/* GCC gives the class of a lambda no name; its call operator identifies it. */
static const char *unnamed(int tag, const char *inner)
{
	if (tag == DW_TAG_namespace)
		return "(anonymous namespace)";
	return !strncmp(inner, "operator()", 10) ? "{lambda}" : "{unnamed}";
}

/* Writes the name of one part as the demangler spells it: GCC may call a lambda's class
 * "<lambda(int)>". */
static void part_write(Dwarf_Die *die, const char *inner, char *out, size_t cap)
{
	Dwarf_Die origin = *die;
	const char *name;
	size_t n;

	origin_follow(&origin);
	name = dwarf_diename(&origin);
	n = name ? strlen(name) : 0;
	if (n == 0)
		snprintf(out, cap, "%s", unnamed(dwarf_tag(&origin), inner));
	else if (n > 8 && !strncmp(name, "<lambda", 7) && name[n - 1] == '>')
		snprintf(out, cap, "{%.*s}", (int)(n - 2 < INT32_MAX ? n - 2 : 0), name + 1);
	else
		snprintf(out, cap, "%s", name);
}

static char *name_make(struct qualified_names *l, struct scope_die *a)
{
	char name[FULL_MAX], part[FULL_MAX / 2];
	size_t at = sizeof(name) - 1, n;
	uint32_t i = (uint32_t)(a - l->items);

	/* From the innermost part outwards, written from the end of the buffer to its start. */
	name[at] = '\0';
	for (unsigned parts = 0; i != QUALIFIED_NAMES_NONE && parts < PARTS_MAX; parts++) {
		part_write(&l->items[i].die, name + at, part, sizeof(part));
		n = strlen(part) + (parts > 0 ? 2 : 0);
		if (n > at)
			break;
		at -= n;
		memcpy(name + at, part, strlen(part));
		if (parts > 0)
			memcpy(name + at + n - 2, "::", 2);
		i = l->items[i].parent;
	}
	return strdup(name + at);
}

const char *qualified_names_find(struct qualified_names *l, Dwarf_Die *function)
{
	Dwarf_Die origin = *function;
	struct scope_die *a;

	if (!language_has_scopes(function))
		return NULL;
	origin_follow(&origin);
	a = dwarf_reader_find(l, dwarf_dieoffset(&origin));
	if (!a || a->parent == QUALIFIED_NAMES_NONE)
		return NULL;
	if (!a->name)
		a->name = name_make(l, a);
	return a->name;
}

void qualified_names_free(struct qualified_names *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->items[i].name);
	free(l->items);
	*l = (struct qualified_names){ 0 };
}
