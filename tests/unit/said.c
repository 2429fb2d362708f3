/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program says through heaptop.h, in the snapshots of a session: names of threads, marks and
 * requests. */
#include <stdlib.h>
#include <unistd.h>

#include "shm/note.h"
#include "src/far/moment.h"
#include "src/session/said.h"
#include "src/util/clock.h"
#include "tests/unit/session_fixture.h"

#define SLOT	1u
#define TID	100000000u /* of no thread here */
#define THREADS 1100u

/* A new thread gets the slot. */
static void thread_begins(uint32_t tid)
{
	thread_at(&made.s, SLOT)->tid = tid;
	thread_at(&made.s, SLOT)->owners++;
}

static void thread_says(uint32_t tid, const char *name)
{
	note_write(&made.s, &(struct note){ .kind = HT_NOTE_THREAD, .tid = tid, .text = name });
}

static void name_check(const char *name)
{
	struct snapshot *s;
	size_t i = 0;

	snapshot_unref(tick()); /* hears it */
	s = tick();
	while (i < s->nthreads && s->threads[i].slot != SLOT)
		i++;
	CHECK(i < s->nthreads);
	if (i < s->nthreads)
		CHECK_STR(s->threads[i].name, name);
	snapshot_unref(s);
}

TEST(many_threads_one_after_another_have_their_names)
{
	char name[32];

	begin(0, HT_STATE_RUNNING);
	for (uint32_t i = 0; i < THREADS; i++) {
		snprintf(name, sizeof(name), "worker %u", i);
		thread_begins(TID + i);
		thread_says(TID + i, name);
		name_check(name);
	}
	end();
}

TEST(nobody_inherits_a_name)
{
	begin(0, HT_STATE_RUNNING);
	thread_begins(TID);
	thread_says(TID, "the first");
	name_check("the first");
	thread_begins(TID); /* the kernel gives the number to another */
	name_check("");
	thread_says(TID, "the second");
	name_check("the second");
	end();
}

/* A thread has a slot from its first allocation on. */
TEST(a_name_waits_for_its_thread)
{
	begin(0, HT_STATE_RUNNING);
	thread_says(TID, "the later one");
	snapshot_unref(tick());
	snapshot_unref(tick());
	thread_begins(TID);
	name_check("the later one");
	end();
}

static void notice_check(bool lost)
{
	struct snapshot *s;

	snapshot_unref(tick());
	s = tick();
	CHECK((s->notice && strstr(s->notice, "through heaptop.h lost")) == lost);
	snapshot_unref(s);
}

TEST(what_is_overwritten_unheard_is_said)
{
	make(0, HT_STATE_RUNNING);
	made.s.header->family = 0; /* a viewer may come late */
	open_made();
	for (unsigned i = 0; i < 2 * HT_NOTES; i++)
		thread_says(TID, "before any viewer");
	notice_check(false);
	for (unsigned i = 0; i < HT_NOTES; i++)
		thread_says(TID, "worker");
	notice_check(false);
	for (unsigned i = 0; i < HT_NOTES + 7; i++)
		thread_says(TID, "worker");
	notice_check(true);
	CHECK_INT(session_said(session)->lost, 7);
	end();
}

/* A session over the copy of a segment whose machine has just started. */
static void open_copy(struct far_moment *there)
{
	const struct session_options o = { .far = there };
	char why[READ_MESSAGE_MAX] = "";

	*there = (struct far_moment){ .here_ns = clock_monotonic_ns(),
		.tick = { .alive = true, .monotonic_ns = FIXTURE_CREATED_NS } };
	session = session_open(made.path, &o, why);
	if (!session)
		made_give_up(why);
}

static void says(enum ht_note_kind kind, const char *text)
{
	note_write(&made.s, &(struct note){ .kind = kind, .ns = FIXTURE_CREATED_NS, .text = text });
}

TEST(what_is_said_on_another_machine)
{
	struct far_moment there;
	struct said *said;
	struct snapshot *s;

	make(0, HT_STATE_RUNNING);
	says(HT_NOTE_MARK, "before the viewer");
	says(HT_NOTE_SNAPSHOT, NULL);
	open_copy(&there);
	said = session_said(session);
	s = tick();
	CHECK(s->moments == NULL && said->snapshot == 0);
	snapshot_unref(s);
	says(HT_NOTE_MARK, "round");
	says(HT_NOTE_SCAN, NULL);
	says(HT_NOTE_SNAPSHOT, NULL);
	snapshot_unref(tick());
	CHECK(said->scan && said->snapshot > 0);
	s = tick();
	CHECK(s->moments && !s->moments->before);
	if (s->moments)
		CHECK_STR(s->moments->name, "round");
	CHECK(s->notice == NULL);
	CHECK_INT(made.s.header->notes_taken, 0); /* nothing is written into a copy */
	snapshot_unref(s);
	end();
}

/* A viewer there serves requests once, and keeps marks in a file that is not seen from here. */
TEST(what_is_said_to_another_viewer_there)
{
	struct far_moment there;
	struct said *said;
	struct snapshot *s;

	make(0, HT_STATE_RUNNING);
	open_copy(&there);
	said = session_said(session);
	snapshot_unref(tick());
	says(HT_NOTE_MARK, "round");
	says(HT_NOTE_SCAN, NULL);
	made.s.header->notes_taken = made.s.header->notes;
	says(HT_NOTE_SNAPSHOT, NULL);
	snapshot_unref(tick());
	CHECK(!said->scan && said->snapshot > 0);
	s = tick();
	CHECK(s->moments && !s->moments->before);
	snapshot_unref(s);
	end();
}

/* The program ended before we heard it: its figures of then are gone. */
TEST(a_mark_that_cannot_be_taken_is_said)
{
	struct snapshot *s;

	begin(PID_NONE, HT_STATE_RUNNING);
	note_write(&made.s, &(struct note){ .kind = HT_NOTE_MARK, .ns = 5, .text = "the end" });
	snapshot_unref(tick());
	s = tick();
	CHECK(s->moments == NULL);
	CHECK_STR(session_said(session)->unmarked,
		"the program's mark \"the end\": not marked: the program has ended");
	snapshot_unref(s);
	end();
}

int main(void)
{
	RUN(many_threads_one_after_another_have_their_names);
	RUN(nobody_inherits_a_name);
	RUN(a_name_waits_for_its_thread);
	RUN(what_is_overwritten_unheard_is_said);
	RUN(what_is_said_on_another_machine);
	RUN(what_is_said_to_another_viewer_there);
	RUN(a_mark_that_cannot_be_taken_is_said);
	return check_end();
}
