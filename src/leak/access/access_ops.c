/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that the methods of access share (access_ops.h). */
#include "src/leak/access/access_ops.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *leak_access_ops_reason(struct leak_access *a, const char *what, int rc)
{
	snprintf(a->reason, sizeof(a->reason), "%s: %s", what, strerror(-rc));
	return a->reason;
}

void leak_access_ops_phase(const struct leak_access *a, enum leak_phase phase)
{
	if (a->progress)
		a->progress->phase = phase;
}

int leak_access_ops_continue(const struct leak_access *a, int rc)
{
	return rc == 0 && leak_progress_is_cancelled(a->progress) ? -ECANCELED : rc;
}

int leak_access_ops_ended(struct leak_access *a)
{
	snprintf(a->message, TRACE_MESSAGE_MAX,
		"process %d ended before all of its memory was read", (int)a->pid);
	return -ESRCH;
}

/* The blocks of the segment are not those of another image. */
int leak_access_ops_image_check(struct leak_access *a)
{
	const char *path = read_path(a->segment);
	struct read_identity id;
	bool left;

	for (size_t i = 0; i < a->space.maps; i++)
		if (leak_map_is_segment_of(&a->space.map[i], path))
			return 0;
	left = read_identity(a->segment, &id) == 0 && id.state == HT_STATE_STOPPED;
	snprintf(a->message, TRACE_MESSAGE_MAX, "process %d cannot be scanned: %s", (int)a->pid,
		left && id.why[0] ? id.why : "it called exec, which discarded the recorded heap");
	return -ESTALE;
}
