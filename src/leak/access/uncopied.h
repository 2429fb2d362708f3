/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that a forked copy of a process lacks: mappings shared with the program, those of
 * MADV_DONTFORK, and those that MADV_WIPEONFORK empties. They are read while the process stands
 * still, and kept. One thread.
 */
#ifndef SRC_LEAK_ACCESS_UNCOPIED_H
#define SRC_LEAK_ACCESS_UNCOPIED_H

#include "src/leak/access/space.h"

/* What /proc/PID/smaps says of a copy. */
struct leak_uncopied {
	uint64_t *start; /* of each mapping that is empty in a copy */
	size_t count;
	const char *unfit; /* a mapping for which there must be no copy; NULL: none; static */
};

/* Walks all page tables, so it takes long: not while the process stands still. 0 or -errno. */
int leak_uncopied_find(struct leak_uncopied *u, pid_t pid);
void leak_uncopied_free(struct leak_uncopied *u);

struct leak_uncopied_request {
	bool (*wanted)(const struct leak_map *m);
	const struct leak_uncopied *uncopied;
	uint64_t most;
};
/*
 * Reads the mappings of `s` that `copy` lacks and `wanted` accepts, and keeps their words. 0 or
 * -errno; -E2BIG: they have more than `most` bytes.
 */
int leak_uncopied_keep(struct leak_space *s, const struct leak_space *copy,
	const struct leak_uncopied_request *request);
/* Keeps what the process `copy` lacks, and has `s` read `copy` from now on. 0 or -errno. */
int leak_uncopied_adopt(struct leak_space *s, pid_t copy, bool (*wanted)(const struct leak_map *m),
	const struct leak_uncopied *uncopied);

#endif
