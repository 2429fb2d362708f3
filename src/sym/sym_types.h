/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the symboliser takes and gives: options, modules, frames. Plain data; no functions. */
#ifndef SRC_SYM_SYM_TYPES_H
#define SRC_SYM_SYM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sym_options {
	bool use_debuginfod;
	const char *debug_dir; /* NULL: /usr/lib/debug */
	const char *root; /* prefix for module paths ("/proc/PID/root"), or NULL */
};

/* An object file that was mapped in the program. */
struct sym_module {
	uint32_t id; /* the caller's; requests name it */
	const char *path; /* as the program saw it */
	const uint8_t *build_id; /* NULL when the program's copy had none */
	size_t build_id_len; /* bytes; a file whose build-id differs is refused (names would be
				wrong) */
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

/* Why a module has no (or poorer) names, for the screen: a static string, NULL when it has DWARF.
 */
enum sym_quality { SYM_PENDING, SYM_DWARF, SYM_SYMTAB, SYM_DYNSYM, SYM_NONE };

#endif
