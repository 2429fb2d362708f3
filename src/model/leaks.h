/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the leak scans of one process stand, for the screen. Main thread. */
#ifndef SRC_MODEL_LEAKS_H
#define SRC_MODEL_LEAKS_H

#include "src/model/snapshot.h"

enum leaks_phase {
	LEAKS_IDLE,
	LEAKS_STOPPING, /* the program's threads */
	LEAKS_READING, /* memory, while it stands still */
	LEAKS_FOLLOWING, /* pointers; the program runs */
	LEAKS_ENDING, /* it was told to; the program is let go */
	LEAKS_WAITING, /* for another heaptop's scan to end */
	LEAKS_EXITING, /* for the program's last instant; its destructors run */
};

/* More often than that, it would hardly do anything but stand still. */
#define LEAKS_EVERY_MIN_NS UINT64_C(100000000)
#define LEAKS_EVERY_MIN	   "0.1 s"

struct leaks {
	const struct snap_leaks *last; /* the last scan that worked, or NULL */
	unsigned number; /* of scans that worked */
	unsigned version; /* another one whenever `last` is */
	enum leaks_phase phase;
	bool held; /* the program is kept at its last instant */
	uint64_t read_bytes, of_bytes; /* of_bytes: at most, 0 if it is not known */
	const char *failed; /* why there was no scan when one was last tried; or NULL */
	bool by_age; /* and there never was one: suspects by age are all there is */
	uint64_t every_ns, next_ns; /* it scans by itself, and next after this time; 0: not */
};

/* What is to be counted no more: leaks of a call site, of which a row is of this class. */
struct leak_chosen {
	const struct snap_site *site;
	enum snap_leak_class class;
};

/* How sure it is that nobody needs the blocks of a row any more. */
enum leaks_confidence {
	LEAKS_NONE, /* they are reachable */
	LEAKS_LOW, /* possible */
	LEAKS_MEDIUM, /* seen once, or not everything was read */
	LEAKS_HIGH
};
enum leaks_confidence leaks_confidence(
	const struct snap_leaks *l, const struct snap_leak_site *row);
/* "low", ...; "-" for none. Static. */
const char *leaks_confidence_word(enum leaks_confidence c);
/* Whether all memory was read and all threads stopped. */
bool leaks_is_whole(const struct snap_leaks *l);

#endif
