/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the debug information of a stripped file is: its .gnu_debuglink, the build-id directories,
 * debuginfod when that was asked for; and the shared part that dwz split off (.gnu_debugaltlink).
 * Only a file that provably belongs to the stripped one is taken: same build-id, or the CRC that
 * the link names. Worker thread of the symboliser. Source: "Separate Debug Files" in the GDB
 * manual; the dwz(1) manual page.
 */
#ifndef SRC_SYM_DEBUGFILE_H
#define SRC_SYM_DEBUGFILE_H

#include <elfutils/libdw.h>
#include <stdatomic.h>
#include "src/sym/elffile.h"

struct debugfile_dirs {
	const char *root; /* prefix of the program's paths, "" for none */
	const char *debug_dir; /* "/usr/lib/debug" */
	bool use_debuginfod;
	const atomic_bool *stop;
};

/* Opens the debug file of `f`, which is `path` for the program. 0, or -ENOENT. */
int debugfile_find(const struct elffile *f, const char *path, const struct debugfile_dirs *dirs,
	struct elffile *out);
/*
 * Opens the file that `dwarf`, itself read from `path` (the program's), refers to. 0; -ENOENT when
 * there is no such link or file; -ENOEXEC when libdw's own search for it had better not be let
 * loose.
 */
int debugfile_find_alt(
	Dwarf *dwarf, const char *path, const struct debugfile_dirs *dirs, struct elffile *out);

#endif
