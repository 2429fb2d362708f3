/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A snapshot by object file: what the sites named after code of each hold, and whether names and
 * lines are known of its frames. Pure; main thread.
 */
#ifndef SRC_MODEL_MODULE_ROWS_H
#define SRC_MODEL_MODULE_ROWS_H

#include "src/model/snapshot.h"

/* What is known of an object's frames, worst last. */
enum objects_names {
	OBJECTS_PENDING, /* names are still being looked up */
	OBJECTS_LINES, /* debug information: functions and lines */
	OBJECTS_FUNCTIONS, /* symbols only */
	OBJECTS_NOTHING, /* stripped: addresses */
};

struct object {
	const struct snap_module *module; /* one of those of this path and build-id */
	uint64_t id; /* the same in every snapshot */
	uint64_t live_bytes, live_blocks, sites;
	double rate_bytes_per_s, allocs_per_s;
	uint64_t frames, named, lined; /* in stacks of all sites */
	bool pending;
};

struct objects {
	struct object *object;
	size_t count, capacity;
};

/* `show_hidden`: sites are named after their innermost frame. 0 or -ENOMEM: then there are none. */
int objects_make(struct objects *o, const struct snapshot *snap, bool show_hidden);
void objects_free(struct objects *o);
enum objects_names objects_names(const struct object *o);

#endif
