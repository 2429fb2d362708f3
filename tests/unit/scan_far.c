/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans on another machine, as the screen and reports drive them, with a machine that is made
 * up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/scan/scan_control.h"
#include "src/scan/scan_far.h"
#include "src/scan/scan_job.h"
#include "tests/check.h"

#define TEST_SECONDS 60 /* a test that waits for longer fails */

static struct there {
	struct far_order far;
	unsigned begun, cancelled, taken;
	unsigned takes; /* before it ends */
	int result; /* of the last take */
	struct bytes answer;
	int pipe[2];
} there;

static int there_begin(void *ctx, const struct bytes *request)
{
	struct there *t = ctx;
	struct bytes_cursor c = bytes_begin(request);
	struct leak_scan_options o = { 0 };

	CHECK_INT(scan_outcome_request_get(&c, &o), 0);
	CHECK(o.roots == LEAK_ROOT_ALL && o.why && o.holders && !o.contents && o.pid == 0);
	t->begun++;
	t->taken = 0;
	return t->result == -EPERM ? -EPERM : 0;
}

static void there_cancel(void *ctx)
{
	((struct there *)ctx)->cancelled++;
}

static int there_take(void *ctx, int timeout_ms, struct far_working *said,
	struct bytes_cursor *answer, const char **why)
{
	struct there *t = ctx;

	(void)timeout_ms;
	said->phase = LEAK_FOLLOWING;
	said->read_bytes = 4096;
	if (t->taken++ < t->takes && !t->cancelled)
		return 0;
	*answer = bytes_begin(&t->answer);
	*why = "no leak scan: the connection ended";
	return t->result;
}

static int there_fd(void *ctx)
{
	return ((struct there *)ctx)->pipe[0];
}

static void there_make(const char *failed, int result, unsigned takes)
{
	const struct scan_outcome o = { .at_ns = 5 };
	struct scan_outcome outcome = o;

	bytes_free(&there.answer);
	there = (struct there){ .result = result, .takes = takes };
	there.far = (struct far_order){ &there, there_begin, there_cancel, there_take, there_fd };
	CHECK(pipe(there.pipe) == 0 && write(there.pipe[1], "x", 1) == 1); /* always readable */
	strcpy(outcome.failed, failed);
	outcome.result.access.how = "stop and read";
	outcome.result.scanned_bytes = 77;
	scan_outcome_put(&there.answer, &outcome);
}

static void there_end(void)
{
	close(there.pipe[0]);
	close(there.pipe[1]);
}

static struct leak_scan_options request(void)
{
	return (struct leak_scan_options){
		.far = &there.far, .roots = LEAK_ROOT_ALL, .why = true, .holders = true
	};
}

TEST(a_report_waits_for_the_outcome)
{
	const struct leak_scan_options r = request();
	struct leak_summary *s;

	there_make("", 1, 3);
	s = leak_summary_run(NULL, &r);
	CHECK(leak_summary_result(s)->failed == NULL);
	CHECK_STR(leak_summary_result(s)->how, "stop and read");
	CHECK_INT((int)leak_summary_result(s)->scanned_bytes, 77);
	CHECK_INT((int)leak_summary_result(s)->at_ns, 5);
	CHECK_INT(there.taken, 4);
	leak_summary_free(s);
	there_end();
}

TEST(what_is_missing_is_said)
{
	const struct leak_scan_options r = request();
	struct leak_summary *s;

	there_make("", -EPERM, 0);
	s = leak_summary_run(NULL, &r);
	CHECK(strstr(leak_summary_result(s)->failed, "--serve=steer") != NULL);
	leak_summary_free(s);
	there_end();
	there_make("", -EPIPE, 2);
	s = leak_summary_run(NULL, &r);
	CHECK_STR(leak_summary_result(s)->failed, "no leak scan: the connection ended");
	leak_summary_free(s);
	there_end();
	there_make("", 1, 0);
	there.answer.len /= 2;
	s = leak_summary_run(NULL, &r);
	CHECK(strstr(leak_summary_result(s)->failed, "the other side sent no valid result") !=
		NULL);
	leak_summary_free(s);
	there_end();
}

TEST(a_scan_at_the_end_is_asked_for_as_one)
{
	const struct leak_scan_options asked = { .at_exit = true, .why = true };
	struct leak_scan_options got = { 0 };
	struct bytes b = { 0 };
	struct bytes_cursor c;

	scan_outcome_request_put(&b, &asked);
	c = bytes_begin(&b);
	CHECK_INT(scan_outcome_request_get(&c, &got), 0);
	CHECK(got.at_exit && got.why && !got.hold);
	c = (struct bytes_cursor){ b.data, b.data + b.len - 1, false };
	CHECK_INT(scan_outcome_request_get(&c, &got), -EPROTO);
	bytes_free(&b);
}

