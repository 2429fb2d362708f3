/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A snapshot by module (object file): the sum of the sites named after its code, and whether names
 * and lines of its frames are known. Pure; main thread.
 */
#ifndef SRC_MODEL_MODULE_ROWS_H
#define SRC_MODEL_MODULE_ROWS_H

#include "src/model/snapshot.h"

/* What is known about a module's frames, worst last. */
enum module_rows_names {
	MODULE_ROWS_PENDING, /* names are still being looked up */
	MODULE_ROWS_LINES, /* debug information: functions and lines */
	MODULE_ROWS_FUNCTIONS, /* symbols only */
	MODULE_ROWS_NOTHING, /* stripped: only addresses */
};

struct module_row {
	const struct snap_module *module; /* one of the modules with this path and build-id */
	uint64_t id; /* the same in every snapshot */
	uint64_t live_bytes, live_blocks, sites;
	double rate_bytes_per_s, allocs_per_s;
	int64_t since_bytes; /* sums of the sites' `since`; in a diff, of the compared figure */
	uint64_t since_alloc, since_freed;
	uint64_t frames, named, lined; /* in the stacks of all sites */
	bool pending;
};

struct module_rows {
	struct module_row *object;
	size_t count, capacity;
};

/* `show_hidden`: sites are named after their innermost frame. 0 or -ENOMEM: then there are none. */
int module_rows_make(struct module_rows *o, const struct snapshot *snap, bool show_hidden);
void module_rows_free(struct module_rows *o);
enum module_rows_names module_rows_names(const struct module_row *o);

#endif
