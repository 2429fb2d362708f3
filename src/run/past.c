/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run keeps of the past (past.h). Main thread. */
#include "src/run/past.h"

#include <errno.h>

#include "src/run/failure.h"

int past_open(struct past *p, const struct options *o)
{
	*p = (struct past){ .histories = histories_new(o->history_limit) };
	if (!p->histories)
		return failure_print_errno("cannot keep a history", -ENOMEM);
	if (!o->record)
		return 0;
	p->recorder = recorder_open(o);
	return p->recorder ? 0 : FAILURE_EXIT;
}

void past_add(struct past *p, struct process_tree *w, struct snapshot *now)
{
	event_option_tick(p->events, now);
	event_option_trouble(p->events, p->events_trouble, sizeof(p->events_trouble));
	histories_sweep(p->histories);
	histories_add(p->histories, now);
	if (p->recorder)
		recorder_tick(p->recorder, w, now);
}

void past_fill(const struct past *p, struct timeline *t)
{
	if (p->recorder)
		recorder_fill(p->recorder, t);
	else if (p->events)
		event_option_fill(p->events, t);
}

const char *past_notice(const struct past *p)
{
	const char *trouble = p->recorder ? recorder_trouble(p->recorder) : NULL;

	if (!trouble && p->events_trouble[0])
		trouble = p->events_trouble;
	return trouble;
}

void past_close(struct past *p, struct process_tree *w, uint64_t names_timeout_ns)
{
	histories_free(p->histories);
	recorder_close(p->recorder, w, names_timeout_ns);
	*p = (struct past){ .events = p->events };
}

void past_discard(struct past *p)
{
	histories_free(p->histories);
	recorder_discard(p->recorder);
	*p = (struct past){ .events = p->events };
}
