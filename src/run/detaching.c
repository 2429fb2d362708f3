/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detaching from processes, and the line about it (detaching.h). Main thread. */
#include "src/run/detaching.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/target/target.h"
#include "src/util/array.h"
#include "src/util/error_hint.h"
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

struct children {
	uint64_t family;
	pid_t *pid;
	size_t count, room;
	bool no_memory; /* for all of them */
};

/* A forked child has our jumps; one that called exec since has the library from its start. */
static int child_take(void *ctx, const struct target_segment *s)
{
	struct children *c = ctx;
	pid_t *grown;

	if (s->state != TARGET_RUNNING || s->family != c->family || s->process <= 0 ||
		attach_state_of(s->process) != ATTACH_RECORDED)
		return 0;
	grown = array_grow(c->pid, c->count, &c->room, sizeof(*grown));
	c->no_memory = !grown;
	if (!grown)
		return 1;
	c->pid = grown;
	c->pid[c->count++] = s->process;
	return 0;
}

void detaching_family(struct detaching *d, uint64_t family)
{
	struct children c = { .family = family };
	int rc = target_list(child_take, &c);

	for (size_t i = 0; i < c.count; i++)
		detaching_process(d, c.pid[i]);
	if (c.no_memory)
		rc = -ENOMEM;
	if (rc < 0 && d->failed++ == 0) {
		d->error = rc;
		error_hint_line(d->why, sizeof(d->why), "cannot find the program's children", rc);
	}
	free(c.pid);
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
	if (d->pauses.pauses == 0 && d->stays == 0) {
		snprintf(msg, cap, "process %d is not recorded: there is nothing to detach from",
			(int)d->last);
		return 0;
	}
	if (d->done == 1)
		snprintf(who, sizeof(who), "process %d", (int)d->last);
	else
		snprintf(who, sizeof(who), "%u processes", d->done);
	snprintf(msg, cap,
		"detached from %s: %u pause%s, the longest %s; %s stays loaded there, unused", who,
		d->pauses.pauses, units_plural(d->pauses.pauses),
		units_duration(longest, d->pauses.longest_ns), units_bytes(stays, d->stays));
	return 0;
}

void detaching_kept_say(pid_t pid)
{
	fprintf(stderr,
		"heaptop: process %d stays recorded; to watch it again: heaptop -a %d, to end "
		"that: heaptop --detach %d\n",
		(int)pid, (int)pid, (int)pid);
}
