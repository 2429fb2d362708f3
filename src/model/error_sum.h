/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors of sums: those of the parts are independent, so that their squares add up. Pure. */
#ifndef SRC_MODEL_ERROR_SUM_H
#define SRC_MODEL_ERROR_SUM_H

#include "src/model/snapshot.h"

/* Squares; zeroed, of nothing. */
struct error_sum {
	double live_bytes, live_blocks, allocs, alloc_bytes;
};

void error_sum_add(struct error_sum *to, const struct snap_error *part);
struct snap_error error_sum_root(const struct error_sum *sum);

#endif
