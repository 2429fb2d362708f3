/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session over a segment whose contents are known. */
#ifndef TESTS_UNIT_SESSION_FIXTURE_H
#define TESTS_UNIT_SESSION_FIXTURE_H

#include "src/proc/proc.h"
#include "src/session/session.h"
#include "tests/unit/segment_fixture.h"

#define PID_NONE 0x3ffffff /* above what Linux gives out */

static struct made made;
static struct session *session;

/* A segment of this very process. */
static inline struct segment_identity own_identity(void)
{
	struct segment_identity id = fixture_identity;

	id.pid = (uint32_t)getpid();
	CHECK_INT(proc_start_ticks(getpid(), &id.start_ticks), 0);
	return id;
}

/* What the session is to read; begin() does both. */
static inline void make(uint32_t pid, uint32_t state)
{
	struct segment_identity id = own_identity();

	if (pid)
		id.pid = pid;
	made_open(&made, &id);
	made_fill(&made);
	made.s.header->state = state;
}

static inline void open_made(void)
{
	const struct session_options o = { .debuginfod = false };
	char message[READ_MESSAGE_MAX] = "";

	session = session_open(made.path, &o, message);
	if (!session)
		made_give_up(message);
}

static inline void begin(uint32_t pid, uint32_t state)
{
	make(pid, state);
	open_made();
}

static inline void end(void)
{
	session_close(session);
	made_close(&made);
}

static inline struct snapshot *tick(void)
{
	struct snapshot *s = session_tick(session);

	if (!s)
		made_give_up("a tick failed");
	return s;
}

#endif
