/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looks up an address in DWARF: the function, the functions inlined there, files and lines. The
 * compilation units are indexed once, the functions of a unit when an address in it is first
 * requested; both from the units themselves, because .debug_aranges is optional and often missing.
 * Worker thread of the symboliser. Source: DWARF 5, sections 2.17, 3.3.8, 6.2.
 */
#ifndef SRC_SYM_DWARF_READER_H
#define SRC_SYM_DWARF_READER_H

#include <elfutils/libdw.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most frames of an answer; the outermost function is always among them. */
#define RAW_FRAMES_MAX 64u

struct dwarf_reader;

struct raw_frame {
	const char *linkage; /* mangled name, NULL if the language has none */
	const char *name; /* DW_AT_name, NULL: unknown */
	const char *file; /* NULL: unknown */
	const char *dir; /* the compiler's directory, for a relative `file`; or NULL */
	uint32_t line; /* 0: unknown */
};

/* Indexes the units of `dwarf`, which must outlive it. NULL: no unit has code, out of memory, or
 * *stop. */
struct dwarf_reader *dwarf_reader_new(Dwarf *dwarf, const atomic_bool *stop);
/* Another flag than that of dwarf_reader_new ends its calls from now on. `s` may be NULL. */
void dwarf_reader_stop_by(struct dwarf_reader *s, const atomic_bool *stop);
void dwarf_reader_free(struct dwarf_reader *s);
/*
 * The frames at `vaddr`, innermost first; returns their number, 0 if no unit covers it. All but the
 * last are inlined into the next one. Texts belong to the Dwarf and to `s`. Code without a function
 * entry (assembly) gives one frame with file and line only.
 */
size_t dwarf_reader_find(
	struct dwarf_reader *s, uint64_t vaddr, struct raw_frame out[RAW_FRAMES_MAX]);

#endif
