/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Access to the process of a core file (core_access.h): nothing is stopped, and nothing changes. */
#include "src/leak/access/core_access.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/access/access_ops.h"
#include "src/leak/access/in_realloc.h"

static void core_prepare(struct leak_access *a)
{
}

static int thread_take(struct trace_thread *t, const struct core_thread *from)
{
	*t = (struct trace_thread){ .tid = from->tid,
		.state = TRACE_THREAD_STOPPED,
		.regs = from->regs,
		.system = { .pointer = from->pointer, .call = -1 },
		.now = from->regs };
	if (!from->vectors)
		return 0;
	t->vectors = malloc(from->vector_bytes);
	if (!t->vectors)
		return -ENOMEM;
	memcpy(t->vectors, from->vectors, from->vector_bytes);
	t->vector_bytes = from->vector_bytes;
	return 0;
}

/* The threads, as if they had stopped and been let go: there is nothing to resume. */
static int core_take(struct leak_access *a)
{
	const struct core *c = a->core;
	int rc = 0;

	a->stop = (struct trace_stop){ .pid = c->pid, .whole = true, .detached = true };
	a->stop.thread = calloc(c->threads, sizeof(*a->stop.thread));
	if (!a->stop.thread)
		return -ENOMEM;
	for (; a->stop.count < c->threads && rc == 0; a->stop.count++)
		rc = thread_take(&a->stop.thread[a->stop.count], &c->thread[a->stop.count]);
	return rc;
}

static int core_open_memory(struct leak_access *a)
{
	int rc = leak_space_open_core(&a->space, a->core);

	if (rc != 0)
		return rc;
	a->space.progress = a->progress;
	a->report->how = "core file";
	a->exact = true;
	a->report->busy = leak_in_realloc_count(a->segment, &a->stop, &a->space);
	leak_access_ops_phase(a, LEAK_READING);
	return leak_access_ops_continue(a, 0);
}

static int core_release(struct leak_access *a)
{
	trace_stop_release(&a->stop);
	return 0;
}

const struct leak_access_ops leak_core_access = {
	.prepare = core_prepare,
	.take = core_take,
	.open = core_open_memory,
	.release = core_release,
};
