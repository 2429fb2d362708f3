/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Qualified names of functions of a DWARF unit: with the namespaces, classes and functions around
 * them. Functions local to a function (lambdas, and templates instantiated for them) have no
 * mangled name, so their name is built from the enclosing DIEs. Worker thread of the symboliser.
 */
#ifndef SRC_SYM_QUALIFIED_NAMES_H
#define SRC_SYM_QUALIFIED_NAMES_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

struct scope_die;

struct qualified_names {
	struct scope_die *items; /* in unit order */
	size_t count, cap;
};

#define QUALIFIED_NAMES_NONE UINT32_MAX

/*
 * Records that `parent` encloses `die`. `parent` is an earlier result (QUALIFIED_NAMES_NONE: the
 * unit itself). Must be called in unit order. Returns the index of `die`; QUALIFIED_NAMES_NONE when
 * out of memory.
 */
uint32_t qualified_names_add(struct qualified_names *l, Dwarf_Die *die, uint32_t parent);
/*
 * "main::{lambda(int)}::operator()" for a function of a unit in C++, Rust or D; NULL if nothing
 * encloses the function. Lives until qualified_names_free.
 */
const char *qualified_names_find(struct qualified_names *l, Dwarf_Die *function);
void qualified_names_free(struct qualified_names *l);

#endif
