/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The make-up of a program's resident memory, for its report: read now and then while it runs,
 * since nothing is left to read at its end. Main thread.
 */
#ifndef SRC_MEMORY_RESIDENT_H
#define SRC_MEMORY_RESIDENT_H

#include "src/memory/map_reader.h"
#include "src/model/map.h"

struct resident {
	struct map_account account; /* of the last reading */
	char *path; /* the segment of the image that was read; NULL: none was */
	uint64_t cost_ns; /* of the last one, in processor time of its thread */
	uint64_t units; /* live blocks and resident pages of that one; 0: unknown */
	uint64_t due_ns; /* of the next reading; 0: as soon as one is requested */
};

/* Schedules the first reading for when there is something to see; the program starts now. */
void resident_start(struct resident *r, uint64_t started_ns);
/* Reads an image, if a reading is due. */
void resident_update(struct resident *r, const struct map_reader_of *of);
/* The same before it is due, if it is too quick to be noticed: the program is about to end. What it
 * takes is judged by the last one, and by what the program has now and had then. */
void resident_read_last(struct resident *r, const struct map_reader_of *of);
/* The last reading if it is of that image, since another image has other sites; or NULL. */
const struct map_account *resident_last(const struct resident *r, const char *path);
void resident_free(struct resident *r);

#endif
