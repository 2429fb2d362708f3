/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of one process's leak scans, for the screen. Main thread. */
#ifndef SRC_MODEL_LEAKS_H
#define SRC_MODEL_LEAKS_H

#include "src/model/snapshot.h"

enum leaks_phase {
	LEAKS_IDLE,
	LEAKS_STOPPING, /* stops the program's threads */
	LEAKS_READING, /* reads memory while the program is stopped */
	LEAKS_FOLLOWING, /* follows pointers; the program runs */
	LEAKS_ENDING, /* was cancelled; releases the program */
	LEAKS_WAITING, /* waits for another heaptop's scan */
	LEAKS_EXITING, /* waits for the program's end; its destructors run */
};

/* With shorter intervals the program would be stopped most of the time. */
#define LEAKS_EVERY_MIN_NS UINT64_C(100000000)
#define LEAKS_EVERY_MIN	   "0.1 s"

struct leaks {
	const struct snap_leaks *last; /* the last successful scan, or NULL */
	unsigned number; /* number of successful scans */
	unsigned version; /* changes whenever `last` does */
	enum leaks_phase phase;
	bool held; /* the program is held at its end */
	uint64_t read_bytes, of_bytes; /* of_bytes: upper limit; 0 if unknown */
	const char *failed; /* why the last attempt at a scan failed, or NULL */
	bool by_age; /* there was no scan at all: show suspects by age */
	uint64_t every_ns, next_ns; /* interval and time of the next automatic scan; 0: none */
};

/* Leaks to suppress: those of a call site, chosen by a row of this class. */
struct leak_chosen {
	const struct snap_site *site;
	enum snap_leak_class class;
};

/* How certain it is that the blocks of a row are not needed. */
enum leaks_confidence {
	LEAKS_NONE, /* the blocks are reachable */
	LEAKS_LOW, /* possible */
	LEAKS_MEDIUM, /* seen once, or memory was not read completely */
	LEAKS_HIGH
};
enum leaks_confidence leaks_confidence(
	const struct snap_leaks *l, const struct snap_leak_site *row);
/* "low", ...; "-" for none. Static. */
const char *leaks_confidence_word(enum leaks_confidence c);
/*
 * The type of a site's blocks, if the scan knows one: "Session". NULL: it knows none.
 */
const char *leaks_type(const struct snap_leaks *l, uint32_t site);
#define LEAKS_CYCLE_MAX 1024
/*
 * "Session <-> Conn, 200 times": a cycle's sites by their types, or else by the functions that
 * allocate. `s` has their names. Returns `out`.
 */
char *leaks_cycle_name(const struct snap_leaks *l, const struct snap_cycle *c,
	const struct snapshot *s, char out[LEAKS_CYCLE_MAX]);
/* The same with its figures: "Session <-> Conn, 200 times: 38.9k in 400 blocks, and 2.0k that only
 * they lead to". Returns `out`. */
char *leaks_cycle_text(const struct snap_leaks *l, const struct snap_cycle *c,
	const struct snapshot *s, char out[LEAKS_CYCLE_MAX]);
/* Whether all memory was read and all threads stopped. */
bool leaks_is_whole(const struct snap_leaks *l);

#endif
