/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From raw readings to snapshots: keeps what needs the past (rates, trends, per-second figures) and
 * the call stacks. Knows nothing of segments, files or libdw: it is fed plain structs by the
 * session (src/session/session.c) and can be tested with invented ones. Main thread only.
 */
#ifndef SRC_MODEL_MODEL_H
#define SRC_MODEL_MODEL_H

#include "src/model/growth.h"

struct model;

/* Variances of estimates, in bytes^2 and blocks^2; 0 where everything was recorded. */
struct model_variance {
	double live_bytes, live_blocks, allocs, alloc_bytes;
};

/* Counters of a site as copied out of the segment. */
struct model_site {
	uint32_t id;
	uint64_t live_bytes, allocs, frees, alloc_bytes, peak_bytes, temporary;
	struct model_variance variance;
};

/* Everything of one tick. Arrays are only read during model_tick. */
struct model_input {
	uint64_t now_ns; /* monotonic */
	struct snapshot head; /* all plain fields of the snapshot (who, when, totals without
				 rates, proc without rates, histograms, history); pointers in
				 it must live as long as the session. sites and errors are
				 ignored */
	struct model_variance variance; /* of the totals */
	const struct model_site *sites;
	size_t nsites;
};

struct model *model_new(void);
void model_free(struct model *m);
/*
 * Registers a site's stack the first time it is seen; later calls for the same id are refused with
 * -EEXIST. Takes ownership of nothing: frames are copied; `alloc_function` must be static. A frame
 * that brings its function's name counts as resolved; a stack of no frames gets one that says so. 0
 * or -errno.
 */
int model_site_add(struct model *m, uint32_t id, const char *alloc_function,
	const struct frame *frames, uint32_t nframes, bool truncated);
bool model_site_known(const struct model *m, uint32_t id);
/*
 * Replaces frame `index` (counted in the frames first registered, innermost 0) of a site by its
 * resolved form: one frame or, with inlines, several. Recomputes `title`. When the last one is in,
 * the stack is `resolved`. The strings must live as long as the session. 0 or -errno.
 */
int model_frame_resolve(
	struct model *m, uint32_t id, uint32_t index, const struct frame *frames, uint32_t nframes);
/* Asks anew which frames name no site, of all that have a name, and names the sites by that. */
void model_rehide(struct model *m, bool (*hidden)(const struct frame *f));
/*
 * Makes the next snapshot; the caller owns one reference. Rates are taken over the last ~10 s of
 * ticks; once the program has ended there are none, and what grows is what was found then. A site
 * that model_site_add does not know is left out (and counted in no total). NULL on allocation
 * failure.
 */
struct snapshot *model_tick(struct model *m, const struct model_input *in);
/*
 * What a site allocated in the spans of time since the first tick, as of the last one, in the
 * ticks' time: how many. 0: no such site.
 */
unsigned model_site_spans(const struct model *m, uint32_t id, struct growth_span out[GROWTH_SPANS]);

#endif
