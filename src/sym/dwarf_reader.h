/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What DWARF says of an address: the function, the functions inlined there, files and lines. An
 * index of the compilation units is made once, one of the functions of a unit when an address first
 * falls into it, both from the units themselves: .debug_aranges is optional and often not there.
 * Worker thread of the symboliser. Source: DWARF 5, sections 2.17, 3.3.8, 6.2.
 */
#ifndef SRC_SYM_SCOPE_H
#define SRC_SYM_SCOPE_H

#include <elfutils/libdw.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Inlined calls nest this deep at most in an answer; the outermost function is always in it. */
#define RAW_FRAMES_MAX 64u

struct dwarf_reader;

struct raw_frame {
	const char *linkage; /* mangled name, NULL where the language has none */
	const char *name; /* DW_AT_name, NULL: unknown */
	const char *file; /* NULL: unknown */
	const char *dir; /* where the compiler ran: a relative `file` is seen from there; or NULL */
	uint32_t line; /* 0: unknown */
};

/* Indexes the units of `dwarf`, which must outlive it. NULL: none has code, no memory, or *stop. */
struct dwarf_reader *dwarf_reader_new(Dwarf *dwarf, const atomic_bool *stop);
void dwarf_reader_free(struct dwarf_reader *s);
/*
 * The frames at `vaddr`, innermost first; returns how many, 0 when no unit covers it. All but the
 * last are inlined into the one that follows. Texts belong to the Dwarf and to `s`. A unit without
 * a function there (assembly) gives one frame with file and line only.
 */
size_t dwarf_reader_find(
	struct dwarf_reader *s, uint64_t vaddr, struct raw_frame out[RAW_FRAMES_MAX]);

#endif
