/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The viewer's hand on sampling mode in one program: switches it, steers it at each tick, and says
 * in snapshots how it is. Plain data; all zeros is one that leaves the program alone. Main thread.
 */
#ifndef SRC_SESSION_SAMPLER_H
#define SRC_SESSION_SAMPLER_H

#include "src/model/model.h"
#include "src/read/read.h"
#include "src/session/sampling_control.h"

struct sampler {
	struct sampling_request request;
	struct sampling_control steer;
	uint64_t recorded, timed_events, timed_ns; /* at the last look */
	uint64_t cost_ns; /* of all recorded events since the first look */
	char text[96]; /* of a notice */
};

/*
 * Switches the program to what is wished, and steers it from now on if that has a limit. 0, or
 * -errno: it cannot be switched.
 */
int sampler_set(
	struct sampler *s, struct read_segment *segment, const struct sampling_request *request);
/* Goes on with the wish of the image before, from which this one has its rate. */
void sampler_inherit(struct sampler *s, struct read_segment *segment, const struct sampler *before);
/* Nobody steers any more: the rate stays, and the library need not measure itself. */
void sampler_leave(struct sampler *s, struct read_segment *segment);
/* Once a tick, while the program runs. */
void sampler_look(struct sampler *s, struct read_segment *segment, pid_t pid,
	const struct read_totals *totals);
void sampler_tell(
	const struct sampler *s, const struct read_totals *totals, struct snap_sampling *out);
/* That the limit cannot be met at any rate, and why; or NULL. */
const char *sampler_notice(struct sampler *s);
/* The variances of a site's figures; adds them to the program's. */
struct model_variance sampler_variance(
	const struct ht_spread *spread, struct model_variance *total);

#endif
