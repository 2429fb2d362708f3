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

struct ancestor;

struct lineage {
	struct ancestor *items; /* in the order of the unit */
	size_t count, cap;
};

#define LINEAGE_NONE UINT32_MAX

/*
 * Notes that `die` stands in `parent`, an earlier result (LINEAGE_NONE: in the unit itself). Must
 * be called in the order of the unit. Returns its index; LINEAGE_NONE when memory is out.
 */
uint32_t lineage_add(struct lineage *l, Dwarf_Die *die, uint32_t parent);
/*
 * "main::{lambda(int)}::operator()" for a function of a unit in C++ or the like; NULL when its bare
 * name is all there is. Lives until lineage_free.
 */
const char *lineage_name(struct lineage *l, Dwarf_Die *function);
void lineage_free(struct lineage *l);

#endif
