/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Detects call sites that keep growing, from their past. A slope alone would report everything that
 * was ever allocated, each rise of a sawtooth, a cache that is filling and one that has long been
 * full. So a site's past is kept as spans of time with the minimum and maximum of live bytes in
 * each, and judged by these rules:
 *
 *   - The rise is what the site never fell below again: the minimum from each span on. An even
 *     sawtooth has not risen, whatever its last tooth looks like.
 *   - The site must have risen in at least GROWTH_PARTS_LEAST of the window's GROWTH_PARTS equal
 *     parts, and in the last three by more than its known falls. A single allocation rises once; a
 *     site that warms up or fills and then levels off does not rise at the end.
 *   - The gain must last: if blocks of the older part of that time are freed by now, the site may
 *     be a queue or a cache that turns over, and growth is less certain. A walk over the live
 *     blocks (src/session/retention.h) measures that.
 *   - The deepest fall counts against it, for three times as long as the rise to that height took:
 * a tooth is recognized when it falls, for good, while memory that was needed only at the start is
 *     forgotten in time.
 *
 * Windows are the whole past, its last half and quarter, and some recent seconds; the most certain
 * result counts. Spans of the whole past become longer with it, so a site takes the same few
 * hundred bytes after a minute and after a month. The structs are the only state.
 */
#ifndef SRC_MODEL_GROWTH_H
#define SRC_MODEL_GROWTH_H

#include "src/model/snapshot.h"

#define GROWTH_RECENT	   16u /* spans of recent seconds */
#define GROWTH_LIFE	   32u /* spans of the whole past; when all are used, pairs merge */
#define GROWTH_PARTS	   SNAP_GROWTH_PARTS
#define GROWTH_PARTS_LEAST 3u

/* The times of the spans, common to all sites. Starts as zeros. */
struct growth_clock {
	/* Start times of spans, oldest first; the current span is last. */
	uint64_t recent_ns[GROWTH_RECENT + 1], past_ns[GROWTH_LIFE + 1];
	unsigned recent, life; /* ended spans that are kept */
	unsigned every; /* recent spans per span of the whole past */
	unsigned since; /* recent spans in the current span of the whole past */
	uint64_t now_ns; /* of the last tick */
	bool started;
	bool ends, ends_life, merges; /* results of growth_clock_tick */
};

/* Minimum and maximum of live bytes per span, oldest first. Starts as zeros: nothing was live
 * before; as long as nothing is, it stays so. */
struct growth_site {
	float low, high, life_low, life_high; /* of the current spans */
	float now;
	float recent_low[GROWTH_RECENT], recent_high[GROWTH_RECENT];
	float past_low[GROWTH_LIFE], past_high[GROWTH_LIFE];
};

/* Allocations per span of the whole past, oldest first. Starts as zeros. */
struct growth_count {
	uint64_t allocs, life_allocs; /* so far, and at the current span's start */
	float past_allocs[GROWTH_LIFE]; /* in each span */
};

/* Call it first at each tick. True: call growth_site_span and growth_count_span for every site. */
bool growth_clock_tick(struct growth_clock *c, uint64_t now_ns);
/* A span has ended. */
void growth_site_span(struct growth_site *g, const struct growth_clock *c);
void growth_count_span(struct growth_count *g, const struct growth_clock *c);
/* Adds the current live bytes. `first`: the first tick of all; they may be older. */
void growth_site_add(struct growth_site *g, uint64_t live_bytes, bool first);
/* Adds the allocations so far. `first`: as above. */
void growth_count_add(struct growth_count *g, uint64_t allocs, bool first);

/* Blocks allocated in a span of the whole past. */
struct growth_span {
	uint64_t from_ns, to_ns; /* in the clock's time; UINT64_MAX: the current span */
	uint64_t allocs;
};
#define GROWTH_SPANS (GROWTH_LIFE + 1)
/* Fills in the spans, oldest first; returns their number. Earlier allocations are in none. */
unsigned growth_spans(const struct growth_count *g, const struct growth_clock *c,
	struct growth_span out[GROWTH_SPANS]);
/*
 * `error`: margin of error of the live bytes. `sure` of the result is 0 if the site does not grow.
 */
struct snap_growth growth_judge(
	const struct growth_site *g, const struct growth_clock *c, uint64_t error);

/*
 * Adds the share of the gained blocks that are still live, `kept` of 1. If they die, continued
 * growth is less certain.
 */
void growth_kept(struct snap_growth *g, double kept);
/* The certainty as a word: "sure", "likely", "maybe". */
enum growth_word { GROWTH_NONE, GROWTH_MAYBE, GROWTH_LIKELY, GROWTH_SURE };
enum growth_word growth_word(const struct snap_growth *g);
const char *growth_word_text(const struct snap_growth *g);
/* The evidence for and against growth, as text of at most GROWTH_EVIDENCE_MAX bytes. */
#define GROWTH_EVIDENCE_MAX 96
const char *growth_evidence(const struct snap_growth *g, char buf[GROWTH_EVIDENCE_MAX]);

/* Larger is worse: first by that word, then by whether blocks last, then by speed. 0: no growth. */
uint64_t growth_rank_key(const struct snap_growth *g);
/*
 * The growing sites of a snapshot, worst first. Fills in at most `max` indices into s->sites;
 * returns the number of growing sites.
 */
size_t growth_rank(const struct snapshot *s, uint32_t *index, size_t max);

#endif
