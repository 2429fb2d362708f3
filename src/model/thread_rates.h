/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the counts of threads at the readings, for their rates. Only model.c calls this. */
#ifndef SRC_MODEL_THREAD_RATES_H
#define SRC_MODEL_THREAD_RATES_H

#include "src/model/rates.h"

/* Starts as zeros. */
struct thread_rates {
	struct thread_past *past; /* by slot */
	uint32_t slots;
};

/* Fills in the rates of `n` threads, and keeps their counts if the window says so. Without memory
 * the rates stay 0. */
void thread_rates_update(
	struct thread_rates *r, struct snap_thread *t, size_t n, struct rates_window w);
void thread_rates_free(struct thread_rates *r);

#endif
