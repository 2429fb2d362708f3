/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What threads had counted at earlier readings, for their rates. Only model.c calls this. */
#ifndef SRC_MODEL_THREAD_RATES_H
#define SRC_MODEL_THREAD_RATES_H

#include "src/model/snapshot.h"

#define THREADPAST_POINTS 12u /* as many readings as the model keeps */

struct threadpast {
	struct threadpast_one *one; /* by slot */
	uint32_t slots;
};

/* A reading to compare with, and one to keep. */
struct threadpast_window {
	bool valid;
	unsigned slot; /* of the earlier reading */
	double seconds; /* since */
	int keep; /* where this reading goes, or -1 */
};

/* Fills the rates of `n` threads. Without memory they stay 0. */
void threadpast_rates(
	struct threadpast *p, struct snap_thread *t, size_t n, const struct threadpast_window *w);
void threadpast_free(struct threadpast *p);

#endif
