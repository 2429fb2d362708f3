/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Access to a stopped process (stop_access.h). */
#include "src/leak/access/stop_access.h"

#include <errno.h>
#include <stdio.h>

#include "src/leak/access/access_ops.h"
#include "src/leak/access/at_rest.h"
#include "src/leak/access/exit_stop.h"
#include "src/leak/access/in_realloc.h"
#include "src/leak/access/malloc_code.h"
#include "src/leak/access/usable_size.h"
#include "src/util/clock.h"

void leak_stop_access_prepare(struct leak_access *a)
{
	leak_vm_sharers_find(&a->sharers, a->pid);
	a->usable_asked = leak_usable_size_is_asked(a->pid);
	if (a->at_rest)
		a->malloc_code = leak_malloc_code_find(a->pid);
}

/* ---- stopping ---- */

static void process_release(void *ctx)
{
	struct leak_access *a = ctx;

	read_exit_scan_done(a->segment);
}

/* The process waits for us at its end: lets it go on, and stops it at its last instant. */
static int last_instant_wait(struct leak_access *a)
{
	int rc;

	leak_access_ops_phase(a, LEAK_EXITING);
	rc = leak_exit_stop(&a->stop, process_release, a, a->progress, &a->last);
	leak_access_ops_phase(a, LEAK_STOPPING);
	a->exit_ns = a->start_ns = clock_monotonic_ns();
	a->report->at_exit = rc == 0;
	if (rc == -ESTALE)
		snprintf(a->message, TRACE_MESSAGE_MAX,
			"process %d was not scanned: it called exec at its end", (int)a->pid);
	else if (rc == -ESRCH)
		snprintf(a->message, TRACE_MESSAGE_MAX,
			"process %d was not scanned: it ended before it could be stopped",
			(int)a->pid);
	return rc;
}

int leak_stop_access_take(struct leak_access *a)
{
	int rc = leak_scan_lock_stop(&a->lock, &a->stop, a->pid, a->message);

	return rc == 0 && a->at_exit ? last_instant_wait(a) : rc;
}

/* ---- the memory ---- */

/* Reads of a process that has ended yield nothing, without an error. */
bool leak_stop_access_has_ended(const struct leak_access *a)
{
	return !a->stop.detached && !trace_stop_stands(&a->stop);
}

static int mapping_open(struct leak_access *a)
{
	int rc;

	leak_space_close(&a->space);
	rc = leak_space_open(&a->space, a->pid);
	a->space.progress = a->progress;
	if (rc == 0)
		rc = leak_access_ops_image_check(a);
	return rc != 0 && leak_stop_access_has_ended(a) ? leak_access_ops_ended(a) : rc;
}

/* Threads that end cannot be resumed. */
static unsigned realloc_wait(struct leak_access *a)
{
	if (!a->last && a->at_rest)
		return leak_at_rest_await(a->segment, a->malloc_code, &a->stop, &a->space);
	if (!a->last)
		return leak_in_realloc_await(a->segment, &a->stop, &a->space);
	leak_exit_stack_find(&a->exit, &a->space, a->last);
	return leak_in_realloc_count(a->segment, &a->stop, &a->space);
}

/* Reads the mappings twice: they may have changed while threads were resumed. */
int leak_stop_access_open(struct leak_access *a)
{
	int rc = mapping_open(a);

	if (rc != 0)
		return rc;
	a->report->how = "stop and read";
	a->exact = true;
	a->report->busy = realloc_wait(a);
	leak_vm_sharers_note(&a->sharers, &a->stop);
	leak_access_ops_phase(a, LEAK_READING);
	return leak_access_ops_continue(a, mapping_open(a));
}

/* Has the process reap a copy that an earlier scan left. */
int leak_stop_access_detach(struct leak_access *a)
{
	bool stuck;

	(void)leak_forked_copy_tidy(&a->stop, read_copy_at(a->segment), &stuck);
	return stuck ? -ESRCH : 0;
}

int leak_stop_access_release(struct leak_access *a)
{
	int rc = leak_stop_access_has_ended(a) ? -ESRCH : 0;

	trace_stop_release(&a->stop);
	if (!a->report->copied)
		a->report->stop_ns = clock_monotonic_ns() - a->start_ns;
	a->report->copy_left = false;
	return rc;
}

const struct leak_access_ops leak_stop_access = {
	.prepare = leak_stop_access_prepare,
	.take = leak_stop_access_take,
	.open = leak_stop_access_open,
	.detach = leak_stop_access_detach,
	.release = leak_stop_access_release,
};
