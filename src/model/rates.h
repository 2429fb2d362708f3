/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rates per second, over the last ten seconds (the column RATE): keeps readings about a second
 * apart and compares each tick with one of them. Only model.c and thread_rates.c call this. Main
 * thread.
 */
#ifndef SRC_MODEL_RATES_H
#define SRC_MODEL_RATES_H

#include "src/model/snapshot.h"

#define RATES_READINGS	12u /* kept: the window and some slack */
#define RATES_WINDOW_NS 10500000000ull

/* The program-wide figures of one reading. */
struct rates_reading {
	uint64_t ns;
	struct snap_totals totals;
	struct snap_proc proc;
};

/* Starts as zeros. */
struct rates {
	struct rates_reading reading[RATES_READINGS]; /* ring: reading i is at i % RATES_READINGS */
	uint64_t readings; /* taken since the start */
};

/* The reading that a tick's rates are taken against. */
struct rates_window {
	bool valid; /* false: no rates */
	unsigned slot; /* of that reading in the ring */
	double seconds; /* since then */
	int keep; /* slot where this tick's reading goes, or -1 */
};

/* The program's start as a reading of zeros, for a program younger than the window. */
void rates_start(struct rates *r, uint64_t now_ns, uint64_t age_ns);
/* The window of a tick; without rates if the program has ended. */
struct rates_window rates_window(const struct rates *r, uint64_t now_ns, bool ended);
/* Keeps this tick's reading, if the window says so. */
void rates_keep(
	struct rates *r, struct rates_window w, uint64_t now_ns, const struct snapshot *head);
/* Change of a figure per second. */
double rates_per_second(struct rates_window w, uint64_t before, uint64_t now);
/* The same for a figure that only rises; 0 if a torn reading seems to fall. */
double rates_frequency(struct rates_window w, uint64_t before, uint64_t now);
/* Fills in a site's rates, the column RATE among them: the change since the window's reading, in
 * which the site had `live_bytes` and `allocs`; what else it allocated is unknown. */
void rates_site(
	struct rates_window w, uint64_t live_bytes, uint64_t allocs, struct snap_site *site);
/*
 * What a site allocated up to a reading, modulo 2^32: rates are of differences, and no site
 * allocates more in ten seconds.
 */
struct rates_count {
	uint32_t allocs, temporary;
	uint32_t bytes; /* of RATES_BYTES bytes each */
};
#define RATES_BYTES 16

struct rates_count rates_count(uint64_t allocs, uint64_t alloc_bytes, uint64_t temporary);
/* The same as rates_site, with all that it allocated. */
void rates_site_counted(struct rates_window w, uint64_t live_bytes, struct rates_count before,
	struct snap_site *site);
/* Fills in the rates of totals and proc. */
void rates_totals(const struct rates *r, struct rates_window w, struct snapshot *s);

#endif
