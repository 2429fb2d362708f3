/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input and output of the symboliser: options, modules, frames. Plain data; no functions. */
#ifndef SRC_SYM_SYM_TYPES_H
#define SRC_SYM_SYM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where files of a program on another machine are searched for; each may be NULL. */
struct sym_elsewhere {
	const char *sysroot; /* its files, under their own paths */
	const char
		*binpath; /* directories, separated by colons, that hold files of the same names */
	const char *objects; /* a directory of files by build-id */
};

struct sym_options {
	bool use_debuginfod;
	const char *debug_dir; /* NULL: /usr/lib/debug */
	const char *root; /* prefix for module paths ("/proc/PID/root"), or NULL */
	const struct sym_elsewhere *elsewhere; /* the program is on another machine; or NULL */
};

/* An object file that was mapped in the program. */
struct sym_module {
	uint32_t id; /* chosen by the caller, for its requests */
	const char *path; /* as the program saw it */
	const uint8_t *build_id; /* NULL when the program's copy had none */
	size_t build_id_len; /* bytes; a file with another build-id is refused (names would be
				wrong) */
	/* A process that has mapped it, as /proc here names it, or 0. Where `path` leads to another
	 * file, as after a rebuild or from another root folder, the process still leads to this
	 * one. */
	pid_t pid;
};

struct sym_frame {
	const char *function; /* demangled; NULL: unknown */
	const char *function_raw; /* as in the file */
	const char *file; /* NULL: unknown */
	uint32_t line; /* 0: unknown */
	bool inlined; /* inlined into the frame that follows */
};

/* What an address resolved to: one frame, or several when calls were inlined, innermost first. */
struct sym_result {
	uint64_t cookie;
	uint32_t nframes; /* at least 1 */
	const struct sym_frame *frames; /* owned by the worker, until the last sym_free */
};

/* The best source of names that a module has. */
enum sym_quality { SYM_PENDING, SYM_DWARF, SYM_SYMTAB, SYM_DYNSYM, SYM_NONE };

#endif
