/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sums of several processes' totals, histograms and memory. Only merged.c calls this. */
#ifndef SRC_MODEL_MERGED_TOTALS_H
#define SRC_MODEL_MERGED_TOTALS_H

#include "src/model/model.h"

struct merged_totals {
	struct snapshot sum; /* of this tick: totals, histograms, proc */
	struct model_variance variance;
	/* What processes that are gone had allocated, and freed. */
	struct snap_totals gone;
	uint64_t gone_allocs[SNAP_SIZE_BUCKETS], gone_lifetimes[SNAP_LIFE_BUCKETS];
	uint64_t gone_minor, gone_major;
	uint32_t processes; /* of this tick */
	uint32_t gone_processes;
	uint64_t peak_bytes, hwm; /* the highest at a tick, or of one process */
	uint64_t peak_realtime_ns; /* each process has a clock of its own */
	uint64_t mapped_peak_bytes, mapped_peak_ns, pool_peak_bytes;
};

void merged_totals_begin(struct merged_totals *t);
/* `gone`: its memory is gone with it. */
void merged_totals_add(struct merged_totals *t, const struct snapshot *s, bool gone);
/* A process that was added at the last tick is not in this one. */
void merged_totals_leave(struct merged_totals *t, const struct snapshot *last);
/* Fills in the tick's figures. `head`: the launched process, whose peak of the launch counts. */
void merged_totals_fill(
	struct merged_totals *t, const struct snapshot *head, struct model_input *in);

#endif
