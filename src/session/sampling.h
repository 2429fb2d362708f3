/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Controls sampling in one program: switches it, adjusts the rate at each tick, and reports the
 * state in snapshots. Plain data; all zeros leaves the program alone. Main thread.
 */
#ifndef SRC_SESSION_SAMPLING_H
#define SRC_SESSION_SAMPLING_H

#include "src/model/model.h"
#include "src/read/read.h"
#include "src/session/sampling_control.h"

struct sampling {
	struct sampling_request request;
	struct sampling_control steer;
	uint64_t recorded, timed_events, timed_ns; /* at the last reading */
	uint64_t cost_ns; /* of all events recorded since the first reading */
	double mean_events, mean_ns; /* timed lately, and their time: for the mean of one */
	bool mean_sampled; /* while sampling */
	char text[96]; /* the notice */
};

/*
 * Switches the program as requested; if the request has a limit, adjusts the rate from now on. 0,
 * or -errno: it cannot be switched.
 */
int sampling_set(
	struct sampling *s, struct read_segment *segment, const struct sampling_request *request);
/* Continues with the request of the image before, whose rate this one has inherited. */
void sampling_inherit(
	struct sampling *s, struct read_segment *segment, const struct sampling *before);
/* Ends the adjusting: the rate stays, and the library stops measuring itself. */
void sampling_leave(struct sampling *s, struct read_segment *segment);
/* Once a tick, while the program runs. */
void sampling_update(struct sampling *s, struct read_segment *segment, pid_t pid,
	const struct read_totals *totals);
void sampling_fill(
	const struct sampling *s, const struct read_totals *totals, struct snap_sampling *out);
/* A notice that no rate can meet the limit, with the reason; or NULL. */
const char *sampling_notice(struct sampling *s);
/* The variances of a site's figures; adds them to the program's. */
struct model_variance sampling_variance(
	const struct ht_variance *spread, struct model_variance *total);

#endif
