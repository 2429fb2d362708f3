/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes snapshots from raw readings: keeps the past (for rates, trends, growth) and the call
 * stacks. Knows no segments, files or libdw: the session (src/session/session.c) passes plain
 * structs, and tests pass invented ones. Main thread only.
 */
#ifndef SRC_MODEL_MODEL_H
#define SRC_MODEL_MODEL_H

#include "src/model/growth.h"

struct model;

/* Variances of estimates, in bytes^2 and blocks^2; 0 if every block was recorded. */
struct model_variance {
	double live_bytes, live_blocks, allocs, alloc_bytes;
};

/* Counters of a site as copied out of the segment. */
struct model_site {
	uint32_t id;
	uint64_t live_bytes, allocs, frees, alloc_bytes, peak_bytes, temporary;
	uint64_t at_peak_bytes, at_peak_blocks; /* with head.totals.has_at_peak */
	struct model_variance variance;
	enum snap_kind kind;
};

/* Everything of one tick. Arrays are only read during model_tick. */
struct model_input {
	uint64_t now_ns; /* monotonic */
	struct snapshot head; /* the snapshot's plain fields (who, when, totals and proc without
				 rates, histograms, history); its pointers must live as long as the
				 session; threads, shares and wrong frees are copied. sites, mapped
				 and errors are ignored */
	struct model_variance variance; /* of the totals */
	const struct model_site *sites; /* of kind heap */
	size_t nsites;
	const struct model_site *mapped; /* of the other kinds */
	size_t nmapped;
};

struct model *model_new(void);
void model_free(struct model *m);
/*
 * Registers a new site's stack; a call for a known id returns -EEXIST. Takes ownership of nothing:
 * frames are copied; `alloc_function` must be static; `missing`: SNAP_MISSING_*. A frame with a
 * function name counts as resolved; an empty stack gets a frame that says so. 0 or -errno.
 */
int model_site_add(struct model *m, uint32_t id, const char *alloc_function,
	const struct frame *frames, uint32_t nframes, unsigned missing);
bool model_site_known(const struct model *m, uint32_t id);
/* A site's stack and function; NULL: unknown. */
const struct stack *model_site_stack(
	const struct model *m, uint32_t id, const char **alloc_function);
/*
 * What stacks share of a frame, by the address that it was registered with. The model owns it; it
 * never moves. model_site_places fills in those of a site, innermost first, `most` of them at most,
 * and returns their number; 0 for an unknown site.
 */
struct stack_place;
uint32_t model_site_places(
	const struct model *m, uint32_t id, struct stack_place **places, uint32_t most);
/* Its outermost frame, with the address. */
const struct frame *model_place_frame(const struct stack_place *p);
/* Whether its names are known or on their way; and that they are. */
bool model_place_is_asked(const struct stack_place *p);
void model_place_ask(struct stack_place *p);
/*
 * Gives a place its resolved form: one frame or, with inlines, several, the last of which has the
 * address. The strings must live as long as the session. New stacks show it at once, those that
 * still lack names after the next model_names_settle, which visits all of these: it finds their
 * `title` again, and `resolved` once the last name is in. 0 or -errno.
 */
int model_place_resolve(
	struct model *m, struct stack_place *p, const struct frame *frames, uint32_t nframes);
int model_names_settle(struct model *m);
/* All stacks that were added, of sites in snapshots or not. */
void model_stacks_each(
	const struct model *m, void (*each)(void *ctx, const struct stack *s), void *ctx);
/* Reevaluates `hidden` for all frames with a name, and renames the sites accordingly. */
void model_hide_again(struct model *m, bool (*hidden)(const struct frame *f));
/*
 * Makes the next snapshot; the caller owns one reference. Rates are taken over the last ~10 s of
 * ticks; after the program's end there are no rates, and growth stays as last judged. Sites that
 * were not added are left out (and are in no total). NULL on allocation failure.
 */
struct snapshot *model_tick(struct model *m, const struct model_input *in);
/*
 * Fills in a site's allocations per span of time since the first tick, in the ticks' time; returns
 * the number of spans, 0 for an unknown site.
 */
unsigned model_site_spans(const struct model *m, uint32_t id, struct growth_span out[GROWTH_SPANS]);

#endif
