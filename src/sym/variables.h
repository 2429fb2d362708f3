/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the variables of an object file are defined, by DWARF: those with a fixed address, and
 * thread-local ones. Symbol tables (symtab.h) have their names and sizes, but no lines, and call a
 * function's static variable "count.0". The thread that opened the file. Source: DWARF 5, sections
 * 2.14, 2.6.1.1, 4.1.
 */
#ifndef SRC_SYM_VARIABLES_H
#define SRC_SYM_VARIABLES_H

#include <elfutils/libdw.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct variables;

/* Texts belong to the Dwarf. */
struct variable {
	uint64_t start; /* its address, or its offset in the file's TLS segment */
	const char *name; /* the last part of its name */
	const char *function; /* that it is a static variable of; NULL: none */
	const char *file; /* NULL: unknown */
	uint32_t line; /* 0: unknown */
	bool is_thread; /* each thread has its own */
};

/* Reads all variables of `dwarf`, which must outlive it. Of very many, only the first: see the .c.
 * NULL: there are none, out of memory, or *stop. */
struct variables *variables_new(Dwarf *dwarf, const atomic_bool *stop);
void variables_free(struct variables *v);
/* The variable that starts exactly there; NULL: none. */
const struct variable *variables_find(const struct variables *v, uint64_t start, bool is_thread);

#endif
