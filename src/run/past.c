/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run keeps of the past (past.h). Main thread. */
#include "src/run/past.h"

#include <errno.h>

#include "src/run/failure.h"

int past_open(struct past *p, const struct options *o)
{
	*p = (struct past){ .histories = histories_new(o->history_limit) };
	return p->histories ? 0 : failure_print_errno("cannot keep a history", -ENOMEM);
}

void past_add(struct past *p, struct snapshot *now)
{
	histories_sweep(p->histories);
	histories_add(p->histories, now);
}

void past_close(struct past *p)
{
	histories_free(p->histories);
	*p = (struct past){ 0 };
}
