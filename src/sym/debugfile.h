/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the debug information of a stripped file: by its .gnu_debuglink, in the build-id
 * directories, from debuginfod if the user enabled it; also the shared part that dwz split off
 * (.gnu_debugaltlink). Accepts only a file that provably belongs to the stripped one: same
 * build-id, or the CRC in the link. Worker thread of the symboliser. Source: "Separate Debug Files"
 * in the GDB manual; the dwz(1) manual page.
 */
#ifndef SRC_SYM_DEBUGFILE_H
#define SRC_SYM_DEBUGFILE_H

#include <elfutils/libdw.h>
#include <stdatomic.h>
#include "src/sym/elffile.h"
#include "src/sym/sym_types.h"

struct debugfile_dirs {
	const char *root; /* prefix of the program's paths, "" for none */
	const char *debug_dir; /* "/usr/lib/debug" */
	bool use_debuginfod;
	const struct sym_elsewhere *elsewhere; /* the program is on another machine; or NULL */
	const atomic_bool *stop;
};

/* Opens the debug file of `f`, which the program knows as `path`. 0, or -ENOENT. */
int debugfile_find(const struct elffile *f, const char *path, const struct debugfile_dirs *dirs,
	struct elffile *out);
/*
 * Opens the dwz file that `dwarf` refers to; `dwarf` was read from `path` (as the program knows
 * it). 0; -ENOENT without such a link or file; -ENOEXEC if libdw must not search for it itself,
 * because it would open something that is not a regular file.
 */
int debugfile_find_alt(
	Dwarf *dwarf, const char *path, const struct debugfile_dirs *dirs, struct elffile *out);

#endif