TEST(a_report_that_is_cancelled_cancels_it_there)
{
	struct leak_progress progress = { .cancelled = true };
	struct leak_scan_options r = request();
	struct leak_summary *s;

	there_make("no leak scan: it was cancelled", 1, 1000);
	r.progress = &progress;
	s = leak_summary_run(NULL, &r);
	CHECK_INT(there.cancelled, 1);
	CHECK_STR(leak_summary_result(s)->failed, "no leak scan: it was cancelled");
	leak_summary_free(s);
	there_end();
}

TEST(the_screen_shows_progress_and_takes_the_outcome)
{
	const struct leak_scan_options r = request();
	struct scan_control *c;
	struct pollfd fds[2];

	there_make("", 1, 2);
	c = scan_control_new("/nowhere", &r, NULL);
	CHECK_INT(scan_control_start(c), 0);
	CHECK_INT(scan_control_start(c), -EBUSY);
	CHECK_INT(scan_control_fds(c, fds, 2), 2);
	CHECK_INT(fds[0].fd, there.pipe[0]);
	(void)scan_control_collect(c);
	CHECK_INT(scan_control_state(c)->phase, LEAKS_FOLLOWING);
	CHECK_INT((int)scan_control_state(c)->read_bytes, 4096);
	scan_control_await(c);
	CHECK(scan_control_collect(c));
	CHECK_INT(scan_control_state(c)->phase, LEAKS_IDLE);
	CHECK_INT((int)scan_control_state(c)->last->scanned_bytes, 77);
	CHECK_INT(there.cancelled, 0);
	scan_control_free(c);
	there_end();
}

/* Nothing comes over the link that would wake us. */
TEST(an_agent_that_falls_silent)
{
	const struct leak_scan_options r = request();
	struct scan_control *c;
	char byte;

	there_make("", -ETIMEDOUT, 1);
	CHECK_INT(read(there.pipe[0], &byte, 1), 1);
	c = scan_control_new("/nowhere", &r, NULL);
	CHECK_INT(scan_control_start(c), 0);
	alarm(TEST_SECONDS);
	scan_control_await(c);
	alarm(0);
	CHECK(scan_control_collect(c));
	CHECK_STR(scan_control_state(c)->failed, "no leak scan: the connection ended");
	scan_control_free(c);
	there_end();
}

TEST(a_scan_that_the_program_asks_for_follows_the_running_one)
{
	const struct leak_scan_options r = request();
	struct scan_control *c;

	there_make("", 1, 0);
	c = scan_control_new("/nowhere", &r, NULL);
	scan_control_ask(c);
	CHECK_INT(there.begun, 1);
	scan_control_ask(c);
	scan_control_ask(c);
	CHECK_INT(there.begun, 1);
	scan_control_await(c);
	CHECK(scan_control_collect(c));
	CHECK_INT(there.begun, 2); /* one, however often it asked */
	CHECK(scan_control_state(c)->phase != LEAKS_IDLE);
	scan_control_await(c);
	CHECK(scan_control_collect(c));
	CHECK_INT(there.begun, 2);
	CHECK_INT(scan_control_state(c)->number, 2);
	scan_control_free(c);
	there_end();
}

TEST(cancelling_cancels_the_one_that_was_to_follow)
{
	const struct leak_scan_options r = request();
	struct scan_control *c;

	there_make("no leak scan: it was cancelled", 1, 1000);
	c = scan_control_new("/nowhere", &r, NULL);
	scan_control_ask(c);
	scan_control_ask(c);
	scan_control_cancel(c);
	CHECK(scan_control_collect(c));
	CHECK_INT(there.begun, 1);
	CHECK_INT(scan_control_state(c)->phase, LEAKS_IDLE);
	scan_control_free(c);
	there_end();
}

TEST(the_screen_cancels_and_leaves)
{
	const struct leak_scan_options r = request();
	struct scan_control *c;

	there_make("no leak scan: it was cancelled", 1, 1000);
	c = scan_control_new("/nowhere", &r, NULL);
	CHECK_INT(scan_control_start(c), 0);
	scan_control_cancel(c);
	scan_control_cancel(c);
	CHECK_INT(there.cancelled, 1);
	CHECK_INT(scan_control_state(c)->phase, LEAKS_ENDING);
	CHECK(scan_control_collect(c));
	CHECK(scan_control_state(c)->failed == NULL && scan_control_state(c)->last == NULL);
	there.cancelled = 0;
	CHECK_INT(scan_control_start(c), 0);
	scan_control_free(c); /* in the middle of it */
	CHECK_INT(there.cancelled, 1);
	there_end();
}

int main(void)
{
	RUN(a_report_waits_for_the_outcome);
	RUN(what_is_missing_is_said);
	RUN(a_scan_at_the_end_is_asked_for_as_one);
	RUN(a_report_that_is_cancelled_cancels_it_there);
	RUN(the_screen_shows_progress_and_takes_the_outcome);
	RUN(an_agent_that_falls_silent);
	RUN(a_scan_that_the_program_asks_for_follows_the_running_one);
	RUN(cancelling_cancels_the_one_that_was_to_follow);
	RUN(the_screen_cancels_and_leaves);
	bytes_free(&there.answer);
	return check_end();
}
