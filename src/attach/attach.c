/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attaching and detaching (attach.h): the steps, in order. If one of them fails, or the viewer is
 * killed, the process itself shows what was left (attach_state_of), and the next call of
 * attach_begin or attach_end cleans that up first.
 */
#include "src/attach/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/attach/check.h"
#include "src/attach/enter.h"
#include "src/attach/jumps.h"
#include "src/attach/leave.h"
#include "src/attach/load.h"
#include "src/attach/park.h"
#include "src/attach/phase.h"
#include "src/util/clock.h"

int attach_check(pid_t pid, char *message)
{
	struct attach_process p;
	int rc = attach_check_process(pid, ATTACH_TO, message);

	if (rc == 0)
		rc = attach_process_open(&p, pid, ATTACH_TO, message);
	if (rc == 0)
		attach_process_close(&p);
	return rc;
}

static enum attach_state state_of(const struct attach_process *p)
{
	struct ht_attached *a = malloc(sizeof(*a));
	enum attach_state state = ATTACH_NONE;
	struct attach_jumps there;

	if (p->library)
		state = ATTACH_LEFTOVER;
	if (a && attach_process_read(p, a)) {
		attach_jumps_look(&there, p, a);
		if (a->state == HT_ATTACHED_PREPARED)
			state = there.clear == 0 ? ATTACH_RECORDED : ATTACH_BROKEN_OFF;
		else if (there.set > 0)
			state = ATTACH_BROKEN_OFF;
	}
	free(a);
	if (state == ATTACH_NONE && attach_park_bytes(p) > 0)
		state = ATTACH_LEFTOVER;
	if (state != ATTACH_RECORDED && (attach_load_is_open(p->pid) || attach_park_is_left(p)))
		state = ATTACH_BROKEN_OFF;
	return state;
}

enum attach_state attach_state_of(pid_t pid)
{
	char message[ATTACH_MESSAGE_MAX];
	struct attach_process p;
	enum attach_state state;

	if (attach_process_open(&p, pid, ATTACH_TO, message) != 0)
		return ATTACH_NONE;
	state = state_of(&p);
	attach_process_close(&p);
	return state;
}

/* Until all is prepared, with nothing left of a viewer that was killed. */
static int enter(struct attach_job *j, const struct attach_options *o)
{
	int rc = -ERESTART;

	while (rc == -ERESTART) {
		enum attach_state state = state_of(&j->process);

		rc = 0;
		if (state == ATTACH_RECORDED)
			rc = attach_phase_refuse(j, -EALREADY, "it is recorded already");
		if (state == ATTACH_BROKEN_OFF)
			rc = attach_leave(j);
		if (rc == 0)
			rc = attach_enter(j, o);
	}
	return rc;
}

static int begin(struct attach_job *j, const struct attach_options *o)
{
	int rc = enter(j, o);

	if (rc != 0)
		return rc;
	rc = attach_enter_jumps(j);
	if (rc != 0) {
		char why[ATTACH_MESSAGE_MAX];

		memcpy(why, j->message, sizeof(why));
		(void)attach_leave(j);
		memcpy(j->message, why, sizeof(why));
	}
	return rc;
}

int attach_begin(pid_t pid, const struct attach_options *o, struct attach_pauses *p, char *message)
{
	struct attach_job j = { .pauses = p,
		.until_ns = clock_monotonic_ns() + o->timeout_ns,
		.progress = o->progress,
		.ctx = o->ctx,
		.message = message };
	int rc;

	*p = (struct attach_pauses){ 0 };
	message[0] = '\0';
	rc = attach_check(pid, message);
	if (rc == 0)
		rc = attach_process_open(&j.process, pid, ATTACH_TO, message);
	if (rc != 0)
		return rc;
	rc = begin(&j, o);
	attach_process_close(&j.process);
	return rc;
}

static uint64_t staying(const struct attach_process *p)
{
	struct ht_attached *a = malloc(sizeof(*a));
	uint64_t bytes = attach_park_bytes(p);

	bytes += p->library ? p->library->end - p->library->start : 0;

	if (a && attach_process_read(p, a))
		bytes += a->pads_bytes;
	free(a);
	return bytes;
}

int attach_end(
	pid_t pid, uint64_t timeout_ns, struct attach_pauses *p, uint64_t *stays, char *message)
{
	struct attach_job j = {
		.pauses = p, .until_ns = clock_monotonic_ns() + timeout_ns, .message = message
	};
	int rc;

	*p = (struct attach_pauses){ 0 };
	*stays = 0;
	message[0] = '\0';
	rc = attach_check_process(pid, ATTACH_FROM, message);
	if (rc == 0)
		rc = attach_process_open(&j.process, pid, ATTACH_FROM, message);
	if (rc != 0)
		return rc;
	if (state_of(&j.process) != ATTACH_NONE)
		rc = attach_leave(&j);
	*stays = staying(&j.process);
	attach_process_close(&j.process);
	return rc;
}
