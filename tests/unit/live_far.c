/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walks over live blocks that an agent makes, whose answers come some ticks later. */
#include "src/far/moment.h"
#include "src/session/session.h"
#include "src/session/threads.h"
#include "tests/unit/live_walk_fixture.h"

#define S	 1000000000ull
#define FIRST_NS (FIXTURE_CREATED_NS + 10 * S) /* the first tick */

static struct surveyed w;
static struct live_walk_of of; /* which does not wait */
static unsigned seconds;

static void begin(void)
{
	live_agent_walks = true;
	surveyed_open(&w, MADE_SITES);
	of = surveyed_of(&w);
	of.waits = false;
	seconds = 0;
}

static void end(void)
{
	mark_list_free(&w.moments);
	surveyed_close(&w);
}

/* The live bytes of thread 1 that a tick shows; 0: it shows none. */
static uint64_t alive_now(void)
{
	struct model_site plain[3] = { { .id = 1 }, { .id = 2 }, { .id = 3 } };
	struct model_input in = { .now_ns = FIRST_NS + seconds++ * S, .sites = plain, .nsites = 3 };
	struct snapshot *s = model_tick(w.model, &in);
	uint64_t bytes;

	live_walk_update(&w.live_walk, &of, s);
	bytes = s->has_alive ? s->alive_bytes : 0;
	snapshot_unref(s);
	return bytes;
}

/* Until an agent answers, the last walk's figures stay; and it is not asked again. */
TEST(an_answer_that_comes_later)
{
	struct live_block b = { 0 };
	uint64_t before;

	begin();
	threads_want(true);
	w.agent.takes = 2;
	CHECK_INT(alive_now(), 0);
	CHECK_INT(alive_now(), 0);
	before = alive_now();
	CHECK(before > 0);
	CHECK_INT(w.agent.begun, 1);
	for (uint32_t i = 0; i < MADE_BLOCKS && b.size == 0; i++)
		live_remove(&w.made.s, made_address(1, i), &b);
	w.live_walk.due_ns = 0;
	w.agent.takes = 3;
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(alive_now(), before);
	CHECK_INT(alive_now(), before - b.size);
	CHECK_INT(w.agent.begun, 2);
	/* A connection that ends leaves them, too. */
	w.agent.lost = true;
	w.live_walk.due_ns = 0;
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(alive_now(), before - b.size);
	CHECK(!w.live_walk.is_asked);
	w.agent.lost = false;
	CHECK_INT(alive_now(), before - b.size);
	CHECK_INT(w.agent.begun, 3);
	threads_want(false);
	end();
}

static void mark_now(uint64_t ns)
{
	struct snap_mark mark = { .number = 1, .ns = ns };

	CHECK_INT(mark_list_add(&w.moments, &mark), 0);
}

/* It counts between the marks that there were, and is asked again when it is due. */
TEST(a_mark_while_an_agent_walks)
{
	const struct since_mark *births = &w.live_walk.births;
	const struct snap_mark *first;

	begin();
	mark_now(5 * S);
	first = w.moments.last;
	w.agent.takes = 1;
	(void)alive_now();
	CHECK_INT(w.agent.begun, 1);
	mark_now(6 * S);
	(void)alive_now();
	CHECK(births->known && births->plan.marks.last == first);
	CHECK_INT(w.agent.begun, 1);
	w.live_walk.due_ns = UINT64_MAX;
	(void)alive_now();
	CHECK_INT(w.agent.begun, 1);
	w.live_walk.due_ns = 0;
	(void)alive_now();
	CHECK(births->known && births->plan.marks.last == w.moments.last);
	CHECK_INT(w.agent.begun, 2);
	end();
}

