/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads what counters had live at the start of the newest peak epoch (shm/counter_peak.h). The
 * order makes it consistent, although the program runs on: the epoch, the counters, what they
 * saved. Main thread.
 */
#ifndef SRC_READ_AT_PEAK_H
#define SRC_READ_AT_PEAK_H

#include "src/read/segment.h"

/* The newest epoch; 0: the total has never fallen from a maximum. 0 or -EIO. */
int at_peak_epoch(struct read_segment *s, uint32_t *epoch);
/* The values of a piece of counters, and a copy of them. */
#define AT_PEAK_PIECE 256u
struct at_peak_piece {
	struct ht_at_peak value[AT_PEAK_PIECE], seen[AT_PEAK_PIECE];
};
/* Fills in the values of counters [at, at + n), of which `counters` was copied before, after
 * `epoch` was read. Their `blocks` are a number, without an epoch. 0 or -errno. */
int at_peak_read(struct read_segment *s, uint32_t epoch, uint32_t at, uint32_t n,
	const struct ht_counter *counters, struct at_peak_piece *out);

#endif
