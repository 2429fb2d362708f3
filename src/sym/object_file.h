/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One object file of the program with everything that can name its addresses: the file, its debug
 * file, their DWARF and symbol tables. Opened when the first address is requested. Worker thread of
 * the symboliser.
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
enum sym_quality object_file_quality(const struct object_file *o);
/* Approximate memory of the debug information, in bytes. */
uint64_t object_file_bytes(const struct object_file *o);
/* As dwarf_reader_find, with the symbol tables where DWARF has no function. 0: unknown. */
size_t object_file_find(
	struct object_file *o, uint64_t vaddr, struct raw_frame out[RAW_FRAMES_MAX]);

#endif
