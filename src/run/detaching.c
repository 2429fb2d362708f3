/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detaching from processes, and the line about it (detaching.h). Main thread. */
#include "src/run/detaching.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/target/target.h"
#include "src/util/units.h"

void detaching_process(struct detaching *d, pid_t pid)
{
	struct attach_pauses p = { 0 };
	char message[ATTACH_MESSAGE_MAX];
	uint64_t stays = 0;
	int rc = attach_end(pid, d->timeout_ns, &p, &stays, message);

	d->pauses.pauses += p.pauses;
	d->pauses.total_ns += p.total_ns;
	if (p.longest_ns > d->pauses.longest_ns)
		d->pauses.longest_ns = p.longest_ns;
	if (rc == 0) {
		d->done++;
		d->last = pid;
		d->stays += stays;
	} else if (rc != -ESRCH && d->failed++ == 0) {
		d->error = rc;
		memcpy(d->why, message, sizeof(d->why));
	}
}

/* A forked child has our jumps; one that called exec since has the library from its start. */
static int child_take(void *ctx, const struct target_segment *s)
{
	struct detaching *d = ctx;

	if (s->state == TARGET_RUNNING && s->family == d->family && s->process > 0 &&
		d->children < OPTIONS_PIDS_MAX && attach_state_of(s->process) == ATTACH_RECORDED)
		d->child[d->children++] = s->process;
	return 0;
}

void detaching_family(struct detaching *d, uint64_t family)
{
	d->family = family;
	target_list(child_take, d);
	for (unsigned i = 0; i < d->children; i++)
		detaching_process(d, d->child[i]);
}

int detaching_say(const struct detaching *d, pid_t pid, char *msg, size_t cap)
{
	char longest[UNITS_MAX], stays[UNITS_MAX], who[48];

	if (d->failed) {
		snprintf(msg, cap, "%s", d->why);
		return d->error;
	}
	if (d->done == 0) {
		snprintf(msg, cap, "no such process: %d", (int)pid);
		return -ESRCH;
	}
	if (d->done == 1)
		snprintf(who, sizeof(who), "process %d", (int)d->last);
	else
		snprintf(who, sizeof(who), "%u processes", d->done);
	snprintf(msg, cap, "detached from %s: %u pause%s, the longest %s; %s stays there, inert",
		who, d->pauses.pauses, units_plural(d->pauses.pauses),
		units_duration(longest, d->pauses.longest_ns), units_bytes(stays, d->stays));
	return 0;
}
