/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The object files of a program on another machine: where copies of them may be on this one. A
 * file is accepted only if it has the build-id of the program's own file or, if that has none, is
 * in a place that the user named. Any thread.
 */
#ifndef SRC_SYM_ELSEWHERE_H
#define SRC_SYM_ELSEWHERE_H

#include "src/sym/elffile.h"
#include "src/sym/sym_types.h"

/* Searches sysroot, binpath, objects and this machine's own files, in this order. 0 or -ENOENT. */
int elsewhere_open(
	struct elffile *f, const struct sym_module *m, const struct sym_elsewhere *places);
/* Whether there is one. */
bool elsewhere_has(const struct sym_module *m, const struct sym_elsewhere *places);
/* The path in places->objects of a file with this build-id. False: it has none, or no room. */
bool elsewhere_object(
	const struct sym_module *m, const struct sym_elsewhere *places, char *path, size_t cap);
/* Whether the file has the module's build-id. */
bool elsewhere_is_of(const struct sym_module *m, const char *path);

#endif
