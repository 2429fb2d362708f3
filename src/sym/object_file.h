/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One object file of the program with everything that can name its addresses: the file, its debug
 * file, their DWARF and symbol tables. Opened when the first address is requested. One thread: the
 * symboliser's worker, or the one that names roots (src/leak/names).
 */
#ifndef SRC_SYM_OBJECT_FILE_H
#define SRC_SYM_OBJECT_FILE_H

#include "src/sym/debugfile.h"
#include "src/sym/dwarf_reader.h"
#include "src/sym/sym_types.h"

struct object_file;

/*
 * Opens the files of `m`. Fails only when out of memory (NULL): a file that is missing, different
 * or malformed gives an object without names.
 */
struct object_file *object_file_open(const struct sym_module *m, const struct debugfile_dirs *dirs);
void object_file_close(struct object_file *o);
/* Another flag than that of object_file_open ends long reading from now on. */
void object_file_stop_by(struct object_file *o, const atomic_bool *stop);
enum sym_quality object_file_quality(const struct object_file *o);
/* Approximate memory of the debug information, in bytes. */
uint64_t object_file_bytes(const struct object_file *o);
/* As dwarf_reader_find, with the symbol tables where DWARF has no function. 0: unknown. */
size_t object_file_find(
	struct object_file *o, uint64_t vaddr, struct raw_frame out[RAW_FRAMES_MAX]);

/* A variable; only `symbol` and `start` are always known. */
struct raw_variable {
	const char *symbol; /* as in the symbol table */
	uint64_t start;
	const char *name, *function, *file; /* variables.h */
	uint32_t line;
};
/*
 * The variable that covers `vaddr`, or with `is_thread` that offset in the file's TLS segment. The
 * first call reads all variables. False: none does.
 */
bool object_file_variable(struct object_file *o, uint64_t vaddr, bool is_thread,
	const atomic_bool *stop, struct raw_variable *out);
/* The size and alignment of its TLS segment. False: it has none. */
bool object_file_tls(const struct object_file *o, uint64_t *bytes, uint64_t *align);

#endif
