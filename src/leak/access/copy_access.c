/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Access to a copy of the process (copy_access.h). */
#include "src/leak/access/copy_access.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/leak/access/access_ops.h"
#include "src/leak/access/stop_access.h"
#include "src/proc/proc.h"
#include "src/util/clock.h"

/* A copy of less is not worth it: 16 MB are read in 15 ms, and a copy of 2 MB takes as long as
 * reading them. */
#define COPY_BYTES (UINT64_C(16) << 20)

static void copy_prepare(struct leak_access *a)
{
	struct leak_access_copy *c = &a->copy;

	c->why_not = leak_headroom_check(&c->headroom, "", proc_memory_tid(a->pid));
	if (a->copying == LEAK_COPY_AUTO && c->headroom.own_bytes < COPY_BYTES) {
		c->why_not = NULL;
		return;
	}
	c->uncopied_known = leak_uncopied_find(&c->uncopied, a->pid) == 0;
	if (!c->why_not)
		c->why_not = c->uncopied.unfit;
	c->wanted = a->needs_table = !c->why_not;
}

static void access_prepare(struct leak_access *a)
{
	a->copy = (struct leak_access_copy){ 0 };
	copy_prepare(a);
	leak_stop_access_prepare(a);
}

/* ---- making the copy ---- */

/* What the kernel writes by itself may go to the copy instead of the program. */
static bool has_kernel_writes(const struct leak_space *s)
{
	for (size_t i = 0; i < s->maps; i++)
		if (strstr(s->map[i].path, "[io_uring]") ||
			strncmp(s->map[i].path, "/[aio]", 6) == 0)
			return true;
	return false;
}

/* What is known only of a process that stands still, and that we trace. */
static const char *refuse(struct leak_access *a)
{
	struct leak_access_copy *c = &a->copy;
	int rc;

	if (!a->has_table)
		return "out of memory for a copy of its table";
	if (has_kernel_writes(&a->space))
		return "the kernel may be writing into its memory (io_uring, aio)";
	/* The first attempt may have been refused because we did not trace it yet. */
	rc = c->uncopied_known ? 0 : leak_uncopied_find(&c->uncopied, a->space.pid);
	return rc == 0 ? c->uncopied.unfit
		       : leak_access_ops_reason(a, "its mappings cannot be read", rc);
}

/* Makes the copy, and has a->space read it. NULL, or why there is none. */
static const char *make(struct leak_access *a, bool *stuck)
{
	struct leak_access_copy *c = &a->copy;
	const char *why_not =
		leak_forked_copy_make(&a->stop, read_copy_at(a->segment), &c->process, stuck);
	int rc;

	if (*stuck || why_not)
		return why_not;
	rc = leak_uncopied_adopt(&a->space, c->process.pid, leak_map_holds_pointers, &c->uncopied);
	c->used = rc == 0;
	if (rc == 0)
		return NULL;
	return rc == -E2BIG ? "it shares too much memory with others"
			    : leak_access_ops_reason(a, "its copy cannot be read", rc);
}

/* The process goes on; the copy is read. -ENOMEM: the copy is lost; -ESRCH: what is not in it was
 * read of a process that had ended. */
static int process_resume(struct leak_access *a)
{
	struct leak_access_copy *c = &a->copy;

	if (leak_stop_access_has_ended(a))
		return leak_access_ops_ended(a);
	a->report->copied = true;
	a->report->how = "copy on write";
	trace_stop_detach(&a->stop);
	a->report->stop_ns = clock_monotonic_ns() - a->start_ns;
	c->lost = !leak_forked_copy_settle(&c->process) ||
		  !leak_headroom_watch(&c->headroom, c->process.pid);
	return c->lost ? -ENOMEM : 0;
}

static int copy_detach(struct leak_access *a)
{
	struct leak_access_copy *c = &a->copy;
	bool stuck = false;
	int rc = 0;

	if (c->wanted)
		c->why_not = refuse(a);
	if (!c->wanted || c->why_not)
		rc = leak_stop_access_detach(a);
	else
		c->why_not = make(a, &stuck);
	snprintf(
		a->report->no_copy, sizeof(a->report->no_copy), "%s", c->why_not ? c->why_not : "");
	if (rc != 0 || stuck)
		return -ESRCH;
	return c->used ? process_resume(a) : 0;
}

/* ---- its end ---- */

/* The copy goes after the process was let go. */
static int copy_release(struct leak_access *a)
{
	struct leak_access_copy *c = &a->copy;
	int rc = leak_stop_access_release(a);

	if (c->process.pid != 0) {
		c->lost |= c->used && !leak_forked_copy_alive(&c->process);
		c->lost |= leak_headroom_unwatch(&c->headroom);
		a->report->copy_left = !leak_forked_copy_end(&c->process);
	}
	leak_uncopied_free(&c->uncopied);
	return c->lost ? -ENOMEM : rc;
}

const struct leak_access_ops leak_copy_access = {
	.prepare = access_prepare,
	.take = leak_stop_access_take,
	.open = leak_stop_access_open,
	.detach = copy_detach,
	.release = copy_release,
};
