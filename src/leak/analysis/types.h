/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C++ classes of blocks: the first word of an object with virtual functions points to its class's
 * vtable. Memory that is reused may keep an old one, so a call site's type is that of most of its
 * blocks. Pure, but for the names; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_TYPES_H
#define SRC_LEAK_ANALYSIS_TYPES_H

#include "src/leak/analysis/root_names.h"

struct leak_type {
	const char *name; /* of the class; NULL: most blocks, or all, have none */
	uint64_t blocks; /* of that class */
};

struct leak_types {
	struct leak_type *site; /* per call site */
	uint64_t blocks, bytes; /* of all blocks that have a class */
	void *names; /* owns them */
};

/* `sites`: above all ids. 0 or -ENOMEM, with nothing to free. */
int leak_types_find(struct leak_types *t, const struct leak_root_context *found, uint32_t sites);
void leak_types_free(struct leak_types *t);

/*
 * A class's name for people: "Session (make_shared)" for the block of an object and its counts.
 * `name` is demangled; `out` may be cut.
 */
void leak_types_word(const char *name, char *out, size_t cap);

#endif