/* Each answer is of a tick ago: the marks up to then are counted, and the newest is not. */
TEST(a_mark_at_each_tick)
{
	struct model_site plain[3] = { { .id = 1 }, { .id = 2 }, { .id = 3 } };
	struct model_input in = { .sites = plain, .nsites = 3 };
	unsigned counted = 0;

	begin();
	for (unsigned i = 1; i <= 10; i++) {
		struct snapshot *s;

		w.agent.takes = w.live_walk.is_asked ? 0 : 1;
		w.live_walk.due_ns = 0;
		mark_now(i * S);
		in.now_ns = FIRST_NS + i * S;
		s = model_tick(w.model, &in);
		s->moments = w.moments.last;
		live_walk_update(&w.live_walk, &of, s);
		if (i > 1) {
			CHECK(s->kept && !mark_list_is_counted(s, s->moments));
			CHECK(mark_list_is_counted(s, s->moments->before->before) == (i > 2));
			CHECK(!mark_list_is_counted(s, NULL));
			counted += mark_list_is_counted(s, s->moments->before);
		}
		snapshot_unref(s);
	}
	CHECK_INT(counted, 5); /* of which an answer came */
	CHECK_INT(w.agent.begun, 5);
	end();
}

/* What an agent refuses is not asked for again at once. */
TEST(a_walk_that_is_refused)
{

	begin();
	threads_want(true);
	w.agent.takes = 1;
	(void)alive_now();
	w.agent.refuses = true;
	for (unsigned i = 0; i < 5; i++)
		CHECK_INT(alive_now(), 0);
	CHECK_INT(w.agent.begun, 1);
	w.agent.refuses = false;
	w.live_walk.due_ns = 0;
	CHECK(alive_now() > 0);
	CHECK_INT(w.agent.begun, 2);
	threads_want(false);
	end();
}

/* The last walk does not wait because of one before the end; it is not asked for at each tick,
 * though. */
TEST(a_walk_that_is_refused_before_the_end)
{
	begin();
	threads_want(true);
	w.agent.takes = 0;
	w.agent.refuses = true;
	CHECK_INT(alive_now(), 0);
	CHECK_INT(alive_now(), 0);
	CHECK_INT(w.agent.begun, 1);
	of.ended = true;
	for (unsigned i = 0; i < 5; i++)
		CHECK_INT(alive_now(), 0);
	CHECK_INT(w.agent.begun, 2);
	w.agent.refuses = false;
	w.live_walk.due_ns = 0;
	CHECK(alive_now() > 0);
	threads_want(false);
	end();
	begin();
	threads_want(true);
	w.agent.refuses = true;
	CHECK_INT(alive_now(), 0);
	w.agent.refuses = false;
	of.ended = true;
	CHECK(alive_now() > 0);
	threads_want(false);
	end();
}

/* There, the view is of the next image then. */
TEST(an_image_that_exec_has_replaced)
{
	struct far_moment there = { .tick = { .alive = true } };
	struct session_options o = { .far = &there, .waits = true };
	char message[READ_MESSAGE_MAX];
	struct snapshot *last;
	struct session *s;

	begin();
	o.walks = live_agent_order(&w.agent);
	w.made.s.header->state = HT_STATE_RUNNING;
	s = session_open(w.made.path, &o, message);
	CHECK(s != NULL);
	threads_want(true);
	snapshot_unref(session_tick(s));
	CHECK_INT(w.agent.begun, 1);
	/* Until the desk asks for the next image, the view is of this one. */
	there.tick.replaced = there.tick.next = true;
	snapshot_unref(session_tick(s));
	CHECK_INT(w.agent.begun, 2);
	session_replaced(s);
	last = session_tick(s);
	CHECK_INT(w.agent.begun, 2);
	CHECK(last->has_alive && last->alive_bytes > 0 && last->alive_age_ns == 0);
	snapshot_unref(last);
	session_close(s);
	threads_want(false);
	end();
}

int main(void)
{
	RUN(an_answer_that_comes_later);
	RUN(a_mark_while_an_agent_walks);
	RUN(a_mark_at_each_tick);
	RUN(a_walk_that_is_refused);
	RUN(a_walk_that_is_refused_before_the_end);
	RUN(an_image_that_exec_has_replaced);
	return check_end();
}
