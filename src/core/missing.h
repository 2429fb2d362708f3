/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a core file does not have. Any thread. */
#ifndef SRC_CORE_MISSING_H
#define SRC_CORE_MISSING_H

#include "src/core/core.h"

/* What is not in the core, in bytes. */
struct core_missing {
	uint64_t cut; /* the core was cut short */
	uint64_t empty; /* of no file: never touched, or excluded */
	uint64_t from_files; /* writable and of a file, read from that */
	uint64_t no_files; /* the same, but the file is not here, or has changed */
	unsigned objects; /* files that are not here, or have changed */
	const char *object; /* one of them */
	bool changed; /* that is here, and has changed */
};
void core_missing_find(const struct core *c, struct core_missing *out);
/* One line, or "" if nothing is missing. */
void core_missing_text(const struct core *c, char *out, size_t cap);

#endif
