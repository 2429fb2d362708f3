/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which namespace, class or function a function of a DWARF unit stands in. Functions local to a
 * function (lambdas, and what is instantiated for them) have no mangled name that tells; here their
 * full name is put together. Worker thread of the symboliser.
 */
#ifndef SRC_SYM_LINEAGE_H
#define SRC_SYM_LINEAGE_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

struct scope_die;

struct qualified_names {
	struct scope_die *items; /* in the order of the unit */
	size_t count, cap;
};

#define QUALIFIED_NAMES_NONE UINT32_MAX

/*
 * Notes that `die` stands in `parent`, an earlier result (QUALIFIED_NAMES_NONE: in the unit
 * itself). Must be called in the order of the unit. Returns its index; QUALIFIED_NAMES_NONE when
 * memory is out.
 */
uint32_t qualified_names_add(struct qualified_names *l, Dwarf_Die *die, uint32_t parent);
/*
 * "main::{lambda(int)}::operator()" for a function of a unit in C++ or the like; NULL when its bare
 * name is all there is. Lives until qualified_names_free.
 */
const char *qualified_names_find(struct qualified_names *l, Dwarf_Die *function);
void qualified_names_free(struct qualified_names *l);

#endif
