/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One object file of the program with all that can name its addresses: itself, its debug file,
 * their DWARF and symbol tables. Opened when the first address is asked for. Worker thread of the
 * symboliser.
 */
#ifndef SRC_SYM_OBJECT_H
#define SRC_SYM_OBJECT_H

#include "src/sym/debugfile.h"
#include "src/sym/dwarf_reader.h"
#include "src/sym/sym_types.h"

struct object_file;

/*
 * Opens what there is for `m`. Never fails but by lack of memory (NULL): a file that is missing,
 * not the right one or broken is an object without names.
 */
struct object_file *object_file_open(const struct sym_module *m, const struct debugfile_dirs *dirs);
void object_file_close(struct object_file *o);
enum sym_quality object_file_quality(const struct object_file *o);
/* Memory the debug information takes, about, in bytes. */
uint64_t object_file_bytes(const struct object_file *o);
/* As dwarf_reader_find, and from the symbol tables when DWARF knows no function there. 0: unknown.
 */
size_t object_file_find(
	struct object_file *o, uint64_t vaddr, struct raw_frame out[RAW_FRAMES_MAX]);

#endif
