/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that stand inside realloc: the block that one moves is not in the live table, and what
 * that points to would seem lost. They are let go on for a moment.
 */
#ifndef SRC_LEAK_ACCESS_IN_REALLOC_H
#define SRC_LEAK_ACCESS_IN_REALLOC_H

#include "src/leak/access/space.h"
#include "src/leak/access/stop.h"
#include "src/read/read.h"

/* How many there are now. */
unsigned leak_in_realloc_count(
	struct read_segment *segment, struct leak_stop *stop, struct leak_space *space);
/* Until there are none, or for too long. Returns how many there still are. */
unsigned leak_in_realloc_await(
	struct read_segment *segment, struct leak_stop *stop, struct leak_space *space);

#endif
