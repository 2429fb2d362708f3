/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that heaptop attached to, or watches from outside: key D, what q asks, the header. */
#include "tests/check.h"
#include "tests/tui/paper.h"

static struct paper p;
static unsigned detached, all_detached, kept, others;
static int answer;
static bool heap_known; /* from before, or from outside */
static enum snap_attach_how how;
static struct snapshot *(*canned)(void *ctx, const char **error);

static struct snapshot *tick(void *ctx, const char **error)
{
	struct snapshot *s = canned(ctx, error);

	s->attach = (struct snap_attach){
		.how = how, .pauses = 3, .longest_ns = 400000, .total_ns = 900000, .others = others
	};
	s->totals.has_before = heap_known;
	return s;
}

static int detach(void *ctx, bool all, char *msg, size_t cap)
{
	detached++;
	all_detached += all;
	others = all ? 0 : others;
	snprintf(msg, cap, answer ? "detaching failed: busy" : "detached; 300k stay");
	how = answer ? how : SNAP_ATTACH_ENDED;
	return answer;
}

static void keep(void *ctx)
{
	kept++;
}

static void begin(enum snap_attach_how from)
{
	paper_open(&p, 30, 140, false);
	canned = p.source.tick;
	p.source.tick = tick;
	p.source.detach = detach;
	p.source.keep = keep;
	p.ui.options.asks_to_detach = from == SNAP_ATTACH_DONE;
	how = from;
	answer = 0;
	detached = all_detached = kept = others = 0;
	refresh_tick(&p.ui);
	paper_draw(&p);
}

static void press(const char *keys)
{
	paper_keys(&p, keys);
	paper_draw(&p);
}

TEST(the_header_says_what_attaching_cost)
{
	begin(SNAP_ATTACH_DONE);
	CHECK(paper_find(&p, "3 pauses, longest 400us") >= 0);
	CHECK(paper_find(&p, "● LIVE") >= 0 && paper_find(&p, "D detach") >= 0);
	paper_close(&p);
}

TEST(D_asks_first)
{
	begin(SNAP_ATTACH_DONE);
	press("D");
	CHECK_INT(detached, 0);
	CHECK(paper_find(&p, "D again ends the recording; the program runs on") >= 0);
	press("jD"); /* another key cancels */
	CHECK_INT(detached, 0);
	press("D");
	CHECK_INT(detached, 1);
	CHECK(!p.ui.quit);
	CHECK(paper_find(&p, "detached; 300k stay") >= 0);
	CHECK(strstr(paper_line(&p, 0), "detached"));
	CHECK(paper_find(&p, "D detach") < 0);
	press("DD");
	CHECK_INT(detached, 1);
	CHECK(paper_find(&p, "heaptop has detached from the program already") >= 0);
	press("q"); /* nothing is left to ask */
	CHECK(p.ui.quit);
	paper_close(&p);
}

TEST(a_detach_that_fails_says_so)
{
	begin(SNAP_ATTACH_DONE);
	answer = -EBUSY;
	press("DD");
	CHECK(paper_find(&p, "detaching failed: busy") >= 0);
	press("DD");
	CHECK_INT(detached, 2);
	paper_close(&p);
}

/* The one who leaves detaches; the screen's owner does that. */
TEST(q_asks_what_becomes_of_it)
{
	begin(SNAP_ATTACH_DONE);
	press("q");
	CHECK(!p.ui.quit);
	CHECK(paper_find(&p, "q detaches from the program, k leaves it recorded") >= 0);
	press("jq");
	CHECK(!p.ui.quit);
	press("q");
	CHECK(p.ui.quit && !kept && !detached);
	paper_close(&p);

	begin(SNAP_ATTACH_DONE);
	press("k");
	CHECK(!p.ui.quit && !kept); /* a motion, unless it is asked */
	press("qk");
	CHECK(p.ui.quit);
	CHECK_INT(kept, 1);
	paper_close(&p);

	begin(SNAP_ATTACH_DONE);
	p.ui.options.asks_to_detach = false; /* --keep */
	press("q");
	CHECK(p.ui.quit && !kept);
	paper_close(&p);
}

TEST(an_ended_program_is_left_at_once)
{
	begin(SNAP_ATTACH_DONE);
	p.canned.state = SNAP_EXITED;
	refresh_tick(&p.ui);
	press("D");
	CHECK(paper_find(&p, "nothing to detach from: no program is running") >= 0);
	press("q");
	CHECK(p.ui.quit);
	paper_close(&p);
}

TEST(from_outside)
{
	begin(SNAP_ATTACH_OUTSIDE);
	CHECK(strstr(paper_line(&p, 0), "not recorded"));
	CHECK(paper_find(&p, "● LIVE") < 0);
	CHECK(paper_find(&p, "D detach") < 0);
	/* Zeros are not what it did; its page faults are known. */
	CHECK(paper_find(&p, "Ops  unknown: calls cannot be counted from outside") >= 0);
	CHECK(paper_find(&p, "alloc ") < 0 && paper_find(&p, "faults ") >= 0);
	press("D");
	CHECK(paper_find(&p, "nothing to detach from: the program is watched") >= 0);
	press("q");
	CHECK(p.ui.quit && !detached);
	paper_close(&p);
}

/* Its allocator is not glibc's: nothing is not what it has. */
TEST(a_heap_that_cannot_be_read_from_outside)
{
	begin(SNAP_ATTACH_OUTSIDE);
	CHECK(paper_find(&p, "Live") >= 0);
	heap_known = true;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "unknown: the heap") < 0);
	CHECK(paper_find(&p, "exact") >= 0);
	heap_known = false;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "unknown: the heap cannot be read from outside") >= 0);
	CHECK(paper_find(&p, "exact") < 0);
	CHECK(paper_find(&p, "not read") >= 0);
	paper_close(&p);
}

/* A program that was started under heaptop can be detached from, too, but that is not offered. */
TEST(a_recorded_program)
{
	begin(SNAP_ATTACH_NOT);
	CHECK(paper_find(&p, "D detach") < 0);
	press("DD");
	CHECK_INT(detached, 1);
	paper_close(&p);
}

/* The one in front, or all. */
TEST(D_asks_which_of_several)
{
	begin(SNAP_ATTACH_DONE);
	others = 2;
	refresh_tick(&p.ui);
	press("D");
	CHECK(paper_find(&p, "D again ends the recording of process") >= 0);
	CHECK(paper_find(&p, "a of all 3") >= 0);
	press("jDD");
	CHECK(detached == 1 && all_detached == 0);
	press("q"); /* two are left */
	CHECK(!p.ui.quit);
	CHECK(paper_find(&p, "q detaches from all programs, k leaves them recorded") >= 0);
	press("jDa");
	CHECK(detached == 2 && all_detached == 1);
	press("q");
	CHECK(p.ui.quit);
	paper_close(&p);
}

TEST(read_only)
{
	begin(SNAP_ATTACH_DONE);
	p.ui.options.readonly = true;
	press("DD");
	CHECK_INT(detached, 0);
	CHECK(paper_find(&p, "D is refused") >= 0);
	paper_close(&p);
}

int main(void)
{
	RUN(the_header_says_what_attaching_cost);
	RUN(D_asks_first);
	RUN(a_detach_that_fails_says_so);
	RUN(q_asks_what_becomes_of_it);
	RUN(an_ended_program_is_left_at_once);
	RUN(from_outside);
	RUN(a_heap_that_cannot_be_read_from_outside);
	RUN(a_recorded_program);
	RUN(D_asks_which_of_several);
	RUN(read_only);
	return check_end();
}
